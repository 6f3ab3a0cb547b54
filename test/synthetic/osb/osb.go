// Package osb is a FAKE of opensearch-benchmark for tests. It takes the program's command line and sends bulks of empty
// documents. Each client sends its next bulk after the answer to the last one. The workload's parameters set the number
// of clients. The fake writes the same files as the program: its log, the rendered workload and the result of the run.
// It supports one workload: a corpus that is sent once. TestFakeOSB_runsAsRealOne compares the fake with the program.
package osb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/knee-bench/knee/internal/agent/process"
)

// Version is the version that the fake reports.
const Version = "2.4.0+fake"

// Index is the name of the index that the fake's workload fills.
const Index = "nyc_taxis"

// Install makes a file that replaces the program, and next to it the metadata from which the agent reads the version.
// If the file is executed, it only prints that it is a fake.
func Install(dir string) (program string, err error) {
	program = filepath.Join(dir, "bin", "opensearch-benchmark")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(dir, "lib/python3.11/site-packages/opensearch_benchmark-"+Version+".dist-info"), 0o755); err != nil {
		return "", err
	}
	return program, os.WriteFile(program, []byte("#!/bin/sh\necho 'this is a fake of opensearch-benchmark, for tests' >&2\nexit 1\n"), 0o755)
}

// Programs starts the fake inside the process of the test, so the fake uses the test's clock.
type Programs struct {
	Network http.RoundTripper
	Corpus  int64 // documents
	HangAt  int64 // each client hangs after this many documents; 0: never

	Leaves bool          // leave the corpus file where the program leaves a downloaded corpus
	Think  time.Duration // pause of a client between a reply and the next request
}

// Start starts a run.
func (p Programs) Start(_ string, args, env []string, _ string, output io.Writer) (process.Running, error) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{ctx: ctx, cancel: cancel, done: make(chan struct{}), http: &http.Client{Transport: p.Network}, corpus: p.Corpus, hangAt: p.HangAt, leaves: p.Leaves, think: p.Think, output: output}
	if err := r.readEnv(env); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(r.done)
		if r.err = r.readArgs(args); r.err == nil {
			r.err = r.all()
		}
	}()
	return r, nil
}

// EndAll does nothing: a run has no process.
func (Programs) EndAll(context.Context) (int, error) { return 0, nil }

// Sample does nothing: a run has no processes to sample.
func (Programs) Sample(*process.Usage) {}

// run is one execution of the fake.
type run struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	err    error
	http   *http.Client

	url, id, home, temp string
	options             clientOptions
	tasks               []string
	params              params
	unused              unusedParams
	corpus, hangAt      int64
	leaves              bool
	think               time.Duration

	mu      sync.Mutex
	output  io.Writer
	logged  strings.Builder
	tallies []tally // one for each task that ran
}

// Done is closed when the run has ended.
func (r *run) Done() <-chan struct{} { return r.done }

// Stop interrupts the run.
func (r *run) Stop(time.Duration) {
	r.cancel()
	<-r.done
}

// End waits for the end of the run. It returns the program's exit code.
func (r *run) End(time.Duration) (int, error) {
	<-r.done
	r.cancel()
	var usage *usageError
	switch {
	case errors.As(r.err, &usage):
		r.say("%v", usage)
		return exitUsage, nil
	case r.err != nil:
		r.say("[ERROR] ❌ Cannot run. Error in test run orchestrator (%v.)\n\nGetting further help:\n*********************", r.err)
		return exitFailed, nil
	}
	return 0, nil
}

func (r *run) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.output, format+"\n", args...)
}

// all runs the included tasks, and writes the log and the result.
func (r *run) all() (err error) {
	r.say("This is a fake of opensearch-benchmark, for tests.")
	if err := r.connect(); err != nil {
		return err
	}
	if err := r.renderWorkload(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.writeLog()) }()
	if len(r.unused) > 0 {
		return r.unused
	}
	for _, t := range r.tasks {
		switch t {
		case "type:create-index":
			err = r.createIndex()
		case "index":
			err = r.index()
		default:
			err = fmt.Errorf("the fake knows no task %s", t)
		}
		if err != nil {
			return err
		}
	}
	r.say("[INFO] SUCCESS")
	return r.writeResult()
}
