// Package osb is a FAKE of opensearch-benchmark for tests. It takes the program's command line and sends bulks of empty
// documents. Each client sends its next bulk after the answer to the last one. The workload's parameters set the number
// of clients. The fake writes the same files as the program: its log, the rendered workload and the result of the run.
// It supports one workload: a corpus that is sent once.
package osb

import (
	"context"
	"encoding/json"
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
	if err := r.read(args, env); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(r.done)
		r.err = r.all()
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
	corpus, hangAt      int64
	leaves              bool
	think               time.Duration

	mu      sync.Mutex
	output  io.Writer
	service []float64 // service time of every bulk, ms
	failed  int64     // number of failed bulks
}

type params struct {
	Clients  int64  `json:"bulk_indexing_clients"`
	BulkSize int64  `json:"bulk_size"`
	Shards   int    `json:"number_of_shards"`
	Replicas int    `json:"number_of_replicas"`
	Refresh  string `json:"refresh_interval"`
}

// Done is closed when the run has ended.
func (r *run) Done() <-chan struct{} { return r.done }

// Stop interrupts the run.
func (r *run) Stop(time.Duration) {
	r.cancel()
	<-r.done
}

// End waits for the end of the run. It returns 64, the program's exit code on errors, if the run failed.
func (r *run) End(time.Duration) (int, error) {
	<-r.done
	r.cancel()
	if r.err != nil {
		r.say("[ERROR] ❌ Cannot run. %v.", r.err)
		return 64, nil
	}
	return 0, nil
}

func (r *run) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.output, format+"\n", args...)
}

// read reads the options that the fake uses from the command line and the environment.
func (r *run) read(args, env []string) error {
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "--target-hosts":
			r.url = "http://" + value
		case "--client-options":
			if err := r.readClientOptions(value); err != nil {
				return err
			}
		case "--test-run-id":
			r.id = value
		case "--include-tasks":
			r.tasks = strings.Split(value, ",")
		case "--workload-params":
			data, err := os.ReadFile(value)
			if err != nil {
				return err
			}
			if err := json.Unmarshal(data, &r.params); err != nil {
				return err
			}
		}
	}
	for _, e := range env {
		switch name, value, _ := strings.Cut(e, "="); name {
		case "HOME":
			r.home = value
		case "TMPDIR":
			r.temp = value
		}
	}
	if r.params.Clients < 1 || r.params.BulkSize < 1 || r.id == "" || r.home == "" || r.url == "" {
		return fmt.Errorf("the fake of opensearch-benchmark needs a host, a run id, HOME, clients and a bulk size: %q", args)
	}
	return nil
}

// all runs the included tasks.
func (r *run) all() error {
	r.say("This is a fake of opensearch-benchmark, for tests.")
	if err := r.connect(); err != nil {
		return err
	}
	if err := r.log(); err != nil {
		return err
	}
	for _, t := range r.tasks {
		switch t {
		case "type:create-index":
			if err := r.createIndex(); err != nil {
				return err
			}
		case "index":
			began := time.Now()
			if err := r.index(); err != nil {
				return err
			}
			if err := r.result(time.Since(began)); err != nil {
				return err
			}
		default:
			return fmt.Errorf("the fake knows no task %s", t)
		}
	}
	r.say("[INFO] SUCCESS")
	return nil
}

// createIndex creates the index with the settings of the workload.
func (r *run) createIndex() error {
	settings := map[string]any{"index.number_of_shards": r.params.Shards, "index.number_of_replicas": r.params.Replicas}
	if r.params.Refresh != "" {
		settings["index.refresh_interval"] = r.params.Refresh
	}
	body, err := json.Marshal(map[string]any{"settings": settings, "mappings": map[string]any{"dynamic": "strict"}})
	if err != nil {
		return err
	}
	_, err = r.request(http.MethodPut, "/"+Index, body)
	return err
}

// index starts all clients. Each sends its part of the corpus.
func (r *run) index() error {
	var clients sync.WaitGroup
	errs := make([]error, r.params.Clients)
	for c := range r.params.Clients {
		clients.Go(func() { errs[c] = r.client(r.part(c)) })
	}
	clients.Wait()
	return errors.Join(errs...)
}

// part returns the number of documents that a client sends.
func (r *run) part(client int64) int64 {
	return r.corpus*(client+1)/r.params.Clients - r.corpus*client/r.params.Clients
}

// client sends one bulk after the other. It waits for each answer.
func (r *run) client(documents int64) error {
	const line = "{\"index\":{}}\n{}\n"
	body := []byte(strings.Repeat(line, int(r.params.BulkSize)))
	hang := documents - r.hangAt
	for documents > 0 {
		if r.hangAt > 0 && documents <= hang {
			return r.hang()
		}
		if r.think > 0 {
			time.Sleep(r.think)
		}
		n := min(documents, r.params.BulkSize)
		documents -= n
		began := time.Now()
		answer, err := r.request(http.MethodPost, "/"+Index+"/_bulk", body[:int(n)*len(line)])
		if err != nil {
			return err
		}
		r.note(time.Since(began), strings.Contains(string(answer[:min(len(answer), 64)]), `"errors":true`))
	}
	return nil
}

// hang prints the progress line again and again, as the program does while it waits.
func (r *run) hang() error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		r.say("Running index   [ 50%% done]")
		select {
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-tick.C:
		}
	}
}

// note records one bulk. A failed bulk also prints an error line.
func (r *run) note(service time.Duration, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.service = append(r.service, float64(service.Microseconds())/1000)
	if failed {
		r.failed++
		fmt.Fprintln(r.output, "[ERROR] HTTP status: 429, message: rejected execution of a synthetic bulk")
	}
}

func (r *run) request(method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(r.ctx, method, r.url+path, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	r.authenticate(req)
	resp, err := r.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: status %d: %s", method, path, resp.StatusCode, data)
	}
	return data, err
}
