package synthetic_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	opensearchpkg "github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// TestRecords_slowStart_holdCurveRate checks that without noise every record has the curve's docs/s, even if the load starts
// slowly. The window between two document counts excludes the slow start. The rate over the whole load includes it.
func TestRecords_slowStart_holdCurveRate(t *testing.T) {
	c := study(steepClients)
	c.Spec.Sweep.Repetitions = ptr.To[int32](1)
	f := newWorkshop(t).measure(t, opensearch.Machine{Curve: steep, SlowStart: 2 * time.Second}, c)
	seen := 0
	for _, r := range f.records {
		if r.Attempt.Phase != record.Sweep {
			continue
		}
		seen++
		if r.Error != nil {
			t.Errorf("%d clients: %v", r.Attempt.Clients, r.Error)
			continue
		}
		in, want := r.Ingest, steep(int(r.Attempt.Clients))
		if math.Abs(in.DocsPerSecond/want-1) > 0.01 || in.Window != record.WindowCorpus {
			t.Errorf("%d clients: %.1f docs/s (window %s), the machine does %.1f", r.Attempt.Clients, in.DocsPerSecond, in.Window, want)
		}
		if r.Attempt.Clients >= 8 && in.WholeDocsPerSec > 0.98*want {
			t.Errorf("%d clients: %.1f docs/s over the whole load, whose start is slow", r.Attempt.Clients, in.WholeDocsPerSec)
		}
		if in.Count != corpus || in.TotalIndexed != corpus || in.Corpus != corpus || r.Rejections.Total() != 0 {
			t.Errorf("%d clients: %+v, %+v", r.Attempt.Clients, in, r.Rejections)
		}
		// A client without pauses waits for the server almost all the time.
		if u := r.Loader.UtilizationOfTime; u < 0.9 || u > 1.1 {
			t.Errorf("%d clients: utilization %.2f", r.Attempt.Clients, u)
		}
		if r.Driver.Version != osb.Version || r.Nodes[0].Name != opensearch.NodeName {
			t.Errorf("the record does not say that all is fake: %+v, %+v", r.Driver, r.Nodes)
		}
	}
	if seen != len(steepClients) {
		t.Errorf("%d records of a sweep of %d counts", seen, len(steepClients))
	}
}

// TestAdaptiveSweep_findsKneeWithFewerTrials checks that an adaptive sweep of the same machine finds the same knee with fewer
// trials. It must also measure the highest client count.
func TestAdaptiveSweep_findsKneeWithFewerTrials(t *testing.T) {
	c := study(steepClients)
	c.Spec.Sweep.Strategy, c.Spec.Sweep.Repetitions = v1alpha1.SweepAdaptive, nil
	f := newWorkshop(t).measure(t, opensearch.Machine{Curve: steep, LevelCV: 0.01, BulkCV: 0.03, Seed: 3}, c)
	trials, highest := 0, int32(0)
	for _, r := range f.records {
		if r.Attempt.Phase == record.Sweep {
			trials, highest = trials+1, max(highest, r.Attempt.Clients)
		}
	}
	skipped := f.assessment.Cells[0].Skipped
	if f.knee() != 8 || trials >= 2*len(steepClients) || highest != steepClients[len(steepClients)-1] || len(skipped) == 0 {
		t.Errorf("knee %d after %d trials, up to %d clients, without %v", f.knee(), trials, highest, skipped)
	}
}

// TestRecords_rejectedDocuments_areCounted checks that rejected documents are counted, and that no other documents are missing.
func TestRecords_rejectedDocuments_areCounted(t *testing.T) {
	c := study(steepClients)
	c.Spec.Sweep.Repetitions, c.Spec.Sweep.Clients = ptr.To[int32](1), []int32{4, 24}
	f := newWorkshop(t).measure(t, opensearch.Machine{Curve: steep, RejectAbove: 16, RejectShare: 0.2, Seed: 1}, c)
	for _, r := range f.records {
		if r.Error != nil {
			t.Fatalf("%d clients: %v", r.Attempt.Clients, r.Error)
		}
		missing := r.Ingest.Corpus - r.Ingest.Count
		if missing != bulkSize*r.Rejections.WritePool || (missing > 0) != (r.Attempt.Clients == 24) {
			t.Errorf("%d clients: %d documents are missing, %d bulks were rejected", r.Attempt.Clients, missing, r.Rejections.WritePool)
		}
	}
	if k := f.knee(); k != 4 {
		t.Errorf("knee %d: the count that rejects is the only other one", k)
	}
}

// TestClient_idle_sendsNoRequests checks that the agent's client sends no requests on its own. They would load the
// cluster during a measurement.
func TestClient_idle_sendsNoRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int64
		fake := opensearch.New(opensearch.Machine{Curve: steep})
		network := opensearch.NewNetwork(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			fake.ServeHTTP(w, r)
		}))
		client, err := opensearchpkg.New(network, "http://synthetic:9200")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Health(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour) // simulated time
		if n := requests.Load(); n != 1 {
			t.Errorf("%d requests within an hour of one call", n)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if err := network.End(); err != nil {
			t.Error(err)
		}
	})
}

// TestFake_overSockets_reportsItIsFake checks that the fake also works over real sockets, and reports that it is a fake.
func TestFake_overSockets_reportsItIsFake(t *testing.T) {
	server := httptest.NewServer(opensearch.New(opensearch.Machine{Curve: steep}))
	defer server.Close()
	client, err := opensearchpkg.New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	infos, err := client.NodeInfos(t.Context())
	if err != nil || len(infos) != 1 || !strings.Contains(infos[0].Version, "synthetic") || !strings.Contains(infos[0].JVM, "no JVM") {
		t.Errorf("%+v, %v", infos, err)
	}
	if err := client.CreateIndex(t.Context(), "x", map[string]any{"settings": map[string]any{"index.number_of_shards": "2"}}); err != nil {
		t.Error(err)
	}
	resp, err := http.Post(server.URL+"/x/_bulk", "application/json", strings.NewReader("{\"index\":{}}\n{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("X-Synthetic") == "" {
		t.Error("its answers do not say that they are a fake's")
	}
	if n, err := client.Count(t.Context(), "x"); n != 1 || err != nil {
		t.Errorf("%d documents after a bulk of one, %v", n, err)
	}
	if made, err := client.ReadIndex(t.Context(), "x"); err != nil || made.Primaries != 2 {
		t.Errorf("%+v, %v", made, err)
	}
	if err := client.DeleteIndex(t.Context(), "x"); err != nil {
		t.Error(err)
	}
	if _, err := client.Count(t.Context(), "x"); !opensearchpkg.NotFound(err) {
		t.Errorf("a deleted index: %v", err)
	}
}
