// Package apply carries out a decision: it creates, scales and deletes objects. Each action is safe to repeat.
package apply

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/controllers/observe"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// Applier applies the actions of a decision. Each action is safe to repeat.
type Applier struct {
	Client    client.Client // reads from the cache
	Uncached  client.Reader // the API server: for objects that are not in the cache, or must not be stale
	Operator  *observe.Operator
	Clock     clock.PassiveClock
	Options   resources.Options
	Namespace string // the only namespace that the manager watches; empty: all namespaces

	// LeaseNamespace is the namespace of the Lease that is held while the Job of a trial at an endpoint is created. Empty: no other
	// manager creates such Jobs, because the leader election is off.
	LeaseNamespace string

	oneLoad   sync.Mutex    // held while the Job of a trial at an endpoint is created; see createOnlyLoad
	seenLease observedLease // guarded by oneLoad
}

// Apply applies the actions. It returns the records that it created. If an action fails, Apply still tries the others, with one
// exception. It does not delete a cell if a record of this cell could not be created, because the record is only in the pod of the
// cell's Job.
func (a *Applier) Apply(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, actions []decide.Action) (collected []record.Record, err error) {
	cells := map[string]plan.Cell{}
	for _, cell := range p.Cells {
		cells[cell.Name] = cell
	}
	var errs []error
	uncollected := map[string]bool{}
	for _, action := range actions {
		if (action.Kind == decide.DeleteCluster || action.Kind == decide.DeleteJob) && uncollected[action.Cell] {
			continue
		}
		logger := log.FromContext(ctx).WithValues(LogValues(action.Cell, action.Attempt)...)
		logger.Info("acting", "action", action.Kind)
		rec, err := a.act(log.IntoContext(ctx, logger), c, p, cells[action.Cell], action)
		if rec != nil {
			collected = append(collected, *rec)
		}
		if action.Kind != decide.DeleteCluster && action.Kind != decide.DeleteBudgets { // changes of some of the deleted objects cause no Reconcile
			err = children.IgnoreConflict(err)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", action.Kind, action.Cell, err))
			uncollected[action.Cell] = uncollected[action.Cell] || action.Kind == decide.Collect
		}
	}
	return collected, errors.Join(errs...)
}

// LogValues returns the keys and values that identify a cell and an attempt in the log. Actions on a whole cell have no attempt.
func LogValues(cell string, attempt record.Attempt) []any {
	values := []any{"cell", cell}
	if attempt.N > 0 {
		values = append(values, "trial", fmt.Sprintf("%s clients=%d placement=%d repetition=%d", attempt.Phase, attempt.Clients, attempt.Placement, attempt.Repetition), "attempt", attempt.N)
	}
	return values
}

// act applies an action. It returns the record that it created, or nil.
func (a *Applier) act(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, action decide.Action) (*record.Record, error) {
	if action.Kind == decide.Collect {
		return a.collect(ctx, c, action)
	}
	return nil, a.change(ctx, c, p, cell, action)
}

// change applies an action that creates no record.
func (a *Applier) change(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, action decide.Action) error {
	switch action.Kind {
	case decide.EndTrial:
		return a.endTrial(ctx, c, action)
	case decide.StartCluster:
		return a.startCluster(ctx, c, p, cell, action)
	case decide.StopCluster:
		return a.stopCluster(ctx, c, action)
	case decide.DeleteCluster:
		return a.deleteCluster(ctx, c, action)
	case decide.StartTrial:
		return a.startTrial(ctx, c, p, cell, action)
	case decide.DeleteJob:
		return a.deleteJob(ctx, c, action)
	case decide.DeleteBudgets:
		return a.deleteBudgets(ctx, c, action)
	case decide.DeleteRecords:
		return a.deleteRecords(ctx, c.Namespace, action.Records)
	}
	return fmt.Errorf("unknown action %q", action.Kind)
}
