package opensearch

import (
	"context"
	"net/http"
	"net/url"
)

// Vital holds the state of the JVM, write pool, CPU quota, CPU and disks of a node at one time.
type Vital struct {
	Heap, OldGen, Survivor, Direct int64 // bytes in use; a generation is 0 if the collector has no generation of that name
	Threads, Active, Queue         int64 // threads, active threads and queue of the write pool
	HasQuota                       bool  // whether the node's control group has a CPU quota
	Periods, Throttled             int64 // quota periods and throttled periods, since the control group was created

	CPU  *float64  // os.cpu.percent: mean since the last request of any client; nil: not known
	Disk *DiskWork // counters of the devices of the data path since the node started; nil: not known
}

// DiskWork holds the disk counters of a node.
type DiskWork struct {
	Operations          int64
	ReadKiB, WrittenKiB int64
}

type used struct {
	Bytes int64 `json:"used_in_bytes"`
}

// Vitals reads the state of every node, by node ID. It requests only the fields of Vital, because it is called often during a
// load.
func (c *Client) Vitals(ctx context.Context) (map[string]Vital, error) {
	var s struct {
		Nodes map[string]struct {
			JVM struct {
				Mem struct {
					Heap  int64           `json:"heap_used_in_bytes"`
					Pools map[string]used `json:"pools"`
				} `json:"mem"`
				Buffers map[string]used `json:"buffer_pools"`
			} `json:"jvm"`
			ThreadPool struct {
				Write struct {
					Threads int64 `json:"threads"`
					Active  int64 `json:"active"`
					Queue   int64 `json:"queue"`
				} `json:"write"`
			} `json:"thread_pool"`
			FS struct {
				IO struct {
					Devices []struct{} `json:"devices"`
					Total   struct {
						Operations int64 `json:"operations"`
						ReadKiB    int64 `json:"read_kilobytes"`
						WrittenKiB int64 `json:"write_kilobytes"`
					} `json:"total"`
				} `json:"io_stats"`
			} `json:"fs"`
			OS struct {
				CPU struct {
					Percent *float64 `json:"percent"`
				} `json:"cpu"`
				Cgroup struct {
					CPU *struct {
						Quota int64 `json:"cfs_quota_micros"`
						Stat  struct {
							Periods   int64 `json:"number_of_elapsed_periods"`
							Throttled int64 `json:"number_of_times_throttled"`
						} `json:"stat"`
					} `json:"cpu"`
				} `json:"cgroup"`
			} `json:"os"`
		} `json:"nodes"`
	}
	err := c.call(ctx, http.MethodGet, "/_nodes/stats/jvm,thread_pool,os,fs?filter_path=nodes.*.jvm.mem.heap_used_in_bytes,"+
		"nodes.*.jvm.mem.pools.*.used_in_bytes,nodes.*.jvm.buffer_pools.direct.used_in_bytes,nodes.*.thread_pool.write,nodes.*.os.cgroup.cpu,"+
		"nodes.*.os.cpu.percent,nodes.*.fs.io_stats.total,nodes.*.fs.io_stats.devices.device_name", nil, &s)
	if err != nil {
		return nil, err
	}
	out := map[string]Vital{}
	for id, n := range s.Nodes {
		v := Vital{Heap: n.JVM.Mem.Heap, OldGen: n.JVM.Mem.Pools["old"].Bytes, Survivor: n.JVM.Mem.Pools["survivor"].Bytes,
			Direct: n.JVM.Buffers["direct"].Bytes, Threads: n.ThreadPool.Write.Threads, Active: n.ThreadPool.Write.Active, Queue: n.ThreadPool.Write.Queue}
		if cpu := n.OS.Cgroup.CPU; cpu != nil && cpu.Quota > 0 { // -1: no quota
			v.HasQuota, v.Periods, v.Throttled = true, cpu.Stat.Periods, cpu.Stat.Throttled
		}
		if p := n.OS.CPU.Percent; p != nil && *p >= 0 { // -1: not known to the JVM
			v.CPU = p
		}
		if io := n.FS.IO; len(io.Devices) > 0 { // without devices, the data path is on no device of the machine, and the total is always 0
			v.Disk = &DiskWork{Operations: io.Total.Operations, ReadKiB: io.Total.ReadKiB, WrittenKiB: io.Total.WrittenKiB}
		}
		out[id] = v
	}
	return out, nil
}

// Work holds the work of an index's primaries since the index was created, and their segments.
type Work struct {
	Merges                      int64
	MergeMillis, ThrottleMillis int64 // ThrottleMillis: time in which indexing was throttled because of merges
	MergedBytes                 int64
	RefreshMillis, FlushMillis  int64
	Segments                    int64
}

// IndexWork reads the work of an index in addition to indexing.
func (c *Client) IndexWork(ctx context.Context, index string) (Work, error) {
	type total struct {
		Total  int64 `json:"total"`
		Millis int64 `json:"total_time_in_millis"`
		Bytes  int64 `json:"total_size_in_bytes"`
	}
	var s struct {
		All struct {
			Primaries struct {
				Merges   total `json:"merges"`
				Refresh  total `json:"refresh"`
				Flush    total `json:"flush"`
				Segments struct {
					Count int64 `json:"count"`
				} `json:"segments"`
				Indexing struct {
					Throttle int64 `json:"throttle_time_in_millis"`
				} `json:"indexing"`
			} `json:"primaries"`
		} `json:"_all"`
	}
	err := c.call(ctx, http.MethodGet, "/"+url.PathEscape(index)+"/_stats/indexing,merge,refresh,flush,segments?filter_path=_all.primaries", nil, &s)
	p := s.All.Primaries
	return Work{Merges: p.Merges.Total, MergeMillis: p.Merges.Millis, MergedBytes: p.Merges.Bytes, ThrottleMillis: p.Indexing.Throttle,
		RefreshMillis: p.Refresh.Millis, FlushMillis: p.Flush.Millis, Segments: p.Segments.Count}, err
}
