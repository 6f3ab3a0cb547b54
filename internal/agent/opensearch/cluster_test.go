package opensearch

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// fakeCluster returns a client of a FAKE cluster. answers maps method and path to the body of the reply, already
// reduced by filter_path. The replies come from a real OpenSearch unless a test states otherwise.
func fakeCluster(t *testing.T, answers map[string]string) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.Method+" "+r.URL.Path]
		if !known {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":{"type":"index_not_found_exception","reason":"no such index [x]"},"status":404}`))
			return
		}
		if strings.HasPrefix(answer, "testdata/") {
			data, err := os.ReadFile(answer)
			if err != nil {
				t.Error(err)
			}
			answer = string(data)
		}
		if strings.Contains(answer, `"status":4`) {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	c, err := New(nil, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestNodes(t *testing.T) {
	for file, want := range map[string]Node{
		"pressure.after": {ID: "PXskz3BjSwOCYZPYvaQYvw", Name: "node-1", Indexed: 40000, HeapUsed: 225443840, GCCount: 33, GCMillis: 260, MemoryRejected: 16, HasAdmission: true},
		"queue.after":    {Name: "node-1", WriteRejected: 193},
	} {
		c := fakeCluster(t, map[string]string{"GET /_nodes/stats": "testdata/" + file + ".json"})
		nodes, missing, err := c.Nodes(t.Context())
		if err != nil || missing != 0 || len(nodes) != 1 {
			t.Fatalf("%s: %v, %d missing, %v", file, nodes, missing, err)
		}
		if want.ID == "" {
			nodes[0] = Node{Name: nodes[0].Name, WriteRejected: nodes[0].WriteRejected}
		}
		if nodes[0] != want {
			t.Errorf("%s: %+v, want %+v", file, nodes[0], want)
		}
	}
}

// TestNodes_rejectionsOutsideWritePool_areCounted checks rejections by other counters than the write pool. The reply for admission control
// follows the documentation, because the real OpenSearch could not be made to reject in this way. Node a is
// OpenSearch 3.1.0 after three bulks above the limits of shard indexing pressure: it counted each refusal in two
// counters.
func TestNodes_rejectionsOutsideWritePool_areCounted(t *testing.T) {
	c := fakeCluster(t, map[string]string{"GET /_nodes/stats": `{"_nodes":{"failed":1},"nodes":{
	 "b":{"name":"n2","segment_replication_backpressure":{"total_rejected_requests":5},"breakers":{"parent":{"tripped":2},"in_flight_requests":{"tripped":1}},"admission_control":{"global_cpu_usage":{"transport":{"rejection_count":{"indexing":4,"search":3}}},"global_io_usage":{"transport":{"rejection_count":{"indexing":1}}}}},
	 "a":{"name":"n1","indexing_pressure":{"memory":{"total":{"coordinating_rejections":3,"primary_rejections":0,"replica_rejections":0}}},"shard_indexing_pressure":{"stats":{},"total_rejections_breakup":{"node_limits":3,"no_successful_request_limits":0,"throughput_degradation_limits":0},"enabled":true,"enforced":true}},
	 "d":{"name":"n4","shard_indexing_pressure":{"total_rejections_breakup":{"node_limits":4,"no_successful_request_limits":3,"throughput_degradation_limits":1}}},
	 "c":{"name":"n3","shard_indexing_pressure":{"stats":{},"total_rejections_breakup_shadow_mode":{"node_limits":0,"no_successful_request_limits":9,"throughput_degradation_limits":0},"enabled":true,"enforced":false}}}}`})
	nodes, missing, err := c.Nodes(t.Context())
	if err != nil || missing != 1 {
		t.Fatalf("%d missing, %v", missing, err)
	}
	want := []Node{{ID: "a", Name: "n1", MemoryRejected: 3, ShardRejected: 3}, {ID: "b", Name: "n2", AdmissionRejected: 8, BreakersTripped: 3, ReplicationRejected: 5, HasAdmission: true, HasReplication: true}, {ID: "c", Name: "n3"}, {ID: "d", Name: "n4", ShardRejected: 8}}
	if !reflect.DeepEqual(nodes, want) {
		t.Errorf("%+v, want %+v", nodes, want)
	}
}

func TestNodeInfos(t *testing.T) {
	c := fakeCluster(t, map[string]string{
		"GET /_nodes/os,process,jvm": "testdata/nodes_info.json",
		"GET /_nodes/stats/process":  `{"nodes":{"pRyxzcbyTYms7wPRF3f74A":{"process":{"max_file_descriptors":20000}}}}`,
	})
	infos, err := c.NodeInfos(t.Context())
	want := []NodeInfo{{ID: "pRyxzcbyTYms7wPRF3f74A", Name: "node-1", Version: "3.1.0 8ff7c6ee924a", JVM: "Eclipse Adoptium 25.0.3+9-LTS",
		Started: 1795212132254, HeapMax: 1 << 30, Processors: 2, MaxFiles: 20000, Arch: "amd64", OS: "Debian GNU/Linux 12 (bookworm)"}}
	if err != nil || !reflect.DeepEqual(infos, want) {
		t.Errorf("%+v, %v, want %+v", infos, err, want)
	}
	if goArch("aarch64") != "arm64" || goArch("x86_64") != "amd64" {
		t.Error("architectures have other names")
	}
}

func TestIndexState(t *testing.T) {
	c := fakeCluster(t, map[string]string{"GET /nyc_taxis/_stats/indexing,merge,store": "testdata/index_stats.json"})
	s, err := c.IndexState(t.Context(), "nyc_taxis")
	if err != nil || s.Total != 928000 || s.Bytes != 207557808 || s.ShardsFailed != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := c.IndexState(t.Context(), "x"); !NotFound(err) || !strings.Contains(err.Error(), "no such index") {
		t.Errorf("a missing index: %v", err)
	}
	if there, err := c.IndexExists(t.Context(), "x"); there || err != nil {
		t.Errorf("a missing index is there: %t, %v", there, err)
	}
	if err := c.DeleteIndex(t.Context(), "x"); err != nil {
		t.Errorf("deleting a missing index: %v", err)
	}
}

func TestClient_apiError_quotesReason(t *testing.T) {
	c := fakeCluster(t, map[string]string{"PUT /x": `{"error":{"type":"mapper_parsing_exception","reason":"Failed to parse mapping","caused_by":{"reason":"No handler for type [keyw]"}},"status":400}`})
	err := c.CreateIndex(t.Context(), "x", map[string]any{})
	if err == nil || !strings.Contains(err.Error(), "PUT /x: status 400: mapper_parsing_exception: Failed to parse mapping: No handler for type [keyw]") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	refused, err := New(nil, "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = refused.Close() })
	if _, err := refused.Health(ctx); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("nobody there: %v", err)
	}
	if _, err := New(nil, "127.0.0.1:9200"); err == nil {
		t.Error("an endpoint that is no URL was taken")
	}
}

// TestAnswers checks which statuses count as an answer of OpenSearch. Statuses such as 403 count, because OpenSearch
// itself refused the request. The statuses 502 to 504 do not count, because a load balancer that finds no node sends
// them.
func TestAnswers(t *testing.T) {
	for status, answers := range map[int]bool{200: true, 400: true, 401: true, 403: true, 502: false, 503: false, 504: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		c, err := New(nil, server.URL)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if err := c.Answers(t.Context()); (err == nil) != answers {
			t.Errorf("%d: %v", status, err)
		}
		server.Close()
		if err := c.Answers(t.Context()); err == nil {
			t.Errorf("%d: it answers though it is gone", status)
		}
	}
}

func TestClient_failedShards_returnsError(t *testing.T) {
	c := fakeCluster(t, map[string]string{"POST /x/_refresh": `{"_shards":{"total":6,"successful":5,"failed":1}}`, "GET /x/_count": `{"count":7,"_shards":{"total":6,"successful":5,"failed":1}}`})
	if err := c.Refresh(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "the refresh of index x failed on 1 of 6 shards") {
		t.Errorf("refresh: %v", err)
	}
	if _, err := c.Count(t.Context(), "x"); err == nil {
		t.Error("a count without a shard was taken")
	}
}

func TestIndexBody(t *testing.T) {
	topology := Topology{Primaries: 6, Replicas: 1, RefreshInterval: "30s"}
	ours := map[string]any{"index.number_of_shards": "6", "index.number_of_replicas": "1", "index.refresh_interval": "30s"}
	with := func(more map[string]any) map[string]any {
		out := map[string]any{}
		for _, m := range []map[string]any{ours, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		body string
		want map[string]any
	}{
		"flat":          {`{"settings":{"index.number_of_shards":1,"index.codec":"best_compression"}}`, with(map[string]any{"index.codec": "best_compression"})},
		"nested":        {`{"settings":{"index":{"number_of_shards":1,"requests":{"cache.enable":false}}}}`, with(map[string]any{"index.requests.cache.enable": false})},
		"without index": {`{"settings":{"number_of_replicas":0,"refresh_interval":"1s","auto_expand_replicas":"0-1","sort.field":["a","b"]}}`, with(map[string]any{"index.sort.field": []any{"a", "b"}})},
		"none":          {`{}`, ours},
	} {
		body, err := IndexBody([]byte(c.body), topology)
		if err != nil || !reflect.DeepEqual(body["settings"], c.want) {
			t.Errorf("%s: %v, %v, want %v", name, body["settings"], err, c.want)
		}
	}
	body, err := IndexBody([]byte(`{"mappings":{"properties":{"a":{"type":"keyword"}}},"aliases":{"all":{}}}`), Topology{Primaries: 1})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"aliases":{"all":{}},"mappings":{"properties":{"a":{"type":"keyword"}}},"settings":{"index.number_of_replicas":"0","index.number_of_shards":"1"}}`; string(data) != want {
		t.Errorf("%s, want %s", data, want)
	}
	for _, bad := range []string{`{`, `[]`, `{"settings":[]}`} {
		if _, err := IndexBody([]byte(bad), topology); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestReadIndex(t *testing.T) {
	answer := func(uuid, created string) string {
		return `{"i":{"aliases":{},"mappings":{"dynamic":"strict"},"settings":{"index.creation_date":"` + created + `","index.number_of_replicas":"1","index.number_of_shards":"6","index.provided_name":"i","index.refresh_interval":"30s","index.uuid":"` + uuid + `","index.version.created":"137227827"},"defaults":{"index.refresh_interval":"1s"}}}`
	}
	first, err := fakeCluster(t, map[string]string{"GET /i": answer("u1", "1")}).ReadIndex(t.Context(), "i")
	if err != nil {
		t.Fatal(err)
	}
	again, err := fakeCluster(t, map[string]string{"GET /i": answer("u2", "2")}).ReadIndex(t.Context(), "i")
	if err != nil {
		t.Fatal(err)
	}
	if first.Primaries != 6 || first.Replicas != 1 || first.RefreshInterval != "30s" || first.UUID != "u1" || first.Digest == "" || first.Digest != again.Digest {
		t.Errorf("%+v and %+v", first, again)
	}
	other, err := fakeCluster(t, map[string]string{"GET /i": strings.Replace(answer("u1", "1"), "strict", "true", 1)}).ReadIndex(t.Context(), "i")
	if err != nil || other.Digest == first.Digest {
		t.Errorf("another mapping has the same digest, %v", err)
	}
	if m, err := fakeCluster(t, map[string]string{"GET /alias": answer("u1", "1")}).ReadIndex(t.Context(), "alias"); err == nil {
		t.Errorf("an alias was taken for an index: %+v", m)
	}
}

func TestSeconds(t *testing.T) {
	for value, want := range map[string]float64{"30s": 30, "1m": 60, "500ms": 0.5, "-1": -1, "2h": 7200, "1d": 86400, "250micros": 0.00025, "1000": 1} {
		if got, ok := Seconds(value); !ok || got != want {
			t.Errorf("%s is %v s, want %v", value, got, want)
		}
	}
	for _, bad := range []string{"", "s", "soon"} {
		if got, ok := Seconds(bad); ok {
			t.Errorf("%q is %v s", bad, got)
		}
	}
}

// asked stores the requests that a client makes.
type asked struct {
	requests []*http.Request
	bodies   []string
}

func (a *asked) Perform(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(data)
	}
	a.requests, a.bodies = append(a.requests, r), append(a.bodies, body)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

func TestRefresh_timeout_isLongerThanOfOtherCalls(t *testing.T) {
	var a asked
	c := &Client{transport: &a}
	short, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, call := range map[string]struct {
		do          func() error
		least, most time.Duration
	}{
		"a count":                        {func() error { _, err := c.Count(t.Context(), "x"); return err }, 0, callTimeout},
		"a refresh":                      {func() error { return c.Refresh(t.Context(), "x") }, 5 * time.Minute, refreshTimeout},
		"a refresh near the trial's end": {func() error { return c.Refresh(short, "x") }, 0, time.Minute},
	} {
		if err := call.do(); err != nil {
			t.Fatal(err)
		}
		at, ok := a.requests[len(a.requests)-1].Context().Deadline()
		if left := time.Until(at); !ok || left < call.least || left > call.most {
			t.Errorf("%s may take %s, want %s to %s", name, left, call.least, call.most)
		}
	}
}

func TestPutTemplate_order_isNegative(t *testing.T) {
	var a asked
	c := &Client{transport: &a}
	if err := c.PutTemplate(t.Context(), "taxis", Topology{Primaries: 6, Replicas: 1}); err != nil {
		t.Fatal(err)
	}
	want := `{"index_patterns":["taxis"],"order":-1,"settings":{"index.number_of_replicas":"1","index.number_of_shards":"6"}}`
	if r := a.requests[0]; r.Method != http.MethodPut || r.URL.Path != "/_template/knee-taxis" || a.bodies[0] != want {
		t.Errorf("%s %s %s, want %s", r.Method, r.URL.Path, a.bodies[0], want)
	}
}
