package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// apply does what was decided. One action that fails does not keep the others from being tried, but that a cell whose
// record could not be made is not deleted: the record is in its Job's pod.
func (r *CampaignReconciler) apply(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, actions []decide.Action) error {
	cells := map[string]plan.Cell{}
	for _, cell := range p.Cells {
		cells[cell.Name] = cell
	}
	var errs []error
	uncollected := map[string]bool{}
	for _, a := range actions {
		if a.Kind == decide.DeleteCluster && uncollected[a.Cell] {
			continue
		}
		log.FromContext(ctx).Info("acting", "action", a.Kind, "cell", a.Cell, "phase", a.Attempt.Phase,
			"clients", a.Attempt.Clients, "repetition", a.Attempt.Repetition, "attempt", a.Attempt.Attempt)
		err := r.act(ctx, c, p, cells[a.Cell], a)
		if a.Kind != decide.DeleteCluster { // not all that it deletes is watched
			err = ignoreConflict(err)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", a.Kind, a.Cell, err))
			uncollected[a.Cell] = uncollected[a.Cell] || a.Kind == decide.Collect
		}
	}
	return errors.Join(errs...)
}

// ignoreConflict drops an error that says that there is something newer to see: its event is on its way.
func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (r *CampaignReconciler) act(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, a decide.Action) error {
	switch a.Kind {
	case decide.Collect:
		return r.collect(ctx, c, a)
	case decide.StartCluster:
		return r.startCluster(ctx, c, p, cell, a)
	case decide.StopCluster:
		return r.stopCluster(ctx, c, a)
	case decide.DeleteCluster:
		return r.deleteCluster(ctx, c, a)
	case decide.StartTrial:
		return r.startTrial(ctx, c, p, cell, a)
	case decide.DeleteRecords:
		return r.deleteRecords(ctx, c.Namespace, a.Records)
	}
	return fmt.Errorf("unknown action %q", a.Kind)
}

// startCluster makes a cell's objects, the StatefulSet or the OpenSearchCluster last, so that its being there means that all are; one
// that is there already is scaled up.
func (r *CampaignReconciler) startCluster(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, a decide.Action) error {
	if err := r.checkMounts(ctx, c, cell); err != nil { // before nodes are paid for
		return err
	}
	placement := resources.Placement{Number: a.Placement, Avoid: a.Avoid}
	if cell.Operated() {
		return r.startOperated(ctx, c, cell, placement)
	}
	if cell.Secured() {
		if err := r.createSecuritySecret(ctx, c); err != nil {
			return err
		}
	}
	objects := []client.Object{resources.Service(c, cell), resources.SettingsConfigMap(c, cell)}
	if !r.Options.NoPolicies {
		objects = append(objects, resources.OpenSearchPolicy(c, cell))
	}
	objects = append(objects, r.loaderObjects(c, cell)...)
	if err := r.createAll(ctx, c, objects); err != nil {
		return err
	}
	made, err := r.create(ctx, c, resources.StatefulSet(c, cell, placement, r.Options, p.ProvisioningTimeout, r.Clock.Now()))
	if err != nil || made {
		return err
	}
	return r.scale(ctx, c, cell.Name, cell.Spec.Topology.Nodes)
}

// loaderObjects are what a cell's trials need beside their Jobs.
func (r *CampaignReconciler) loaderObjects(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) []client.Object {
	var out []client.Object
	if claim := resources.CacheClaim(c, cell); claim != nil {
		out = append(out, claim)
	}
	if service := resources.LoaderService(c, cell); service != nil {
		out = append(out, service)
	}
	if !r.Options.NoPolicies {
		out = append(out, resources.LoaderPolicy(c, cell))
	}
	return out
}

func (r *CampaignReconciler) createAll(ctx context.Context, c *v1alpha1.BenchmarkCampaign, objects []client.Object) error {
	for _, o := range objects {
		if _, err := r.create(ctx, c, o); err != nil {
			return err
		}
	}
	return nil
}

// create makes an object that must not be there yet. One of the same name that is this campaign's own is taken
// as it is (made is false); one that is somebody else's is an error that says whose.
func (r *CampaignReconciler) create(ctx context.Context, c *v1alpha1.BenchmarkCampaign, o client.Object) (made bool, err error) {
	kind := o.GetObjectKind().GroupVersionKind().Kind
	err = r.Create(ctx, o)
	if !apierrors.IsAlreadyExists(err) {
		return err == nil, refusal(err, kind+" "+o.GetName())
	}
	existing := o.DeepCopyObject().(client.Object)
	if err := r.Uncached.Get(ctx, client.ObjectKeyFromObject(o), existing); err != nil {
		return false, fmt.Errorf("read the existing %s %s: %w", kind, o.GetName(), err)
	}
	if metav1.IsControlledBy(existing, c) {
		return false, nil
	}
	owner := "nobody"
	if ref := metav1.GetControllerOf(existing); ref != nil {
		owner = ref.Kind + " " + ref.Name
	}
	return false, fmt.Errorf("%w: %s %s/%s exists and belongs to %s; delete or rename it", errNameConflict, kind, o.GetNamespace(), o.GetName(), owner)
}

func (r *CampaignReconciler) scale(ctx context.Context, c *v1alpha1.BenchmarkCampaign, name string, replicas int32) error {
	var s appsv1.StatefulSet
	if err := r.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &s); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(&s, c) || ptr.Deref(s.Spec.Replicas, 1) == replicas {
		return nil
	}
	before := s.DeepCopy()
	s.Spec.Replicas = ptr.To(replicas)
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	s.Annotations[resources.AnnotationSince] = r.Clock.Now().UTC().Format(time.RFC3339)
	err := r.Patch(ctx, &s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	return refusal(err, "StatefulSet "+name)
}

// startTrial creates an attempt's Job, unless the attempt has a record, or the cell Jobs, that the cache has not shown yet.
func (r *CampaignReconciler) startTrial(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, a decide.Action) error {
	if stale, err := r.stale(ctx, c, a); stale || err != nil {
		return err
	}
	job, err := resources.Job(c, p, cell, a.Attempt, resources.Running{JVM: a.JVM, Images: a.Images}, r.Options)
	if err != nil {
		return err
	}
	key := client.ObjectKey{Namespace: c.Namespace, Name: resources.RecordName(job.Name)}
	switch err := r.Uncached.Get(ctx, key, &corev1.ConfigMap{}); {
	case err == nil:
		return nil
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("look for the attempt's record: %w", err)
	}
	if err := r.checkMounts(ctx, c, cell); err != nil {
		return err
	}
	if !cell.Provisioned() {
		return r.createAlone(ctx, c, cell, job, a.Records)
	}
	_, err = r.create(ctx, c, job)
	return err
}

// deleteCluster deletes all of a cell but its records, and the loader's cache where it is kept, the Jobs and the
// StatefulSet last and in the foreground: as long as they are there, there is something left to do.
func (r *CampaignReconciler) deleteCluster(ctx context.Context, c *v1alpha1.BenchmarkCampaign, a decide.Action) error {
	options := []client.ListOption{client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelCampaign: string(c.UID), resources.LabelCellName: a.Cell,
	}}
	lists := []client.ObjectList{
		&corev1.ServiceList{}, &networkingv1.NetworkPolicyList{}, &corev1.ConfigMapList{},
		&corev1.PersistentVolumeClaimList{}, &batchv1.JobList{}, &appsv1.StatefulSetList{},
	}
	for _, list := range lists {
		if err := r.List(ctx, list, options...); err != nil {
			return err
		}
		if claims, ok := list.(*corev1.PersistentVolumeClaimList); ok && a.KeepCache {
			claims.Items = slices.DeleteFunc(claims.Items, isCache)
		}
		if sets, ok := list.(*appsv1.StatefulSetList); ok {
			sets.Items = ownSets(sets.Items, c)
		}
		if err := r.deleteAll(ctx, list); err != nil {
			return err
		}
	}
	_, err := r.deleteOperated(ctx, c, a.Cell)
	return err
}

// isCache tells a volume of the loader's downloads from those of OpenSearch.
func isCache(claim corev1.PersistentVolumeClaim) bool {
	return claim.Labels[resources.LabelComponent] == resources.ComponentLoader
}
