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

	"github.com/knee-bench/knee/internal/agent/process"
)

// realOptions are the options of the benchmark at a real OpenSearch.
type realOptions struct {
	url, agent string
	osb        string // path of a program with the arguments SECONDS BULK_SIZE CLIENTS TEST_PROCEDURE
	corpus     string // file with the documents of opensearch-benchmark
	index      string // the index that is filled
	pairs      int
	time       time.Duration
	bulkSize   int
	clients    int
	seed       uint64
}

func parseReal(args []string) (realOptions, error) {
	var o realOptions
	flags := flag.NewFlagSet("bench-loader opensearch", flag.ExitOnError)
	flags.StringVar(&o.url, "url", "http://127.0.0.1:9200", "URL of OpenSearch")
	flags.StringVar(&o.agent, "agent", "bin/knee-agent", "the program whose command load is measured")
	flags.StringVar(&o.osb, "osb", "", "program that runs opensearch-benchmark; its arguments: seconds, bulk size, clients, test procedure")
	flags.StringVar(&o.corpus, "corpus", "", "newline-delimited JSON: opensearch-benchmark's documents")
	flags.StringVar(&o.index, "index", "nyc_taxis", "index that opensearch-benchmark fills")
	flags.IntVar(&o.pairs, "pairs", 5, "loads of each program")
	flags.DurationVar(&o.time, "time", 20*time.Second, "length of one load, whole seconds")
	flags.IntVar(&o.bulkSize, "bulk-size", 1000, "documents in a bulk request")
	flags.IntVar(&o.clients, "clients", 2, "clients of each program")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the order within the pairs")
	_ = flags.Parse(args) // exits on errors
	if o.osb == "" || o.corpus == "" || o.pairs < 2 || o.time < 5*time.Second {
		return o, errors.New("-osb and -corpus are needed, -pairs must be at least 2, -time at least 5s")
	}
	return o, nil
}

// realBench compares loaders at one OpenSearch.
type realBench struct {
	realOptions
	node node
	dir  string
	body []byte // request body that creates the index as opensearch-benchmark does
}

const osbName = "opensearch-benchmark"

// benchOpenSearch measures Knee's loader and opensearch-benchmark in turn at a real OpenSearch.
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

// prepare runs both loaders for a while to warm up the JVM. opensearch-benchmark creates its index, and prepare reads
// the body of this index.
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

// load creates the index again and measures one load.
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
	// Use the CPU time that the loader reports. The load is too short for the kernel's ticks of 10 ms to be precise.
	seen.cpuPerMillion, seen.wholeCPU = o.loadCPU/million, o.cpu.Seconds()/million
	return seen, errors.Join(err, unseen)
}

// job returns the job for Knee's loader.
func (b *realBench) job(d time.Duration) job {
	return job{url: b.url, index: b.index, file: b.corpus, dir: b.dir, time: d, flushDocuments: b.bulkSize, workers: b.clients}
}

// runKnee runs Knee's loader. It compares the loader's document counts with the index.
func (b *realBench) runKnee(ctx context.Context, d time.Duration) (outcome, error) {
	o, err := options{agent: b.agent}.kneeProgram().run(ctx, b.job(d))
	if err != nil {
		return o, err
	}
	indexed, err := b.node.indexed(ctx)
	if err == nil && (o.Documents != indexed || o.Added != indexed) {
		err = fmt.Errorf("the loader sent %d documents, %d were acknowledged, and the index has %d", o.Added, o.Documents, indexed)
	}
	if err == nil && (o.loadCPU <= 0 || o.loadCPU > o.cpu.Seconds()) {
		err = fmt.Errorf("the loader reports %.3f CPU seconds for the load, but its process took %.3f", o.loadCPU, o.cpu.Seconds())
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

// osbGrace is the time that opensearch-benchmark may take in addition to the duration of the load.
const osbGrace = 2 * time.Minute
