package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/knee-bench/knee/internal/agent/process"
)

// bench holds the servers that the loads use.
type bench struct {
	options
	dir         string // for temporary files
	sink, drain *child
	nginx       *nginx
}

// benchSinks measures every program in every scenario and prints the results.
func benchSinks(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "knee-bench-loader-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := bench{options: o, dir: dir}
	if b.sink, err = startChild(ctx, "sink"); err != nil {
		return err
	}
	defer b.sink.stop()
	if b.drain, err = startChild(ctx, "drain"); err != nil {
		return err
	}
	defer b.drain.stop()
	if o.nginx != "" {
		if b.nginx, err = startNginx(ctx, o.nginx, dir, o.workers); err != nil {
			return err
		}
		defer b.nginx.stop()
	}
	small, err := b.smallDocuments(ctx)
	if err != nil {
		return err
	}
	larger, err := largerDocuments(dir)
	if err != nil {
		return err
	}
	if err := b.rehearse(ctx, small, larger); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(o.seed, o.seed))
	var results []result
	for _, s := range b.scenarios(small, larger) {
		r, err := s.alternate(ctx, b.job(), o.runs, random)
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	return printSinks(results)
}

func (b bench) job() job {
	return job{url: b.sink.url(), address: b.drain.address, index: "bench", dir: b.dir, flushBytes: b.flushBytes, workers: b.workers}
}

func (b bench) scenarios(small, larger corpus) []scenario {
	all := b.programs()
	without := func(names ...string) (out []program) {
		for _, p := range all {
			if !slices.Contains(names, p.name) {
				out = append(out, p)
			}
		}
		return out
	}
	out := []scenario{
		{strictSink, small, all, b.strict, b.measureAtSink},
		{strictSink, larger, without(kneeFiltered), b.strict, b.measureAtSink},
	}
	if b.nginx == nil {
		return out
	}
	loaders := without(kneeFiltered, limit)
	return append(out,
		scenario{nginxStatic, small, loaders, b.static, b.measureAtNginx},
		scenario{nginxStatic, larger, loaders, b.static, b.measureAtNginx})
}

// strictSink and nginxStatic are the names of the servers in the tables.
const (
	strictSink  = "strict sink"
	nginxStatic = "nginx, static reply"
)

// rehearse runs every program for a second while the sink parses every line. So it checks that all programs send valid
// requests.
func (b bench) rehearse(ctx context.Context, all ...corpus) error {
	for _, documents := range all {
		for _, p := range b.programs() {
			if !p.toSink {
				continue
			}
			l := b.job()
			l.file, l.dataset, l.time = documents.file, documents.dataset, time.Second
			if _, err := b.atSink(ctx, p, l, pathThorough); err != nil {
				return fmt.Errorf("rehearsal, %s: %w", documents.name, err)
			}
		}
	}
	return nil
}

// measureAtSink measures the time from the first request at the sink to its last reply, in the same way for every
// program.
func (b bench) measureAtSink(ctx context.Context, p program, l job) (measured, error) {
	if !p.toSink {
		o, err := p.run(ctx, l)
		return o.measured(o.Documents, o.Seconds, 0), err
	}
	return b.atSink(ctx, p, l, pathReset)
}

func (b bench) atSink(ctx context.Context, p program, l job, reset string) (measured, error) {
	var before, after sinkStats
	if err := get(ctx, b.sink.url()+reset, nil); err != nil {
		return measured{}, err
	}
	if err := get(ctx, b.sink.url()+pathStats, &before); err != nil {
		return measured{}, err
	}
	o, err := p.run(ctx, l)
	if err != nil {
		return measured{}, err
	}
	if err := get(ctx, b.sink.url()+pathStats, &after); err != nil {
		return measured{}, err
	}
	if after.Documents == 0 || after.Documents != o.Documents || after.Refused > 0 {
		return measured{}, fmt.Errorf("%s reports %d acknowledged documents; the sink acknowledged %d and refused %d requests",
			p.name, o.Documents, after.Documents, after.Refused)
	}
	return o.measured(after.Documents, after.Seconds, after.CPU-before.CPU), nil
}

// measureAtNginx uses the number of documents and the time that the program reports, because nginx reports neither.
func (b bench) measureAtNginx(ctx context.Context, p program, l job) (measured, error) {
	l.url = b.nginx.url
	before := nginxCPU(b.nginx)
	o, err := p.run(ctx, l)
	if err == nil && o.Added == 0 {
		err = fmt.Errorf("%s sent nothing", p.name)
	}
	return o.measured(o.Added, o.Seconds, nginxCPU(b.nginx)-before), err
}

// nginxCPU returns the CPU time of all processes of nginx, in seconds.
func nginxCPU(n *nginx) float64 {
	ticks := uint64(0)
	for _, p := range process.Descendants(n.command.Process.Pid) {
		ticks += p.Ticks
	}
	return float64(ticks) / 100 // ticks of USER_HZ = 100 per second
}

func (o outcome) measured(documents int64, seconds, serverCPU float64) measured {
	million := float64(documents) / 1e6
	return measured{float64(documents) / seconds, o.cpu.Seconds() / million, serverCPU / million}
}
