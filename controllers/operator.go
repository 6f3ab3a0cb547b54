package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// operator is the opensearch-k8s-operator. It may be installed or not, or be installed or removed later. Its kind is looked
// up when the first campaign is observed, and again whenever a campaign needs it and it is not known. It is watched until
// the API server no longer serves it.
type operator struct {
	mu       sync.Mutex
	isUnsure bool                 // the manager has started, and the kind was not looked up yet
	kind     *schema.GroupVersion // nil: not found, or no longer served
	watch    func(schema.GroupVersion) error
	unwatch  func(context.Context, schema.GroupVersion) error
}

// prepareWatch says how the operator's objects are watched. It does not look for the kind: a kind that is found before the
// controller starts, and removed before its objects are listed, would keep the controller from starting.
func (r *CampaignReconciler) prepareWatch(mgr ctrl.Manager, c controller.Controller) {
	r.operator.isUnsure = true
	r.operator.watch = func(of schema.GroupVersion) error {
		owned := handler.TypedEnqueueRequestForOwner[*unstructured.Unstructured](mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.BenchmarkCampaign{}, handler.OnlyControllerOwner())
		return c.Watch(source.Kind(mgr.GetCache(), newOperated(of), owned))
	}
	r.operator.unwatch = func(ctx context.Context, of schema.GroupVersion) error {
		return mgr.GetCache().RemoveInformer(ctx, newOperated(of))
	}
}

// findOperator is the operator's kind in the group that the API server knows, the newer before the older.
func (r *CampaignReconciler) findOperator(ctx context.Context) (schema.GroupVersion, bool, error) {
	o := &r.operator
	o.mu.Lock()
	defer o.mu.Unlock()
	return r.lookUpOperator(ctx)
}

// lookUpOperator does the work of findOperator. The caller holds the lock.
func (r *CampaignReconciler) lookUpOperator(ctx context.Context) (schema.GroupVersion, bool, error) {
	o := &r.operator
	if o.kind != nil {
		return *o.kind, true, nil
	}
	for _, of := range resources.OpenSearchClusterGroups {
		switch _, err := r.operatedIn(ctx, of, client.InNamespace(r.Namespace), client.Limit(1)); {
		case unserved(err):
			continue
		case err != nil:
			return schema.GroupVersion{}, false, fmt.Errorf("look for %s in %s: %w", resources.OpenSearchClusterKind, of, err)
		}
		if o.watch != nil {
			if err := o.watch(of); err != nil {
				return schema.GroupVersion{}, false, fmt.Errorf("watch %s of %s: %w", resources.OpenSearchClusterKind, of, err)
			}
		}
		o.kind, o.isUnsure = &of, false
		return of, true, nil
	}
	o.isUnsure = false
	return schema.GroupVersion{}, false, nil
}

// forgetOperator forgets a kind that is no longer served, and its watch, so that it, or that of the other group, is looked
// up anew.
func (r *CampaignReconciler) forgetOperator(ctx context.Context, of schema.GroupVersion) {
	o := &r.operator
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kind == nil || *o.kind != of {
		return // another worker was faster
	}
	o.kind = nil
	if o.unwatch != nil {
		if err := o.unwatch(ctx, of); err != nil {
			log.FromContext(ctx).Error(err, "cannot end the watch of a kind that is no longer served", "kind", resources.OpenSearchClusterKind, "group", of)
		}
	}
}

// operatedIn lists the OpenSearchClusters of a group, at the API server: a RESTMapper keeps what it has once found.
func (r *CampaignReconciler) operatedIn(ctx context.Context, of schema.GroupVersion, options ...client.ListOption) ([]unstructured.Unstructured, error) {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(of.WithKind(resources.OpenSearchClusterKind + "List"))
	err := r.Uncached.List(ctx, &list, options...)
	return list.Items, err
}

// unserved tells that the API server does not know a kind whose objects were asked for.
func unserved(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// knownOperator returns the operator's kind if it is known. Only the first call after the start of the manager makes API
// requests: campaigns without such a cluster must not look for the kind again and again.
func (r *CampaignReconciler) knownOperator(ctx context.Context) (schema.GroupVersion, bool, error) {
	r.operator.mu.Lock()
	defer r.operator.mu.Unlock()
	if r.operator.isUnsure {
		return r.lookUpOperator(ctx)
	}
	return ptr.Deref(r.operator.kind, schema.GroupVersion{}), r.operator.kind != nil, nil
}

func newOperated(of schema.GroupVersion) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(of.WithKind(resources.OpenSearchClusterKind))
	return o
}

// listOperated lists a campaign's OpenSearchClusters, or those of one of its cells. They went with their kind, if it was
// removed.
func (r *CampaignReconciler) listOperated(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell ...string) ([]unstructured.Unstructured, error) {
	of, known, err := r.knownOperator(ctx)
	if err != nil || !known {
		return nil, err
	}
	labels := client.MatchingLabels{resources.LabelCampaign: string(c.UID)}
	if len(cell) > 0 {
		labels[resources.LabelCellName] = cell[0]
	}
	items, err := r.operatedIn(ctx, of, client.InNamespace(c.Namespace), labels)
	switch {
	case unserved(err):
		r.forgetOperator(ctx, of)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list the campaign's %ss: %w", resources.OpenSearchClusterKind, err)
	}
	return items, nil
}

// startOperated makes what a cell's trials need, and then the object of which the operator makes the cluster.
func (r *CampaignReconciler) startOperated(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell plan.Cell, on resources.Placement) error {
	of, found, err := r.findOperator(ctx)
	if err != nil {
		return err
	}
	if !found {
		return operatorMissing()
	}
	if err := r.createAll(ctx, c, r.loaderObjects(c, cell)); err != nil {
		return err
	}
	_, err = r.create(ctx, c, resources.OpenSearchCluster(c, cell, of, on, r.Options, r.Clock.Now()))
	if apierrors.IsNotFound(err) && !mended(err) {
		return operatorMissing() // it was there, and has been removed
	}
	return err
}

func operatorMissing() error {
	var groups []string
	for _, of := range resources.OpenSearchClusterGroups {
		groups = append(groups, of.String())
	}
	return fmt.Errorf("%w: the API server knows no kind %s of %s, which spec.opensearch.provisioner (or a variant's) requires: install the operator (https://github.com/opensearch-project/opensearch-k8s-operator), or remove the provisioner",
		errOperatorMissing, resources.OpenSearchClusterKind, strings.Join(groups, " or "))
}

// ownSets are the StatefulSets that Knee made for a campaign. Those of the operator carry the labels of their pods, and go
// with their OpenSearchCluster.
func ownSets(sets []appsv1.StatefulSet, c *v1alpha1.BenchmarkCampaign) []appsv1.StatefulSet {
	return slices.DeleteFunc(sets, func(s appsv1.StatefulSet) bool { return !metav1.IsControlledBy(&s, c) })
}

// deleteVolumes deletes the volumes of an OpenSearchCluster, which the operator leaves behind. They hold the data of a cluster
// that no other cluster of the same name can join.
func (r *CampaignReconciler) deleteVolumes(ctx context.Context, namespace, cluster string, nodes int32) error {
	for i := range nodes {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: resources.OperatedClaim(cluster, i)}}
		if err := client.IgnoreNotFound(r.Delete(ctx, claim)); err != nil {
			return refusal(err, "PersistentVolumeClaim "+claim.Name)
		}
	}
	return nil
}

// deleteOperated deletes a cell's OpenSearchCluster with its volumes, and says whether there is one. The volumes come first:
// as long as the object is there, there is something left to do.
func (r *CampaignReconciler) deleteOperated(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell string) (bool, error) {
	objects, err := r.listOperated(ctx, c, cell)
	for i := range objects {
		if o := &objects[i]; err == nil && o.GetDeletionTimestamp().IsZero() && metav1.IsControlledBy(o, c) {
			if err = r.deleteVolumes(ctx, o.GetNamespace(), o.GetName(), resources.OperatedNodes(o)); err != nil {
				break
			}
			err = refusal(client.IgnoreNotFound(r.Delete(ctx, o, &client.DeleteOptions{
				PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
				Preconditions:     &metav1.Preconditions{UID: ptr.To(o.GetUID())},
			})), resources.OpenSearchClusterKind+" "+o.GetName())
		}
	}
	return len(objects) > 0, err
}

// addOperated notes a cell's OpenSearchCluster, of which the operator makes the pods.
func addOperated(out map[string]decide.Cluster, o *unstructured.Unstructured) {
	addRemains(out, o)
	name := o.GetLabels()[resources.LabelCellName]
	c := out[name]
	c.Deleting = !o.GetDeletionTimestamp().IsZero()
	c.Made, c.Placement = true, placement(o)
	c.Replicas = resources.OperatedNodes(o)
	c.Since = later(c.Since, since(o))
	c.Problem = decide.Problem{Message: resources.ReadOpenSearchCluster(o).Says}
	out[name] = c
}

// awaitOperator keeps a cluster whose pods are ready from being loaded until its operator has finished. The operator
// changes the pod template of its StatefulSet after it made the first pods, and deletes these one by one after the bootstrap. sets are the StatefulSets of all clusters.
func awaitOperator(out map[string]decide.Cluster, o *unstructured.Unstructured, sets []appsv1.StatefulSet) {
	name := o.GetLabels()[resources.LabelCellName]
	c, state := out[name], resources.ReadOpenSearchCluster(o)
	says := state.Says
	if state.Running {
		says = outdatedSet(o, sets)
	}
	if says == "" {
		return
	}
	c.Ready = min(c.Ready, c.Replicas-1)
	if c.Problem.Message == "" {
		c.Problem = decide.Problem{Message: says}
	}
	out[name] = c
}

// outdatedSet says which StatefulSet of an OpenSearchCluster has pods of an older template, or has not been looked at by
// its controller since it was changed. Empty: none.
func outdatedSet(o *unstructured.Unstructured, sets []appsv1.StatefulSet) string {
	found := false
	for i := range sets {
		s := &sets[i]
		if !metav1.IsControlledBy(s, o) {
			continue
		}
		found = true
		if want := ptr.Deref(s.Spec.Replicas, 1); s.Status.ObservedGeneration != s.Generation || s.Status.UpdatedReplicas != want {
			return fmt.Sprintf("StatefulSet %s: %d of %d pods are of its newest template; the operator restarts the others", s.Name, s.Status.UpdatedReplicas, want)
		}
	}
	if !found {
		return fmt.Sprintf("%s %s: its StatefulSet is not there", resources.OpenSearchClusterKind, o.GetName())
	}
	return ""
}
