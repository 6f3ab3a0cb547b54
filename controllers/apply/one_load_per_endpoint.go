package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// createOnlyLoad creates the Job of a trial at an endpoint, which is a cluster that Knee did not provision. If a trial of another
// campaign loads the endpoint, createOnlyLoad returns an error. It reads that trial from the API server, because the trial may not be in
// the cache yet. A lock of this process and a Lease of all managers that share the leader election allow only one creation at a time, so
// the second of two campaigns finds the Job of the first. The Lease matters when another manager becomes the leader, because requests of
// the former leader may still take effect. Campaigns with provisioned clusters need no lock, because they observe each other while their
// clusters start.
func (a *Applier) createOnlyLoad(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell plan.Cell, job *batchv1.Job, action decide.Action) error {
	a.oneLoad.Lock()
	defer a.oneLoad.Unlock()
	lease, err := a.acquireLease(ctx, job)
	if err != nil {
		return err
	}
	isAllowed, err := a.prepareOnlyLoad(ctx, c, cell, action.Records)
	if isAllowed {
		if err = a.createJob(ctx, c, cell, job); isOutcomeUnknown(err) {
			return err // keep the Lease, because the Job may still be created
		}
	}
	return errors.Join(err, a.releaseLease(ctx, lease))
}

// prepareOnlyLoad reports whether the Job of a trial at an endpoint may be created now. It creates the other objects that the Job needs.
func (a *Applier) prepareOnlyLoad(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell plan.Cell, seen []decide.Record) (isAllowed bool, err error) {
	if hasNew, err := a.hasNewRecords(ctx, c, cell, seen); hasNew || err != nil {
		return false, err
	}
	if err := a.findOtherLoad(ctx, c, cell.Spec.Pool.Endpoint); err != nil {
		return false, err
	}
	if err := a.createAll(ctx, c, a.loaderObjects(c, cell)); err != nil { // if Knee provisions the cluster, startCluster creates these objects
		return false, err
	}
	return true, nil
}

// findOtherLoad returns an error that names a Job or a pod of another campaign that loads the endpoint.
func (a *Applier) findOtherLoad(ctx context.Context, c *v1alpha1.BenchmarkCampaign, endpoint string) error {
	var jobs batchv1.JobList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&jobs, &pods} {
		if err := a.Uncached.List(ctx, list, client.InNamespace(a.Namespace), client.MatchingLabels{
			resources.LabelManagedBy: resources.ManagedBy, resources.LabelComponent: resources.ComponentLoader,
		}); err != nil {
			return fmt.Errorf("cannot list the loader Jobs and loader pods of all campaigns: %w", err)
		}
	}
	var objects []client.Object
	for i := range jobs.Items {
		objects = append(objects, &jobs.Items[i])
	}
	for i := range pods.Items {
		objects = append(objects, &pods.Items[i])
	}
	for _, o := range objects {
		loads := slices.ContainsFunc(children.HeldPools(o), func(p plan.Pool) bool { return p.Endpoint == endpoint })
		if loads && o.GetLabels()[resources.LabelCampaign] != string(c.UID) {
			return fmt.Errorf("this trial must wait until the load of campaign %s/%s has ended, because both campaigns may send load to the same system; see Job or pod %s", o.GetNamespace(), o.GetAnnotations()[resources.AnnotationCampaignName], o.GetName())
		}
	}
	return nil
}

// hasNewRecords reports whether the API server has records of the cell that the cache did not contain when the trial was
// decided. If the Jobs of the cell were deleted, only the records show that the cell was measured and needs no Warmup.
func (a *Applier) hasNewRecords(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell plan.Cell, seen []decide.Record) (bool, error) {
	var maps corev1.ConfigMapList
	if err := a.Uncached.List(ctx, &maps, client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelCampaign: string(c.UID), resources.LabelCell: cell.Hash, resources.LabelComponent: resources.ComponentRecord,
	}); err != nil {
		return false, fmt.Errorf("cannot list the records of cell %s: %w", cell.Name, err)
	}
	return slices.ContainsFunc(maps.Items, func(cm corev1.ConfigMap) bool {
		_, err := children.AttemptOf(&cm)
		return err == nil && !slices.ContainsFunc(seen, func(r decide.Record) bool { return r.UID == cm.UID })
	}), nil
}
