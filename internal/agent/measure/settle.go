package measure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// Limits for a cluster at rest. Every node and machine must stay below them.
const (
	settleInterval = time.Second
	flatFor        = 2 * time.Second // time in which no node may index a document
	restBusy       = 15.0            // CPU use, percent of all cores
	restDirty      = 64 << 20        // dirty pages, bytes
)

// Settle waits until earlier work in the cluster has ended: shard movements, merges, indexing, writeback of the page cache,
// and CPU use. The parameter limit is the longest wait. If the cluster is still not at rest after this time, it is measured
// anyway, and the note describes the remaining work.
func (t Target) Settle(ctx context.Context, limit time.Duration) (record.Settle, error) {
	if limit <= 0 {
		return record.Settle{}, nil
	}
	started := time.Now()
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	indexed, flatSince := map[string]int64{}, time.Now()
	err := WaitUntil(wait, settleInterval, func(ctx context.Context) (bool, string) {
		restless := t.restlessMachines(ctx)
		shards, counts := t.restlessCluster(ctx)
		restless = append(restless, shards...)
		if !sameCounts(indexed, counts) {
			indexed, flatSince = counts, time.Now()
		}
		if flat := time.Since(flatSince); flat < flatFor {
			restless = append(restless, fmt.Sprintf("an OpenSearch node indexed documents %.1f s ago", flat.Seconds()))
		}
		return len(restless) == 0, strings.Join(restless, "; ")
	})
	out := record.Settle{Seconds: time.Since(started).Seconds()}
	if err != nil && ctx.Err() == nil {
		out.Note = err.Error()
		t.Say("the trial continues, although the OpenSearch cluster is still busy after a wait of %s: %v", Elapsed(started), err)
	}
	return out, ctx.Err()
}

// restlessCluster describes the work that still runs in the cluster. It also returns how many documents each node has
// indexed, by node ID.
func (t Target) restlessCluster(ctx context.Context) (restless []string, indexed map[string]int64) {
	h, err := t.Cluster.Health(ctx)
	if err != nil {
		return []string{err.Error()}, nil
	}
	if h.Status != "green" || h.Relocating+h.Initializing+h.Pending > 0 {
		restless = append(restless, fmt.Sprintf("health %s, %d shards relocating, %d initializing, %d tasks pending", h.Status, h.Relocating, h.Initializing, h.Pending))
	}
	nodes, missing, err := t.Cluster.Nodes(ctx)
	if err != nil {
		return append(restless, err.Error()), nil
	}
	if missing > 0 {
		restless = append(restless, fmt.Sprintf("%d nodes do not answer", missing))
	}
	indexed = map[string]int64{}
	for _, n := range nodes {
		indexed[n.ID] = n.Indexed
		if n.Merges > 0 {
			restless = append(restless, fmt.Sprintf("OpenSearch node %s runs %d merges", n.Name, n.Merges))
		}
	}
	return restless, indexed
}

// restlessMachines describes the machines that are not at rest.
func (t Target) restlessMachines(ctx context.Context) []string {
	var restless []string
	for _, p := range t.Probes {
		now, err := t.Probe(p).Now(ctx)
		switch {
		case err != nil:
			restless = append(restless, fmt.Sprintf("cannot read Knee's probe for OpenSearch node %s: %v", p.Node, err))
		case now.BusyPercent > restBusy:
			restless = append(restless, fmt.Sprintf("the machine of OpenSearch node %s is %.0f %% busy", p.Node, now.BusyPercent))
		case now.DirtyBytes > restDirty:
			restless = append(restless, fmt.Sprintf("the machine of OpenSearch node %s has %d MiB of dirty pages", p.Node, now.DirtyBytes>>20))
		}
	}
	return restless
}

func sameCounts(a, b map[string]int64) bool {
	if len(a) != len(b) || b == nil {
		return false
	}
	for k, v := range b {
		if old, ok := a[k]; !ok || old != v {
			return false
		}
	}
	return true
}
