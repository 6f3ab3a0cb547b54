package measure

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

// TestBlame_clusterThatChanged checks that a change of the cluster explains the failure of a driver, in this loader
// pod or in another one.
func TestBlame_clusterThatChanged(t *testing.T) {
	var started atomic.Int64
	started.Store(100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		now := "100"
		if started.Load() != 100 {
			now = "200"
		}
		_, _ = w.Write([]byte(`{"nodes":{"n":{"name":"a-fake","build_hash":"x","jvm":{"start_time_in_millis":` + now + `}}}}`))
	}))
	defer server.Close()
	client, err := opensearch.New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	target, before := Target{Cluster: client}, Baseline{}
	cause := record.Errorf(record.ReasonDriverFailed, "connection refused")
	if err := target.Blame(t.Context(), before, nil, "load", cause); !errors.Is(err, cause) {
		t.Errorf("before the counters are read: %v", err)
	}
	if before.Infos, err = client.NodeInfos(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := target.Blame(t.Context(), before, nil, "load", cause); !errors.Is(err, cause) {
		t.Errorf("a cluster that is the same: %v", err)
	}
	started.Store(200)
	err = target.Blame(t.Context(), before, nil, "load", cause)
	if record.ReasonOf(err) != record.ReasonClusterChanged || !strings.Contains(err.Error(), "node a-fake restarted during load") || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("a restart: %v", err)
	}
	// The failure of another loader pod ends the context while Blame waits for the cluster's answer.
	ctx, end := context.WithCancelCause(t.Context())
	lost := &record.Error{Reason: record.ReasonDriverHung, Message: "loader pod 2: no sign of life"}
	gone := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		end(lost)
		<-r.Context().Done()
	}))
	defer gone.Close()
	silent, err := opensearch.New(nil, gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	if err := (Target{Cluster: silent}).Blame(ctx, before, nil, "load", cause); record.ReasonOf(err) == record.ReasonClusterChanged {
		t.Errorf("asked as another pod was lost: %v", err)
	}
	for reason, want := range map[string]string{
		record.ReasonRequestsFailed: record.ReasonClusterChanged, // requests of another loader pod failed first
		record.ReasonLoaderLost:     "",                          // the error does not change
	} {
		ctx, end := context.WithCancelCause(t.Context())
		end(&record.Error{Reason: reason, Message: "loader pod 2: what it saw"})
		err = target.Blame(ctx, before, nil, "load", ctx.Err())
		if got := record.ReasonOf(err); got != want || got != "" && !strings.Contains(err.Error(), "loader pod 2: what it saw") {
			t.Errorf("after %s of another pod: %v", reason, err)
		}
	}
}
