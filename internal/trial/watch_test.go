package trial

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/trial/cluster"
)

// Telemetry that hangs must not keep the readings waiting by which docs/s are dated.
func TestCountersDoNotWaitForTelemetry(t *testing.T) {
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
	client, err := cluster.New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	w := startWatch(client, "index", 1, machine{})
	defer w.stop()
	deadline := time.After(vitalTimeout) // the call that hangs lasts longer than all of this
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
	go func() { w.stop(); close(stopped) }()
	wait(stopped, "the watch did not stop")
}

// A primary that is not assigned yet as the first documents come has not moved when it is.
func TestShardsAreNotedOnceAllPrimariesAreAssigned(t *testing.T) {
	const table = `{"routing_table":{"indices":{"i":{"shards":{"0":[{"primary":true,"node":"n","allocation_id":{"id":"a"}}],"1":[%s]}}}}}`
	late := `{"primary":true,"node":null}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, table, late) }))
	defer server.Close()
	client, err := cluster.New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	w := &watch{cluster: client, index: "i"}
	w.noteShards(t.Context())
	late = `{"primary":true,"node":"n","allocation_id":{"id":"b"}}`
	w.noteShards(t.Context())
	after, err := client.Allocations(t.Context(), "i")
	if err != nil {
		t.Fatal(err)
	}
	if why := movedShards(w.shards, after); why != "" {
		t.Error(why)
	}
	late = `{"primary":true,"node":"n","allocation_id":{"id":"c"}}`
	w.noteShards(t.Context())
	if after, err = client.Allocations(t.Context(), "i"); err != nil {
		t.Fatal(err)
	}
	if why := movedShards(w.shards, after); why != "primary i/1 moved during the load" {
		t.Errorf("%q", why)
	}
}
