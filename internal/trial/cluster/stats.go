package cluster

import (
	"context"
	"net/http"
	"net/url"
	"sort"
	"strconv"
)

// Health is the cluster's health.
type Health struct {
	Status       string `json:"status"`
	Nodes        int32  `json:"number_of_nodes"`
	Relocating   int    `json:"relocating_shards"`
	Initializing int    `json:"initializing_shards"`
	Unassigned   int    `json:"unassigned_shards"`
	Pending      int    `json:"number_of_pending_tasks"`
}

// Health asks for the cluster's health as it is now.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var h Health
	err := c.call(ctx, http.MethodGet, "/_cluster/health?timeout=1s", nil, &h)
	return h, err
}

// Indexing are the primaries' counters of an index, summed over its shards.
type Indexing struct {
	Total        int64 // index operations that succeeded
	Failed       int64 // index operations that failed
	Current      int64 // under way
	Merges       int64 // merges under way, of all copies
	Bytes        int64 // primaries' store
	ShardsFailed int   // shards that could not be asked
}

type indexStats struct {
	Shards shards `json:"_shards"`
	All    struct {
		Primaries primaryStats `json:"primaries"`
		Total     struct {
			Merges struct {
				Current int64 `json:"current"`
			} `json:"merges"`
		} `json:"total"`
	} `json:"_all"`
}

type primaryStats struct {
	Indexing struct {
		Total   int64 `json:"index_total"`
		Failed  int64 `json:"index_failed"`
		Current int64 `json:"index_current"`
	} `json:"indexing"`
	Store struct {
		Bytes int64 `json:"size_in_bytes"`
	} `json:"store"`
}

func (s indexStats) counters() Indexing {
	p := s.All.Primaries
	return Indexing{Total: p.Indexing.Total, Failed: p.Indexing.Failed, Current: p.Indexing.Current,
		Merges: s.All.Total.Merges.Current, Bytes: p.Store.Bytes, ShardsFailed: s.Shards.Failed}
}

// Indexing asks only for what one sample of a load needs, so that asking costs the cluster little.
func (c *Client) Indexing(ctx context.Context, index string) (Indexing, error) {
	var s indexStats
	err := c.call(ctx, http.MethodGet, "/"+url.PathEscape(index)+
		"/_stats/indexing?filter_path=_shards.failed,_all.primaries.indexing.index_total,_all.primaries.indexing.index_failed,_all.primaries.indexing.index_current", nil, &s)
	return s.counters(), err
}

// IndexState asks for the counters with merges and size.
func (c *Client) IndexState(ctx context.Context, index string) (Indexing, error) {
	var s indexStats
	err := c.call(ctx, http.MethodGet, "/"+url.PathEscape(index)+
		"/_stats/indexing,merge,store?filter_path=_shards.failed,_all.primaries.indexing,_all.primaries.store.size_in_bytes,_all.total.merges.current", nil, &s)
	return s.counters(), err
}

// Primaries tells for each primary shard of the index which allocation serves it: another one after the load
// means that its counters began anew.
func (c *Client) Primaries(ctx context.Context, index string) (map[string]string, error) {
	var state struct {
		Routing struct {
			Indices map[string]struct {
				Shards map[string][]struct {
					Primary    bool   `json:"primary"`
					State      string `json:"state"`
					Node       string `json:"node"`
					Allocation struct {
						ID string `json:"id"`
					} `json:"allocation_id"`
				} `json:"shards"`
			} `json:"indices"`
		} `json:"routing_table"`
	}
	err := c.call(ctx, http.MethodGet, "/_cluster/state/routing_table/"+url.PathEscape(index), nil, &state)
	out := map[string]string{}
	for name, i := range state.Routing.Indices {
		for number, copies := range i.Shards {
			for _, s := range copies {
				if s.Primary {
					out[name+"/"+number] = s.Node + "/" + s.Allocation.ID
				}
			}
		}
	}
	return out, err
}

// Node is what one node counts of itself.
type Node struct {
	ID                string
	Name              string
	Indexed           int64 // of all indices, primaries and replicas
	Merges            int64 // under way
	HeapUsed          int64
	GCCount           int64
	GCMillis          int64
	WriteRejected     int64
	MemoryRejected    int64
	ShardRejected     int64
	AdmissionRejected int64
}

type nodeStats struct {
	Failures struct {
		Failed int `json:"failed"`
	} `json:"_nodes"`
	Nodes map[string]struct {
		Name    string `json:"name"`
		Indices struct {
			Indexing struct {
				Total int64 `json:"index_total"`
			} `json:"indexing"`
			Merges struct {
				Current int64 `json:"current"`
			} `json:"merges"`
		} `json:"indices"`
		JVM struct {
			Mem struct {
				HeapUsed int64 `json:"heap_used_in_bytes"`
			} `json:"mem"`
			GC struct {
				Collectors map[string]struct {
					Count  int64 `json:"collection_count"`
					Millis int64 `json:"collection_time_in_millis"`
				} `json:"collectors"`
			} `json:"gc"`
		} `json:"jvm"`
		ThreadPool struct {
			Write struct {
				Rejected int64 `json:"rejected"`
			} `json:"write"`
		} `json:"thread_pool"`
		IndexingPressure struct {
			Memory struct {
				Total map[string]int64 `json:"total"`
			} `json:"memory"`
		} `json:"indexing_pressure"`
		ShardPressure struct {
			Stats map[string]any `json:"stats"`
		} `json:"shard_indexing_pressure"`
		Admission map[string]struct {
			Transport struct {
				Rejections map[string]int64 `json:"rejection_count"`
			} `json:"transport"`
		} `json:"admission_control"`
	} `json:"nodes"`
}

// nodeFilter names the parts of _nodes/stats that hold what Node needs. A version that does not know one of the
// names refuses the call, so they are asked for by filter instead of by path.
const nodeFilter = "_nodes.failed,nodes.*.name,nodes.*.indices.indexing.index_total,nodes.*.indices.merges.current," +
	"nodes.*.jvm.mem.heap_used_in_bytes,nodes.*.jvm.gc.collectors,nodes.*.thread_pool.write.rejected," +
	"nodes.*.indexing_pressure.memory.total,nodes.*.shard_indexing_pressure.stats,nodes.*.admission_control"

// Nodes asks every node for its counters, ordered by name. incomplete is the number of nodes that did not answer.
func (c *Client) Nodes(ctx context.Context) (nodes []Node, incomplete int, err error) {
	var s nodeStats
	if err := c.call(ctx, http.MethodGet, "/_nodes/stats?filter_path="+nodeFilter, nil, &s); err != nil {
		return nil, 0, err
	}
	return s.nodes(), s.Failures.Failed, nil
}

// Heaps asks only for the heap in use, by node id.
func (c *Client) Heaps(ctx context.Context) (map[string]int64, error) {
	var s nodeStats
	err := c.call(ctx, http.MethodGet, "/_nodes/stats/jvm?filter_path=nodes.*.jvm.mem.heap_used_in_bytes", nil, &s)
	out := map[string]int64{}
	for id, n := range s.Nodes {
		out[id] = n.JVM.Mem.HeapUsed
	}
	return out, err
}

func (s nodeStats) nodes() []Node {
	var out []Node
	for id, n := range s.Nodes {
		node := Node{ID: id, Name: n.Name, Indexed: n.Indices.Indexing.Total, Merges: n.Indices.Merges.Current,
			HeapUsed: n.JVM.Mem.HeapUsed, WriteRejected: n.ThreadPool.Write.Rejected,
			ShardRejected: sumRejections(n.ShardPressure.Stats)}
		for _, gc := range n.JVM.GC.Collectors {
			node.GCCount += gc.Count
			node.GCMillis += gc.Millis
		}
		for _, key := range []string{"coordinating_rejections", "primary_rejections", "replica_rejections"} {
			node.MemoryRejected += n.IndexingPressure.Memory.Total[key]
		}
		for _, a := range n.Admission {
			for _, count := range a.Transport.Rejections {
				node.AdmissionRejected += count
			}
		}
		out = append(out, node)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// sumRejections adds up every number below stats.SHARD.rejection whose name tells of rejections of a role
// (coordinating, primary, replica); the breakup below it counts the same requests again, by cause.
func sumRejections(stats map[string]any) int64 {
	var sum int64
	for _, shard := range stats {
		s, _ := shard.(map[string]any)
		rejection, _ := s["rejection"].(map[string]any)
		for _, role := range rejection {
			r, _ := role.(map[string]any)
			for name, value := range r {
				if f, ok := value.(float64); ok && (name == "coordinating_rejections" || name == "primary_rejections" || name == "replica_rejections") {
					sum += int64(f)
				}
			}
		}
	}
	return sum
}

// NodeInfo is what one node says of itself.
type NodeInfo struct {
	ID         string
	Name       string
	Version    string // with the build's hash
	JVM        string
	Started    int64 // Unix ms; changes when the node restarts
	HeapMax    int64
	Processors int
	Mlockall   bool
	MaxFiles   int64
	Arch       string
}

// NodeInfos asks every node what it is, ordered by name.
func (c *Client) NodeInfos(ctx context.Context) ([]NodeInfo, error) {
	var info struct {
		Nodes map[string]struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Hash    string `json:"build_hash"`
			OS      struct {
				Arch       string `json:"arch"`
				Processors int    `json:"allocated_processors"`
			} `json:"os"`
			Process struct {
				Mlockall bool `json:"mlockall"`
			} `json:"process"`
			JVM struct {
				Vendor    string `json:"vm_vendor"`
				Name      string `json:"vm_name"`
				VMVersion string `json:"vm_version"`
				Started   int64  `json:"start_time_in_millis"`
				Mem       struct {
					HeapMax int64 `json:"heap_max_in_bytes"`
				} `json:"mem"`
			} `json:"jvm"`
		} `json:"nodes"`
	}
	if err := c.call(ctx, http.MethodGet, "/_nodes/os,process,jvm", nil, &info); err != nil {
		return nil, err
	}
	var files struct {
		Nodes map[string]struct {
			Process struct {
				MaxFiles int64 `json:"max_file_descriptors"`
			} `json:"process"`
		} `json:"nodes"`
	}
	if err := c.call(ctx, http.MethodGet, "/_nodes/stats/process?filter_path=nodes.*.process.max_file_descriptors", nil, &files); err != nil {
		return nil, err
	}
	var out []NodeInfo
	for id, n := range info.Nodes {
		out = append(out, NodeInfo{ID: id, Name: n.Name, Version: n.Version + " " + n.Hash[:min(12, len(n.Hash))],
			JVM: n.JVM.Vendor + " " + n.JVM.VMVersion, Started: n.JVM.Started, HeapMax: n.JVM.Mem.HeapMax,
			Processors: n.OS.Processors, Mlockall: n.Process.Mlockall, MaxFiles: files.Nodes[id].Process.MaxFiles, Arch: goArch(n.OS.Arch)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// goArch gives the JVM's name of an architecture in GOARCH's words.
func goArch(arch string) string {
	switch arch {
	case "aarch64":
		return "arm64"
	case "x86_64":
		return "amd64"
	}
	return arch
}

// Seconds reads a time value of the API, "30s" or "-1"; ok is false for what is none.
func Seconds(value string) (seconds float64, ok bool) {
	if value == "-1" {
		return -1, true
	}
	units := []struct {
		suffix string
		factor float64
	}{{"nanos", 1e-9}, {"micros", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}
	for _, u := range units {
		if len(value) > len(u.suffix) && value[len(value)-len(u.suffix):] == u.suffix {
			if n, err := strconv.ParseFloat(value[:len(value)-len(u.suffix)], 64); err == nil {
				return n * u.factor, true
			}
		}
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		return n / 1e3, true
	}
	return 0, false
}
