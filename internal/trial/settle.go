package trial

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/probe"
	"github.com/knee-bench/knee/internal/record"
)

// What counts as rest, on every OpenSearch node.
const (
	settleInterval = time.Second
	flatFor        = 2 * time.Second // how long no node may index anything
	restBusy       = 15.0            // percent of all cores
	restDirty      = 64 << 20        // bytes of dirty pages
)

// settle waits until nothing of what came before still works in the cluster: shards, merges, indexing, the page
// cache's writeback, the CPU. A cluster that does not come to rest is measured all the same, and the record says
// what was restless.
func (a *attempt) settle(ctx context.Context) error {
	if a.Config.SettleSeconds <= 0 {
		return nil
	}
	started := time.Now()
	wait, cancel := context.WithTimeout(ctx, time.Duration(a.Config.SettleSeconds)*time.Second)
	defer cancel()
	indexed, flatSince := map[string]int64{}, time.Now()
	err := until(wait, settleInterval, func(ctx context.Context) (bool, string) {
		restless := a.restlessProbes(ctx)
		shards, counts := a.restlessCluster(ctx)
		restless = append(restless, shards...)
		if !sameCounts(indexed, counts) {
			indexed, flatSince = counts, time.Now()
		}
		if flat := time.Since(flatSince); flat < flatFor {
			restless = append(restless, fmt.Sprintf("nodes indexed %.1f s ago", flat.Seconds()))
		}
		return len(restless) == 0, strings.Join(restless, "; ")
	})
	a.record.Settle.Seconds = time.Since(started).Seconds()
	if err != nil && ctx.Err() == nil {
		a.record.Settle.Note = err.Error()
		a.say("not at rest after %s: %v", since(started), err)
	}
	return ctx.Err()
}

// wait sends nothing for as long as the campaign asks for (spec.workload.waitSeconds).
func (a *attempt) wait(ctx context.Context) error {
	if a.Config.WaitSeconds <= 0 {
		return nil
	}
	started := time.Now()
	timer := time.NewTimer(time.Duration(a.Config.WaitSeconds) * time.Second)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	a.record.Settle.WaitSeconds = time.Since(started).Seconds()
	return ctx.Err()
}

// restlessCluster says what of the cluster is not at rest, and how much each node has indexed.
func (a *attempt) restlessCluster(ctx context.Context) (restless []string, indexed map[string]int64) {
	h, err := a.cluster.Health(ctx)
	if err != nil {
		return []string{err.Error()}, nil
	}
	if h.Status != "green" || h.Relocating+h.Initializing+h.Pending > 0 {
		restless = append(restless, fmt.Sprintf("health %s, %d shards relocating, %d initializing, %d tasks pending", h.Status, h.Relocating, h.Initializing, h.Pending))
	}
	nodes, missing, err := a.cluster.Nodes(ctx)
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
			restless = append(restless, fmt.Sprintf("%s runs %d merges", n.Name, n.Merges))
		}
	}
	return restless, indexed
}

// restlessProbes says which machines are busy.
func (a *attempt) restlessProbes(ctx context.Context) []string {
	var restless []string
	for _, p := range a.Config.Probes {
		now, err := a.probe(p).Now(ctx)
		switch {
		case err != nil:
			restless = append(restless, fmt.Sprintf("probe of %s: %v", p.Node, err))
		case now.BusyPercent > restBusy:
			restless = append(restless, fmt.Sprintf("the machine of %s is %.0f %% busy", p.Node, now.BusyPercent))
		case now.DirtyBytes > restDirty:
			restless = append(restless, fmt.Sprintf("the machine of %s has %d MiB of dirty pages", p.Node, now.DirtyBytes>>20))
		}
	}
	return restless
}

func (a *attempt) probe(p record.Probe) probe.Client { return probe.Client{URL: p.URL, HTTP: a.probes} }

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
