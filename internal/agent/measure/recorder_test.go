package measure

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/agent/process"
	opensearchfake "github.com/knee-bench/knee/test/synthetic/opensearch"
)

// TestRecorder_telemetryHangs_countersContinue checks that a telemetry request that hangs does not delay the readings of the
// counters. The times of these readings determine docs/s.
func TestRecorder_telemetryHangs_countersContinue(t *testing.T) {
	synctest.Test(t, countDuringTelemetry)
}

func countDuringTelemetry(t *testing.T) {
	asked := make(chan struct{}, 100)
	var counted atomic.Int64
	network := opensearchfake.NewNetwork(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/_nodes/stats") {
			asked <- struct{}{}
			<-r.Context().Done()
			return
		}
		counted.Add(1)
		_, _ = io.WriteString(w, `{"_all":{"primaries":{}}}`)
	}))
	client, err := opensearch.New(network, "http://fake:9200")
	if err != nil {
		t.Fatal(err)
	}
	w := StartRecorder(Target{Cluster: client, Index: "index", Nodes: 1}, process.OwnMachine())
	<-asked
	before := counted.Load()
	time.Sleep(vitalTimeout - time.Millisecond) // simulated time; the telemetry request still hangs
	if n := counted.Load() - before; n < 5 {
		t.Errorf("%d readings of the counters while a telemetry request hung for %s", n, vitalTimeout)
	}
	began := time.Now()
	w.Stop()
	if took := time.Since(began); took > 0 {
		t.Errorf("the recorder stopped after %s", took)
	}
	if err := errors.Join(client.Close(), network.End()); err != nil {
		t.Error(err)
	}
}

// TestNoteShards_lateAssignment_isNotAMove checks a primary that is not assigned yet when the first documents
// arrive. Its later assignment does not count as a move.
func TestNoteShards_lateAssignment_isNotAMove(t *testing.T) {
	const table = `{"routing_table":{"indices":{"i":{"shards":{"0":[{"primary":true,"node":"n","allocation_id":{"id":"a"}}],"1":[%s]}}}}}`
	late := `{"primary":true,"node":null}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, table, late) }))
	defer server.Close()
	client, err := opensearch.New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	w := &Recorder{target: Target{Cluster: client, Index: "i"}}
	w.noteShards(t.Context())
	late = `{"primary":true,"node":"n","allocation_id":{"id":"b"}}`
	w.noteShards(t.Context())
	after, err := client.Allocations(t.Context(), "i")
	if err != nil {
		t.Fatal(err)
	}
	if why := MovedShards(w.seen.Shards, after); why != "" {
		t.Error(why)
	}
	late = `{"primary":true,"node":"n","allocation_id":{"id":"c"}}`
	w.noteShards(t.Context())
	if after, err = client.Allocations(t.Context(), "i"); err != nil {
		t.Fatal(err)
	}
	if why := MovedShards(w.seen.Shards, after); why != "primary shard i/1 moved during the load" {
		t.Errorf("%q", why)
	}
}

func TestRecorder_LastProgress(t *testing.T) {
	at := time.Now()
	for name, c := range map[string]struct{ document, merge, want time.Time }{
		"nothing":          {},
		"a document":       {document: at, want: at},
		"a merge":          {merge: at, want: at},
		"a later merge":    {document: at, merge: at.Add(time.Second), want: at.Add(time.Second)},
		"an earlier merge": {document: at.Add(time.Second), merge: at, want: at.Add(time.Second)},
	} {
		r := &Recorder{changed: c.document, seen: Recording{Merging: c.merge}}
		if got := r.LastProgress(); !got.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestRecorder_Silence(t *testing.T) {
	r := &Recorder{lastAt: time.Now().Add(-time.Minute)}
	if got := r.Silence(); got != 0 {
		t.Errorf("before the first document: %s", got)
	}
	r.seen.Last.Total = 1
	if got := r.Silence(); got < time.Minute {
		t.Errorf("a minute after the last reading: %s", got)
	}
}

func TestRecorder_add(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	w := &Recorder{}
	w.add(at(0), opensearch.Indexing{})
	w.add(at(1), opensearch.Indexing{ShardsFailed: 1}) // before the first document, while the index is being created
	w.add(at(2), opensearch.Indexing{Total: 100, Merges: 1})
	w.add(at(3), opensearch.Indexing{Total: 100})
	if w.seen.Problem != "" || len(w.seen.Samples) != 3 || !w.changed.Equal(at(2)) || !w.seen.Merging.Equal(at(2)) || !w.lastAt.Equal(at(3)) {
		t.Errorf("%+v", w.seen)
	}
	w.add(at(4), opensearch.Indexing{Total: 90})
	w.add(at(5), opensearch.Indexing{Total: 120, ShardsFailed: 2})
	if !strings.Contains(w.seen.Problem, "went down from 100 to 90") || len(w.seen.Samples) != 3 {
		t.Errorf("%q, %d samples", w.seen.Problem, len(w.seen.Samples))
	}
	failed := &Recorder{}
	failed.add(at(0), opensearch.Indexing{Total: 1})
	failed.add(at(1), opensearch.Indexing{Total: 1, ShardsFailed: 2})
	if !strings.Contains(failed.seen.Problem, "2 shards of the index did not report") {
		t.Errorf("%q", failed.seen.Problem)
	}
}

func TestInterval(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for seconds, want := range map[int]time.Duration{0: fastest, 4: fastest, 20: 400 * time.Millisecond, 50: time.Second, 5000: time.Second} {
		if got := interval(start, start.Add(time.Duration(seconds)*time.Second)); got != want {
			t.Errorf("after %d s every %s, want %s", seconds, got, want)
		}
	}
	if got := interval(time.Time{}, start); got != fastest {
		t.Errorf("before the first document every %s", got)
	}
}
