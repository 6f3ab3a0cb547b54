package trial

import (
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
