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
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
	"github.com/knee-bench/knee/test/synthetic/opensearch"
	"github.com/knee-bench/knee/test/synthetic/osb"
)

// Without noise every record holds the curve's docs/s, also where the load starts slowly: the window between two
// document counts leaves that out, while the figure over the whole load does not.
func TestRecordsHoldTheCurve(t *testing.T) {
	c := study(steepClients)
	c.Spec.Sweep.Repetitions = ptr.To[int32](1)
	f := newWorkshop(t).measure(t, opensearch.Machine{Curve: steep, SlowStart: 2 * time.Second}, c)
	seen := 0
	for _, r := range f.records {
		if r.Trial.Phase != record.Sweep {
			continue
		}
		seen++
		if r.Error != nil {
			t.Errorf("%d clients: %v", r.Trial.Clients, r.Error)
			continue
		}
		in, want := r.Ingest, steep(int(r.Trial.Clients))
		if math.Abs(in.DocsPerSecond/want-1) > 0.01 || in.Window != record.WindowCorpus {
			t.Errorf("%d clients: %.1f docs/s (window %s), the machine does %.1f", r.Trial.Clients, in.DocsPerSecond, in.Window, want)
		}
		if r.Trial.Clients >= 8 && in.WholeDocsPerSec > 0.98*want {
			t.Errorf("%d clients: %.1f docs/s over the whole load, whose start is slow", r.Trial.Clients, in.WholeDocsPerSec)
		}
		if in.Count != corpus || in.TotalIndexed != corpus || in.Corpus != corpus || r.Rejections.Total() != 0 {
			t.Errorf("%d clients: %+v, %+v", r.Trial.Clients, in, r.Rejections)
		}
		// A closed loop without think time waits for the server all the time.
		if u := r.Loader.UtilizationOfTime; u < 0.9 || u > 1.1 {
			t.Errorf("%d clients: utilization %.2f", r.Trial.Clients, u)
		}
		if r.Driver.Version != osb.Version || r.Nodes[0].Name != opensearch.NodeName {
			t.Errorf("the record does not say that all is fake: %+v, %+v", r.Driver, r.Nodes)
		}
	}
	if seen != len(steepClients) {
		t.Errorf("%d records of a sweep of %d counts", seen, len(steepClients))
	}
}

// An adaptive sweep of the same machine comes to the same knee with fewer trials, and always measures the highest count.
func TestAdaptiveSweepFindsTheKnee(t *testing.T) {
	c := study(steepClients)
	c.Spec.Sweep.Strategy, c.Spec.Sweep.Repetitions = v1alpha1.SweepAdaptive, nil
	f := newWorkshop(t).measure(t, opensearch.Machine{Curve: steep, LevelCV: 0.01, BulkCV: 0.03, Seed: 3}, c)
	trials, highest := 0, int32(0)
	for _, r := range f.records {
		if r.Trial.Phase == record.Sweep {
			trials, highest = trials+1, max(highest, r.Trial.Clients)
		}
	}
	skipped := f.assessment.Cells[0].Skipped
	if f.knee() != 8 || trials >= 2*len(steepClients) || highest != steepClients[len(steepClients)-1] || len(skipped) == 0 {
		t.Errorf("knee %d after %d trials, up to %d clients, without %v", f.knee(), trials, highest, skipped)
	}
}

// What is rejected is counted, and only that is missing.
func TestRejectionsAreCounted(t *testing.T) {
	c := study(steepClients)
	c.Spec.Sweep.Repetitions, c.Spec.Sweep.Clients = ptr.To[int32](1), []int32{4, 24}
	f := newWorkshop(t).measure(t, opensearch.Machine{Curve: steep, RejectAbove: 16, RejectShare: 0.2, Seed: 1}, c)
	for _, r := range f.records {
		if r.Error != nil {
			t.Fatalf("%d clients: %v", r.Trial.Clients, r.Error)
		}
		missing := r.Ingest.Corpus - r.Ingest.Count
		if missing != bulkSize*r.Rejections.WritePool || (missing > 0) != (r.Trial.Clients == 24) {
			t.Errorf("%d clients: %d documents are missing, %d bulks were rejected", r.Trial.Clients, missing, r.Rejections.WritePool)
		}
	}
	if k := f.knee(); k != 4 {
		t.Errorf("knee %d: the count that rejects is the only other one", k)
	}
}

// The agent's client must not work the cluster by itself while a load is measured.
func TestTheClientAsksNothingByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int64
		fake := opensearch.New(opensearch.Machine{Curve: steep})
		network := opensearch.NewNetwork(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			fake.ServeHTTP(w, r)
		}))
		client, err := cluster.New(network, "http://synthetic:9200")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Health(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour) // of a clock that waits for nothing real
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

// Over a machine's own network it is the same server, and says that it is none.
func TestItSaysThatItIsAFake(t *testing.T) {
	server := httptest.NewServer(opensearch.New(opensearch.Machine{Curve: steep}))
	defer server.Close()
	client, err := cluster.New(nil, server.URL)
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
	if _, err := client.Count(t.Context(), "x"); !cluster.NotFound(err) {
		t.Errorf("a deleted index: %v", err)
	}
}
