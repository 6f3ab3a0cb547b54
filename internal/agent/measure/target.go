// Package measure measures a load with the counters of the cluster and the probes beside its nodes. It waits until the
// cluster is at rest, records the counters, selects the window, and checks the evidence.
package measure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/agent/probe"
	"github.com/knee-bench/knee/internal/record"
)

// Target is the system that a trial measures: the nodes of a cluster, its index, and the machines of the nodes.
type Target struct {
	Cluster *opensearch.Client // nil: there is no cluster
	Index   string             // empty: the load fills no index
	Nodes   int32              // number of nodes that the cluster must have
	Probes  []record.Probe
	HTTP    *http.Client // client for requests to the probes
	Say     func(format string, args ...any)
}

// Probe returns a client for a probe.
func (t Target) Probe(p record.Probe) probe.Client { return probe.Client{URL: p.URL, HTTP: t.HTTP} }

// IsReady reports whether the cluster is green and has all its nodes. It also returns a description of the state.
func (t Target) IsReady(h opensearch.Health) (bool, string) {
	return h.Status == "green" && h.Nodes == t.Nodes,
		fmt.Sprintf("health %s, %d nodes (%d required), %d shards unassigned", h.Status, h.Nodes, t.Nodes, h.Unassigned)
}

// WhyUnassigned returns the cluster's explanation why a shard is unassigned, formatted as the end of a message. It returns ""
// if there is no explanation.
func (t Target) WhyUnassigned(ctx context.Context) string {
	why, err := t.Cluster.WhyUnassigned(ctx)
	if err != nil {
		return ""
	}
	return "; " + why
}

// CheckSameNodes returns an error if a node was added, removed or restarted since the baseline.
func (t Target) CheckSameNodes(ctx context.Context, before Baseline, during string) error {
	infos, err := t.Cluster.NodeInfos(ctx)
	if err != nil {
		return record.Errorf(record.ReasonCountersUnusable, "cannot read the list of OpenSearch nodes after %s: %v", during, err)
	}
	if why := differentNodes(before.Infos, infos, during); why != "" {
		return record.Errorf(record.ReasonClusterChanged, "%s", why)
	}
	return nil
}

// WaitUntil calls check at intervals until check returns true or the context ends. Its error is the last reason that check
// returned before the context ended. Later reasons are useless, because the ended context makes every check fail.
func WaitUntil(ctx context.Context, every time.Duration, check func(context.Context) (done bool, why string)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := ""
	for {
		done, why := check(ctx)
		if done {
			return nil
		}
		if ctx.Err() == nil || last == "" {
			last = why
		}
		select {
		case <-ctx.Done():
			return errors.New(last)
		case <-tick.C:
		}
	}
}

// Elapsed returns the time since t, rounded to 100 ms for a message.
func Elapsed(t time.Time) time.Duration { return time.Since(t).Round(100 * time.Millisecond) }
