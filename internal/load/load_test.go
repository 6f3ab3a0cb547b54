package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/load/documents"
)

func TestLoad_allAcknowledged(t *testing.T) {
	for _, c := range []struct {
		name       string
		change     func(*Config)
		path       string
		action     string
		requests   int64
		bodyLength int64
	}{
		{"index", func(*Config) {}, "/a/_bulk", actionIndex, 10, 104_000},
		{"data stream", func(c *Config) { c.Index, c.DataStream = "logs", true }, "/logs/_bulk", actionCreate, 10, 105_000},
		{"by bytes", func(c *Config) { c.Bulk.FlushDocuments, c.Bulk.FlushBytes = 0, 20_000 }, "/a/_bulk", actionIndex, 6, 104_000}, // 193 documents reach 20,000 B
		{"one of three pods", func(c *Config) { c.FirstClient, c.Clients, c.Bulk.Documents = 4, 6, 3002 }, "/a/_bulk", actionIndex, 10, 104_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, created)
			r := run(t, f.config(c.change))
			if want := (Documents{Added: 1000, Acknowledged: 1000}); r.Documents != want {
				t.Errorf("documents %+v, want %+v", r.Documents, want)
			}
			if r.Requests != c.requests || r.Bytes != c.bodyLength || r.Ended != "" || len(r.Refused) > 0 {
				t.Errorf("result %+v, want %d requests and %d bytes", r, c.requests, c.bodyLength)
			}
			if len(f.stored) != 1000 || f.actions[c.action] != 1000 || f.paths[c.path] != int(c.requests) {
				t.Errorf("stored %d, actions %v, paths %v", len(f.stored), f.actions, f.paths)
			}
			h, err := r.Histogram()
			if err != nil || h.TotalCount() != c.requests || h.Max() < 1 {
				t.Errorf("latency of %d requests, max %d µs, %v", h.TotalCount(), h.Max(), err)
			}
			if r.Waiting() <= 0 || r.Waiting() > 1 || r.CPUSeconds < 0 || r.DocsPerSecond() <= 0 {
				t.Errorf("waiting %v, CPU %v s, %v docs/s", r.Waiting(), r.CPUSeconds, r.DocsPerSecond())
			}
		})
	}
}

// every returns a function for the field fake.answer. In the first request, the function refuses every k-th document
// with the given status.
func every(k, status int) func(int, http.ResponseWriter, *http.Request, []string) []int {
	return func(n int, _ http.ResponseWriter, _ *http.Request, documents []string) []int {
		out := same(http.StatusCreated, len(documents))
		for i := range out {
			if n == 0 && i%k == 0 {
				out[i] = status
			}
		}
		return out
	}
}

func TestLoad_refusals(t *testing.T) {
	one := func(c *Config) { c.Workers, c.Bulk.Documents = 1, 100 }
	never := func(c *Config) { one(c); none := 0; c.Retries = &none }
	once := func(c *Config) { one(c); n := 1; c.Retries = &n }
	status := func(status int, times int) func(int, http.ResponseWriter, *http.Request, []string) []int {
		return func(n int, w http.ResponseWriter, r *http.Request, documents []string) []int {
			if n >= times {
				return created(n, w, r, documents)
			}
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"error":{"type":"rejected_execution_exception","reason":"full"},"status":%d}`, status)
			return nil
		}
	}
	text := func(text string) func(int, http.ResponseWriter, *http.Request, []string) []int {
		return func(_ int, w http.ResponseWriter, _ *http.Request, _ []string) []int {
			_, _ = io.WriteString(w, text)
			return nil
		}
	}
	for _, c := range []struct {
		name    string
		answer  func(int, http.ResponseWriter, *http.Request, []string) []int
		change  func(*Config)
		want    Documents
		refused string
		ended   string
		stored  int
	}{
		{"items of 429 are sent again, and only they", every(10, 429), one, Documents{Added: 100, Acknowledged: 100, Retried: 10}, "429 type_of_429 10", "", 100},
		{"items of 503 are sent again", every(4, 503), one, Documents{Added: 100, Acknowledged: 100, Retried: 25}, "503 type_of_503 25", "", 100},
		{"items of 400 are not", every(4, 400), one, Documents{Added: 100, Acknowledged: 75, Failed: 25}, "400 type_of_400 25", "", 75},
		{"items of 429 without retries are rejected", every(10, 429), never, Documents{Added: 100, Acknowledged: 90, Rejected: 10}, "429 type_of_429 10", "", 90},
		{"a request of 429 is sent again", status(429, 1), one, Documents{Added: 100, Acknowledged: 100, Retried: 100}, "429 rejected_execution_exception 100", "", 100},
		{"a request of 429 to the end is rejected", status(429, 9), once, Documents{Added: 100, Rejected: 100, Retried: 100}, "429 rejected_execution_exception 200", "", 0},
		{"a request of 503 to the end has failed", status(503, 9), once, Documents{Added: 100, Failed: 100, Retried: 100}, "503 rejected_execution_exception 200", "", 0},
		{"a gateway's time-out says nothing of what is behind it", status(504, 1), one, Documents{Added: 100, Uncertain: 100}, "504 rejected_execution_exception 100", "", 0},
		{"a request of 403 ends the load", status(403, 9), func(c *Config) { one(c); c.Bulk.Documents = 10_000 }, Documents{Added: 100, Failed: 100}, "403 rejected_execution_exception 100", "403", 0},
		{"a static reply acknowledges nothing", text(mockReply), one, Documents{Added: 100, Uncertain: 100}, "200 no item 100", "", 0},
		{"an empty object neither", text(`{}`), one, Documents{Added: 100, Uncertain: 100}, "200 no item 100", "", 0},
		{"a reply that breaks off", text(`{"errors":false,"items":[{"index":{"status":201}},{"ind`), one, Documents{Added: 100, Uncertain: 100}, "0 reply 100", "", 0},
		{"a reply that is no JSON", text(`<html>`), one, Documents{Added: 100, Uncertain: 100}, "0 reply 100", "", 0},
		{"too many items", text(string(filteredReply(same(201, 101)))), one, Documents{Added: 100, Uncertain: 100}, "0 reply 100", "", 0},
		{"too few items", text(string(filteredReply(same(201, 60)))), one, Documents{Added: 100, Acknowledged: 60, Uncertain: 40}, "200 no item 40", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, c.answer)
			r := run(t, f.config(c.change))
			if r.Documents != c.want {
				t.Errorf("documents %+v, want %+v", r.Documents, c.want)
			}
			if len(f.stored) != c.stored {
				t.Errorf("%d documents are stored, want %d", len(f.stored), c.stored)
			}
			var refused []string
			for _, f := range r.Refused {
				refused = append(refused, fmt.Sprint(f.Status, " ", f.Type, " ", f.Documents))
			}
			if got := strings.Join(refused, "; "); got != c.refused {
				t.Errorf("refused %q, want %q", got, c.refused)
			}
			if (r.Ended == "") != (c.ended == "") || !strings.Contains(r.Ended, c.ended) {
				t.Errorf("ended %q, want %q", r.Ended, c.ended)
			}
		})
	}
}

func TestLoad_brokenConnectionsAndTimeouts(t *testing.T) {
	t.Run("a connection that breaks before the reply", func(t *testing.T) {
		f := newFake(t, func(n int, w http.ResponseWriter, r *http.Request, documents []string) []int {
			if n == 0 {
				panic(http.ErrAbortHandler)
			}
			return created(n, w, r, documents)
		})
		f.Config.ErrorLog = nil
		r := run(t, f.config(func(c *Config) { c.Workers = 1 }))
		if want := (Documents{Added: 1000, Acknowledged: 900, Uncertain: 100}); r.Documents != want {
			t.Errorf("documents %+v, want %+v", r.Documents, want)
		}
	})
	t.Run("a reply that does not come in time", func(t *testing.T) {
		over := make(chan struct{})
		f := newFake(t, func(n int, w http.ResponseWriter, r *http.Request, documents []string) []int {
			if n == 0 {
				<-over
			}
			return created(n, w, r, documents)
		})
		defer close(over)
		r := run(t, f.config(func(c *Config) { c.Workers, c.TimeoutSeconds = 1, 1 }))
		if want := (Documents{Added: 1000, Acknowledged: 900, Uncertain: 100}); r.Documents != want || r.Refused[0].Type != "timeout" {
			t.Errorf("documents %+v, want %+v; refused %+v", r.Documents, want, r.Refused)
		}
	})
	for retries, ended := range map[int]string{0: " could not be reached: ", 2: " could not be reached 3 times in a row: "} {
		t.Run(fmt.Sprintf("the server goes while the load is under way, %d retries", retries), func(t *testing.T) {
			listeners := make(chan io.Closer, 1)
			f := newFake(t, func(n int, w http.ResponseWriter, r *http.Request, documents []string) []int {
				_ = (<-listeners).Close()
				w.Header().Set("Connection", "close")
				return created(n, w, r, documents)
			})
			listeners <- f.Listener
			l, err := prepare(t.Context(), f.config(func(c *Config) { c.Retries, c.Workers = &retries, 1 }))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			r, err := l.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want := (Documents{Added: 200, Acknowledged: 100, Failed: 100, Retried: 100 * int64(retries)}); r.Documents != want || !strings.Contains(r.Ended, ended) {
				t.Errorf("documents %+v, want %+v; ended %q", r.Documents, want, r.Ended)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		f := newFake(t, created)
		f.Close()
		if _, err := prepare(t.Context(), f.config()); err == nil || !strings.Contains(err.Error(), "connect to") {
			t.Errorf("error %v", err)
		}
	})
}

func TestLoad_interrupted_reportsWhatWasDone(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	f := newFake(t, func(n int, w http.ResponseWriter, r *http.Request, documents []string) []int {
		if n == 4 {
			interrupt()
		}
		return created(n, w, r, documents)
	})
	l, err := prepare(ctx, f.config(func(c *Config) { c.Workers, c.Bulk.Documents = 1, 1_000_000 }))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := l.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if r.Documents.Acknowledged < 500 || r.Documents.Added != r.Documents.Acknowledged || r.Ended != "the load was interrupted" {
		t.Errorf("documents %+v, ended %q: what was on its way is waited for", r.Documents, r.Ended)
	}
}

func TestLoad_durationSeconds_endsInTime(t *testing.T) {
	f := newFake(t, created)
	r := run(t, f.config(func(c *Config) { c.Bulk.Documents, c.Bulk.DurationSeconds = 0, 1 }))
	if r.Seconds() < 0.9 || r.Seconds() > 60 || r.Documents.Acknowledged < 1 || r.Ended != "" {
		t.Errorf("%v s, %+v, ended %q", r.Seconds(), r.Documents, r.Ended)
	}
}

func TestLoad_secondRun_sendsOtherDocuments(t *testing.T) {
	f := newFake(t, created)
	l, err := prepare(t.Context(), f.config(func(c *Config) { c.Bulk.Dataset = documents.OTelLogs }))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 2 {
		if r, err := l.Run(t.Context()); err != nil || r.Documents.Acknowledged != 1000 {
			t.Fatalf("documents %+v, %v", r.Documents, err)
		}
	}
	spans := map[any]bool{}
	for _, d := range documentsOf(t, f.stored) {
		spans[d["spanId"]] = true
	}
	if len(spans) != 2000 {
		t.Errorf("%d spanIds in two runs of 1000 documents", len(spans))
	}
}

func TestPause_doublesUpToLimit(t *testing.T) {
	random := newWorkerRandom(1, 0)
	for n, longest := range []time.Duration{100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000, 10_000, 10_000} {
		longest *= time.Millisecond
		if d := pause(random, n); d < longest/2 || d > longest {
			t.Errorf("pause %d is %s, want %s to %s", n, d, longest/2, longest)
		}
	}
}
