package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/load"
	"github.com/knee-bench/knee/internal/load/documents"
)

// bulkServer is a fake of OpenSearch. It acknowledges every document of every bulk request and counts the requests
// that create or delete an index.
type bulkServer struct {
	*httptest.Server
	bulks, deletes, creates atomic.Int64
	seen                    []func(bulks int64)
}

func newBulkServer(t *testing.T, seen ...func(bulks int64)) *bulkServer {
	s := &bulkServer{seen: seen}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/_bulk"):
			n := s.bulks.Add(1)
			for _, seen := range s.seen {
				seen(n)
			}
			items := strings.Repeat(`{"index":{"status":201}},`, bytes.Count(body, []byte("\n"))/2)
			_, _ = io.WriteString(w, `{"errors":false,"items":[`+strings.TrimSuffix(items, ",")+`]}`)
		case r.Method == http.MethodDelete:
			s.deletes.Add(1)
			_, _ = io.WriteString(w, `{"acknowledged":true}`)
		case r.Method == http.MethodPut:
			s.creates.Add(1)
			_, _ = io.WriteString(w, `{"acknowledged":true,"shards_acknowledged":true}`)
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, `{}`)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// optionsOf parses and completes the options of a command line.
func optionsOf(t *testing.T, args ...string) (loadOptions, error) {
	t.Helper()
	var o loadOptions
	flags := o.flags()
	flags.SetOutput(io.Discard)
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	return o, o.complete()
}

func TestLoadFlags(t *testing.T) {
	o, err := optionsOf(t, "--dataset", "httplog", "--count", "1_000_000", "--flush-bytes", "6.25MiB", "--workers", "8", "--timeout", "5s", "--data-stream", "logs-a")
	if err != nil {
		t.Fatal(err)
	}
	c := o.config
	if c.Bulk.Dataset != "httplog" || c.Bulk.Documents != 1_000_000 || c.Bulk.FlushBytes != 6_553_600 || c.Workers != 8 || c.TimeoutSeconds != 5 || c.Index != "logs-a" || !c.DataStream || o.runs != 1 {
		t.Errorf("%+v", o)
	}
	for text, want := range map[string]int64{"2MB": 2_000_000, "2M": 2_000_000, "500 kB": 500_000, "1Mi": 1 << 20, "77": 77, "77B": 77} {
		if o, err := optionsOf(t, "--flush-bytes", text); err != nil || o.config.Bulk.FlushBytes != want {
			t.Errorf("%s: %d, %v", text, o.config.Bulk.FlushBytes, err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--count", "many"}, "not a whole number above 0"},
		{[]string{"--flush-bytes", "2XB"}, "not a size"},
		{[]string{"--flush-bytes", "-2MB"}, "not a size"},
		{[]string{"--duration", "1500ms"}, "must be a whole number of seconds"},
		{[]string{"--duration", "2s", "--count", "5"}, "both say when the load ends"},
		{[]string{"--flush-bytes", "2MB", "--flush-documents", "5"}, "both say when a bulk request is full"},
		{[]string{"--workers", "0"}, "workers is 0"},
		{[]string{"-o", "yaml"}, "table or json"},
		{[]string{"--runs", "0"}, "--runs must be at least 1"},
		{[]string{"--body", "x.json"}, "--create-index"},
		{[]string{"--mock", "--create-index"}, "because the mock server has no index"},
		{[]string{"--shards", "0"}, "--shards must be from 1 to 2147483647, and --replicas from 0 to 2147483647"},
	} {
		if _, err := optionsOf(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %s", c.args, err, c.want)
		}
	}
}

func TestSummarize_meanAndMedian(t *testing.T) {
	// These are the published runs of the bulk indexer benchmarks. Their program prints 286,987 as the mean, but this
	// is the median.
	s := summarize([]float64{279173, 284090, 289351, 286123, 287852, 288184, 282246, 288101, 282485, 288350}, false)
	if s.Min != 279173 || s.Max != 289351 || s.Mean != 285595.5 || s.Median != 286987.5 || math.Abs(*s.CV-1.193) > 0.001 {
		t.Errorf("%+v, CV %v", s, *s.CV)
	}
	if one := summarize([]float64{5}, true); one.CV != nil || one.Of != "added" || one.Mean != 5 || one.Median != 5 {
		t.Errorf("%+v", one)
	}
}

func TestLoad_jsonOutput_hasRowPerRun(t *testing.T) {
	for _, c := range []struct {
		name             string
		args             []string
		deletes, creates int64
	}{
		{"an index is left alone", nil, 0, 0},
		{"an index is created again before each run", []string{"--create-index"}, 3, 3},
		{"a data stream is created again before each run", []string{"--create-index", "--data-stream", "logs-a"}, 3, 6}, // also creates the template again
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newBulkServer(t)
			o, err := optionsOf(t, append([]string{"--url", s.URL, "--count", "1000", "--flush-documents", "100", "--warmup", "1", "--runs", "2", "--wait", "0s", "-o", "json"}, c.args...)...)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(printed(t, func() error { return loadByFlags(t.Context(), o) })), "\n")
			if len(lines) != 4 {
				t.Fatalf("%d lines: %s", len(lines), lines)
			}
			var row runRow
			if err := json.Unmarshal([]byte(lines[1]), &row); err != nil || row.Run != 1 || row.Warmup || row.Result.Documents.Acknowledged != 1000 {
				t.Errorf("%+v, %v", row, err)
			}
			var all map[string]summary
			if err := json.Unmarshal([]byte(lines[3]), &all); err != nil || all["docsPerSecond"].Runs != 2 {
				t.Errorf("%s, %v", lines[3], err)
			}
			if s.bulks.Load() != 30 || s.deletes.Load() != c.deletes || s.creates.Load() != c.creates {
				t.Errorf("%d bulks, %d deletions, %d creations", s.bulks.Load(), s.deletes.Load(), s.creates.Load())
			}
		})
	}
}

func TestLoad_mock_reportsZeroFlushed(t *testing.T) {
	o, err := optionsOf(t, "--mock", "--count", "2000", "--flush-documents", "100", "--runs", "2", "--wait", "0s")
	if err != nil {
		t.Fatal(err)
	}
	text := printed(t, func() error { return loadByFlags(t.Context(), o) })
	if strings.Count(text, "flushed 0: the server acknowledges no document") != 2 || !strings.Contains(text, "docs/s added: min ") || !strings.Contains(text, "mean ") || !strings.Contains(text, "CV ") {
		t.Error(text)
	}
}

// TestLoad_allDocumentsRejected_rateIsZero checks that the rate is 0 if the server rejects all documents. The client's own rate
// counts only if the server's responses do not report single documents.
func TestLoad_allDocumentsRejected_rateIsZero(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		item := `{"index":{"status":404,"error":{"type":"index_not_found_exception","reason":"no such index"}}},`
		_, _ = io.WriteString(w, `{"errors":true,"items":[`+strings.TrimSuffix(strings.Repeat(item, bytes.Count(body, []byte("\n"))/2), ",")+`]}`)
	}))
	defer refusing.Close()
	for _, runs := range []string{"1", "2"} {
		args := []string{"load", "--url", refusing.URL, "--count", "100", "--wait", "0s", "--runs", runs}
		out, code := agent(t, nil, args...)
		summary, wrong, _ := strings.Cut(out, "knee-agent load: ")
		if code != 1 || !strings.Contains(summary, "docs/s acknowledged: min 0, max 0, mean 0, median 0\n") {
			t.Errorf("%s runs: exit code %d, %s", runs, code, out)
		}
		if !strings.Contains(wrong, "run 1: the server acknowledged none of the 100 documents that were sent: status 404 index_not_found_exception: no such index") {
			t.Errorf("%s runs: %s", runs, out)
		}
		if out, code = agent(t, nil, append(args, "-o", "json")...); code != 1 || !strings.Contains(out, `{"docsPerSecond":{"runs":`+runs+`,"of":"acknowledged","min":0,"max":0,"mean":0,"median":0,"added":`) {
			t.Errorf("%s runs: exit code %d, %s", runs, code, out)
		}
	}
}

// TestPrinter_unwritableOutput_fails checks that printer.end returns an error if the summary cannot be written. Otherwise
// a reader of the rows would not notice that a row is missing.
func TestPrinter_unwritableOutput_fails(t *testing.T) {
	for _, output := range []string{"json", "table"} {
		readable, err := os.Open(os.DevNull) // open for reading only
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = readable.Close() }()
		p := newPrinter(readable, loadOptions{output: output})
		p.rates = []float64{1}
		if err := p.end(); err == nil {
			t.Errorf("%s: no error", output)
		}
	}
}

func TestLoad_interrupted_printsFinishedRuns(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	s := newBulkServer(t, func(n int64) {
		if n == 5 {
			interrupt()
		}
	})
	o, err := optionsOf(t, "--url", s.URL, "--count", "1000", "--runs", "1000", "--wait", "0s")
	if err != nil {
		t.Fatal(err)
	}
	var wrong error
	text := printed(t, func() error {
		wrong = loadByFlags(ctx, o)
		return nil
	})
	if wrong == nil || ctx.Err() == nil {
		t.Errorf("error %v", wrong)
	}
	if !strings.Contains(text, "   1  ") || !strings.Contains(text, "docs/s acknowledged: min") {
		t.Error(text)
	}
}

func TestLoadByConfig_startFile_waitsForSignal(t *testing.T) {
	s := newBulkServer(t)
	dir := t.TempDir()
	o := loadOptions{configFile: filepath.Join(dir, "load.json"), resultFile: filepath.Join(dir, "result.json"), startFile: filepath.Join(dir, "start")}
	config, err := json.Marshal(load.Config{URL: s.URL, Index: "a", Workers: 2, Bulk: bulkconfig.Config{Dataset: documents.Small, Documents: 500, FlushDocuments: 100}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.configFile, config, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(o.startFile, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- loadByConfig(t.Context(), o) }()
	start, err := os.OpenFile(o.startFile, os.O_WRONLY, 0) // returns when the loader reads, that is when the loader is ready
	if err != nil {
		t.Fatal(err)
	}
	if n := s.bulks.Load(); n != 0 {
		t.Errorf("%d bulk requests before the start", n)
	}
	if _, err := start.WriteString("go\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the load does not end")
	}
	_ = start.Close()
	var r load.Result
	text, err := os.ReadFile(o.resultFile)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || r.Documents.Acknowledged != 500 || r.Requests != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "result.json*")); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

// printed returns the text that a function writes to standard output.
func printed(t *testing.T, f func() error) string {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	own := os.Stdout
	os.Stdout = write
	defer func() { os.Stdout = own }()
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(read)
		text <- string(all)
	}()
	err = f()
	_ = write.Close()
	out := <-text
	if err != nil {
		t.Fatal(err)
	}
	return out
}
