package stream

import (
	"context"
	"sync"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// cancelWhenSilent returns a context that is cancelled when OpenSearch has answered no request for the time
// spec.timeouts.activitySeconds. The cause is then a *record.Error. This check is needed because the API call reports nothing
// until the load has ended. If there is no limit, the context is never cancelled. The caller must call the returned function,
// which ends the check.
func (d *Driver) cancelWhenSilent(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	if limit := time.Duration(d.session.Config.ActivitySeconds) * time.Second; limit > 0 {
		watching.Go(func() { cancel(d.waitForSilence(ctx, limit)) })
	}
	return ctx, func() {
		cancel(nil)
		watching.Wait()
	}
}

// waitForSilence sends requests until OpenSearch has answered no request for the time limit, or until the context ends.
func (d *Driver) waitForSilence(ctx context.Context, limit time.Duration) error {
	tick := time.NewTicker(min(10*time.Second, limit/5))
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		asking, cancel := context.WithDeadline(ctx, last.Add(limit))
		err := d.session.Cluster.Answers(asking)
		cancel()
		if err == nil {
			last = time.Now()
		} else if silent := time.Since(last); silent >= limit && ctx.Err() == nil {
			return record.Errorf(record.ReasonClusterChanged, "OpenSearch has answered no request for %.0f s (spec.timeouts.activitySeconds is %.0f): %v", silent.Seconds(), limit.Seconds(), err)
		}
	}
}
