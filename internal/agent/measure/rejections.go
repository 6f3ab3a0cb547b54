package measure

import (
	"fmt"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

// decreased describes a counter of a node that decreased; "" if there is none. It does not check ShardRejected: this counter
// is a part of MemoryRejected, and it exists only while shard indexing pressure is enforced.
func decreased(before, after []opensearch.Node) string {
	old := byID(before)
	for _, n := range after {
		o := old[n.ID]
		for _, c := range []struct {
			name        string
			before, now int64
		}{
			{"thread_pool.write.rejected", o.WriteRejected, n.WriteRejected},
			{"indexing_pressure rejections", o.MemoryRejected, n.MemoryRejected},
			{"admission_control rejections", o.AdmissionRejected, n.AdmissionRejected},
			{"breakers.tripped", o.BreakersTripped, n.BreakersTripped},
			{"segment_replication_backpressure rejections", o.ReplicationRejected, n.ReplicationRejected},
		} {
			if c.now < c.before {
				return fmt.Sprintf("%s of OpenSearch node %s went down from %d to %d", c.name, n.Name, c.before, c.now)
			}
		}
	}
	return ""
}

// rejections returns the increase of the rejection counters, summed over all nodes.
func rejections(before, after []opensearch.Node) record.Rejections {
	var r record.Rejections
	old := byID(before)
	for _, n := range after {
		o := old[n.ID]
		r.WritePool += max(0, n.WriteRejected-o.WriteRejected)
		r.IndexingPressure += max(0, n.MemoryRejected-o.MemoryRejected)
		r.ShardPressure += max(0, n.ShardRejected-o.ShardRejected)
		r.AdmissionControl += max(0, n.AdmissionRejected-o.AdmissionRejected)
		r.NoAdmissionControl = r.NoAdmissionControl || !n.HasAdmission
		r.CircuitBreakers += max(0, n.BreakersTripped-o.BreakersTripped)
	}
	r.SegmentReplication = knownChange(before, after, func(n opensearch.Node) (int64, bool) { return n.ReplicationRejected, n.HasReplication })
	r.RemoteStore = knownChange(before, after, func(n opensearch.Node) (int64, bool) { return n.RemoteStoreRejected, n.HasRemoteStore })
	return r
}

// knownChange returns the increase of a counter, summed over all nodes. It returns nil if a node does not have the counter,
// or if there are no nodes.
func knownChange(before, after []opensearch.Node, of func(opensearch.Node) (int64, bool)) *int64 {
	if len(after) == 0 {
		return nil
	}
	var sum int64
	old := byID(before)
	for _, n := range after {
		now, known := of(n)
		if !known {
			return nil
		}
		was, _ := of(old[n.ID])
		sum += max(0, now-was)
	}
	return &sum
}

func byID(nodes []opensearch.Node) map[string]opensearch.Node {
	out := map[string]opensearch.Node{}
	for _, n := range nodes {
		out[n.ID] = n
	}
	return out
}
