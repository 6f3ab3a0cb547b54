package opensearch

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// documentBytes is the size in the store that the fake reports for each document.
const documentBytes = 200

// bulk rejects a bulk, or counts its documents after the time that the machine needs for them.
func (s *Server) bulk(r *http.Request) (int, any) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return failure(http.StatusBadRequest, "parse_exception", err.Error())
	}
	if s.stuck.Load() {
		<-r.Context().Done()
		return failure(http.StatusServiceUnavailable, "synthetic_exception", "the caller is gone")
	}
	documents := int64(bytes.Count(body, []byte{'\n'}) / 2) // each document has an action line and a source line
	s.mu.Lock()
	i, status, answer := s.of(r)
	if i == nil {
		s.mu.Unlock()
		return status, answer
	}
	if s.refuse > 0 {
		s.refuse--
		s.rejected++
		s.mu.Unlock()
		return failure(http.StatusTooManyRequests, "rejected_execution_exception", "rejected execution of a whole synthetic bulk")
	}
	if s.queue.rejects() {
		s.rejected++
		takes := s.queue.refusal
		s.mu.Unlock()
		time.Sleep(takes)
		return http.StatusOK, items(action(body), documents, func(int64) int { return http.StatusTooManyRequests })
	}
	first := s.seen
	s.seen += documents
	status, documents, answer = s.judge(action(body), first, documents)
	done := s.queue.enter(time.Now(), documents)
	s.mu.Unlock()
	timer := time.NewTimer(time.Until(done))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
	s.mu.Lock()
	s.queue.leave()
	i.total += documents
	s.indexed += documents
	s.mu.Unlock()
	s.due()
	return status, answer
}

// judge returns the answer to a bulk, and how many of its documents are accepted. first is the number of the first
// document. The caller holds the lock.
func (s *Server) judge(action string, first, documents int64) (status int, accepted int64, answer any) {
	if s.forget > 0 {
		s.forget--
		status, answer = failure(http.StatusServiceUnavailable, "synthetic_exception", "the reply to a synthetic bulk was lost")
		return status, documents, answer
	}
	of := func(int64) int { return http.StatusCreated }
	accepted = documents
	if s.verdict != nil {
		of = func(n int64) int { return s.verdict(first + n) }
		accepted = 0
		rejects := false
		for n := range documents {
			switch of(n) {
			case http.StatusCreated:
				accepted++
			case http.StatusTooManyRequests:
				rejects = true
			}
		}
		if rejects { // counts as one rejection of one shard's part of the bulk
			s.rejected++
		}
	}
	return http.StatusOK, accepted, items(action, documents, of)
}

// action returns the action of a bulk's first line: index or create. The fake expects the same action in all lines.
func action(body []byte) string {
	if bytes.HasPrefix(body, []byte(`{"create"`)) {
		return "create"
	}
	return "index"
}

// items returns the answer to a bulk with n documents, as JSON. It writes JSON directly, because an answer has many
// items.
func items(action string, n int64, status func(int64) int) []byte {
	var out bytes.Buffer
	errors := false
	for i := range n {
		if i > 0 {
			out.WriteByte(',')
		}
		switch code := status(i); code {
		case http.StatusCreated:
			out.WriteString(`{"` + action + `":{"status":201}}`)
			continue
		case http.StatusTooManyRequests:
			out.WriteString(`{"` + action + `":{"status":429,"error":{"type":"rejected_execution_exception","reason":"rejected execution of a synthetic bulk"}}}`)
		default:
			fmt.Fprintf(&out, `{%q:{"status":%d,"error":{"type":"mapper_parsing_exception","reason":"a synthetic document of another shape"}}}`, action, code)
		}
		errors = true
	}
	return fmt.Appendf(nil, `{"errors":%t,"items":[%s]}`, errors, out.Bytes())
}

// indexStats are the counters of an index without replicas, as JSON. The agent samples them during a load. There are no
// merges.
const indexStats = `{"docs":{"count":%[1]d,"deleted":0},"store":{"size_in_bytes":%[3]d,"reserved_in_bytes":0},` +
	`"indexing":{"index_total":%[1]d,"index_failed":%[2]d,"index_current":%[4]d,"throttle_time_in_millis":0},` +
	`"merges":{"current":0,"total":0,"total_time_in_millis":0,"total_size_in_bytes":0,"total_throttled_time_in_millis":0,"total_stopped_time_in_millis":0},` +
	`"refresh":{"total":1,"total_time_in_millis":1},"flush":{"total":1,"total_time_in_millis":1},"segments":{"count":1}}`

func (s *Server) stats(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, status, body := s.of(r)
	if i == nil {
		return status, body
	}
	figures := fmt.Sprintf(indexStats, i.total, i.failed, documentBytes*i.total, s.queue.pending)
	all := fmt.Appendf(nil, `{"_shards":{"total":1,"successful":1,"failed":0},"_all":{"primaries":%[1]s,"total":%[1]s}}`, figures)
	part, err := filtered(all, statsFilter(r.PathValue("which")))
	if err != nil {
		return failure(http.StatusInternalServerError, "synthetic_exception", err.Error())
	}
	return http.StatusOK, part
}

// statsFilter returns the filter for the metrics in the path of a request. Without metrics, the reply has all of them.
func statsFilter(metrics string) string {
	if metrics == "" {
		return ""
	}
	filter := "_shards"
	for metric := range strings.SplitSeq(metrics, ",") {
		if metric == "merge" {
			metric = "merges"
		}
		filter += ",_all.*." + metric
	}
	return filter
}

// nodesStats returns the node's counters. Stalls are reported as collections of the young generation.
func (s *Server) nodesStats(*http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	noBreaker, unused := map[string]any{"tripped": 0}, map[string]any{"used_in_bytes": 0}
	notRejected := map[string]any{"transport": map[string]any{"rejection_count": map[string]any{}}}
	node := map[string]any{
		"name": NodeName,
		"indices": map[string]any{"indexing": map[string]any{"index_total": s.indexed}, "merges": map[string]any{"current": 0},
			"segments": map[string]any{"remote_store": map[string]any{"upload": map[string]any{"pressure": map[string]any{"total_rejections": 0}}}}},
		"process": map[string]any{"max_file_descriptors": 65536},
		"os":      map[string]any{"cpu": map[string]any{"percent": -1}}, // not known
		"jvm": map[string]any{
			"mem": map[string]any{"heap_used_in_bytes": 256 << 20, "heap_max_in_bytes": 1 << 30,
				"pools": map[string]any{"young": unused, "old": unused, "survivor": unused}},
			"buffer_pools": map[string]any{"direct": unused},
			"gc": map[string]any{"collectors": map[string]any{
				"young": map[string]any{"collection_count": s.queue.stalls, "collection_time_in_millis": s.queue.stalled.Milliseconds()},
				"old":   map[string]any{"collection_count": 0, "collection_time_in_millis": 0},

				"G1 Concurrent GC": map[string]any{"collection_count": 0, "collection_time_in_millis": 0},
			}},
		},
		"thread_pool": map[string]any{"write": map[string]any{"threads": 1, "queue": max(0, s.queue.pending-1), "active": min(1, s.queue.pending), "rejected": s.rejected}},
		"indexing_pressure": map[string]any{"memory": map[string]any{"total": map[string]any{
			"coordinating_rejections": 0, "primary_rejections": 0, "replica_rejections": 0}}},
		"breakers":                         map[string]any{"parent": noBreaker, "request": noBreaker, "fielddata": noBreaker, "in_flight_requests": noBreaker},
		"segment_replication_backpressure": map[string]any{"total_rejected_requests": 0},
		"admission_control":                map[string]any{"global_cpu_usage": notRejected, "global_io_usage": notRejected},
	}
	return http.StatusOK, map[string]any{"_nodes": map[string]any{"total": 1, "successful": 1, "failed": 0},
		"cluster_name": ClusterName, "nodes": map[string]any{nodeID: node}}
}

func (s *Server) nodesInfo(*http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	node := map[string]any{
		"name": NodeName, "version": version, "build_hash": "synthetic",
		"os":      map[string]any{"arch": "synthetic", "allocated_processors": 1},
		"process": map[string]any{"mlockall": false},
		"jvm": map[string]any{"vm_vendor": "no JVM", "vm_name": "no JVM", "vm_version": "synthetic",
			"start_time_in_millis": s.started.UnixMilli(), "mem": map[string]any{"heap_max_in_bytes": 1 << 30}},
	}
	return http.StatusOK, map[string]any{"cluster_name": ClusterName, "nodes": map[string]any{nodeID: node}}
}
