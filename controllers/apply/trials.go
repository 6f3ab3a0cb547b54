package apply

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/controllers/observe"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// startTrial creates the Job of an attempt. It does nothing while the cache lacks a record of this attempt or a Job of this cell.
func (a *Applier) startTrial(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, action decide.Action) error {
	if stale, err := a.isCacheStale(ctx, c, action); stale || err != nil {
		return err
	}
	under := resources.Running{JVM: action.JVM, Images: action.Images, PlannedRepetitions: action.PlannedRepetitions}
	job, err := resources.Job(c, p, cell, action.Attempt, under, a.Options)
	if err != nil {
		return err
	}
	key := client.ObjectKey{Namespace: c.Namespace, Name: resources.RecordName(job.Name)}
	switch err := a.Uncached.Get(ctx, key, &corev1.ConfigMap{}); {
	case err == nil:
		return nil
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("cannot check whether this attempt of the trial already has a record: %w", err)
	}
	if err := observe.CheckMounts(ctx, a.Uncached, c, cell); err != nil {
		return err
	}
	if !cell.Provisioned() {
		return a.createOnlyLoad(ctx, c, cell, job, action)
	}
	if isOther, err := a.hasOtherJVM(ctx, c, action); isOther || err != nil {
		return err
	}
	return a.createJob(ctx, c, cell, job)
}

// createJob creates the PodDisruptionBudgets of a trial, and then its Job. First, a dry run shows whether the API server accepts the
// Job: while it does not, no budget exists, which would block drains. If it refuses the Job only later, createJob deletes the budgets that
// it created.
func (a *Applier) createJob(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell plan.Cell, job *batchv1.Job) error {
	if err := a.Client.Create(ctx, job.DeepCopy(), client.DryRunAll); err != nil && !apierrors.IsAlreadyExists(err) {
		return children.ClassifyError(err, "Job "+job.Name)
	}
	var created []client.Object
	var err error
	for _, budget := range resources.Budgets(c, cell, job) {
		isNew := false
		if isNew, err = a.create(ctx, c, budget); err != nil {
			break
		} else if isNew {
			created = append(created, budget)
		}
	}
	if err == nil {
		_, err = a.create(ctx, c, job)
	}
	if !children.NeedsUserAction(err) {
		return err
	}
	for _, budget := range created {
		uid := budget.GetUID()
		err = errors.Join(err, client.IgnoreNotFound(a.Client.Delete(ctx, budget, client.Preconditions{UID: &uid})))
	}
	return err
}

// endTrial makes Kubernetes delete the pods of a Job that still run. It keeps the Job itself, because the Jobs of a cell show which trials
// a JVM has run. A Job fails when its deadline has passed, and its controller then deletes its pods.
func (a *Applier) endTrial(ctx context.Context, c *v1alpha1.BenchmarkCampaign, action decide.Action) error {
	var job batchv1.Job
	if err := a.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: action.Job}, &job); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(&job, c) || !job.DeletionTimestamp.IsZero() || children.IsStopping(job) {
		return nil
	}
	before := job.DeepCopy()
	job.Spec.ActiveDeadlineSeconds = ptr.To[int64](1)
	err := a.Client.Patch(ctx, &job, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	return children.ClassifyError(err, "Job "+job.Name)
}

// hasOtherJVM reports whether OpenSearch at the API server runs in other processes than those of the decision. A cache that still shows the
// pods of a stopped cluster would start a trial on fresh processes without a Warmup. The cache's next event causes another Reconcile.
func (a *Applier) hasOtherJVM(ctx context.Context, c *v1alpha1.BenchmarkCampaign, action decide.Action) (bool, error) {
	var pods corev1.PodList
	if err := a.Uncached.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelManagedBy: resources.ManagedBy, resources.LabelCampaign: string(c.UID), resources.LabelCellName: action.Cell,
		resources.LabelComponent: resources.ComponentOpenSearch,
	}); err != nil {
		return false, fmt.Errorf("cannot list the OpenSearch pods of cell %s: %w", action.Cell, err)
	}
	return children.JVM(pods.Items) != action.JVM, nil
}

// isCacheStale reports whether the number of Jobs of the cell at the API server differs from the number on which the decision was based.
// The cache shows each kind with a different delay. If a Job is missing in the cache, a JVM that has run trials looks fresh, and another
// Warmup seems necessary. The cache's next event causes another Reconcile.
func (a *Applier) isCacheStale(ctx context.Context, c *v1alpha1.BenchmarkCampaign, action decide.Action) (bool, error) {
	var jobs batchv1.JobList
	if err := a.Uncached.List(ctx, &jobs, client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelCampaign: string(c.UID), resources.LabelCellName: action.Cell,
	}); err != nil {
		return false, fmt.Errorf("cannot list the Jobs of cell %s: %w", action.Cell, err)
	}
	trials := 0
	for i := range jobs.Items {
		if _, err := children.AttemptOf(&jobs.Items[i]); err == nil {
			trials++ // count only Jobs with a trial annotation, as action.Jobs does
		}
	}
	return trials != action.Jobs, nil
}
