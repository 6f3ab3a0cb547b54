// Package benchmarkapi is a FAKE of an OpenSearch cluster with the Benchmark API of the plugin stream-benchmark. The
// fake sends no rows over a transport. It lets each request wait in a queue as long as on a slow network. So rates and
// latencies match the requested load. The fake also answers the requests of Knee's agent for the cluster's health and
// nodes. Tests use it where the real plugin is too slow or cannot fail on demand. test/streambenchmark compares its
// answers with those of the real plugin.
package benchmarkapi

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Cluster holds the properties of the fake cluster.
type Cluster struct {
	Nodes        int
	Regular      time.Duration // time of the regular transport for 1,000 rows
	Stream       time.Duration // time of the stream transport for 1,000 rows; 0: no stream transport
	AtOnce       int           // requests that run at the same time; others wait
	FailEvery    int           // every n-th request fails; 0: none
	Silent       bool          // like OpenSearch's example plugin: leaves out failed requests and replaces a missing stream transport
	WithoutBench bool          // true: the cluster has no Benchmark API

	started time.Time
}

// Handler returns the HTTP handler of the fake cluster.
func (c *Cluster) Handler() http.Handler {
	c.started = time.Now()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_cluster/health", c.json(c.health))
	mux.HandleFunc("GET /_nodes/stats", c.json(c.stats))
	mux.HandleFunc("GET /_nodes/stats/{metrics}", c.json(c.stats))
	mux.HandleFunc("GET /_nodes/{metrics}", c.json(c.infos))
	if !c.WithoutBench {
		mux.HandleFunc("POST /_benchmark/stream", c.json(c.benchmark))
	}
	mux.HandleFunc("/", c.json(func(r *http.Request) (int, any) {
		return http.StatusBadRequest, map[string]any{"error": fmt.Sprintf("no handler found for uri [%s] and method [%s]", r.URL.Path, r.Method)}
	}))
	return mux
}

func (c *Cluster) json(answer func(*http.Request) (int, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, body := answer(r)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Fake", "this is not OpenSearch")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body) // the client may have closed the connection
	}
}

func (c *Cluster) health(*http.Request) (int, any) {
	return http.StatusOK, map[string]any{"cluster_name": "fake-not-opensearch", "status": "green", "timed_out": false, "number_of_nodes": c.Nodes,
		"number_of_data_nodes": c.Nodes, "relocating_shards": 0, "initializing_shards": 0, "unassigned_shards": 0, "number_of_pending_tasks": 0}
}

// each returns an answer in which every node has the same fields.
func (c *Cluster) each(node func(name string) map[string]any) (int, any) {
	nodes := map[string]any{}
	for i := range c.Nodes {
		name := fmt.Sprintf("fake-%d", i)
		nodes["fake-node-id-"+strconv.Itoa(i)] = node(name)
	}
	return http.StatusOK, map[string]any{"_nodes": map[string]any{"total": c.Nodes, "successful": c.Nodes, "failed": 0}, "cluster_name": "fake-not-opensearch", "nodes": nodes}
}

func (c *Cluster) stats(*http.Request) (int, any) {
	return c.each(func(name string) map[string]any {
		return map[string]any{"name": name, "process": map[string]any{"max_file_descriptors": 65536},
			"indices":     map[string]any{"indexing": map[string]any{"index_total": 0}, "merges": map[string]any{"current": 0}},
			"jvm":         map[string]any{"mem": map[string]any{"heap_used_in_bytes": 1 << 20}, "gc": map[string]any{"collectors": map[string]any{}}},
			"thread_pool": map[string]any{"write": map[string]any{"threads": 1, "queue": 0, "active": 0, "rejected": 0}}}
	})
}

func (c *Cluster) infos(*http.Request) (int, any) {
	return c.each(func(name string) map[string]any {
		return map[string]any{"name": name, "version": "0.0.0-fake", "build_hash": "fake",
			"os":      map[string]any{"arch": "fake", "allocated_processors": 1},
			"process": map[string]any{"mlockall": false},
			"jvm": map[string]any{"vm_vendor": "no JVM", "vm_name": "no JVM", "vm_version": "fake", "start_time_in_millis": c.started.UnixMilli(),
				"mem": map[string]any{"heap_max_in_bytes": 1 << 30}}}
	})
}

// load holds the parameters of a request.
type load struct{ rows, columns, length, parallel, total, batch int }

func parse(query url.Values) (load, bool, error) {
	l := load{rows: 100, columns: 10, length: 100, parallel: 1, batch: 100}
	known := []string{"use_stream_transport", "human", "pretty"}
	for _, p := range []struct {
		name       string
		to         *int
		least, max int
	}{{"rows", &l.rows, 1, math.MaxInt32}, {"columns", &l.columns, 1, math.MaxInt32}, {"avg_column_length", &l.length, 1, math.MaxInt32},
		{"parallel_requests", &l.parallel, 1, 500}, {"total_requests", &l.total, 0, 1_000_000}, {"batch_size", &l.batch, 1, math.MaxInt32}} {
		known = append(known, p.name)
		if !query.Has(p.name) {
			continue
		}
		n, err := strconv.Atoi(query.Get(p.name))
		if err != nil || n < p.least || n > p.max {
			return l, false, fmt.Errorf("[%s] must be a whole number from %d to %d, not [%s]", p.name, p.least, p.max, query.Get(p.name))
		}
		*p.to = n
	}
	for name := range query {
		if !slices.Contains(known, name) {
			return l, false, fmt.Errorf("request [/_benchmark/stream] contains unrecognized parameter: [%s]", name)
		}
	}
	stream := query.Get("use_stream_transport")
	if query.Has("use_stream_transport") && stream != "true" && stream != "false" {
		return l, false, fmt.Errorf("[use_stream_transport] must be true or false, not [%s]", stream)
	}
	if l.total == 0 {
		l.total = l.parallel
	}
	return l, stream != "false", nil
}

// failure returns an error answer as OpenSearch formats it.
func failure(status int, kind, reason string) (int, any) {
	return status, map[string]any{"status": status, "error": map[string]any{"type": kind, "reason": reason}}
}

// benchmark executes the requested load. It keeps 2 * parallel_requests requests in flight.
func (c *Cluster) benchmark(r *http.Request) (int, any) {
	l, stream, err := parse(r.URL.Query())
	if err != nil {
		return failure(http.StatusBadRequest, "illegal_argument_exception", err.Error())
	}
	if stream && c.Stream == 0 && !c.Silent {
		return failure(http.StatusBadRequest, "no_stream_transport_exception", "[use_stream_transport] is true and this node has no stream transport")
	}
	stream = stream && c.Stream > 0
	takes := c.Regular
	if stream {
		takes = c.Stream
	}
	takes = takes * time.Duration(l.rows) / 1000
	begin := time.Now()
	latencies := c.send(r.Context(), l, takes)
	millis := max(1, time.Since(begin).Milliseconds())
	if c.FailEvery > 0 && c.FailEvery <= l.total && !c.Silent {
		return failure(http.StatusInternalServerError, "exception", fmt.Sprintf("request %d of %d, to node [fake-1], failed", c.FailEvery, l.total))
	}
	answer := reply(l, stream, latencies, millis)
	if query := r.URL.Query(); query.Has("human") && query.Get("human") != "false" {
		answer["total_size"] = fmt.Sprintf("%db", answer["total_bytes"]) // OpenSearch would use a larger unit
	}
	return http.StatusOK, answer
}

// send makes the requests and returns the latencies of the successful ones, in ms, sorted. It stops when ctx is
// cancelled.
func (c *Cluster) send(ctx context.Context, l load, takes time.Duration) []int64 {
	var (
		mu        sync.Mutex
		latencies []int64
		senders   sync.WaitGroup
		free      = make(chan struct{}, max(1, c.AtOnce))
		requests  = make(chan int)
	)
	for range min(2*l.parallel, l.total) {
		senders.Go(func() {
			for i := range requests {
				begin := time.Now()
				free <- struct{}{}
				select {
				case <-time.After(takes):
				case <-ctx.Done():
				}
				<-free
				if c.FailEvery > 0 && i%c.FailEvery == 0 {
					continue
				}
				mu.Lock()
				latencies = append(latencies, time.Since(begin).Milliseconds())
				mu.Unlock()
			}
		})
	}
	for i := range l.total {
		requests <- i + 1
	}
	close(requests)
	senders.Wait()
	slices.Sort(latencies)
	return latencies
}

func reply(l load, stream bool, latencies []int64, millis int64) map[string]any {
	rows := int64(l.rows) * int64(len(latencies))
	bytes := rows * int64(l.columns) * int64(l.length)
	seconds := float64(millis) / 1000
	latency := map[string]int64{"min": 0, "max": 0, "avg": 0}
	for _, p := range []int{5, 10, 20, 25, 35, 50, 75, 90, 99} {
		latency["p"+strconv.Itoa(p)] = 0
	}
	if n := len(latencies); n > 0 {
		sum := int64(0)
		for _, ms := range latencies {
			sum += ms
		}
		latency["min"], latency["max"], latency["avg"] = latencies[0], latencies[n-1], sum/int64(n)
		for _, p := range []int{5, 10, 20, 25, 35, 50, 75, 90, 99} {
			latency["p"+strconv.Itoa(p)] = latencies[min(n*p/100, n-1)]
		}
	}
	return map[string]any{"total_rows": rows, "total_bytes": bytes, "total_size_bytes": bytes, "duration_ms": millis,
		"throughput_rows_per_sec": fmt.Sprintf("%.2f", float64(rows)/seconds), "throughput_mb_per_sec": fmt.Sprintf("%.2f", float64(bytes)/(1<<20)/seconds),
		"latency_ms": latency, "parallel_requests": l.parallel, "used_stream_transport": stream}
}
