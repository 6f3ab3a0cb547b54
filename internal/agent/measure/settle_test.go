package measure

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/agent/probe"
	"github.com/knee-bench/knee/internal/record"
)

// restless is a FAKE of OpenSearch and of the probe. Its fields set the activity that OpenSearch and the probe report.
type restless struct {
	health  string
	merges  int64
	indexed func(call int64) int64
	busy    float64
	dirty   int64
	calls   atomic.Int64
}

func (f *restless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/_cluster/health":
		_, _ = io.WriteString(w, `{"status":"`+f.health+`","number_of_nodes":1}`)
	case "/_nodes/stats":
		answer := map[string]any{"nodes": map[string]any{"id": map[string]any{"name": "n1", "indices": map[string]any{
			"indexing": map[string]any{"index_total": f.indexed(f.calls.Add(1))}, "merges": map[string]any{"current": f.merges}}}}}
		_ = json.NewEncoder(w).Encode(answer)
	case "/v1/now":
		_ = json.NewEncoder(w).Encode(probe.Now{BusyPercent: f.busy, DirtyBytes: f.dirty})
	default:
		http.NotFound(w, r)
	}
}

func TestSettle(t *testing.T) {
	constant := func(int64) int64 { return 100 }
	for name, c := range map[string]struct {
		fake *restless
		note string // empty: nothing is active when the wait ends
	}{
		"at rest":            {&restless{health: "green", indexed: constant}, ""},
		"indexing continues": {&restless{health: "green", indexed: func(n int64) int64 { return n }}, "an OpenSearch node indexed documents 0.0 s ago"},
		"a merge runs":       {&restless{health: "green", indexed: constant, merges: 2}, "OpenSearch node n1 runs 2 merges"},
		"a replica is away":  {&restless{health: "yellow", indexed: constant}, "health yellow"},
		"the machine is hot": {&restless{health: "green", indexed: constant, busy: 80}, "the machine of OpenSearch node n1 is 80 % busy"},
		"pages are dirty":    {&restless{health: "green", indexed: constant, dirty: 500 << 20}, "500 MiB of dirty pages"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.fake)
			defer server.Close()
			client, err := opensearch.New(nil, server.URL)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Close() })
			target := Target{Cluster: client, HTTP: server.Client(), Say: t.Logf, Probes: []record.Probe{{Node: "n1", URL: server.URL}}}
			limit := 30 * time.Second
			if c.note != "" {
				limit = time.Second
			}
			s, err := target.Settle(t.Context(), limit)
			if err != nil {
				t.Fatal(err)
			}
			if c.note == "" && (s.Note != "" || s.Seconds < flatFor.Seconds()) || !strings.Contains(s.Note, c.note) {
				t.Errorf("%+v, want a note of %q", s, c.note)
			}
		})
	}
}
