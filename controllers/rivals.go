package controllers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// observeRivals reads who else wants or has nodes, from the cache alone: the campaigns of every namespace, or, of a
// manager that looks after one namespace, of that one. Two such managers on one node pool do not see each other.
func (r *CampaignReconciler) observeRivals(ctx context.Context, c *v1alpha1.BenchmarkCampaign, w *decide.World) error {
	var (
		campaigns v1alpha1.BenchmarkCampaignList
		sets      appsv1.StatefulSetList
		jobs      batchv1.JobList
		pods      corev1.PodList
	)
	// All of them are looked at each time, and only read: no copies.
	ours := client.MatchingLabels{resources.LabelManagedBy: resources.ManagedBy}
	if err := r.List(ctx, &campaigns, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the campaigns: %w", err)
	}
	for _, list := range []client.ObjectList{&sets, &jobs, &pods} {
		if err := r.List(ctx, list, ours, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("list who has nodes: %w", err)
		}
	}
	claimants := claimants(campaigns.Items, sets.Items, jobs.Items, pods.Items)
	w.Self, w.Rivals = claimants[c.UID], nil
	w.Self.Campaign, w.Self.UID, w.Self.Created = client.ObjectKeyFromObject(c), c.UID, c.CreationTimestamp.Time
	delete(claimants, c.UID)
	for _, uid := range slices.SortedFunc(maps.Keys(claimants), cmp.Compare) {
		w.Rivals = append(w.Rivals, claimants[uid])
	}
	return nil
}

// claimants are the campaigns that want or have nodes, by UID, those that are gone but for their pods among them.
func claimants(
	campaigns []v1alpha1.BenchmarkCampaign, sets []appsv1.StatefulSet, jobs []batchv1.Job, pods []corev1.Pod,
) map[types.UID]decide.Claimant {
	out := map[types.UID]decide.Claimant{}
	hold := func(o client.Object, held []plan.Pool) {
		uid := types.UID(o.GetLabels()[resources.LabelCampaign])
		if uid == "" || len(held) == 0 {
			return
		}
		claimant, known := out[uid]
		if !known {
			claimant = decide.Claimant{UID: uid, Reason: decide.ReasonDeleted, Campaign: types.NamespacedName{
				Namespace: o.GetNamespace(), Name: o.GetAnnotations()[resources.AnnotationCampaignName],
			}}
		}
		claimant.Holds = append(claimant.Holds, held...)
		out[uid] = claimant
	}
	for i := range sets {
		hold(&sets[i], heldBySet(sets[i]))
	}
	for i := range jobs {
		hold(&jobs[i], heldByJob(jobs[i]))
	}
	for i := range pods {
		hold(&pods[i], heldByPod(pods[i]))
	}
	for i := range campaigns {
		c := &campaigns[i]
		claimant, holds := out[c.UID]
		claimant.Campaign, claimant.UID, claimant.Created = client.ObjectKeyFromObject(c), c.UID, c.CreationTimestamp.Time
		claimant.Wants, claimant.Reason = wants(c), standing(c)
		if holds || len(claimant.Wants) > 0 {
			out[c.UID] = claimant
		}
	}
	return out
}

// heldBySet is the pool of a StatefulSet whose pods are there or about to be made.
func heldBySet(s appsv1.StatefulSet) []plan.Pool {
	if ptr.Deref(s.Spec.Replicas, 1) == 0 || !s.DeletionTimestamp.IsZero() {
		return nil // what is left of its pods tells
	}
	return []plan.Pool{{NodeSelector: s.Spec.Template.Spec.NodeSelector}}
}

// heldByJob is where the pod of a trial disturbs others that is there or about to be made.
func heldByJob(j batchv1.Job) []plan.Pool {
	if jobEnded(j) || !j.DeletionTimestamp.IsZero() {
		return nil // what is left of its pods tells
	}
	return heldBy(j.Spec.Template.ObjectMeta, j.Spec.Template.Spec)
}

// heldByPod is where a pod disturbs others, from its making until it has ended.
func heldByPod(pod corev1.Pod) []plan.Pool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return nil
	}
	return heldBy(pod.ObjectMeta, pod.Spec)
}

// heldBy is where a pod disturbs others: OpenSearch on its nodes, a trial at its endpoint, and a trial that is not kept off
// the nodes of OpenSearch on its own, too. Tolerations say nothing of where a pod cannot be.
func heldBy(o metav1.ObjectMeta, spec corev1.PodSpec) []plan.Pool {
	var out []plan.Pool
	nodes := plan.Pool{NodeSelector: spec.NodeSelector}
	switch o.Labels[resources.LabelComponent] {
	case resources.ComponentOpenSearch:
		out = append(out, nodes)
	case resources.ComponentLoader:
		if !keptOff(spec) {
			out = append(out, nodes)
		}
		if endpoint := o.Annotations[resources.AnnotationEndpoint]; endpoint != "" {
			out = append(out, plan.Pool{Endpoint: endpoint})
		}
	}
	return out
}

// keptOff says whether a trial's pod is kept off the nodes of OpenSearch.
func keptOff(spec corev1.PodSpec) bool {
	a := spec.Affinity
	return a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
}

// wants are the pools that a campaign is going to use, as far as its spec and status tell without a look at its
// records: none when it is over, suspended, refused or deleted. One that is stalled for want of nodes still wants them.
func wants(c *v1alpha1.BenchmarkCampaign) []plan.Pool {
	if ptr.Deref(c.Spec.Suspend, false) || settled(c) {
		return nil
	}
	return plan.Needs(c)
}

// settled tells of a campaign that starts nothing until it, or what it cannot do without, is changed.
func settled(c *v1alpha1.BenchmarkCampaign) bool {
	if !c.DeletionTimestamp.IsZero() {
		return true
	}
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.ObservedGeneration != c.Generation {
		return false
	}
	switch ready.Reason {
	case v1alpha1.ReasonFinished, v1alpha1.ReasonNothingMeasured, v1alpha1.ReasonPluginMissing,
		v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonNameConflict, v1alpha1.ReasonOperatorMissing:
		return true
	}
	return false
}

// standing is what those that wait for a campaign are told of it.
func standing(c *v1alpha1.BenchmarkCampaign) string {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case !c.DeletionTimestamp.IsZero():
		return decide.ReasonDeleted
	case ptr.Deref(c.Spec.Suspend, false):
		return v1alpha1.ReasonSuspended
	case ready == nil:
		return ""
	}
	return ready.Reason
}
