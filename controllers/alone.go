package controllers

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// createAlone creates the Job of a trial that loads what Knee did not provision, unless a trial of another campaign that the
// cache has not shown yet loads it. Where there is a cluster to start, the campaigns see each other while it does; here
// nothing lies between a look at the others and the load. One such Job is made at a time, so that of two the second sees the
// first.
func (r *CampaignReconciler) createAlone(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell plan.Cell, job *batchv1.Job, seen []decide.Record) error {
	r.alone.Lock()
	defer r.alone.Unlock()
	if stale, err := r.staleRecords(ctx, c, cell, seen); stale || err != nil {
		return err
	}
	ours := []client.ListOption{client.InNamespace(r.Namespace), client.MatchingLabels{
		resources.LabelManagedBy: resources.ManagedBy, resources.LabelComponent: resources.ComponentLoader,
	}}
	var jobs batchv1.JobList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&jobs, &pods} {
		if err := r.Uncached.List(ctx, list, ours...); err != nil {
			return fmt.Errorf("look who else loads %s: %w", cell.Spec.Pool.Endpoint, err)
		}
	}
	loads := func(o client.Object, held []plan.Pool) error {
		same := slices.ContainsFunc(held, func(p plan.Pool) bool { return p.Endpoint == cell.Spec.Pool.Endpoint })
		if !same || o.GetLabels()[resources.LabelCampaign] == string(c.UID) {
			return nil
		}
		return fmt.Errorf("campaign %s/%s loads the same system (%s)", o.GetNamespace(), o.GetAnnotations()[resources.AnnotationCampaignName], o.GetName())
	}
	for i := range jobs.Items {
		if err := loads(&jobs.Items[i], heldByJob(jobs.Items[i])); err != nil {
			return err
		}
	}
	for i := range pods.Items {
		if err := loads(&pods.Items[i], heldByPod(pods.Items[i])); err != nil {
			return err
		}
	}
	if err := r.createAll(ctx, c, r.loaderObjects(c, cell)); err != nil { // else they come with the cluster
		return err
	}
	_, err := r.create(ctx, c, job)
	return err
}

// staleRecords says whether the API server has records of the cell that the cache had not shown when the trial was decided
// on: of a cell whose Jobs are gone they alone tell that it has been measured, and that no Warmup is owed.
func (r *CampaignReconciler) staleRecords(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell plan.Cell, seen []decide.Record) (bool, error) {
	var maps corev1.ConfigMapList
	if err := r.Uncached.List(ctx, &maps, client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelCampaign: string(c.UID), resources.LabelCell: cell.Hash, resources.LabelComponent: resources.ComponentRecord,
	}); err != nil {
		return false, fmt.Errorf("list the records of %s: %w", cell.Name, err)
	}
	return slices.ContainsFunc(maps.Items, func(cm corev1.ConfigMap) bool {
		_, err := attemptOf(&cm)
		return err == nil && !slices.ContainsFunc(seen, func(r decide.Record) bool { return r.UID == cm.UID })
	}), nil
}
