package synthetic_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/contract"
)

// ask sends a request to a real OpenSearch, independently of the trial, and returns the status.
func ask(t *testing.T, method, url string, out any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	if out != nil {
		_ = json.NewDecoder(resp.Body).Decode(out)
	}
	return resp.StatusCode
}

// TestBulkTrial_realDataStream_leavesNothingBehind runs a trial of the bulk driver that fills a data stream of a real OpenSearch. The stream
// rolls over during the load. With two nodes it has replicas and segment replication. The trial must leave nothing
// behind. A second trial has an ISM policy. If the cluster has no ISM plugin, the record must say so.
func TestBulkTrial_realDataStream_leavesNothingBehind(t *testing.T) {
	endpoint := contract.Cluster(t)
	var health struct {
		Nodes int32 `json:"number_of_data_nodes"`
	}
	ask(t, http.MethodGet, endpoint+"/_cluster/health", &health)
	const stream, documents = "knee-test-logs", 20_000
	trialOf := func() *bulkTrial {
		b := newBulkTrial(t, endpoint, v1alpha1.Bulk{Dataset: v1alpha1.DatasetOTelLogs, Documents: ptr.To[int64](documents), FlushDocuments: ptr.To[int32](500)})
		b.config.Nodes, b.config.External, b.config.Probes, b.config.DeadlineSeconds = health.Nodes, &record.External{AllowIndexDeletion: true}, nil, 300
		b.config.Index = record.IndexConfig{Name: stream, DataStream: true, Primaries: 2, Replicas: min(health.Nodes-1, 1), RefreshInterval: "20s", Replication: "SEGMENT"}
		return b
	}
	left := func() {
		t.Helper()
		for _, path := range []string{"/" + stream, "/_index_template/knee-" + stream, "/_template/knee-" + stream} {
			if status := ask(t, http.MethodGet, endpoint+path, nil); status != http.StatusNotFound {
				t.Errorf("%s is left: status %d", path, status)
			}
		}
	}
	b := trialOf()
	rolled := make(chan int)
	go func() { // rolls over as soon as there are documents
		var stats struct {
			All struct {
				Primaries struct {
					Indexing struct {
						Total int64 `json:"index_total"`
					} `json:"indexing"`
				} `json:"primaries"`
			} `json:"_all"`
		}
		deadline := time.Now().Add(4 * time.Minute)
		for stats.All.Primaries.Indexing.Total < documents/10 && time.Now().Before(deadline) {
			<-time.After(50 * time.Millisecond)
			ask(t, http.MethodGet, endpoint+"/"+stream+"/_stats/indexing", &stats)
		}
		rolled <- ask(t, http.MethodPost, endpoint+"/"+stream+"/_rollover", nil)
	}()
	r := b.run(t)
	if status := <-rolled; status != http.StatusOK {
		t.Errorf("the rollover: status %d", status)
	}
	if r.Error != nil || r.Ingest == nil || r.Ingest.Count != documents || r.Ingest.Primaries != 2 || r.Ingest.RefreshInterval != "20s" {
		t.Errorf("%+v, %+v\n%s", r.Error, r.Ingest, b.output.String())
	} else {
		t.Logf("%.0f docs/s on %d nodes", r.Ingest.DocsPerSecond, health.Nodes)
	}
	left()
	b = trialOf()
	b.config.Index.ISMPolicyFile = filepath.Join(t.TempDir(), "policy.json")
	if err := os.WriteFile(b.config.Index.ISMPolicyFile, []byte(`{"policy": {"description": "none", "default_state": "hot", "states": [{"name": "hot", "actions": [], "transitions": []}]}}`), 0o444); err != nil {
		t.Fatal(err)
	}
	r = b.run(t)
	if status := ask(t, http.MethodGet, endpoint+"/_plugins/_ism/policies", nil); status == http.StatusOK {
		if r.Error != nil {
			t.Errorf("%+v", r.Error)
		}
	} else if r.Error == nil || r.Error.Reason != record.ReasonPluginMissing || !strings.Contains(r.Error.Message, "opensearch-index-management") ||
		!strings.Contains(r.Error.Message, "spec.topologies[].ismPolicyFrom") || !strings.Contains(r.Error.Message, "no handler found for uri") {
		t.Errorf("%+v", r.Error)
	} else {
		t.Log(r.Error.Message)
	}
	left()
}
