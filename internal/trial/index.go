package trial

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
)

// The controller starts a trial when the cell's pods are ready: what is not there soon will not come.
const (
	reachTimeout = 3 * time.Minute
	greenTimeout = 2 * time.Minute
	goneTimeout  = time.Minute
)

// awaitCluster waits until the cluster has all its nodes. It need not be green: an index of an earlier trial may
// be what it lacks, and that goes next.
func (a *attempt) awaitCluster(ctx context.Context) error {
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	var refused error
	err := until(ctx, 500*time.Millisecond, func(ctx context.Context) (bool, string) {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		h, err := a.cluster.Health(ctx)
		if err != nil {
			refused = a.refused(err)
			return refused != nil, err.Error()
		}
		if h.Nodes != a.Config.Nodes {
			return false, fmt.Sprintf("the cluster has %d nodes, not %d", h.Nodes, a.Config.Nodes)
		}
		if a.known, err = a.cluster.NodeInfos(ctx); err != nil {
			refused = a.refused(err)
			return refused != nil, err.Error()
		}
		return true, ""
	})
	if refused != nil {
		return refused
	}
	if err != nil {
		return fail(record.ReasonClusterNotReady, "%s is not ready after %s: %v", a.Config.Endpoint, since(started), err)
	}
	return nil
}

// makeIndex deletes the index of the trial before and, when the campaign gives a body, creates it anew. Else the
// driver's setup tasks will, and the template covers what their body leaves out.
func (a *attempt) makeIndex(ctx context.Context) error {
	index := a.Config.Index
	if err := a.clearIndex(ctx); err != nil {
		return err
	}
	a.ownIndex = true
	started := time.Now()
	gone, cancel := context.WithTimeout(ctx, goneTimeout)
	defer cancel()
	err := until(gone, 200*time.Millisecond, func(ctx context.Context) (bool, string) {
		there, err := a.cluster.IndexExists(ctx, index.Name)
		if err != nil {
			return false, err.Error()
		}
		return !there, "it is still there"
	})
	if err != nil {
		return fail(record.ReasonIndexNotMade, "the old index %s was deleted, but after %s: %v", index.Name, since(started), err)
	}
	if err := a.cluster.PutTemplate(ctx, index.Name, a.topology()); err != nil {
		return fail(record.ReasonIndexNotMade, "the index template: %v", err)
	}
	if index.BodyFile != "" {
		if err := a.createIndex(ctx); err != nil {
			return err
		}
	}
	return a.awaitGreen(ctx)
}

func (a *attempt) createIndex(ctx context.Context) error {
	data, err := os.ReadFile(a.Config.Index.BodyFile)
	if err != nil {
		return fail(record.ReasonIndexNotMade, "the body of the index: %v", err)
	}
	body, err := cluster.IndexBody(data, a.topology())
	if err != nil {
		return fail(record.ReasonIndexNotMade, "%s: %v", a.Config.Index.BodyFile, err)
	}
	if err := a.cluster.CreateIndex(ctx, a.Config.Index.Name, body); err != nil {
		return fail(record.ReasonIndexNotMade, "%v", err)
	}
	return a.compareIndex(ctx)
}

func (a *attempt) awaitGreen(ctx context.Context) error {
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, greenTimeout)
	defer cancel()
	err := until(ctx, 500*time.Millisecond, func(ctx context.Context) (bool, string) {
		h, err := a.cluster.Health(ctx)
		if err != nil {
			return false, err.Error()
		}
		return a.ready(h)
	})
	if err != nil {
		return fail(record.ReasonClusterNotReady, "the cluster is not green after %s: %v", since(started), err)
	}
	return nil
}

// compareIndex reads the index back and holds it against the topology.
func (a *attempt) compareIndex(ctx context.Context) error {
	made, err := a.cluster.ReadIndex(ctx, a.Config.Index.Name)
	if err != nil {
		return fail(record.ReasonIndexNotMade, "%v", err)
	}
	return differs(made, a.topology())
}

// differs says what of an index is not what the topology asks for.
func differs(made cluster.Made, want cluster.Topology) error {
	if made.Primaries != want.Primaries || made.Replicas != want.Replicas {
		return fail(record.ReasonIndexNotMade, "the index has %d primaries and %d replicas, not the topology's %d and %d: does the workload's index body use number_of_shards and number_of_replicas?",
			made.Primaries, made.Replicas, want.Primaries, want.Replicas)
	}
	if want.RefreshInterval == "" {
		return nil
	}
	got, ok := cluster.Seconds(made.RefreshInterval)
	wanted, ok2 := cluster.Seconds(want.RefreshInterval)
	if !ok || !ok2 || got != wanted {
		return fail(record.ReasonIndexNotMade, "the index has refresh interval %s, not the topology's %s: does the workload's index body set another?", made.RefreshInterval, want.RefreshInterval)
	}
	return nil
}
