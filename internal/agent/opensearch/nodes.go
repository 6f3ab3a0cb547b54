package opensearch

import (
	"context"
	"net/http"
	"sort"
)

// Node holds the counters of one node.
type Node struct {
	ID                string
	Name              string
	Indexed           int64 // documents indexed in all indices, in primaries and replicas
	Merges            int64 // merges that are running
	HeapUsed          int64
	GCCount           int64
	GCMillis          int64
	WriteRejected     int64
	MemoryRejected    int64
	ShardRejected     int64 // part of MemoryRejected: rejections by shard indexing pressure; 0 unless shard indexing pressure is enforced
	AdmissionRejected int64
	BreakersTripped   int64

	ReplicationRejected int64 // rejections by the backpressure of segment replication
	RemoteStoreRejected int64 // rejections by the backpressure of the remote store, summed over the primaries that are on the node now

	// Whether the node's statistics contain the counter. If not, the counter's value 0 has no meaning.
	HasAdmission, HasReplication, HasRemoteStore bool
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
			Segments struct {
				RemoteStore struct {
					Upload struct {
						Pressure struct {
							Rejected *int64 `json:"total_rejections"`
						} `json:"pressure"`
					} `json:"upload"`
				} `json:"remote_store"`
			} `json:"segments"`
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
			Breakup map[string]int64 `json:"total_rejections_breakup"`
		} `json:"shard_indexing_pressure"`
		ReplicationPressure struct {
			Rejected *int64 `json:"total_rejected_requests"`
		} `json:"segment_replication_backpressure"`
		Breakers map[string]struct {
			Tripped int64 `json:"tripped"`
		} `json:"breakers"`
		Admission map[string]struct {
			Transport struct {
				Rejections map[string]int64 `json:"rejection_count"`
			} `json:"transport"`
		} `json:"admission_control"`
	} `json:"nodes"`
}

// nodeFilter names the parts of _nodes/stats that Node needs. It is a filter, because an OpenSearch version that lacks one of
// the parts ignores an unknown filter, but rejects an unknown part in the path.
const nodeFilter = "_nodes.failed,nodes.*.name,nodes.*.indices.indexing.index_total,nodes.*.indices.merges.current," +
	"nodes.*.jvm.mem.heap_used_in_bytes,nodes.*.jvm.gc.collectors,nodes.*.thread_pool.write.rejected," +
	"nodes.*.indexing_pressure.memory.total,nodes.*.shard_indexing_pressure.total_rejections_breakup,nodes.*.admission_control,nodes.*.breakers.*.tripped," +
	"nodes.*.segment_replication_backpressure.total_rejected_requests,nodes.*.indices.segments.remote_store.upload.pressure.total_rejections"

// Nodes reads the counters of every node, ordered by node name. incomplete is the number of nodes that did not answer.
func (c *Client) Nodes(ctx context.Context) (nodes []Node, incomplete int, err error) {
	var s nodeStats
	if err := c.call(ctx, http.MethodGet, "/_nodes/stats?filter_path="+nodeFilter, nil, &s); err != nil {
		return nil, 0, err
	}
	return s.nodes(), s.Failures.Failed, nil
}

func (s nodeStats) nodes() []Node {
	var out []Node
	for id, n := range s.Nodes {
		node := Node{ID: id, Name: n.Name, Indexed: n.Indices.Indexing.Total, Merges: n.Indices.Merges.Current,
			HeapUsed: n.JVM.Mem.HeapUsed, WriteRejected: n.ThreadPool.Write.Rejected, HasAdmission: n.Admission != nil}
		node.ReplicationRejected, node.HasReplication = counter(n.ReplicationPressure.Rejected)
		node.RemoteStoreRejected, node.HasRemoteStore = counter(n.Indices.Segments.RemoteStore.Upload.Pressure.Rejected)
		for _, gc := range n.JVM.GC.Collectors {
			node.GCCount += gc.Count
			node.GCMillis += gc.Millis
		}
		for _, key := range []string{"coordinating_rejections", "primary_rejections", "replica_rejections"} {
			node.MemoryRejected += n.IndexingPressure.Memory.Total[key]
		}
		for _, cause := range n.ShardPressure.Breakup {
			node.ShardRejected += cause
		}
		for _, b := range n.Breakers {
			node.BreakersTripped += b.Tripped
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

// counter returns the value of a counter, and whether the node has the counter.
func counter(n *int64) (value int64, known bool) {
	if n == nil {
		return 0, false
	}
	return *n, true
}

// NodeInfo holds the facts that a node reports about itself.
type NodeInfo struct {
	ID         string
	Name       string
	Version    string // version and hash of the build
	JVM        string
	Started    int64 // Unix time in ms; changes when the node restarts
	HeapMax    int64
	Processors int
	Mlockall   bool
	MaxFiles   int64
	Arch       string
	OS         string // operating system that OpenSearch reports; in a container, that of the image
}

// NodeInfos reads the facts about every node, ordered by node name.
func (c *Client) NodeInfos(ctx context.Context) ([]NodeInfo, error) {
	var info struct {
		Nodes map[string]struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Hash    string `json:"build_hash"`
			OS      struct {
				Arch       string `json:"arch"`
				Processors int    `json:"allocated_processors"`
				Name       string `json:"pretty_name"`
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
			Processors: n.OS.Processors, Mlockall: n.Process.Mlockall, MaxFiles: files.Nodes[id].Process.MaxFiles, Arch: goArch(n.OS.Arch), OS: n.OS.Name})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// goArch converts the JVM's name of an architecture to the GOARCH name.
func goArch(arch string) string {
	switch arch {
	case "aarch64":
		return "arm64"
	case "x86_64":
		return "amd64"
	}
	return arch
}
