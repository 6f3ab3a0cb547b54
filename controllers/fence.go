package controllers

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/resources"
)

// stale says whether the API server has other Jobs of the cell than the action was decided with. The cache shows each
// kind in its own time: without a Job that a JVM has run already, a Warmup would seem owed again, or a JVM that was
// loaded seem fresh. The cache's next event brings another look.
func (r *CampaignReconciler) stale(ctx context.Context, c *v1alpha1.BenchmarkCampaign, a decide.Action) (bool, error) {
	var jobs batchv1.JobList
	if err := r.Uncached.List(ctx, &jobs, client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelCampaign: string(c.UID), resources.LabelCellName: a.Cell,
	}); err != nil {
		return false, fmt.Errorf("list the Jobs of %s: %w", a.Cell, err)
	}
	known := 0
	for i := range jobs.Items {
		if _, err := attemptOf(&jobs.Items[i]); err == nil {
			known++ // one that is not readable as a trial was left out when it was observed, too
		}
	}
	return known != a.Jobs, nil
}

// stopCluster scales a cell's nodes to none, or deletes the OpenSearchCluster, whose operator scales none to none, unless it
// has a Job that the cache has not shown yet: that may still load them.
func (r *CampaignReconciler) stopCluster(ctx context.Context, c *v1alpha1.BenchmarkCampaign, a decide.Action) error {
	if stale, err := r.stale(ctx, c, a); stale || err != nil {
		return err
	}
	if made, err := r.deleteOperated(ctx, c, a.Cell); made || err != nil {
		return err
	}
	return r.scale(ctx, c, a.Cell, 0)
}
