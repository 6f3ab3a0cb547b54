package trial

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/measure"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

// Limits for waits. They are short: the controller starts a trial only when the cell's pods are ready, so a longer wait would
// not help.
const (
	reachTimeout = 3 * time.Minute
	greenTimeout = 2 * time.Minute
	goneTimeout  = time.Minute
)

// awaitCluster waits until the cluster has all its nodes. The cluster may still be yellow or red because of the index of an
// earlier trial, which is deleted next.
func (a *attempt) awaitCluster(ctx context.Context) error {
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	var refused error
	err := measure.WaitUntil(ctx, 500*time.Millisecond, func(ctx context.Context) (bool, string) {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		h, err := a.session.Cluster.Health(ctx)
		if err != nil {
			refused = a.refused(err)
			return refused != nil, err.Error()
		}
		if h.Nodes != a.Config.Nodes {
			return false, fmt.Sprintf("the cluster has %d nodes, not %d", h.Nodes, a.Config.Nodes)
		}
		if a.nodes, err = a.session.Cluster.NodeInfos(ctx); err != nil {
			refused = a.refused(err)
			return refused != nil, err.Error()
		}
		return true, ""
	})
	if refused != nil {
		return refused
	}
	if err != nil {
		return record.Errorf(record.ReasonClusterNotReady, "OpenSearch at %s is not ready after %s: %v", a.Config.Endpoint, measure.Elapsed(started), err)
	}
	return nil
}

// makeIndex deletes the index or data stream of the earlier trial. If there is an index body, makeIndex creates the index
// from it. Otherwise the driver's setup tasks create the index. If the body in these tasks omits settings of the topology, a
// template adds these settings.
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

// awaitGone waits until neither an index nor a data stream has the index's name.
func (a *attempt) awaitGone(ctx context.Context) error {
	name, started := a.Config.Index.Name, time.Now()
	ctx, cancel := context.WithTimeout(ctx, goneTimeout)
	defer cancel()
	err := measure.WaitUntil(ctx, 200*time.Millisecond, func(ctx context.Context) (bool, string) {
		there, err := a.session.Cluster.IndexExists(ctx, name)
		if err != nil {
			return false, err.Error()
		}
		return !there, "the index still exists"
	})
	if err != nil {
		return record.Errorf(record.ReasonIndexNotMade, "the deletion of the old index %s was not complete after %s: %v", name, measure.Elapsed(started), err)
	}
	return nil
}

// indexBody returns the index body of the campaign. If the campaign has none, it returns the index body of the driver. from
// is the source of the body. The body is nil if the load of the driver creates the index.
func (a *attempt) indexBody() (body []byte, from string, err error) {
	from = a.Config.Index.BodyFile
	if from == "" {
		if d, has := a.driver.(driver.IndexProvider); has {
			return d.IndexBody()
		}
		return nil, "", nil
	}
	if body, err = os.ReadFile(from); err != nil {
		return nil, "", record.Errorf(record.ReasonIndexNotMade, "cannot read the file with the index body (settings and mappings): %v", err)
	}
	return body, from, nil
}

func (a *attempt) createIndex(ctx context.Context, data []byte, from string) error {
	name := a.Config.Index.Name
	if err := a.session.Cluster.PutTemplate(ctx, name, a.topology()); err != nil {
		return record.Errorf(record.ReasonIndexNotMade, "cannot store the index template in OpenSearch: %v", err)
	}
	if data == nil {
		return nil
	}
	body, err := opensearch.IndexBody(data, a.topology())
	if err != nil {
		return record.Errorf(record.ReasonIndexNotMade, "%s: %v", from, err)
	}
	if err := a.session.Cluster.CreateIndex(ctx, name, body); err != nil {
		return record.Errorf(record.ReasonIndexNotMade, "%v", err)
	}
	return nil
}

// createDataStream creates the data stream and its index template. It does nothing if the driver creates the data stream,
// because Knee's template would override the driver's template and mapping.
func (a *attempt) createDataStream(ctx context.Context, data []byte, from string) error {
	if data == nil {
		return nil
	}
	name := a.Config.Index.Name
	template, err := opensearch.StreamTemplate(data, name, a.topology())
	if err != nil {
		return record.Errorf(record.ReasonIndexNotMade, "%s: %v", from, err)
	}
	if err := a.session.Cluster.PutStreamTemplate(ctx, name, template); err != nil {
		return record.Errorf(record.ReasonIndexNotMade, "cannot store the index template of the data stream in OpenSearch: %v", err)
	}
	if err := a.session.Cluster.CreateDataStream(ctx, name); err != nil {
		return record.Errorf(record.ReasonIndexNotMade, "%v", err)
	}
	return nil
}

// applyPolicy stores the topology's Index State Management policy. The policy applies to the index that is created next.
func (a *attempt) applyPolicy(ctx context.Context) error {
	path, name := a.Config.Index.ISMPolicyFile, a.Config.Index.Name
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return record.Errorf(record.ReasonIndexNotMade, "cannot read the ISM policy of spec.topologies[].ismPolicyFrom: %v", err)
	}
	policy, err := opensearch.Policy(data, name)
	if err != nil {
		return record.Errorf(record.ReasonIndexNotMade, "spec.topologies[].ismPolicyFrom: %v", err)
	}
	switch err := a.session.Cluster.PutPolicy(ctx, name, policy); {
	case opensearch.LacksPlugin(err):
		return record.Errorf(record.ReasonPluginMissing, "OpenSearch lacks the plugin opensearch-index-management, which spec.topologies[].ismPolicyFrom needs: "+
			"set spec.opensearch.image to an OpenSearch image with this plugin (at an endpoint: install the plugin there), or remove ismPolicyFrom: %v", err)
	case err != nil:
		return record.Errorf(record.ReasonIndexNotMade, "cannot store the ISM policy of spec.topologies[].ismPolicyFrom in OpenSearch: %v", err)
	}
	return nil
}

func (a *attempt) awaitGreen(ctx context.Context) error {
	started := time.Now()
	waiting, cancel := context.WithTimeout(ctx, greenTimeout)
	defer cancel()
	err := measure.WaitUntil(waiting, 500*time.Millisecond, func(ctx context.Context) (bool, string) {
		h, err := a.session.Cluster.Health(ctx)
		if err != nil {
			return false, err.Error()
		}
		return a.target().IsReady(h)
	})
	if err != nil {
		return record.Errorf(record.ReasonClusterNotReady, "the OpenSearch cluster is not ready after %s: %v%s", measure.Elapsed(started), err, a.target().WhyUnassigned(ctx))
	}
	return nil
}

// compareIndex compares the created index with the topology.
func (a *attempt) compareIndex(ctx context.Context) error {
	made, err := a.session.Cluster.ReadIndex(ctx, a.Config.Index.Name)
	if err != nil {
		return record.Errorf(record.ReasonIndexNotMade, "%v", err)
	}
	return measure.CheckIndex(made, a.topology())
}
