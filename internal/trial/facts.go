package trial

import (
	"fmt"
	"strings"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
	"github.com/knee-bench/knee/internal/trial/steady"
)

// facts are what is known of a load once it is over, held against each other by check.
type facts struct {
	outcome    outcome // by the driver's own figures
	whole      steady.Window
	made       cluster.Made
	want       cluster.Topology
	upheaval   string // what of the cluster changed
	decreased  string // why the nodes' counters do not compare
	problem    string // why the index's counters do not compare
	rejections record.Rejections
	count      int64 // documents in the index
	total      int64 // index operations that succeeded
	failed     int64 // index operations that failed
}

// check says what makes the attempt invalid. Rejections alone never do: a gate judges them.
func (f *facts) check() error {
	for _, check := range []func() error{f.checkCluster, f.checkSetup, f.checkIndex, f.checkTasks, f.checkCounters, f.checkRequests, f.checkCount} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkCluster comes first: what else is wrong may be its consequence.
func (f *facts) checkCluster() error {
	if f.upheaval != "" {
		return fail(record.ReasonClusterChanged, "%s", f.upheaval)
	}
	return nil
}

func (f *facts) checkSetup() error { return f.outcome.setup }

func (f *facts) checkIndex() error { return differs(f.made, f.want) }

// checkTasks: a request that is refused whole counts as no operation, so that there is no throughput where all were.
func (f *facts) checkTasks() error {
	if f.outcome.missing != nil || refused(f.total, f.outcome.failures, f.rejections) {
		return f.outcome.missing
	}
	return f.outcome.unmeasured
}

func (f *facts) checkCounters() error {
	for _, problem := range []string{f.decreased, f.problem} {
		if problem != "" {
			return fail(record.ReasonCountersUnusable, "%s", problem)
		}
	}
	return nil
}

// checkRequests holds the failed requests against the rejections. A rejected request is counted at least once, by
// the node that refused it, so that more failures than rejections have another cause; each failed request is
// also a line of output that says why.
func (f *facts) checkRequests() error {
	why := strings.Join(f.outcome.failures.lines, "; ")
	if f.failed > 0 {
		return fail(record.ReasonRequestsFailed, "%d index operations failed on the primaries: %s", f.failed, why)
	}
	if other := f.outcome.failures.other; other > 0 {
		return fail(record.ReasonRequestsFailed, "%d failures are not rejections: %s", other, why)
	}
	if n := f.outcome.failures.refused; n > 0 && f.rejections.Total() == 0 {
		return fail(record.ReasonRequestsFailed, "%d documents were refused as too many (status 429), and no node counted a rejection: does something before OpenSearch refuse them? %s", n, why)
	}
	for _, t := range f.outcome.tasks {
		if t.ErrorRate > 0 && f.rejections.Total() == 0 {
			return fail(record.ReasonRequestsFailed, "%.2f %% of the requests of task %s failed, and no node rejected any: %s", 100*t.ErrorRate, t.Name, why)
		}
		if failed := t.ErrorRate * f.requests(t.ErrorRate); failed > 1.05*float64(f.rejections.Total())+1 {
			return fail(record.ReasonRequestsFailed, "about %.0f requests of task %s failed, but only %d were rejected: %s", failed, t.Name, f.rejections.Total(), why)
		}
	}
	return nil
}

// requests is about how many requests the load made; 0 when it cannot be known.
func (f *facts) requests(errorRate float64) float64 {
	switch {
	case f.outcome.bulkSize <= 0:
		return 0
	case f.outcome.corpus > 0:
		return float64(f.outcome.corpus) / float64(f.outcome.bulkSize)
	case errorRate < 1:
		return float64(f.total) / float64(f.outcome.bulkSize) / (1 - errorRate)
	}
	return 0
}

// checkCount: every document accepted is in the index; of a corpus, every document not rejected.
func (f *facts) checkCount() error {
	if f.count != f.total {
		return fail(record.ReasonCountMismatch, "the index holds %d documents, but its primaries indexed %d", f.count, f.total)
	}
	if a := f.outcome.accepted; a != nil {
		return f.checkAccepted(*a)
	}
	if f.outcome.corpus == 0 {
		return nil
	}
	missing := f.outcome.corpus - f.count
	if missing < 0 {
		return fail(record.ReasonCountMismatch, "the index holds %d documents of a corpus of %d: %d too many", f.count, f.outcome.corpus, -missing)
	}
	if f.outcome.bulkSize <= 0 && f.rejections.Total() > 0 {
		return nil // a rejection may stand for any number of documents
	}
	if most := f.rejections.Total() * f.outcome.bulkSize; missing > most {
		return fail(record.ReasonCountMismatch, "the index holds %d documents of a corpus of %d: of the %d missing, %d rejections explain %d at most", f.count, f.outcome.corpus, missing, f.rejections.Total(), most)
	}
	return nil
}

// checkAccepted: where the driver counts what was acknowledged, that is what the index holds, rejections or not.
func (f *facts) checkAccepted(a accepted) error {
	switch extra := f.count - a.documents; {
	case extra == 0:
		return nil
	case extra < 0:
		return fail(record.ReasonCountMismatch, "the index holds %d documents, but %d were acknowledged", f.count, a.documents)
	case extra <= a.again:
		return fail(record.ReasonCountMismatch, "the index holds %d documents, %d more than were acknowledged: %d were sent again after an answer that does not tell what became of them, and some of them are there twice", f.count, extra, a.again)
	default:
		return fail(record.ReasonCountMismatch, "the index holds %d documents, but only %d were acknowledged: does another client write to it?", f.count, a.documents)
	}
}

// indexMissing is the failure of a load after which there is no index.
func (a *attempt) indexMissing() error {
	if a.watch.total() > 0 {
		return fail(record.ReasonClusterChanged, "the index vanished during the load: %s", strings.Join(a.outcome.failures.lines, "; "))
	}
	return fail(record.ReasonIndexNotMade, "there is no index %s after the load: %s", a.Config.Index.Name, strings.Join(a.outcome.failures.lines, "; "))
}

// refused says whether a load was refused altogether, for no other reason than that there was too much of it.
func refused(accepted int64, f failures, r record.Rejections) bool {
	return accepted == 0 && f.other == 0 && r.Total() > 0
}

// unmeasured is the failure of a load that left no window to measure: it failed, or it was too short to be seen.
func unmeasured(why error, accepted int64, output string) error {
	if accepted > 0 {
		return fail(record.ReasonCountersUnusable, "%d documents were accepted, but %v: give the load more documents", accepted, why)
	}
	return fail(record.ReasonRequestsFailed, "%v: %s", why, output)
}

// decreased says which counter of a node went down. That of shard indexing pressure, a part of another, is there
// only while the pressure is enforced.
func decreased(before, after []cluster.Node) string {
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
				return fmt.Sprintf("%s of node %s went down from %d to %d", c.name, n.Name, c.before, c.now)
			}
		}
	}
	return ""
}

// rejections are the changes of every node's counters, summed.
func rejections(before, after []cluster.Node) record.Rejections {
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
	r.SegmentReplication = knownChange(before, after, func(n cluster.Node) (int64, bool) { return n.ReplicationRejected, n.HasReplication })
	r.RemoteStore = knownChange(before, after, func(n cluster.Node) (int64, bool) { return n.RemoteStoreRejected, n.HasRemoteStore })
	return r
}

// knownChange returns the change of a counter, summed over all nodes; nil if a node does not have the counter, or there
// are no nodes.
func knownChange(before, after []cluster.Node, of func(cluster.Node) (int64, bool)) *int64 {
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

func byID(nodes []cluster.Node) map[string]cluster.Node {
	out := map[string]cluster.Node{}
	for _, n := range nodes {
		out[n.ID] = n
	}
	return out
}
