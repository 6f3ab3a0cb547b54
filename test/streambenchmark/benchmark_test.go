package streambenchmark_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/drivers/stream/streamapi"
	"github.com/knee-bench/knee/test/fakes/benchmarkapi"
)

const streamFlag = "opensearch.experimental.feature.transport.stream.enabled=true"

// benchmark calls the API with a query such as "rows=10&columns=5". It returns the reply after the same checks as in
// Knee.
func benchmark(t *testing.T, base, query string) streamapi.Reply {
	t.Helper()
	var raw json.RawMessage
	if err := call(t.Context(), http.MethodPost, base+streamapi.Path+"?"+query, &raw); err != nil {
		t.Fatal(err)
	}
	reply, err := streamapi.ParseReply(raw)
	if err != nil {
		t.Fatal(err)
	}
	params := parameters(t, query)
	if err := reply.Check(params); err != nil {
		t.Error(err)
	}
	if notes := reply.Load(params).Notes; len(notes) > 0 && !strings.Contains(notes[0], "Little") {
		t.Errorf("%s: %q", query, notes)
	}
	return reply
}

func parameters(t *testing.T, query string) streamapi.Params {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	params := map[string]string{}
	for name := range values {
		params[name] = values.Get(name)
	}
	out, err := streamapi.ParseParams(params)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// refused calls the API and checks the status of the error. It returns the type and the reason of the error.
func refused(t *testing.T, base, query string, status int) (kind, reason string) {
	t.Helper()
	var r *refusal
	if err := call(t.Context(), http.MethodPost, base+streamapi.Path+"?"+query, new(any)); !errors.As(err, &r) || r.status != status {
		t.Fatalf("%s: %v, not status %d", query, err, status)
	}
	var body struct {
		Error struct {
			Type, Reason string
			Cause        struct{ Reason string } `json:"caused_by"`
		}
	}
	if err := json.Unmarshal(r.body, &body); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	return body.Error.Type, body.Error.Reason + ": " + body.Error.Cause.Reason
}

// wrongParameters are queries that OpenSearch refuses with status 400, with a part of the reason.
var wrongParameters = map[string]string{
	"rows=0":                       "[rows] must be a whole number from 1",
	"rows=-1":                      "[rows]",
	"rows=1e5":                     "[rows]",
	"columns=many":                 "[columns]",
	"avg_column_length=0":          "[avg_column_length]",
	"parallel_requests=501":        "[parallel_requests] must be a whole number from 1 to 500",
	"total_requests=-1":            "[total_requests] must be a whole number from 0",
	"batch_size=0":                 "[batch_size]",
	"use_stream_transport=perhaps": "[use_stream_transport] must be true or false",
	"rows=0&columns=0":             "; [columns]",
	"rows=10&row=5":                "unrecognized parameter: [row]",
	"rows=1000000&columns=1000&batch_size=100000": "lower [batch_size] or [parallel_requests]",
	"rows=1000000&use_stream_transport=false":     "set [use_stream_transport] to true",
}

// TestBenchmark runs the cases in the API's document and the cases at its limits, on two nodes.
func TestBenchmark(t *testing.T) {
	home := unpackedHome(t)
	nodes := startNodes(t, home, []string{"first", "second"}, streamFlag, "arrow.flight.channel.outbound_buffer_threshold=4mb")
	base := nodes[0].url

	t.Run("basic", func(t *testing.T) {
		for query, bytes := range map[string]int64{"": 100 * 10 * 100, "rows=10&columns=5&avg_column_length=100": 10 * 5 * 100} {
			reply := benchmark(t, base, query)
			if reply.TotalBytes != bytes || reply.SizeBytes != bytes || reply.DurationMillis < 1 || reply.PrintedRows <= 0 || reply.Parallel != 1 {
				t.Errorf("%q: %+v", query, reply)
			}
		}
	})
	t.Run("human", func(t *testing.T) {
		var reply map[string]any
		if err := call(t.Context(), http.MethodPost, base+streamapi.Path+"?rows=10&human=true&pretty", &reply); err != nil || reply["total_size"] != "9.7kb" {
			t.Errorf("%v, %v", reply, err)
		}
	})
	t.Run("parallel", func(t *testing.T) {
		if reply := benchmark(t, base, "rows=50&parallel_requests=5"); reply.TotalRows != 250 {
			t.Errorf("%+v", reply)
		}
		before := pool(t, nodes[1].url, "benchmark").Completed
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			benchmark(t, base, "rows=20000&parallel_requests=10&total_requests=60")
		}()
		most := 0
		for running := true; running; {
			select {
			case <-ended:
				running = false
			default:
				p := pool(t, nodes[1].url, "benchmark")
				most = max(most, p.Active+p.Queue)
			}
		}
		if most < 16 || most > 20 { // 2 * parallel_requests = 20; neither Active nor Queue counts a request that just begins or ends
			t.Errorf("the pool benchmark of the other node had up to %d requests, 20 were in flight", most)
		}
		if completed := pool(t, nodes[1].url, "benchmark").Completed - before; completed != 60 {
			t.Errorf("the pool benchmark of the other node completed %d tasks, not 60", completed)
		}
		if pool(t, base, "benchmark_response").Completed == 0 {
			t.Error("the pool benchmark_response completed no task")
		}
	})
	t.Run("stream and regular", func(t *testing.T) {
		for _, stream := range []string{"true", "false"} {
			before := received(t, nodes[0])
			reply := benchmark(t, base, "rows=10000&parallel_requests=2&total_requests=8&batch_size=1000&use_stream_transport="+stream)
			if reply.UsedStream != (stream == "true") || reply.TotalRows != 80_000 {
				t.Errorf("%+v", reply)
			}
			if got := received(t, nodes[0]) - before; stream == "false" && got < reply.TotalBytes {
				t.Errorf("%d bytes came over the regular transport, fewer than total_bytes %d", got, reply.TotalBytes)
			}
		}
	})
	t.Run("large payload", func(t *testing.T) {
		for _, stream := range []string{"true", "false"} {
			reply := benchmark(t, base, "rows=1000&columns=20&avg_column_length=500&parallel_requests=3&use_stream_transport="+stream)
			if reply.TotalBytes != 30_000_000 || reply.PrintedMiBs <= 0 {
				t.Errorf("%+v", reply)
			}
		}
	})
	t.Run("batch size", func(t *testing.T) {
		for _, size := range []string{"1", "10", "30", "100", "500"} {
			if reply := benchmark(t, base, "rows=100&batch_size="+size); reply.TotalRows != 100 || !reply.UsedStream {
				t.Errorf("%s: %+v", size, reply)
			}
		}
	})
	t.Run("latency percentiles", func(t *testing.T) {
		reply := benchmark(t, base, "rows=5000&parallel_requests=10&total_requests=40")
		var ordered []int64
		for _, name := range []string{"min", "p5", "p10", "p20", "p25", "p35", "p50", "p75", "p90", "p99", "max"} {
			ordered = append(ordered, reply.Latency[name])
		}
		if !slices.IsSorted(ordered) || reply.Latency["avg"] < reply.Latency["min"] || reply.Latency["avg"] > reply.Latency["max"] {
			t.Errorf("%v", reply.Latency)
		}
		if last := reply.Latency["max"]; last > reply.DurationMillis+1 {
			t.Errorf("the longest latency, %d ms, is longer than the load, %d ms", last, reply.DurationMillis)
		}
	})
	t.Run("wrong parameters", func(t *testing.T) {
		for query, words := range wrongParameters {
			if _, reason := refused(t, base, query, http.StatusBadRequest); !strings.Contains(reason, words) {
				t.Errorf("%s: %q is not in %q", query, words, reason)
			}
		}
	})
	t.Run("the fake answers as the real one", func(t *testing.T) { compareWithFake(t, base) })
	t.Run("one at a time, until its client goes", func(t *testing.T) {
		calling, hangUp := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- call(calling, http.MethodPost, base+streamapi.Path+"?rows=1000&total_requests=1000000&parallel_requests=2", new(any))
		}()
		awaitTasks(t, base, true)
		if _, reason := refused(t, base, "rows=10", http.StatusTooManyRequests); !strings.Contains(reason, "already") {
			t.Error(reason)
		}
		hangUp()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		awaitTasks(t, base, false)
		benchmark(t, base, "rows=10")
	})
	// The receiver cancels a stream while the sender works on it. No task may remain, whenever that happens.
	t.Run("nothing stays of a benchmark whose client goes", func(t *testing.T) {
		for i := range 30 {
			calling, hangUp := context.WithTimeout(t.Context(), time.Duration(100+20*i)*time.Millisecond)
			err := call(calling, http.MethodPost, base+streamapi.Path+"?rows=1000&total_requests=1000000&parallel_requests=2", new(any))
			hangUp()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			awaitTasks(t, base, false)
		}
	})
	t.Run("a request that fails ends the benchmark", func(t *testing.T) {
		failed := make(chan error, 1)
		go func() {
			failed <- call(t.Context(), http.MethodPost, base+streamapi.Path+"?rows=1000&total_requests=1000000&parallel_requests=2", new(any))
		}()
		awaitTasks(t, base, true)
		if err := nodes[1].process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		var r *refusal
		if err := <-failed; !errors.As(err, &r) || r.status < 500 || !strings.Contains(string(r.body), "to node [second], failed") {
			t.Errorf("%v", err)
		}
	})
}

func TestBenchmark_nodeAlone_isRefused(t *testing.T) {
	alone := startNodes(t, unpackedHome(t), []string{"alone"})[0]
	kind, reason := refused(t, alone.url, "", http.StatusBadRequest)
	if kind != streamapi.NoStreamTransport || !strings.Contains(reason, "[use_stream_transport]") || !strings.Contains(reason, "arrow-flight-rpc") {
		t.Errorf("%s: %s", kind, reason)
	}
	if _, reason := refused(t, alone.url, "use_stream_transport=false", http.StatusBadRequest); !strings.Contains(reason, "a data node other than") {
		t.Error(reason)
	}
}

func TestBenchmark_streamToAnotherNode_isRefused(t *testing.T) {
	// Both nodes publish the first node's port. This is like two nodes on different hosts that publish the same address
	// of localhost.
	nodes := startNodes(t, unpackedHome(t), []string{"itself", "another"}, streamFlag, "arrow.flight.publish_port="+firstStreamPort)
	if _, reason := refused(t, nodes[0].url, "", http.StatusInternalServerError); !strings.Contains(reason, "arrow.flight.host") {
		t.Error(reason)
	}
}

type poolStats struct{ Active, Queue, Completed int }

// pool returns the figures of a thread pool of the node at base.
func pool(t *testing.T, base, name string) poolStats {
	t.Helper()
	var stats struct {
		Nodes map[string]struct {
			Pools map[string]poolStats `json:"thread_pool"`
		}
	}
	if err := call(t.Context(), http.MethodGet, base+"/_nodes/_local/stats/thread_pool", &stats); err != nil {
		t.Fatal(err)
	}
	for _, n := range stats.Nodes {
		return n.Pools[name]
	}
	return poolStats{}
}

// received returns the bytes that the node received over the regular transport.
func received(t *testing.T, n *node) int64 {
	t.Helper()
	var stats struct {
		Nodes map[string]struct {
			Transport struct {
				Received int64 `json:"rx_size_in_bytes"`
			}
		}
	}
	if err := n.get(t.Context(), "/_nodes/_local/stats/transport", &stats); err != nil {
		t.Fatal(err)
	}
	total := int64(math.MinInt64)
	for _, node := range stats.Nodes {
		total = node.Transport.Received
	}
	return total
}

// awaitTasks waits for the tasks of a benchmark. If some is true, it waits until the nodes have tasks; otherwise it
// waits until no node has any.
func awaitTasks(t *testing.T, base string, some bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		var tasks struct {
			Nodes map[string]struct{ Tasks map[string]any }
		}
		if err := call(t.Context(), http.MethodGet, base+"/_tasks?actions=internal:knee/*,cluster:admin/knee/*", &tasks); err != nil {
			t.Fatal(err)
		}
		if (len(tasks.Nodes) > 0) == some {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 20 s, tasks: %v", tasks.Nodes)
		}
		poll()
	}
}

// compareWithFake checks the fake in test/fakes/benchmarkapi against the real plugin: the same fields with the same
// kinds of values, and the same refusals.
func compareWithFake(t *testing.T, base string) {
	t.Helper()
	cluster := benchmarkapi.Cluster{Nodes: 2, Regular: time.Millisecond, Stream: time.Millisecond, AtOnce: 4}
	server := httptest.NewServer(cluster.Handler())
	defer server.Close()
	for _, query := range []string{"", "rows=50&parallel_requests=3&use_stream_transport=false", "rows=10&human=true"} {
		var replies [2]map[string]any
		for i, at := range []string{server.URL, base} {
			if err := call(t.Context(), http.MethodPost, at+streamapi.Path+"?"+query, &replies[i]); err != nil {
				t.Fatal(err)
			}
		}
		if fake, real := kinds("", replies[0]), kinds("", replies[1]); !slices.Equal(fake, real) {
			t.Errorf("%q: the fake's reply has %v, the real one %v", query, fake, real)
		}
		for _, same := range []string{"total_rows", "total_bytes", "parallel_requests", "used_stream_transport"} {
			if replies[0][same] != replies[1][same] {
				t.Errorf("%q: %s is %v in the fake's reply, %v in the real one", query, same, replies[0][same], replies[1][same])
			}
		}
	}
	for query, words := range wrongParameters {
		if strings.Contains(words, "lower") || strings.Contains(words, "set ") {
			continue // the fake has no memory limit
		}
		realKind, _ := refused(t, base, query, http.StatusBadRequest)
		if kind, _ := refused(t, server.URL, query, http.StatusBadRequest); kind != realKind {
			t.Errorf("%q: the fake's error is %s, the real one %s", query, kind, realKind)
		}
	}
}

// kinds lists the fields of a reply with the kinds of their values.
func kinds(prefix string, reply map[string]any) []string {
	var out []string
	for name, value := range reply {
		switch value := value.(type) {
		case map[string]any:
			out = append(out, kinds(prefix+name+".", value)...)
		case string:
			out = append(out, prefix+name+" text")
		case bool:
			out = append(out, prefix+name+" bool")
		default:
			out = append(out, prefix+name+" number")
		}
	}
	slices.Sort(out)
	return out
}
