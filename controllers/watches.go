package controllers

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/controllers/observe"
	"github.com/knee-bench/knee/internal/resources"
)

// maxConcurrent is the number of campaigns that are reconciled at the same time.
const maxConcurrent = 4

// CacheOptions limits the manager's cache to objects that Knee created, and to the namespace if one is given. A campaign may
// name objects that Knee did not create, such as a ConfigMap or a claim. Therefore these objects are read from the API server.
func CacheOptions(namespace string) cache.Options {
	ours := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{resources.LabelManagedBy: resources.ManagedBy})}
	o := cache.Options{ByObject: map[client.Object]cache.ByObject{
		&appsv1.StatefulSet{}: ours, &batchv1.Job{}: ours, &corev1.ConfigMap{}: ours, &corev1.Pod{}: ours,
		&corev1.Service{}: ours, &corev1.PersistentVolumeClaim{}: ours, &networkingv1.NetworkPolicy{}: ours,
		&policyv1.PodDisruptionBudget{}: ours,
	}}
	if namespace != "" {
		o.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return o
}

// SetupWithManager watches campaigns and the objects that are created for them.
//
// A campaign that waits for another campaign is reconciled when an object of that other campaign changes, not after a time. No
// change is missed: an object is in the cache before its event is handled. So either the Reconcile that read the cache has the
// change, or the event finds the campaign Queued. Writing Queued causes an event, too, and that event causes another Reconcile.
func (r *CampaignReconciler) SetupWithManager(mgr ctrl.Manager) error {
	toCampaign := handler.EnqueueRequestsFromMapFunc(findCampaign)
	toQueued := handler.EnqueueRequestsFromMapFunc(r.findQueued)
	toActive := handler.EnqueueRequestsFromMapFunc(r.findActive)
	c, err := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.BenchmarkCampaign{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&batchv1.Job{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&policyv1.PodDisruptionBudget{}, builder.WithPredicates(deletionsOnly())).
		Watches(&appsv1.StatefulSet{}, toCampaign).
		Watches(&corev1.Pod{}, toCampaign).
		Watches(&corev1.PersistentVolumeClaim{}, toCampaign).
		Watches(&corev1.ConfigMap{}, toCampaign, builder.WithPredicates(ownerless())).             // records that outlive their campaign
		Watches(&networkingv1.NetworkPolicy{}, toCampaign, builder.WithPredicates(onlyCreated())). // a manager that starts finds those of deleted campaigns
		Watches(&v1alpha1.BenchmarkCampaign{}, toActive, builder.WithPredicates(campaignCreatedOrChanged())).
		Watches(&v1alpha1.BenchmarkCampaign{}, toQueued, builder.WithPredicates(claimChanged())).
		Watches(&appsv1.StatefulSet{}, toQueued, builder.WithPredicates(poolsReleased())).
		Watches(&batchv1.Job{}, toQueued, builder.WithPredicates(poolsReleased())).
		Watches(&corev1.Pod{}, toQueued, builder.WithPredicates(poolsReleased())).
		WithOptions(controller.Options{MaxConcurrentReconciles: maxConcurrent}).
		Build(r)
	if err != nil {
		return err
	}
	r.setUp()
	r.observer.Operator.SetWatches(observe.OperatorWatches{
		Start: func(kind schema.GroupVersion) error {
			toOwner := handler.TypedEnqueueRequestForOwner[*unstructured.Unstructured](mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.BenchmarkCampaign{}, handler.OnlyControllerOwner())
			return c.Watch(source.Kind(mgr.GetCache(), observe.NewOpenSearchCluster(kind), toOwner))
		},
		Stop: func(ctx context.Context, kind schema.GroupVersion) error {
			return mgr.GetCache().RemoveInformer(ctx, observe.NewOpenSearchCluster(kind))
		},
	})
	return nil
}

// findCampaign finds the campaign of an object that the campaign does not own: a pod, a volume, a NetworkPolicy, or a StatefulSet of
// the opensearch-k8s-operator.
func findCampaign(_ context.Context, o client.Object) []reconcile.Request {
	name := o.GetAnnotations()[resources.AnnotationCampaignName]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
}

// findQueued finds the other campaigns that wait for nodes.
func (r *CampaignReconciler) findQueued(ctx context.Context, o client.Object) []reconcile.Request {
	return r.findOthers(ctx, o, func(c *v1alpha1.BenchmarkCampaign) bool {
		ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
		return ready != nil && ready.Reason == v1alpha1.ReasonQueued
	})
}

// findActive finds the other campaigns that may have to release nodes for this campaign.
func (r *CampaignReconciler) findActive(ctx context.Context, o client.Object) []reconcile.Request {
	return r.findOthers(ctx, o, func(c *v1alpha1.BenchmarkCampaign) bool {
		return !children.StartsNothing(c) && !ptr.Deref(c.Spec.Suspend, false)
	})
}

func (r *CampaignReconciler) findOthers(ctx context.Context, o client.Object, matches func(*v1alpha1.BenchmarkCampaign) bool) []reconcile.Request {
	var list v1alpha1.BenchmarkCampaignList
	if err := r.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "cannot list the other campaigns that may wait for Kubernetes nodes or may have to release Kubernetes nodes")
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if c := &list.Items[i]; c.UID != o.GetUID() && matches(c) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c)})
		}
	}
	return out
}

// deletionsOnly passes only deletions.
func deletionsOnly() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(event.UpdateEvent) bool { return false },
	}
}

// campaignCreatedOrChanged passes events after which a campaign may want nodes that it did not want before.
func campaignCreatedOrChanged() predicate.Predicate {
	return predicate.And(predicate.GenerationChangedPredicate{}, predicate.Funcs{
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	})
}

// ownerless passes the events of objects without an owner. Owns passes those of other objects.
func ownerless() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool { return metav1.GetControllerOf(o) == nil })
}

// onlyCreated passes the events of objects that are new, or new to this manager.
func onlyCreated() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(event.UpdateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// claimChanged passes changes of a campaign that matter to the campaigns that wait for it. Its progress does not matter to the
// waiting campaigns.
func claimChanged() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, wasCampaign := e.ObjectOld.(*v1alpha1.BenchmarkCampaign)
			is, isCampaign := e.ObjectNew.(*v1alpha1.BenchmarkCampaign)
			return wasCampaign && isCampaign && children.ClaimChanged(was, is)
		},
	}
}

// poolsReleased passes events by which an object releases nodes or an endpoint.
func poolsReleased() predicate.Predicate {
	holds := func(o client.Object) bool { return len(children.HeldPools(o)) > 0 }
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool { return holds(e.ObjectOld) && !holds(e.ObjectNew) },
		DeleteFunc: func(e event.DeleteEvent) bool { return holds(e.Object) },
	}
}
