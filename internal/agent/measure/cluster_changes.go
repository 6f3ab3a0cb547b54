package measure

import (
	"fmt"
	"maps"
	"slices"

	"github.com/knee-bench/knee/internal/agent/opensearch"
)

// differentNodes describes a node that was added, removed or restarted between before and after; "" if there is no such node.
func differentNodes(before, after []opensearch.NodeInfo, during string) string {
	started := map[string]int64{}
	for _, n := range before {
		started[n.ID] = n.Started
	}
	for _, n := range after {
		at, known := started[n.ID]
		if !known {
			return fmt.Sprintf("OpenSearch node %s joined the cluster during %s", n.Name, during)
		}
		if at != n.Started {
			return fmt.Sprintf("OpenSearch node %s restarted during %s", n.Name, during)
		}
		delete(started, n.ID)
	}
	for _, n := range before {
		if _, missing := started[n.ID]; missing {
			return fmt.Sprintf("OpenSearch node %s left the cluster during %s: %d nodes before, %d nodes after", n.Name, during, len(before), len(after))
		}
	}
	return ""
}

// addHealth records unhealthy states of the nodes and of the index during a load. An index that was never green is still
// being created, such as the next backing index of a data stream. Such an index is no problem: only an index that was green
// can become unhealthy.
func (r *Recorder) addHealth(h opensearch.Health) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.target.Index != "" && r.seen.Last.Total == 0 {
		return
	}
	if h.Nodes < r.target.Nodes {
		r.noteChange(fmt.Sprintf("the OpenSearch cluster had %d nodes instead of %d during the load", h.Nodes, r.target.Nodes))
	}
	if r.target.Index == "" {
		return
	}
	if len(h.Indices) == 0 {
		h.Indices = map[string]opensearch.Health{r.target.Index: h}
	}
	for _, name := range slices.Sorted(maps.Keys(h.Indices)) {
		r.addIndexHealth(name, h.Indices[name])
	}
}

func (r *Recorder) addIndexHealth(name string, h opensearch.Health) {
	isHealthy := h.Status == "green" && h.Relocating == 0
	if !isHealthy && r.green[name] {
		subject := "the index"
		if name != r.target.Index {
			subject += " " + name
		}
		r.noteChange(fmt.Sprintf("the health of %s was %s during the load: %d shards unassigned, %d initializing, %d relocating",
			subject, h.Status, h.Unassigned, h.Initializing, h.Relocating))
	}
	if isHealthy {
		r.green[name] = true
	}
}

func (r *Recorder) noteChange(change string) {
	if r.seen.Change == "" {
		r.seen.Change = change
	}
}

// MovedShards describes a copy of a shard that has left its place since the load began; "" if there is no such copy. A
// replica that was assigned later, while the index was being created, is no problem.
func MovedShards(before *opensearch.Allocations, after opensearch.Allocations) string {
	if before == nil {
		return "the location of the primary shards at the start of the load is not known, so Knee cannot check whether a shard moved"
	}
	for shard, allocation := range before.Primaries {
		if after.Primaries[shard] != allocation {
			return fmt.Sprintf("primary shard %s moved during the load", shard)
		}
	}
	for allocation, shard := range before.Replicas {
		if _, there := after.Replicas[allocation]; !there {
			return fmt.Sprintf("a replica of shard %s was lost or moved during the load", shard)
		}
	}
	return ""
}
