package opensearch

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/test/contract"
)

func realCluster(t *testing.T) (*Client, string) {
	t.Helper()
	endpoint := contract.Cluster(t)
	c, err := New(nil, endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, endpoint
}

// send creates documents in a data stream. It fails if OpenSearch reports errors.
func send(t *testing.T, endpoint, stream string, documents int) {
	t.Helper()
	body := strings.Repeat(`{"create":{}}`+"\n"+`{"time":"2026-01-02T03:04:05.678Z","body":"a line of a log","resource":{"a":{"b":"c"}}}`+"\n", documents)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint+"/"+stream+"/_bulk?filter_path=errors", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text := make([]byte, 100)
	n, _ := resp.Body.Read(text)
	if string(text[:n]) != `{"errors":false}` {
		t.Fatalf("status %d: %s", resp.StatusCode, text[:n])
	}
}

func eventually(t *testing.T, what string, check func(context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		ok, err := check(ctx)
		if ok && err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %t, %v", what, ok, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestDataStream_realCluster creates a data stream in a real OpenSearch, fills it, rolls it over, fills it again, counts its
// documents and deletes it. If there is a second node, replicas copy segments.
func TestDataStream_realCluster(t *testing.T) {
	c, endpoint := realCluster(t)
	const stream = "knee-test-stream"
	health, err := c.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	topology := Topology{Primaries: 3, Replicas: min(health.Nodes-1, 1), RefreshInterval: "20s", Replication: "SEGMENT"}
	template, err := StreamTemplate([]byte(`{"data_stream": {"timestamp_field": {"name": "time"}}, "settings": {"number_of_shards": 1}, "mappings": {"dynamic": false,
	 "properties": {"time": {"type": "date", "format": "date_time"}, "body": {"type": "text"}, "resource": {"type": "flat_object"}}}}`), stream, topology)
	if err != nil {
		t.Fatal(err)
	}
	gone := func() {
		for _, err := range []error{c.DeleteDataStream(context.Background(), stream), c.DeleteStreamTemplate(context.Background(), stream)} {
			if err != nil {
				t.Error(err)
			}
		}
	}
	gone() // deletes the stream of an earlier run, if there is one
	t.Cleanup(gone)
	for _, err := range []error{c.PutStreamTemplate(t.Context(), stream, template), c.CreateDataStream(t.Context(), stream)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	green := func(ctx context.Context) (bool, error) {
		h, err := c.IndexHealth(ctx, stream)
		return h.Status == "green", err
	}
	eventually(t, "green", green)
	send(t, endpoint, stream, 500)
	before, err := c.Allocations(t.Context(), stream)
	if err != nil || len(before.Primaries) != 3 || len(before.Replicas) != 3*int(topology.Replicas) || !before.Assigned() {
		t.Errorf("%+v, %v", before, err)
	}
	if err := c.call(t.Context(), http.MethodPost, "/"+stream+"/_rollover", nil, nil); err != nil {
		t.Fatal(err)
	}
	send(t, endpoint, stream, 700)
	eventually(t, "green after the rollover", green)
	if h, err := c.IndexHealth(t.Context(), stream); err != nil || len(h.Indices) != 2 || h.Indices[".ds-"+stream+"-000002"].Status != "green" {
		t.Errorf("%+v, %v", h, err)
	}
	after, err := c.Allocations(t.Context(), stream)
	if err != nil || len(after.Primaries) != 6 {
		t.Errorf("%+v, %v", after, err)
	}
	for shard, at := range before.Primaries {
		if after.Primaries[shard] != at {
			t.Errorf("%s moved by the rollover", shard)
		}
	}
	if err := c.Refresh(t.Context(), stream); err != nil {
		t.Error(err)
	}
	// Count immediately after the refresh: a replica may not have the segments yet.
	if count, err := c.Count(t.Context(), stream); err != nil || count != 1200 {
		t.Errorf("%d documents, %v", count, err)
	}
	if s, err := c.IndexState(t.Context(), stream); err != nil || s.Total != 1200 || s.Failed != 0 || s.ShardsFailed != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if w, err := c.IndexWork(t.Context(), stream); err != nil || w.Segments == 0 {
		t.Errorf("%+v, %v", w, err)
	}
	made, err := c.ReadIndex(t.Context(), stream)
	if err != nil || made.Primaries != 3 || made.Replicas != topology.Replicas || made.RefreshInterval != "20s" || made.Replication != "SEGMENT" {
		t.Errorf("%+v, %v", made, err)
	}
	if is, err := c.IsDataStream(t.Context(), stream); err != nil || !is {
		t.Errorf("a data stream: %t, %v", is, err)
	}
	if err := c.DeleteDataStream(t.Context(), stream); err != nil {
		t.Error(err)
	}
	eventually(t, "gone", func(ctx context.Context) (bool, error) {
		there, err := c.IndexExists(ctx, stream)
		return !there, err
	})
}

// TestDeleteDataStream_nameOfRealIndex_keepsIndex checks that DeleteDataStream with the name of an index does not delete the index and
// returns no error.
func TestDeleteDataStream_nameOfRealIndex_keepsIndex(t *testing.T) {
	c, _ := realCluster(t)
	const name = "knee-test-index"
	t.Cleanup(func() { _ = c.DeleteIndex(context.Background(), name) })
	body, err := IndexBody([]byte(`{}`), Topology{Primaries: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{c.DeleteIndex(t.Context(), name), c.CreateIndex(t.Context(), name, body), c.DeleteDataStream(t.Context(), name)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if is, err := c.IsDataStream(t.Context(), name); err != nil || is {
		t.Errorf("an index is a data stream: %t, %v", is, err)
	}
	if there, err := c.IndexExists(t.Context(), name); err != nil || !there {
		t.Errorf("the index is there: %t, %v", there, err)
	}
	if made, err := c.ReadIndex(t.Context(), name); err != nil || made.Replication != "DOCUMENT" {
		t.Errorf("%+v, %v", made, err)
	}
}

// TestPolicy_realCluster puts, replaces and deletes a policy in a cluster with the plugin. In a cluster without the plugin,
// LacksPlugin must recognise OpenSearch's error message.
func TestPolicy_realCluster(t *testing.T) {
	c, endpoint := realCluster(t)
	const name = "knee-test-policy"
	policy, err := Policy([]byte(`{"description": "a test's", "default_state": "hot", "states": [{"name": "hot", "actions": [{"rollover": {"min_primary_shard_size": "50gb"}}], "transitions": []}]}`), name)
	if err != nil {
		t.Fatal(err)
	}
	err = c.PutPolicy(t.Context(), name, policy)
	if LacksPlugin(err) {
		if !strings.Contains(err.Error(), fmt.Sprintf("no handler found for uri [%s]", policyPath(name))) {
			t.Errorf("%v", err)
		}
		t.Logf("%s has no index-management plugin: %v", endpoint, err)
	} else if err != nil {
		t.Fatal(err)
	} else if err := c.PutPolicy(t.Context(), name, policy); err != nil {
		t.Errorf("replacing it: %v", err)
	}
	if err := c.DeletePolicy(t.Context(), name); err != nil {
		t.Error(err)
	}
}
