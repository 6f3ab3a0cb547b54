package controllers

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// Campaigns that wait for each other are woken by what they wait for, not by a clock. None sleeps through it: an object is
// in the cache before its event is handled, so that either the campaign's look at the cache has seen the change, or the
// event finds the campaign Queued; and the write of Queued is an event that makes it look once more.

// queued finds the campaigns that wait for another one.
func (r *CampaignReconciler) queued(ctx context.Context, o client.Object) []reconcile.Request {
	return r.others(ctx, o, func(c *v1alpha1.BenchmarkCampaign) bool {
		ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
		return ready != nil && ready.Reason == v1alpha1.ReasonQueued
	})
}

// active finds the campaigns that may have to make way for another one.
func (r *CampaignReconciler) active(ctx context.Context, o client.Object) []reconcile.Request {
	return r.others(ctx, o, func(c *v1alpha1.BenchmarkCampaign) bool {
		return !settled(c) && !ptr.Deref(c.Spec.Suspend, false)
	})
}

func (r *CampaignReconciler) others(ctx context.Context, o client.Object, wake func(*v1alpha1.BenchmarkCampaign) bool) []reconcile.Request {
	var list v1alpha1.BenchmarkCampaignList
	if err := r.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "cannot wake the campaigns that wait")
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if c := &list.Items[i]; c.UID != o.GetUID() && wake(c) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c)})
		}
	}
	return out
}

// comes lets through what makes a campaign want nodes that it did not want: it is made or changed.
func comes() predicate.Predicate {
	return predicate.And(predicate.GenerationChangedPredicate{}, predicate.Funcs{
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	})
}

// stands lets through changes of what others are told of a campaign, not each of its progress.
func stands() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, isCampaign := e.ObjectOld.(*v1alpha1.BenchmarkCampaign)
			is, isToo := e.ObjectNew.(*v1alpha1.BenchmarkCampaign)
			return isCampaign && isToo && (standing(was) != standing(is) || settled(was) != settled(is))
		},
	}
}

// letsGo lets through what leaves nodes, or an endpoint, to others.
func letsGo() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool { return holds(e.ObjectOld) && !holds(e.ObjectNew) },
		DeleteFunc: func(e event.DeleteEvent) bool { return holds(e.Object) },
	}
}

func holds(o client.Object) bool {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		return len(heldBySet(*o)) > 0
	case *batchv1.Job:
		return len(heldByJob(*o)) > 0
	case *corev1.Pod:
		return len(heldByPod(*o)) > 0
	}
	return false
}
