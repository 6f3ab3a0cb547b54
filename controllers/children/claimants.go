package children

import (
	"time"

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

// FindClaimants returns the campaigns that want or hold nodes, by UID. It includes deleted campaigns whose pods still exist.
func FindClaimants(
	campaigns []v1alpha1.BenchmarkCampaign, sets []appsv1.StatefulSet, jobs []batchv1.Job, pods []corev1.Pod,
) map[types.UID]decide.Claimant {
	out := map[types.UID]decide.Claimant{}
	addHeld := func(o client.Object) {
		uid, held := types.UID(o.GetLabels()[resources.LabelCampaign]), HeldPools(o)
		if uid == "" || len(held) == 0 {
			return
		}
		claimant, isKnown := out[uid]
		if !isKnown {
			claimant = decide.Claimant{UID: uid, Reason: decide.ReasonDeleted, Campaign: types.NamespacedName{
				Namespace: o.GetNamespace(), Name: o.GetAnnotations()[resources.AnnotationCampaignName],
			}}
		}
		claimant.Holds = append(claimant.Holds, held...)
		out[uid] = claimant
	}
	for i := range sets {
		addHeld(&sets[i])
	}
	for i := range jobs {
		addHeld(&jobs[i])
	}
	for i := range pods {
		addHeld(&pods[i])
	}
	for i := range campaigns {
		c := &campaigns[i]
		claimant, holds := out[c.UID]
		claimant.Campaign, claimant.UID, claimant.Created = client.ObjectKeyFromObject(c), c.UID, c.CreationTimestamp.Time
		claimant.Wants, claimant.Reason = wantedPools(c), ClaimReason(c)
		claimant.Since, claimant.Yielded = ActiveSince(c), YieldedAt(c)
		if holds || len(claimant.Wants) > 0 {
			out[c.UID] = claimant
		}
	}
	return out
}

// ActiveSince returns since when a campaign has its turn, see decide.Decision. It is zero if the campaign is not active. A campaign that
// exceeded its deadline is not active, although its status still has the time.
func ActiveSince(c *v1alpha1.BenchmarkCampaign) time.Time {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	if c.Status.ActiveSince == nil || ready != nil && ready.Reason == v1alpha1.ReasonDeadlineExceeded {
		return time.Time{}
	}
	return c.Status.ActiveSince.Time
}

// YieldedAt returns when a campaign gave up its turn because it was stalled. It is zero if the campaign has its turn, or queues from its
// creation.
func YieldedAt(c *v1alpha1.BenchmarkCampaign) time.Time {
	if c.Status.YieldedAt == nil {
		return time.Time{}
	}
	return c.Status.YieldedAt.Time
}

// FindServices returns when each campaign last began or ended to use its pools. Campaigns that have used none are left out.
func FindServices(campaigns []v1alpha1.BenchmarkCampaign) []decide.Service {
	var out []decide.Service
	for i := range campaigns {
		c := &campaigns[i]
		var last time.Time
		for _, t := range []*metav1.Time{c.Status.StartedAt, c.Status.CompletedAt, c.Status.ActiveSince, c.Status.YieldedAt} {
			if t != nil && t.After(last) {
				last = t.Time
			}
		}
		if !last.IsZero() {
			out = append(out, decide.Service{Namespace: c.Namespace, Pools: plan.Needs(c), At: last})
		}
	}
	return out
}

// HeldPools returns the pools of nodes and the endpoints that a StatefulSet, a Job or a pod uses, or will use when its pods are
// created. A StatefulSet or Job that is being deleted holds no pools: only its remaining pods do.
func HeldPools(o client.Object) []plan.Pool {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		if ptr.Deref(o.Spec.Replicas, 1) == 0 || !o.DeletionTimestamp.IsZero() {
			return nil
		}
		return []plan.Pool{{NodeSelector: o.Spec.Template.Spec.NodeSelector}}
	case *batchv1.Job:
		if JobEnded(*o) || !o.DeletionTimestamp.IsZero() {
			return nil
		}
		return poolsOfPod(o.Spec.Template.ObjectMeta, o.Spec.Template.Spec)
	case *corev1.Pod:
		if o.Status.Phase == corev1.PodSucceeded || o.Status.Phase == corev1.PodFailed {
			return nil
		}
		return poolsOfPod(o.ObjectMeta, o.Spec)
	}
	return nil
}

// poolsOfPod returns the pools in which a pod disturbs other campaigns. An OpenSearch pod disturbs its nodes. A trial disturbs
// its endpoint, and also its own nodes unless it avoids the nodes of OpenSearch. Tolerations do not matter, because they do not
// exclude any node.
func poolsOfPod(o metav1.ObjectMeta, spec corev1.PodSpec) []plan.Pool {
	var out []plan.Pool
	nodes := plan.Pool{NodeSelector: spec.NodeSelector}
	switch o.Labels[resources.LabelComponent] {
	case resources.ComponentOpenSearch:
		out = append(out, nodes)
	case resources.ComponentLoader:
		if !avoidsOpenSearch(spec) {
			out = append(out, nodes)
		}
		if endpoint := o.Annotations[resources.AnnotationEndpoint]; endpoint != "" {
			out = append(out, plan.Pool{Endpoint: endpoint})
		}
	}
	return out
}

// avoidsOpenSearch reports whether the pod of a trial never runs on a node of OpenSearch.
func avoidsOpenSearch(spec corev1.PodSpec) bool {
	a := spec.Affinity
	return a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
}

// wantedPools returns the pools that a campaign will use, based only on its spec and status, not on its records. It is nil if
// the campaign is suspended or starts nothing. A campaign that is stalled because nodes are missing still wants these nodes.
func wantedPools(c *v1alpha1.BenchmarkCampaign) []plan.Pool {
	if ptr.Deref(c.Spec.Suspend, false) || StartsNothing(c) {
		return nil
	}
	return plan.Needs(c)
}

// StartsNothing reports whether a campaign starts nothing until the campaign, or an object that it requires, changes.
func StartsNothing(c *v1alpha1.BenchmarkCampaign) bool {
	if !c.DeletionTimestamp.IsZero() {
		return true
	}
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.ObservedGeneration != c.Generation {
		return false
	}
	switch ready.Reason {
	case v1alpha1.ReasonFinished, v1alpha1.ReasonNothingMeasured, v1alpha1.ReasonPluginMissing,
		v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonOperatorMissing, v1alpha1.ReasonDeadlineExceeded:
		return true
	}
	return false
}

// ClaimReason returns the state of a campaign, for the messages of campaigns that wait for this campaign.
func ClaimReason(c *v1alpha1.BenchmarkCampaign) string {
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
