package measure

import (
	"strings"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

// Evidence holds all facts about a load after its end. Check compares the facts with each other.
type Evidence struct {
	Outcome    driver.Outcome // the driver's own figures
	Made       opensearch.Made
	Want       opensearch.Topology
	Changed    string // description of a change in the cluster; empty: no change
	Decreased  string // why the nodes' counters cannot be compared; empty: they can be compared
	Problem    string // why the index's counters cannot be compared; empty: they can be compared
	Rejections record.Rejections
	Count      int64 // documents in the index
	Total      int64 // index operations that succeeded on the primaries
	Failed     int64 // index operations that failed on the primaries
}

// Check returns an error if the attempt is invalid. Rejections are no error: a gate decides about them.
func (e *Evidence) Check() error {
	for _, check := range []func() error{e.checkCluster, e.checkSetup, e.checkIndex, e.checkTasks, e.checkCounters, e.checkRequests, e.checkCount} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkCluster is the first check, because a change of the cluster may cause every other error.
func (e *Evidence) checkCluster() error {
	if e.Changed != "" {
		return record.Errorf(record.ReasonClusterChanged, "%s", e.Changed)
	}
	return nil
}

func (e *Evidence) checkSetup() error { return e.Outcome.SetupError }

func (e *Evidence) checkIndex() error { return CheckIndex(e.Made, e.Want) }

// checkTasks returns an error if a task has no figures or no throughput. Exception: if the whole load was rejected, a task
// without throughput is no error, because a rejected request is not counted as an operation.
func (e *Evidence) checkTasks() error {
	if e.Outcome.IncompleteError != nil || isRejected(e.Total, e.Outcome.Failures, e.Rejections) {
		return e.Outcome.IncompleteError
	}
	return e.Outcome.UnmeasuredError
}

func (e *Evidence) checkCounters() error {
	for _, problem := range []string{e.Decreased, e.Problem} {
		if problem != "" {
			return record.Errorf(record.ReasonCountersUnusable, "%s", problem)
		}
	}
	return nil
}

// checkRequests returns an error if requests failed for another reason than a rejection. A node counts each request that it
// rejects at least once. So if more requests failed than were rejected, some failures have another cause. The driver's output
// has a line with the reason of each failure.
func (e *Evidence) checkRequests() error {
	why := strings.Join(e.Outcome.Failures.Lines, "; ")
	if e.Failed > 0 {
		return record.Errorf(record.ReasonRequestsFailed, "%d index operations failed on the primary shards: %s", e.Failed, why)
	}
	if other := e.Outcome.Failures.Other; other > 0 {
		return record.Errorf(record.ReasonRequestsFailed, "%d requests or documents failed with an error that is not a rejection (HTTP status 429): %s", other, why)
	}
	if n := e.Outcome.Failures.Refused; n > 0 && e.Rejections.Total() == 0 {
		return record.Errorf(record.ReasonRequestsFailed, "%d documents were refused with HTTP status 429, but no OpenSearch node counted a rejection: check whether a proxy in front of OpenSearch refuses requests (refused: %s)", n, why)
	}
	for _, t := range e.Outcome.Tasks {
		if t.ErrorRate > 0 && e.Rejections.Total() == 0 {
			return record.Errorf(record.ReasonRequestsFailed, "%.2f %% of the requests of task %s failed, but no OpenSearch node rejected a request, so the failures have another cause: %s", 100*t.ErrorRate, t.Name, why)
		}
		if failed := t.ErrorRate * e.requests(t.ErrorRate); failed > 1.05*float64(e.Rejections.Total())+1 {
			return record.Errorf(record.ReasonRequestsFailed, "about %.0f requests of task %s failed, but OpenSearch rejected only %d requests, so the other failures have another cause: %s", failed, t.Name, e.Rejections.Total(), why)
		}
	}
	return nil
}

// requests estimates how many requests the load made; 0 if it cannot be estimated.
func (e *Evidence) requests(errorRate float64) float64 {
	switch {
	case e.Outcome.BulkSize <= 0:
		return 0
	case e.Outcome.Corpus > 0:
		return float64(e.Outcome.Corpus) / float64(e.Outcome.BulkSize)
	case errorRate < 1:
		return float64(e.Total) / float64(e.Outcome.BulkSize) / (1 - errorRate)
	}
	return 0
}

// checkCount requires that the index holds every accepted document. For a corpus, it requires every document of the corpus
// that was not rejected.
func (e *Evidence) checkCount() error {
	if e.Count != e.Total {
		return record.Errorf(record.ReasonCountMismatch, "the index holds %d documents, but its primary shards counted %d index operations: check whether the load overwrites or deletes documents", e.Count, e.Total)
	}
	if a := e.Outcome.Accepted; a != nil {
		return e.checkAccepted(*a)
	}
	if e.Outcome.Corpus == 0 {
		return nil
	}
	missing := e.Outcome.Corpus - e.Count
	if missing < 0 {
		return record.Errorf(record.ReasonCountMismatch, "the index holds %d documents, but the corpus has only %d (%d documents too many): check whether another program writes to the index", e.Count, e.Outcome.Corpus, -missing)
	}
	if e.Outcome.BulkSize <= 0 && e.Rejections.Total() > 0 {
		return nil // a rejected request may hold any number of documents
	}
	if most := e.Rejections.Total() * e.Outcome.BulkSize; missing > most {
		return record.Errorf(record.ReasonCountMismatch, "the index holds %d documents, but the corpus has %d: %d documents are missing, and %d rejected requests can explain at most %d of these documents", e.Count, e.Outcome.Corpus, missing, e.Rejections.Total(), most)
	}
	return nil
}

// checkAccepted requires that the index holds exactly the acknowledged documents. It is used if the driver counts them.
func (e *Evidence) checkAccepted(a driver.Accepted) error {
	switch extra := e.Count - a.Documents; {
	case extra == 0:
		return nil
	case extra < 0:
		return record.Errorf(record.ReasonCountMismatch, "the index holds only %d documents, but OpenSearch acknowledged %d documents to the loader", e.Count, a.Documents)
	case extra <= a.SentAgain:
		return record.Errorf(record.ReasonCountMismatch, "the index holds %d documents, %d more than OpenSearch acknowledged: the loader sent %d documents again after status 408 or 5xx, so some documents are in the index twice", e.Count, extra, a.SentAgain)
	default:
		return record.Errorf(record.ReasonCountMismatch, "the index holds %d documents, but OpenSearch acknowledged only %d: check whether another program writes to the index", e.Count, a.Documents)
	}
}

// isRejected reports whether no document was accepted and rejections are the only reason.
func isRejected(accepted int64, f driver.Failures, r record.Rejections) bool {
	return accepted == 0 && f.Other == 0 && r.Total() > 0
}

// CheckIndex returns an error if the index does not have the settings of the topology.
func CheckIndex(made opensearch.Made, want opensearch.Topology) error {
	if made.Primaries != want.Primaries || made.Replicas != want.Replicas {
		return record.Errorf(record.ReasonIndexNotMade, "the index has %d primary shards and %d replicas, but the topology requires %d and %d: check that the workload's index body uses the parameters number_of_shards and number_of_replicas",
			made.Primaries, made.Replicas, want.Primaries, want.Replicas)
	}
	if want.Replication != "" && made.Replication != want.Replication {
		return record.Errorf(record.ReasonIndexNotMade, "the index has replication type %s, but the topology requires %s: check whether the workload's index body or an index template of the cluster sets index.replication.type",
			made.Replication, want.Replication)
	}
	if want.RefreshInterval == "" {
		return nil
	}
	got, ok := opensearch.Seconds(made.RefreshInterval)
	wanted, ok2 := opensearch.Seconds(want.RefreshInterval)
	if !ok || !ok2 || got != wanted {
		return record.Errorf(record.ReasonIndexNotMade, "the index has refresh interval %s, but the topology requires %s: check whether the workload's index body sets index.refresh_interval", made.RefreshInterval, want.RefreshInterval)
	}
	return nil
}
