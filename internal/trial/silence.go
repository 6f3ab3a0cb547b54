package trial

import (
	"context"
	"sync"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// whileAnswering gives a context that ends, with a failure as its cause, when OpenSearch has answered nothing for as long as
// a load may show no sign of life: for a call that lasts as long as the load, which tells nothing itself. There is no such
// limit where the configuration has none. The function that it gives ends the watching.
func (a *attempt) whileAnswering(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	if limit := time.Duration(a.Config.ActivitySeconds) * time.Second; limit > 0 {
		watching.Go(func() { cancel(a.silence(ctx, limit)) })
	}
	return ctx, func() {
		cancel(nil)
		watching.Wait()
	}
}

// silence asks every so often until OpenSearch has answered nothing for the limit, which is the failure that it gives, or the
// context ends.
func (a *attempt) silence(ctx context.Context, limit time.Duration) error {
	tick := time.NewTicker(min(10*time.Second, limit/5))
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		asking, cancel := context.WithDeadline(ctx, last.Add(limit))
		err := a.cluster.Answers(asking)
		cancel()
		if err == nil {
			last = time.Now()
		} else if silent := time.Since(last); silent >= limit && ctx.Err() == nil {
			return fail(record.ReasonClusterChanged, "OpenSearch has answered nothing for %.0f s (spec.timeouts.activitySeconds is %.0f): %v", silent.Seconds(), limit.Seconds(), err)
		}
	}
}
