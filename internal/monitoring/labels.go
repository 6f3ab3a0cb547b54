package monitoring

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
)

// CampaignState is the value of the label state of a campaign.
type CampaignState string

// Values of CampaignState.
const (
	InProgress CampaignState = "InProgress"
	Stalled    CampaignState = "Stalled"
	Suspended  CampaignState = "Suspended"
	Finished   CampaignState = "Finished"
)

// NodeState is the value of the label state of an OpenSearch node.
type NodeState string

// Values of NodeState.
const (
	Unready NodeState = "unready" // the pod has its Kubernetes node, but is not ready: it starts or ends
	Idle    NodeState = "idle"    // the pod is ready, and no trial of its cell runs
	Loaded  NodeState = "loaded"  // a trial of its cell runs
)

// NodeStates returns all values of NodeState.
func NodeStates() []NodeState { return []NodeState{Unready, Idle, Loaded} }

const (
	// ReasonUnobserved is the label reason of a campaign that has no condition Ready yet.
	ReasonUnobserved = "Unobserved"
	// ReasonOther is the label reason for any reason that this version of Knee does not know. It limits the number of series.
	ReasonOther = "Other"
)

// campaignReasons are the reasons of the condition Ready, by the state that they belong to.
var campaignReasons = map[CampaignState][]string{
	InProgress: {ReasonUnobserved, v1alpha1.ReasonProgressing, v1alpha1.ReasonQueued},
	Suspended:  {v1alpha1.ReasonSuspended},
	Finished:   {v1alpha1.ReasonFinished},
	Stalled: {
		v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonUnschedulable, v1alpha1.ReasonImagePullFailed, v1alpha1.ReasonProvisioningFailed,
		v1alpha1.ReasonTrialBlocked, v1alpha1.ReasonCleanUpBlocked, v1alpha1.ReasonNameConflict, v1alpha1.ReasonNothingMeasured,
		v1alpha1.ReasonPluginMissing, v1alpha1.ReasonOperatorMissing, v1alpha1.ReasonDeadlineExceeded, v1alpha1.ReasonForbidden,
	},
}

// CampaignStates returns all values of CampaignState.
func CampaignStates() []CampaignState {
	return []CampaignState{InProgress, Stalled, Suspended, Finished}
}

// CampaignReasons returns the reasons of a state.
func CampaignReasons(state CampaignState) []string { return campaignReasons[state] }

// StateOf returns the state of a campaign and the label of its reason. ready is the condition Ready, or nil.
func StateOf(ready *metav1.Condition) (CampaignState, string) {
	if ready == nil {
		return InProgress, ReasonUnobserved
	}
	for state, reasons := range campaignReasons {
		if slices.Contains(reasons, ready.Reason) {
			return state, ready.Reason
		}
	}
	switch ready.Status {
	case metav1.ConditionTrue:
		return Finished, ReasonOther
	case metav1.ConditionFalse:
		return Stalled, ReasonOther
	}
	return InProgress, ReasonOther
}

// RetryReasons returns the values of the label reason of retries.
func RetryReasons() []string { return append(record.Reasons(), ReasonOther) }

// RetryReason returns the label for the reason of an error. A record's reason comes from a pod, which could write any text.
func RetryReason(reason string) string {
	if slices.Contains(record.Reasons(), reason) {
		return reason
	}
	return ReasonOther
}

// Phases returns the values of the label phase.
func Phases() []record.Phase {
	return []record.Phase{record.Warmup, record.Sweep, record.Anchor, record.Final, record.OpenLoop}
}

// Verdicts returns the values of the label verdict.
func Verdicts() []verdict.Verdict {
	return []verdict.Verdict{verdict.Measured, verdict.Gated, verdict.Errored}
}
