package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
	"github.com/knee-bench/knee/internal/trial/fleet"
)

// blameTimeout is how long a cluster is asked, after a load that failed, whether it is the cause.
const blameTimeout = 10 * time.Second

// ready says whether the cluster has all its nodes and is green, and what it lacks.
func (a *attempt) ready(h cluster.Health) (bool, string) {
	return h.Status == "green" && h.Nodes == a.Config.Nodes,
		fmt.Sprintf("it is %s with %d nodes, %d shards unassigned", h.Status, h.Nodes, h.Unassigned)
}

// whyUnassigned continues a message that shards are unassigned with the cluster's own words for one of them, where it has any.
func (a *attempt) whyUnassigned(ctx context.Context) string {
	why, err := a.cluster.WhyUnassigned(ctx)
	if err != nil {
		return ""
	}
	return "; " + why
}

// differentNodes says which node is another, or another process, than before.
func differentNodes(before, after []cluster.NodeInfo, during string) string {
	started := map[string]int64{}
	for _, n := range before {
		started[n.ID] = n.Started
	}
	for _, n := range after {
		at, known := started[n.ID]
		if !known {
			return fmt.Sprintf("node %s was not there before %s", n.Name, during)
		}
		if at != n.Started {
			return fmt.Sprintf("node %s restarted during %s", n.Name, during)
		}
		delete(started, n.ID)
	}
	for _, n := range before {
		if _, gone := started[n.ID]; gone {
			return fmt.Sprintf("node %s is gone since %s: %d nodes before, %d after", n.Name, during, len(before), len(after))
		}
	}
	return ""
}

// sameNodes fails when a node is another, or another process, than when its counters were first read.
func (a *attempt) sameNodes(ctx context.Context, during string) error {
	infos, err := a.cluster.NodeInfos(ctx)
	if err != nil {
		return fail(record.ReasonCountersUnusable, "the nodes after %s: %v", during, err)
	}
	if why := differentNodes(a.before.infos, infos, during); why != "" {
		return fail(record.ReasonClusterChanged, "%s", why)
	}
	return nil
}

// blame finds out whether the cluster is the cause of an error of a phase that needs it unchanged: the driver only
// tells that its requests fail, in this loader pod or in another.
func (a *attempt) blame(ctx context.Context, during string, err error) error {
	if a.before.infos == nil || reasonOf(err) == record.ReasonClusterChanged {
		return err
	}
	if ctx.Err() != nil {
		other := (*fleet.Failure)(nil)
		if !errors.As(context.Cause(ctx), &other) || !slices.Contains(ofTheLoad, other.Reason) {
			return err
		}
		ctx, err = context.WithoutCancel(ctx), &failure{other.Reason, other.Message}
	}
	switch why := a.upheaval(ctx, during); {
	case ctx.Err() != nil: // it ended as the cluster was asked, so that no answer says nothing
		return a.blame(ctx, during, err)
	case why != "":
		return fail(record.ReasonClusterChanged, "%s; so that %v", why, err)
	}
	return err
}

// ofTheLoad are the reasons of a driver that failed, which may be for what the cluster did.
var ofTheLoad = []string{record.ReasonRequestsFailed, record.ReasonDriverFailed, record.ReasonDriverIncomplete}

// upheaval says what of the cluster changed since its counters were first read.
func (a *attempt) upheaval(ctx context.Context, during string) string {
	if a.watch != nil {
		if why := a.watch.seen(); why != "" {
			return why
		}
	}
	ctx, cancel := context.WithTimeout(ctx, blameTimeout)
	defer cancel()
	var infos []cluster.NodeInfo
	err := until(ctx, time.Second, func(ctx context.Context) (bool, string) {
		var err error
		if infos, err = a.cluster.NodeInfos(ctx); err != nil {
			return false, err.Error()
		}
		return true, ""
	})
	if err != nil {
		return fmt.Sprintf("OpenSearch does not answer any more: %v", err)
	}
	return differentNodes(a.before.infos, infos, during)
}

// addHealth takes in the health of the index and the nodes during a load. An index that was not green yet is being
// made, as the next backing index of a data stream is in mid-load: only what it loses counts.
func (w *watch) addHealth(h cluster.Health) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.index != "" && w.last.Total == 0 {
		return
	}
	if h.Nodes < w.nodes {
		w.noteUpheaval(fmt.Sprintf("the cluster had %d nodes instead of %d during the load", h.Nodes, w.nodes))
	}
	if w.index == "" {
		return
	}
	if len(h.Indices) == 0 {
		h.Indices = map[string]cluster.Health{w.index: h}
	}
	for _, name := range slices.Sorted(maps.Keys(h.Indices)) {
		w.addIndexHealth(name, h.Indices[name])
	}
}

func (w *watch) addIndexHealth(name string, h cluster.Health) {
	rests := h.Status == "green" && h.Relocating == 0
	if !rests && w.green[name] {
		what := "the index"
		if name != w.index {
			what += " " + name
		}
		w.noteUpheaval(fmt.Sprintf("%s was %s during the load: %d shards unassigned, %d initializing, %d relocating",
			what, h.Status, h.Unassigned, h.Initializing, h.Relocating))
	}
	if rests {
		w.green[name] = true
	}
}

func (w *watch) noteUpheaval(what string) {
	if w.upheaval == "" {
		w.upheaval = what
	}
}

// seen is what the watch saw the cluster lose; empty when nothing.
func (w *watch) seen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.upheaval
}

// movedShards says which copy of a shard is not where it was when the load began. A replica that came later, while the
// index was being made, is no loss.
func movedShards(before *cluster.Allocations, after cluster.Allocations) string {
	if before == nil {
		return "where the primaries were at the start of the load is not known"
	}
	for shard, allocation := range before.Primaries {
		if after.Primaries[shard] != allocation {
			return fmt.Sprintf("primary %s moved during the load", shard)
		}
	}
	for allocation, shard := range before.Replicas {
		if _, there := after.Replicas[allocation]; !there {
			return fmt.Sprintf("a replica of %s was lost or moved during the load", shard)
		}
	}
	return ""
}
