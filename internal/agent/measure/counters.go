package measure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/measure/steady"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

// Limits for the waits after a load.
const (
	quietTimeout  = time.Minute
	drainTimeout  = 15 * time.Minute
	overFor       = time.Second // indexing or merging counts as ended after this time without a change
	quietInterval = 100 * time.Millisecond
)

// Baseline holds the counters and the facts of all nodes at one time.
type Baseline struct {
	Nodes []opensearch.Node
	Infos []opensearch.NodeInfo // nil: not read yet
}

// NodeIDs returns a map from node name to node ID.
func (b Baseline) NodeIDs() map[string]string {
	out := map[string]string{}
	for _, i := range b.Infos {
		out[i.Name] = i.ID
	}
	return out
}

// After holds the nodes after a load and the differences from the baseline before it.
type After struct {
	Baseline
	Rejections record.Rejections
	Changed    string // description of a node that was added, removed or restarted; empty: none
	Decreased  string // description of a counter that decreased; empty: none
}

// readNodes reads the counters and the facts of all nodes. It fails if a node does not answer.
func (t Target) readNodes(ctx context.Context) (Baseline, error) {
	nodes, missing, err := t.Cluster.Nodes(ctx)
	if err != nil {
		return Baseline{}, err
	}
	if missing > 0 {
		return Baseline{}, fmt.Errorf("%d OpenSearch nodes do not answer", missing)
	}
	infos, err := t.Cluster.NodeInfos(ctx)
	return Baseline{nodes, infos}, err
}

// CountBefore reads the nodes before the load. known are the nodes that the trial found at its start. CountBefore fails if
// the cluster is not green or its nodes have changed.
func (t Target) CountBefore(ctx context.Context, known []opensearch.NodeInfo) (Baseline, error) {
	h, err := t.Cluster.Health(ctx)
	if err != nil {
		return Baseline{}, record.Errorf(record.ReasonClusterNotReady, "cannot read the health of the OpenSearch cluster before the load: %v", err)
	}
	if ready, state := t.IsReady(h); !ready {
		return Baseline{}, record.Errorf(record.ReasonClusterNotReady, "the OpenSearch cluster is not ready before the load: %s%s", state, t.WhyUnassigned(ctx))
	}
	before, err := t.readNodes(ctx)
	if err != nil {
		return Baseline{}, record.Errorf(record.ReasonCountersUnusable, "cannot read the counters of the OpenSearch nodes before the load: %v", err)
	}
	if why := differentNodes(known, before.Infos, "the wait before the load"); why != "" {
		return Baseline{}, record.Errorf(record.ReasonClusterChanged, "%s", why)
	}
	return before, nil
}

// CountAfter reads the nodes after the load and compares them with before.
func (t Target) CountAfter(ctx context.Context, before Baseline) (After, error) {
	now, err := t.readNodes(ctx)
	if err != nil {
		return After{}, record.Errorf(record.ReasonCountersUnusable, "cannot read the counters of the OpenSearch nodes after the load: %v", err)
	}
	return After{
		Baseline:   now,
		Rejections: rejections(before.Nodes, now.Nodes),
		Changed:    differentNodes(before.Infos, now.Infos, "the load"),
		Decreased:  decreased(before.Nodes, now.Nodes),
	}, nil
}

// WaitForQuiet waits until all documents that the driver sent are indexed. Then it makes them visible with one refresh. If
// the index does not exist, the error quotes the lines of failures.
func (t Target) WaitForQuiet(ctx context.Context, r *Recorder, failures driver.Failures) error {
	exists, err := t.Cluster.IndexExists(ctx, t.Index)
	if err == nil && !exists {
		return t.indexMissing(r.total(), failures)
	}
	started := time.Now()
	waiting, cancel := context.WithTimeout(ctx, quietTimeout)
	defer cancel()
	err = WaitUntil(waiting, quietInterval, func(context.Context) (bool, string) {
		quiet, indexing := r.isQuiet()
		return quiet, fmt.Sprintf("%d index operations are still running", indexing)
	})
	if err != nil {
		return record.Errorf(record.ReasonCountersUnusable, "OpenSearch still indexes documents %s after the load ended: %v; check whether another program writes to the index", Elapsed(started), err)
	}
	if err := t.Cluster.Refresh(ctx, t.Index); err != nil {
		return record.Errorf(record.ReasonCountersUnusable, "%v", err)
	}
	return nil
}

// indexMissing returns the error for an index that does not exist after the load.
func (t Target) indexMissing(accepted int64, failures driver.Failures) error {
	why := strings.Join(failures.Lines, "; ")
	if accepted > 0 {
		return record.Errorf(record.ReasonClusterChanged, "the index was deleted during the load: %s", why)
	}
	return record.Errorf(record.ReasonIndexNotMade, "index %s does not exist after the load: %s", t.Index, why)
}

// Drain waits until the merges of the load have ended, and stops the recorder. It returns docs/s from the start of the load
// to the end of the merges. So this figure includes the merges that ran after the load. It is 0 if the merges did not end in
// time.
func (t Target) Drain(ctx context.Context, r *Recorder, whole steady.Window) (docsPerSecond float64, last Recording, err error) {
	started, limit := time.Now(), drainTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = WaitUntil(waiting, quietInterval, func(context.Context) (bool, string) {
		drained, merges := r.isDrained()
		return drained, fmt.Sprintf("%d segment merges are still running", merges)
	})
	last = r.Stop()
	if err != nil {
		t.Say("the segment merges after the load did not end within %s: %v", Elapsed(started), err)
		return 0, last, ctx.Err()
	}
	end := whole.To
	if last.Merging.After(end) {
		end = last.Merging
	}
	return steady.Window{From: whole.From, To: end, Documents: whole.Documents}.Rate(), last, ctx.Err()
}
