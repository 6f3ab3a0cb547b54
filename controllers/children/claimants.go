package children

import (
	"reflect"
	"slices"
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
		claimant := ReadClaim(&campaigns[i])
		claimant.Holds = out[claimant.UID].Holds
		if len(claimant.Holds)+len(claimant.Wants) > 0 {
			out[claimant.UID] = claimant
		}
	}
	return out
}

// ReadClaim returns what the spec and the status of a campaign show to other campaigns. The nodes that it holds are not included.
func ReadClaim(c *v1alpha1.BenchmarkCampaign) decide.Claimant {
	return decide.Claimant{
		Campaign: client.ObjectKeyFromObject(c), UID: c.UID, Created: c.CreationTimestamp.Time,
		Since: activeSince(c), Yielded: timeOrZero(c.Status.YieldedAt), Stalled: meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionStalled),
		Releases: ptr.Deref(c.Spec.Suspend, false) && c.Spec.WhenSuspended == v1alpha1.SuspendReleaseNodes,
		Wants:    wantedPools(c), Unmeasured: unmeasuredPools(c), Reason: claimReason(c),
	}
}

// ClaimChanged reports whether a change of a campaign may change whether other campaigns have to wait for it.
func ClaimChanged(was, is *v1alpha1.BenchmarkCampaign) bool {
	return !reflect.DeepEqual(ReadClaim(was), ReadClaim(is)) || !lastServed(was).Equal(lastServed(is))
}

// activeSince returns since when a campaign has its turn, see decide.Decision. It is zero if the campaign is not active. A campaign that
// exceeded its deadline is not active, although its status still has the time.
func activeSince(c *v1alpha1.BenchmarkCampaign) time.Time {
	if ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady); ready != nil && ready.Reason == v1alpha1.ReasonDeadlineExceeded {
		return time.Time{}
	}
	return timeOrZero(c.Status.ActiveSince)
}

func timeOrZero(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// FindServices returns when each campaign last began or ended to use its pools. Campaigns that have used none are left out.
func FindServices(campaigns []v1alpha1.BenchmarkCampaign) []decide.Service {
	var out []decide.Service
	for i := range campaigns {
		if last := lastServed(&campaigns[i]); !last.IsZero() {
			out = append(out, decide.Service{Namespace: campaigns[i].Namespace, Pools: plan.Needs(&campaigns[i]), At: last})
		}
	}
	return out
}

// lastServed returns when a campaign last began or ended to use its pools, or zero if it has used none.
func lastServed(c *v1alpha1.BenchmarkCampaign) time.Time {
	s := c.Status
	return slices.MaxFunc([]time.Time{timeOrZero(s.StartedAt), timeOrZero(s.CompletedAt), timeOrZero(s.ActiveSince), timeOrZero(s.YieldedAt)}, time.Time.Compare)
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

// unmeasuredPools returns those of the wanted pools that cells need which are not measured, as far as the status shows.
func unmeasuredPools(c *v1alpha1.BenchmarkCampaign) []plan.Pool {
	wants := wantedPools(c)
	if len(wants) == 0 || c.Status.ObservedGeneration != c.Generation {
		return wants
	}
	measured := map[[2]string]bool{} // by variant and topology
	for _, cell := range c.Status.Cells {
		done, planned := ptr.Deref(cell.TrialCounts.Done, 0), ptr.Deref(cell.TrialCounts.Planned, 0)
		measured[[2]string{cell.Variant, cell.Topology}] = planned > 0 && done == planned
	}
	return plan.NeedsOf(c, func(variant, topology v1alpha1.Name) bool {
		return !measured[[2]string{string(variant), string(topology)}]
	})
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

// claimReason returns the state of a campaign, for the messages of campaigns that wait for this campaign.
func claimReason(c *v1alpha1.BenchmarkCampaign) string {
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
