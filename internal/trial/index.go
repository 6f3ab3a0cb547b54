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

// makeIndex deletes the index or data stream of the trial before and, when there is a body for it, creates it anew. Else the
// driver's setup tasks will, and the template covers what their body leaves out.
func (a *attempt) makeIndex(ctx context.Context) error {
	if err := a.clearIndex(ctx); err != nil {
		return err
	}
	a.ownIndex = true
	if err := a.awaitGone(ctx); err != nil {
		return err
	}
	if err := a.applyPolicy(ctx); err != nil {
		return err
	}
	body, from, err := a.indexBody()
	if err != nil {
		return err
	}
	if a.Config.Index.DataStream {
		err = a.createDataStream(ctx, body, from)
	} else {
		err = a.createIndex(ctx, body, from)
	}
	if err != nil {
		return err
	}
	if body != nil {
		if err := a.compareIndex(ctx); err != nil {
			return err
		}
	}
	return a.awaitGreen(ctx)
}

// awaitGone waits until nothing has the index's name.
func (a *attempt) awaitGone(ctx context.Context) error {
	name, started := a.Config.Index.Name, time.Now()
	ctx, cancel := context.WithTimeout(ctx, goneTimeout)
	defer cancel()
	err := until(ctx, 200*time.Millisecond, func(ctx context.Context) (bool, string) {
		there, err := a.cluster.IndexExists(ctx, name)
		if err != nil {
			return false, err.Error()
		}
		return !there, "it is still there"
	})
	if err != nil {
		return fail(record.ReasonIndexNotMade, "the old index %s was deleted, but after %s: %v", name, since(started), err)
	}
	return nil
}

// indexBody is the campaign's body of the index, or the driver's own, and where it is from; nil where the driver's load
// makes the index.
func (a *attempt) indexBody() (body []byte, from string, err error) {
	from = a.Config.Index.BodyFile
	if from == "" {
		if d, has := a.driver.(indexer); has {
			return d.indexBody()
		}
		return nil, "", nil
	}
	if body, err = os.ReadFile(from); err != nil {
		return nil, "", fail(record.ReasonIndexNotMade, "the body of the index: %v", err)
	}
	return body, from, nil
}

func (a *attempt) createIndex(ctx context.Context, data []byte, from string) error {
	name := a.Config.Index.Name
	if err := a.cluster.PutTemplate(ctx, name, a.topology()); err != nil {
		return fail(record.ReasonIndexNotMade, "the index template: %v", err)
	}
	if data == nil {
		return nil
	}
	body, err := cluster.IndexBody(data, a.topology())
	if err != nil {
		return fail(record.ReasonIndexNotMade, "%s: %v", from, err)
	}
	if err := a.cluster.CreateIndex(ctx, name, body); err != nil {
		return fail(record.ReasonIndexNotMade, "%v", err)
	}
	return nil
}

// createDataStream makes the data stream and the index template that it cannot be without. Where the driver makes it, there
// is no template of Knee's: it would put the driver's own, with its mapping, out of force.
func (a *attempt) createDataStream(ctx context.Context, data []byte, from string) error {
	if data == nil {
		return nil
	}
	name := a.Config.Index.Name
	template, err := cluster.StreamTemplate(data, name, a.topology())
	if err != nil {
		return fail(record.ReasonIndexNotMade, "%s: %v", from, err)
	}
	if err := a.cluster.PutStreamTemplate(ctx, name, template); err != nil {
		return fail(record.ReasonIndexNotMade, "the data stream's index template: %v", err)
	}
	if err := a.cluster.CreateDataStream(ctx, name); err != nil {
		return fail(record.ReasonIndexNotMade, "%v", err)
	}
	return nil
}

// applyPolicy has the cluster manage what is made next by the topology's Index State Management policy.
func (a *attempt) applyPolicy(ctx context.Context) error {
	path, name := a.Config.Index.ISMPolicyFile, a.Config.Index.Name
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fail(record.ReasonIndexNotMade, "the ISM policy of spec.topologies[].ismPolicyFrom: %v", err)
	}
	policy, err := cluster.Policy(data, name)
	if err != nil {
		return fail(record.ReasonIndexNotMade, "spec.topologies[].ismPolicyFrom: %v", err)
	}
	switch err := a.cluster.PutPolicy(ctx, name, policy); {
	case cluster.LacksPlugin(err):
		return fail(record.ReasonPluginMissing, "the cluster lacks the plugin opensearch-index-management, which spec.topologies[].ismPolicyFrom needs: "+
			"use an image of OpenSearch that has it (spec.opensearch.image), or leave ismPolicyFrom out: %v", err)
	case err != nil:
		return fail(record.ReasonIndexNotMade, "the ISM policy of spec.topologies[].ismPolicyFrom: %v", err)
	}
	return nil
}

func (a *attempt) awaitGreen(ctx context.Context) error {
	started := time.Now()
	waiting, cancel := context.WithTimeout(ctx, greenTimeout)
	defer cancel()
	err := until(waiting, 500*time.Millisecond, func(ctx context.Context) (bool, string) {
		h, err := a.cluster.Health(ctx)
		if err != nil {
			return false, err.Error()
		}
		return a.ready(h)
	})
	if err != nil {
		return fail(record.ReasonClusterNotReady, "the cluster is not green after %s: %v%s", since(started), err, a.whyUnassigned(ctx))
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
	if want.Replication != "" && made.Replication != want.Replication {
		return fail(record.ReasonIndexNotMade, "the index has replication %s, not the topology's %s: does the workload's index body, or an index template of the cluster, set another?",
			made.Replication, want.Replication)
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
