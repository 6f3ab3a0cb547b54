package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

// blameTimeout limits the time for requests to the cluster after a load failed.
const blameTimeout = 10 * time.Second

// Blame returns an error with reason ClusterChanged if a change of the cluster since the baseline explains err. Otherwise it
// returns err. err is an error of a phase in which the cluster must not change. Blame is needed because a driver can only
// report that its requests failed, in this loader pod or in another. seen may be nil.
func (t Target) Blame(ctx context.Context, before Baseline, seen *Recorder, during string, err error) error {
	if before.Infos == nil || record.ReasonOf(err) == record.ReasonClusterChanged {
		return err
	}
	if ctx.Err() != nil {
		other := (*record.Error)(nil)
		if !errors.As(context.Cause(ctx), &other) || !slices.Contains(driverReasons, other.Reason) {
			return err
		}
		ctx, err = context.WithoutCancel(ctx), other
	}
	switch why := t.changed(ctx, before, seen, during); {
	case ctx.Err() != nil: // the context ended during the requests, so a missing answer proves nothing
		return t.Blame(ctx, before, seen, during, err)
	case why != "":
		return record.Errorf(record.ReasonClusterChanged, "%s; this event explains the following error: %v", why, err)
	}
	return err
}

// driverReasons lists the reasons of a failed driver that a change of the cluster may explain.
var driverReasons = []string{record.ReasonRequestsFailed, record.ReasonDriverFailed, record.ReasonDriverIncomplete}

// changed describes what changed in the cluster since the baseline; "" if nothing changed.
func (t Target) changed(ctx context.Context, before Baseline, seen *Recorder, during string) string {
	if seen != nil {
		if why := seen.Recording().Change; why != "" {
			return why
		}
	}
	ctx, cancel := context.WithTimeout(ctx, blameTimeout)
	defer cancel()
	var infos []opensearch.NodeInfo
	err := WaitUntil(ctx, time.Second, func(ctx context.Context) (bool, string) {
		var err error
		if infos, err = t.Cluster.NodeInfos(ctx); err != nil {
			return false, err.Error()
		}
		return true, ""
	})
	if err != nil {
		return fmt.Sprintf("OpenSearch does not answer any more: %v", err)
	}
	return differentNodes(before.Infos, infos, during)
}
