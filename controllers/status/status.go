// Package status computes the status of a campaign from a decision and the findings. It also finds the transitions between two
// statuses. It has no client.
package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// Bounds that keep the status readable and below 32 KiB.
const (
	maxMessage   = 1536 // bytes of a condition's message
	maxCompanion = 256  // bytes of the messages of Reconciling and Stalled; Ready has the complete message
	maxRunning   = 8    // trials in status.running
	maxWaiting   = 3    // texts in status.waiting
	maxWait      = 128  // bytes of each text in status.waiting
)

// Next returns the status of a campaign: what the records show, what runs now, and what the user has to do. The parameter refused is
// why this version of Knee would not accept the spec of a finished campaign, or nil.
func Next(c *v1alpha1.BenchmarkCampaign, found *Findings, d decide.Decision, reports []string, trouble, refused error) v1alpha1.BenchmarkCampaignStatus {
	status := *found.status.DeepCopy()
	status.ObservedGeneration = c.Generation
	status.Reports = reports
	status.ActiveSince, status.YieldedAt = timeOrNil(d.ActiveSince), timeOrNil(d.Yielded)
	setActivities(&status, d)
	status.Conditions = c.DeepCopy().Status.Conditions
	for i := range status.Cells {
		status.Cells[i].Phase = d.Phases[found.Plan.Cells[i].Name]
	}
	ready, stalled := readiness(c, found, d, status, trouble)
	if refused != nil && ready.Reason == v1alpha1.ReasonFinished {
		ready.Message += "; this version of Knee would not accept the spec for a new measurement: " + refused.Error()
	}
	setReady(&status, c.Generation, ready, stalled)
	setCondition(&status, c.Generation, v1alpha1.ConditionConclusive, conditionStatus(found.conclusive), found.reason, found.message)
	return status
}

// Invalid returns the status of a campaign whose spec has an error that the API server could not find. It keeps the earlier
// findings. The decision d releases the campaign's nodes.
func Invalid(c *v1alpha1.BenchmarkCampaign, d decide.Decision, invalid error) v1alpha1.BenchmarkCampaignStatus {
	status := released(c, d)
	status.YieldedAt = nil
	if len(d.Kept)+len(d.Running) == 0 {
		status.ActiveSince = nil
	}
	setReady(&status, c.Generation, decide.Problem{Reason: v1alpha1.ReasonInvalidSpec, Message: invalid.Error() + keptMessage(d)}, true)
	setCondition(&status, c.Generation, v1alpha1.ConditionConclusive, metav1.ConditionFalse, v1alpha1.ReasonNotFinished, "the spec of the campaign is not valid; the condition Ready gives the reason")
	return status
}

// Unplanned returns the status of a campaign for which nothing can be decided because of err: the contents of a ConfigMap could not be
// read, so its cells are unknown, or a record could not be updated. It keeps the earlier findings. The decision d releases the campaign's
// nodes.
func Unplanned(c *v1alpha1.BenchmarkCampaign, d decide.Decision, err error) v1alpha1.BenchmarkCampaignStatus {
	status := released(c, d)
	ready, stalled := userProblem(err)
	if stalled {
		ready.Message += keptMessage(d)
	} else {
		ready = decide.Problem{Reason: v1alpha1.ReasonProgressing, Message: "trying again: " + err.Error()}
	}
	setReady(&status, c.Generation, ready, stalled)
	if known := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionConclusive); known == nil || known.ObservedGeneration != c.Generation {
		setCondition(&status, c.Generation, v1alpha1.ConditionConclusive, metav1.ConditionFalse, v1alpha1.ReasonNotFinished, "cannot read or update a ConfigMap that the campaign needs; the condition Ready gives the reason")
	}
	return status
}

// released returns the status of a campaign that cannot be planned, without new conditions.
func released(c *v1alpha1.BenchmarkCampaign, d decide.Decision) v1alpha1.BenchmarkCampaignStatus {
	status := *c.Status.DeepCopy()
	if status.ObservedGeneration != c.Generation {
		status.FinishedAttempts = 0
	}
	status.ObservedGeneration = c.Generation
	status.ActiveSince, status.YieldedAt = timeOrNil(d.ActiveSince), timeOrNil(d.Yielded)
	setActivities(&status, d)
	return status
}

// keptMessage says until when OpenSearch keeps its nodes although the campaign cannot continue. It is empty if OpenSearch has no nodes.
func keptMessage(d decide.Decision) string {
	if len(d.Kept) == 0 {
		return ""
	}
	return fmt.Sprintf("; OpenSearch of %s keeps its Kubernetes nodes until the campaign has been Stalled for spec.timeouts.yieldSeconds", strings.Join(d.Kept, ", "))
}

// setActivities sets what runs and what the campaign waits for.
func setActivities(status *v1alpha1.BenchmarkCampaignStatus, d decide.Decision) {
	status.Running = shortenList(d.Running, maxRunning)
	status.Waiting = shortenList(d.Waiting, maxWaiting)
	for i, wait := range status.Waiting {
		status.Waiting[i] = children.Shorten(wait, maxWait)
	}
}

// timeOrNil returns a time of the status, in whole seconds as the API server stores it, or nil for the zero time.
func timeOrNil(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	seconds := metav1.Unix(t.Unix(), 0)
	return &seconds
}

// readiness returns the reason and message of Ready. It also returns whether the campaign is stalled, which means that the user
// has to act. A campaign that is neither stalled nor finished is progressing, unless it is suspended.
func readiness(c *v1alpha1.BenchmarkCampaign, found *Findings, d decide.Decision,
	status v1alpha1.BenchmarkCampaignStatus, trouble error) (decide.Problem, bool) {
	if problem, isStalled := userProblem(trouble); isStalled {
		return problem, true
	}
	switch {
	case d.Stalled != nil:
		return *d.Stalled, true
	case d.Over && !found.Assessment.Measured:
		return nothingMeasured(found.Assessment, status), true
	case d.Over:
		return decide.Problem{Reason: v1alpha1.ReasonFinished, Message: found.sentence}, false
	case ptr.Deref(c.Spec.Suspend, false):
		return decide.Problem{Reason: v1alpha1.ReasonSuspended, Message: suspendedMessage(c, d, trouble)}, false
	case d.Queued != "":
		return decide.Problem{Reason: v1alpha1.ReasonQueued, Message: d.Queued + "; " + progressMessage(status, d, trouble)}, false
	}
	return decide.Problem{Reason: v1alpha1.ReasonProgressing, Message: progressMessage(status, d, trouble)}, false
}

// userProblem returns the problem of an error that only a change outside the campaign can resolve. It returns false for other
// errors, and if the namespace is being deleted.
func userProblem(err error) (decide.Problem, bool) {
	if reason, stalls := children.ReasonOf(err); stalls {
		return decide.Problem{Reason: reason, Message: err.Error()}, true
	}
	return decide.Problem{}, false
}

// nothingMeasured returns the problem of a campaign that finished without any valid measurement.
func nothingMeasured(a campaign.Assessment, status v1alpha1.BenchmarkCampaignStatus) decide.Problem {
	if message, isMissing := missingPlugin(a); isMissing {
		return decide.Problem{Reason: v1alpha1.ReasonPluginMissing, Message: message +
			"; so no trial has a valid measurement: install the plugin in the OpenSearch cluster, then set spec.rerun to a new value to measure again"}
	}
	s := "no trial gave a valid measurement"
	for _, cell := range status.Cells {
		if len(cell.NotMeasured) > 0 {
			s += fmt.Sprintf("; %s on %s: %s", cell.Variant, cell.Topology, cell.NotMeasured[0])
			break
		}
	}
	return decide.Problem{Reason: v1alpha1.ReasonNothingMeasured, Message: s}
}

// missingPlugin returns the message of a trial if all trials failed because a plugin is missing. If the messages differ, it
// returns the first in alphabetical order, so the status stays the same.
func missingPlugin(a campaign.Assessment) (message string, isMissing bool) {
	for trial, o := range a.Outcomes {
		if trial.Phase == record.Warmup || !o.Done {
			continue
		}
		if !o.Hopeless() {
			return "", false
		}
		if !isMissing || o.Record.Error.Message < message {
			message, isMissing = o.Record.Error.Message, true
		}
	}
	return message, isMissing
}

// suspendedMessage describes what still runs in a suspended campaign, and which nodes are kept.
func suspendedMessage(c *v1alpha1.BenchmarkCampaign, d decide.Decision, trouble error) string {
	parts := []string{"spec.suspend is true: Knee starts nothing new"}
	if len(d.Kept) > 0 && c.Spec.WhenSuspended != v1alpha1.SuspendReleaseNodes {
		parts = append(parts, "nodes of "+strings.Join(d.Kept, ", ")+" are kept (whenSuspended: ReleaseNodes releases them)")
	}
	return strings.Join(append(parts, activities(d, trouble)...), "; ")
}

func progressMessage(status v1alpha1.BenchmarkCampaignStatus, d decide.Decision, trouble error) string {
	return strings.Join(append([]string{status.Progress + " trials done"}, activities(d, trouble)...), "; ")
}

// activities lists what runs, what the campaign waits for, and what failed.
func activities(d decide.Decision, trouble error) []string {
	var parts []string
	if len(d.Running) > 0 {
		parts = append(parts, "running "+strings.Join(d.Running, ", "))
	}
	if len(d.Waiting) > 0 {
		parts = append(parts, "waiting: "+strings.Join(d.Waiting, ", "))
	}
	if trouble != nil {
		parts = append(parts, "trying again: "+trouble.Error())
	}
	return parts
}

// setReady sets the conditions Ready, Reconciling and Stalled as kstatus defines them: Reconciling and Stalled exist only if
// they are true, and never at the same time.
func setReady(status *v1alpha1.BenchmarkCampaignStatus, generation int64, p decide.Problem, stalled bool) {
	ready := metav1.ConditionUnknown
	switch {
	case stalled:
		ready = metav1.ConditionFalse
	case p.Reason == v1alpha1.ReasonFinished:
		ready = metav1.ConditionTrue
	}
	setCondition(status, generation, v1alpha1.ConditionReady, ready, p.Reason, p.Message)
	for kind, present := range map[string]bool{
		v1alpha1.ConditionStalled:     stalled,
		v1alpha1.ConditionReconciling: p.Reason == v1alpha1.ReasonProgressing || p.Reason == v1alpha1.ReasonQueued,
	} {
		if present {
			setCondition(status, generation, kind, metav1.ConditionTrue, p.Reason, children.Shorten(p.Message, maxCompanion))
		} else {
			meta.RemoveStatusCondition(&status.Conditions, kind)
		}
	}
}

func setCondition(status *v1alpha1.BenchmarkCampaignStatus, generation int64, kind string, value metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: children.Shorten(message, maxMessage), ObservedGeneration: generation,
	})
}

// shortenList returns the first entries of a list, and the number of further entries.
func shortenList(list []string, most int) []string {
	if len(list) <= most {
		return slices.Clone(list)
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("%d more", len(list)-most))
}

func conditionStatus(ok bool) metav1.ConditionStatus {
	if ok {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
