// Package opensearch is a FAKE of OpenSearch for tests: an HTTP server that indexes nothing. It counts the documents of
// bulk requests, and takes as long for them as a machine with a known saturation curve. It also answers the requests of
// Knee's agent to a cluster. The names of cluster, node and JVM in its answers show that it is a fake.
package opensearch

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ClusterName and NodeName are the names that the fake reports.
const (
	ClusterName = "synthetic-not-opensearch"
	NodeName    = "synthetic-0"
	nodeID      = "synthetic-node-id-0000"
	version     = "0.0.0-synthetic"
)

// Server is the fake. It is an http.Handler and safe for concurrent use.
type Server struct {
	api     *http.ServeMux
	data    *http.ServeMux
	started time.Time

	mu        sync.Mutex
	queue     *queue
	templates map[string]map[string]any // settings, by index name
	indices   map[string]*index
	made      int // number of indices created so far
	indexed   int64
	rejected  int64
	faults    []Fault
	status    string // of the cluster health
	nodes     int
	muted     atomic.Bool
	stuck     atomic.Bool
	seen      int64                    // documents received so far, including refused ones
	verdict   func(document int64) int // status of a document by its number; nil: all are created
	refuse    int                      // how many of the next bulk requests get status 429 as a whole
	forget    int                      // how many of the next bulk requests are indexed but answered with status 503
	unknown   []string                 // requests that the fake does not support
}

// index is one index: its settings and counters, without documents.
type index struct {
	uuid     string
	settings map[string]any
	mappings any
	total    int64
	failed   int64
}

// New returns a fake that behaves like the machine.
func New(m Machine) *Server {
	s := &Server{started: time.Now(), status: "green", nodes: 1, queue: newQueue(m), templates: map[string]map[string]any{}, indices: map[string]*index{}}
	s.api, s.data = s.routes(map[string]func(*http.Request) (int, any){
		"GET /_cluster/health":                 s.health,
		"GET /_cluster/health/{index}":         s.indexHealth,
		"GET /_cluster/allocation/explain":     s.explain,
		"GET /_cluster/state/{metrics}/{name}": s.routing,
		"GET /_nodes/stats":                    s.nodesStats,
		"GET /_nodes/stats/{metrics}":          s.nodesStats,
		"GET /_nodes/{metrics}":                s.nodesInfo,
		"PUT /_template/{name}":                s.putTemplate,
		"DELETE /_template/{name}":             s.removeTemplate,
		"/":                                    s.unknownRequest,
	}), s.routes(map[string]func(*http.Request) (int, any){
		"GET /{$}":                    s.root,
		"PUT /{index}":                s.create,
		"DELETE /{index}":             s.remove,
		"GET /{index}":                s.get, // handles GET and HEAD
		"POST /{index}/_bulk":         s.bulk,
		"POST /{index}/_refresh":      s.refresh,
		"POST /{index}/_search":       s.search,
		"GET /{index}/_count":         s.count,
		"GET /{index}/_stats":         s.stats,
		"GET /{index}/_stats/{which}": s.stats,
		"/":                           s.unknownRequest,
	})
	return s
}

func (s *Server) routes(answers map[string]func(*http.Request) (int, any)) *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, answer := range answers {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			status, body := answer(r)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Synthetic", "this is not OpenSearch")
			data, made := body.([]byte)
			var err error
			if !made {
				data, err = json.Marshal(body)
			}
			if status == http.StatusOK && err == nil { // OpenSearch does not filter errors
				data, err = filtered(data, r.URL.Query().Get("filter_path"))
			}
			if err != nil {
				panic(err) // cannot happen: the values are only maps, texts and numbers
			}
			w.WriteHeader(status)
			_, _ = w.Write(data) // the client may have closed the connection
		})
	}
	return mux
}

// ServeHTTP passes a request to the API's own paths, which begin with _, or to the paths of an index.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.muted.Load() {
		mute(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/_") {
		s.api.ServeHTTP(w, r)
		return
	}
	s.data.ServeHTTP(w, r)
}

// Unknown returns the requests so far that a real cluster would support but the fake does not.
func (s *Server) Unknown() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.unknown...)
}

func (s *Server) unknownRequest(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unknown = append(s.unknown, r.Method+" "+r.URL.Path)
	return failure(http.StatusBadRequest, "illegal_argument_exception", "the synthetic OpenSearch does not know "+r.Method+" "+r.URL.Path)
}

func failure(status int, kind, reason string) (int, any) {
	return status, map[string]any{"status": status, "error": map[string]any{"type": kind, "reason": reason}}
}

func (s *Server) root(*http.Request) (int, any) {
	return http.StatusOK, map[string]any{"name": NodeName, "cluster_name": ClusterName, "tagline": "a fake for tests",
		"version": map[string]any{"distribution": "synthetic", "number": version, "build_hash": "synthetic"}}
}

func (s *Server) health(*http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return http.StatusOK, s.clusterHealth()
}

// clusterHealth returns the health of the cluster. The caller holds the lock.
func (s *Server) clusterHealth() map[string]any {
	return map[string]any{"cluster_name": ClusterName, "status": s.status, "timed_out": false, "number_of_nodes": s.nodes,
		"number_of_data_nodes": s.nodes, "relocating_shards": 0, "initializing_shards": 0, "unassigned_shards": 0, "number_of_pending_tasks": 0}
}

// indexHealth returns the health of the cluster with that of an index. The fake is as healthy as its index.
func (s *Server) indexHealth(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, name := s.clusterHealth(), r.PathValue("index")
	switch {
	case s.indices[name] == nil: // OpenSearch waits for the index until the request's timeout
		out["status"], out["timed_out"] = "red", true
	case r.URL.Query().Get("level") == "indices":
		out["indices"] = map[string]any{name: map[string]any{"status": s.status, "relocating_shards": 0, "initializing_shards": 0, "unassigned_shards": 0}}
	}
	return http.StatusOK, out
}

// of returns the index that a request names, or nil and an error answer. The caller holds the lock.
func (s *Server) of(r *http.Request) (*index, int, any) {
	name := r.PathValue("index")
	if i := s.indices[name]; i != nil {
		return i, http.StatusOK, nil
	}
	status, body := failure(http.StatusNotFound, "index_not_found_exception", "no such index ["+name+"]")
	return nil, status, body
}

func (s *Server) putTemplate(r *http.Request) (int, any) {
	var body struct {
		Patterns []string       `json:"index_patterns"`
		Settings map[string]any `json:"settings"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return failure(http.StatusBadRequest, "parse_exception", err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range body.Patterns {
		s.templates[name] = body.Settings
	}
	return http.StatusOK, map[string]any{"acknowledged": true}
}

func (s *Server) removeTemplate(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimPrefix(r.PathValue("name"), "knee-")
	if _, there := s.templates[name]; !there {
		return failure(http.StatusNotFound, "index_template_missing_exception", "index_template ["+r.PathValue("name")+"] missing")
	}
	delete(s.templates, name)
	return http.StatusOK, map[string]any{"acknowledged": true}
}

// Left returns the number of templates and indices that exist.
func (s *Server) Left() (templates, indices int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.templates), len(s.indices)
}

// create makes an index from the template and the body. The settings in both have their full names.
func (s *Server) create(r *http.Request) (int, any) {
	var body struct {
		Settings map[string]any `json:"settings"`
		Mappings any            `json:"mappings"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return failure(http.StatusBadRequest, "parse_exception", err.Error())
	}
	name := r.PathValue("index")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indices[name] != nil {
		return failure(http.StatusBadRequest, "resource_already_exists_exception", "index ["+name+"] already exists")
	}
	s.made++
	i := &index{uuid: "synthetic-" + strconv.Itoa(s.made), mappings: body.Mappings,
		settings: map[string]any{"index.replication.type": "DOCUMENT", "index.version.created": "synthetic"}}
	maps.Copy(i.settings, s.templates[name])
	maps.Copy(i.settings, body.Settings)
	for k, v := range i.settings {
		i.settings[k] = fmt.Sprint(v) // the API returns all settings as texts
	}
	i.settings["index.uuid"], i.settings["index.provided_name"] = i.uuid, name
	s.indices[name] = i
	s.queue.newIndex()
	return http.StatusOK, map[string]any{"acknowledged": true, "shards_acknowledged": true, "index": name}
}

func (s *Server) remove(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, status, body := s.of(r); i == nil && r.URL.Query().Get("ignore_unavailable") != "true" {
		return status, body
	}
	delete(s.indices, r.PathValue("index"))
	return http.StatusOK, map[string]any{"acknowledged": true}
}

func (s *Server) get(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, status, body := s.of(r)
	if i == nil {
		return status, body
	}
	defaults := map[string]any{}
	if i.settings["index.refresh_interval"] == nil {
		defaults["index.refresh_interval"] = "1s"
	}
	return http.StatusOK, map[string]any{r.PathValue("index"): map[string]any{"aliases": map[string]any{}, "mappings": i.mappings,
		"settings": maps.Clone(i.settings), "defaults": defaults}}
}

func (s *Server) refresh(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, status, body := s.of(r); i == nil {
		return status, body
	}
	return http.StatusOK, map[string]any{"_shards": shards}
}

var shards = map[string]any{"total": 1, "successful": 1, "failed": 0}

func (s *Server) count(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, status, body := s.of(r)
	if i == nil {
		return status, body
	}
	return http.StatusOK, map[string]any{"count": i.total, "_shards": shards}
}

// search returns no hits, without delay.
func (s *Server) search(r *http.Request) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, status, body := s.of(r)
	if i == nil {
		return status, body
	}
	return http.StatusOK, map[string]any{"took": 0, "timed_out": false, "_shards": shards,
		"hits": map[string]any{"total": map[string]any{"value": i.total, "relation": "eq"}, "hits": []any{}}}
}

// routing returns the routing table. Its number of primary shards is that of the index settings. The table of a missing index
// is empty.
func (s *Server) routing(r *http.Request) (int, any) {
	name := r.PathValue("name")
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.indices[name]
	if i == nil {
		return http.StatusOK, map[string]any{"cluster_name": ClusterName, "routing_table": map[string]any{"indices": map[string]any{}}}
	}
	n, _ := strconv.Atoi(strings.TrimSpace(fmt.Sprint(i.settings["index.number_of_shards"])))
	primaries := map[string]any{}
	for shard := range max(1, n) {
		primaries[strconv.Itoa(shard)] = []any{map[string]any{"state": "STARTED", "primary": true, "node": nodeID,
			"allocation_id": map[string]any{"id": fmt.Sprintf("%s-%d", i.uuid, shard)}}}
	}
	return http.StatusOK, map[string]any{"cluster_name": ClusterName,
		"routing_table": map[string]any{"indices": map[string]any{name: map[string]any{"shards": primaries}}}}
}
