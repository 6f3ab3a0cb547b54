package measure

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/agent/process"
)

// TestRecorder_telemetryHangs_countersContinue checks that a telemetry request that hangs does not delay the readings of the
// counters. The times of these readings determine docs/s.
func TestRecorder_telemetryHangs_countersContinue(t *testing.T) {
	asked, counted := make(chan struct{}, 100), make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/_nodes/stats") {
			asked <- struct{}{}
			<-r.Context().Done()
			return
		}
		select {
		case counted <- struct{}{}:
		default:
		}
		_, _ = io.WriteString(w, `{"_all":{"primaries":{}}}`)
	}))
	defer server.Close()
	client, err := opensearch.New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	w := StartRecorder(Target{Cluster: client, Index: "index", Nodes: 1}, process.OwnMachine())
	defer w.Stop()
	deadline := time.After(vitalTimeout) // shorter than the call that hangs
	wait := func(happens <-chan struct{}, what string) {
		t.Helper()
		select {
		case <-happens:
		case <-deadline:
			t.Fatalf("%s within %s", what, vitalTimeout)
		}
	}
	wait(asked, "telemetry was not asked for")
	for len(counted) > 0 {
		<-counted
	}
	for range 5 {
		wait(counted, "the counters wait for the telemetry: no 5 readings")
	}
	stopped := make(chan struct{})
	go func() { w.Stop(); close(stopped) }()
	wait(stopped, "the watch did not stop")
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
