package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/knee-bench/knee/internal/trial/process"
)

// realOptions are those of the benchmark at a real OpenSearch.
type realOptions struct {
	url, agent string
	osb        string // a program: SECONDS BULK_SIZE CLIENTS makes it load the index for so long
	corpus     string // its documents
	index      string // into which it loads
	pairs      int
	time       time.Duration
	bulkSize   int
	clients    int
	seed       uint64
}

func parseReal(args []string) (realOptions, error) {
	var o realOptions
	flags := flag.NewFlagSet("bench-loader opensearch", flag.ExitOnError)
	flags.StringVar(&o.url, "url", "http://127.0.0.1:9200", "of the OpenSearch")
	flags.StringVar(&o.agent, "agent", "bin/knee-agent", "the program whose command load is measured")
	flags.StringVar(&o.osb, "osb", "", "program that runs opensearch-benchmark; its arguments: seconds, bulk size, clients, test procedure")
	flags.StringVar(&o.corpus, "corpus", "", "newline-delimited JSON: opensearch-benchmark's documents")
	flags.StringVar(&o.index, "index", "nyc_taxis", "into which opensearch-benchmark loads")
	flags.IntVar(&o.pairs, "pairs", 5, "loads of each")
	flags.DurationVar(&o.time, "time", 20*time.Second, "of one load, whole seconds")
	flags.IntVar(&o.bulkSize, "bulk-size", 1000, "documents in a bulk request")
	flags.IntVar(&o.clients, "clients", 2, "clients of both")
	flags.Uint64Var(&o.seed, "seed", 1, "of the order within the pairs")
	_ = flags.Parse(args) // it exits
	if o.osb == "" || o.corpus == "" || o.pairs < 2 || o.time < 5*time.Second {
		return o, errors.New("-osb and -corpus are needed, -pairs must be at least 2, -time at least 5s")
	}
	return o, nil
}

// realBench is one OpenSearch and what loads it.
type realBench struct {
	realOptions
	node node
	dir  string
	body []byte // of the index, as opensearch-benchmark makes it
}

const osbName = "opensearch-benchmark"

// benchOpenSearch measures Knee's loader and opensearch-benchmark in turn.
func benchOpenSearch(ctx context.Context, args []string) error {
	o, err := parseReal(args)
	if err != nil {
		return err
	}
	if err := process.Adopt(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "knee-bench-loader-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := realBench{realOptions: o, node: node{o.url, o.index}, dir: dir}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	replies, err := b.compareReplies(ctx)
	if err != nil {
		return fmt.Errorf("filter_path: %w", err)
	}
	random := rand.New(rand.NewPCG(o.seed, o.seed))
	of := map[string][]window{}
	for pair := range o.pairs {
		order := []string{knee, osbName}
		random.Shuffle(2, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, name := range order {
			w, err := b.load(ctx, name, o.time)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			fmt.Fprintf(os.Stderr, "pair %d of %d: %-20s %7.0f docs/s, %.3f CPU s per million\n", pair+1, o.pairs, name, w.docsPerSecond, w.cpuPerMillion)
			of[name] = append(of[name], w)
		}
	}
	return printReal(of, replies, o)
}

// prepare lets opensearch-benchmark make its index, so that its body can be read, and both load a while: the JVM is warm
// after that.
func (b *realBench) prepare(ctx context.Context) error {
	const warm = 8 * time.Second
	fmt.Fprintln(os.Stderr, "warming up")
	if err := b.runOSB(ctx, warm, "index-timed"); err != nil {
		return err
	}
	body, err := b.node.body(ctx)
	if err != nil {
		return err
	}
	b.body = body
	_, err = b.load(ctx, knee, warm)
	return err
}

// load makes the index anew and measures one load into it.
func (b *realBench) load(ctx context.Context, name string, d time.Duration) (window, error) {
	if err := b.node.renew(ctx, b.body); err != nil {
		return window{}, err
	}
	if err := b.node.settle(ctx); err != nil {
		return window{}, err
	}
	w := watch(ctx, b.node)
	if name == osbName {
		err := b.runOSB(ctx, d, "index-timed-bare")
		seen, unseen := w.end()
		return seen, errors.Join(err, unseen)
	}
	o, err := b.runKnee(ctx, d)
	seen, unseen := w.end()
	million := float64(o.Documents) / 1e6
	// Not the kernel's ticks of 10 ms, of which so small a load has few: what the process is charged for.
	seen.cpuPerMillion, seen.wholeCPU = o.loadCPU/million, o.cpu.Seconds()/million
	return seen, errors.Join(err, unseen)
}

// job is Knee's.
func (b *realBench) job(d time.Duration) job {
	return job{url: b.url, index: b.index, file: b.corpus, dir: b.dir, time: d, flushDocuments: b.bulkSize, workers: b.clients}
}

// runKnee loads, and holds what the loader says against what the index has.
func (b *realBench) runKnee(ctx context.Context, d time.Duration) (outcome, error) {
	o, err := options{agent: b.agent}.kneeProgram().run(ctx, b.job(d))
	if err != nil {
		return o, err
	}
	indexed, err := b.node.indexed(ctx)
	if err == nil && (o.Documents != indexed || o.Added != indexed) {
		err = fmt.Errorf("the loader has sent %d documents, %d were acknowledged, the index has %d", o.Added, o.Documents, indexed)
	}
	if err == nil && (o.loadCPU <= 0 || o.loadCPU > o.cpu.Seconds()) {
		err = fmt.Errorf("the loader says that the load took %.3f CPU seconds, its process took %.3f", o.loadCPU, o.cpu.Seconds())
	}
	return o, err
}

func (b *realBench) runOSB(ctx context.Context, d time.Duration, procedure string) error {
	ctx, cancel := context.WithTimeout(ctx, d+osbGrace)
	defer cancel()
	c := exec.CommandContext(ctx, b.osb, strconv.Itoa(int(d.Seconds())), strconv.Itoa(b.bulkSize), strconv.Itoa(b.clients), procedure)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", osbName, err, bytes.TrimSpace(out))
	}
	return nil
}

// osbGrace is what opensearch-benchmark may take beside the load.
const osbGrace = 2 * time.Minute
