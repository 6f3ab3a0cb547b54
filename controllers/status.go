package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
)

// What keeps the status readable, and below its bound of 20 KiB.
const (
	maxMessage   = 1536 // bytes of a condition's message
	maxCompanion = 256  // bytes of the messages of Reconciling and Stalled: Ready says all of it
	maxRunning   = 8    // trials that are listed as running
)

// nextStatus is what the status should say: what the records show, what runs, and what a person has to do.
func nextStatus(c *v1alpha1.BenchmarkCampaign, found *findings, d decide.Decision, reports []string, trouble error) v1alpha1.BenchmarkCampaignStatus {
	status := *found.status.DeepCopy()
	status.ObservedGeneration = c.Generation
	status.Reports = reports
	status.Running = listed(d.Running)
	status.Conditions = c.DeepCopy().Status.Conditions
	for i := range status.Cells {
		status.Cells[i].Phase = d.Phases[found.Plan.Cells[i].Name]
	}
	ready, stalled := readiness(c, found, d, status, trouble)
	setReady(&status, c.Generation, ready, stalled)
	set(&status, c.Generation, v1alpha1.ConditionConclusive, truth(found.conclusive), found.reason, found.message)
	return status
}

// invalidStatus says what is wrong with a spec that the API server could not refuse. What was found before stays.
func invalidStatus(c *v1alpha1.BenchmarkCampaign, invalid error) v1alpha1.BenchmarkCampaignStatus {
	status := *c.Status.DeepCopy()
	status.ObservedGeneration = c.Generation
	status.Running = nil
	setReady(&status, c.Generation, decide.Problem{Reason: v1alpha1.ReasonInvalidSpec, Message: invalid.Error()}, true)
	set(&status, c.Generation, v1alpha1.ConditionConclusive, metav1.ConditionFalse, v1alpha1.ReasonNotFinished, "the spec is not valid")
	return status
}

// unplannedStatus returns the status of a campaign whose cells are not known, because trouble keeps the contents of a
// ConfigMap from being read. What was found before stays.
func unplannedStatus(c *v1alpha1.BenchmarkCampaign, trouble error) v1alpha1.BenchmarkCampaignStatus {
	status := *c.Status.DeepCopy()
	status.ObservedGeneration = c.Generation
	ready, stalled := stalledBy(trouble)
	if !stalled {
		ready = decide.Problem{Reason: v1alpha1.ReasonProgressing, Message: "trying again: " + trouble.Error()}
	}
	setReady(&status, c.Generation, ready, stalled)
	if known := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionConclusive); known == nil || known.ObservedGeneration != c.Generation {
		set(&status, c.Generation, v1alpha1.ConditionConclusive, metav1.ConditionFalse, v1alpha1.ReasonNotFinished, "a ConfigMap that the campaign names could not be read")
	}
	return status
}

// readiness is the reason and message of Ready, and whether a person has to act. A campaign that is neither
// stalled nor over is at work, unless it is suspended.
func readiness(c *v1alpha1.BenchmarkCampaign, found *findings, d decide.Decision,
	status v1alpha1.BenchmarkCampaignStatus, trouble error) (decide.Problem, bool) {
	if problem, isStalled := stalledBy(trouble); isStalled {
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
		return decide.Problem{Reason: v1alpha1.ReasonSuspended, Message: suspended(c, d, trouble)}, false
	case d.Queued != "":
		return decide.Problem{Reason: v1alpha1.ReasonQueued, Message: d.Queued + "; " + progressing(status, d, trouble)}, false
	}
	return decide.Problem{Reason: v1alpha1.ReasonProgressing, Message: progressing(status, d, trouble)}, false
}

// stalledBy returns the problem that only a person can solve, if trouble is one.
func stalledBy(trouble error) (decide.Problem, bool) {
	for _, known := range []struct {
		err    error
		reason string
	}{
		{errNameConflict, v1alpha1.ReasonNameConflict}, {errRefused, v1alpha1.ReasonInvalidSpec},
		{errForbidden, v1alpha1.ReasonForbidden}, {errOperatorMissing, v1alpha1.ReasonOperatorMissing},
	} {
		if errors.Is(trouble, known.err) {
			return decide.Problem{Reason: known.reason, Message: trouble.Error()}, true
		}
	}
	return decide.Problem{}, false
}

// nothingMeasured says why, as far as all trials failed for one reason.
func nothingMeasured(a analysis.Assessment, status v1alpha1.BenchmarkCampaignStatus) decide.Problem {
	if message, missing := pluginMissing(a); missing {
		return decide.Problem{Reason: v1alpha1.ReasonPluginMissing, Message: message +
			"; nothing could be measured: set spec.rerun to a new word when the cluster has it"}
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

// pluginMissing is the message of a trial, where all of them lack a plugin: the least one, so that it is always the same.
func pluginMissing(a analysis.Assessment) (message string, missing bool) {
	for trial, o := range a.Outcomes {
		if trial.Phase == record.Warmup || !o.Done {
			continue
		}
		if !o.Hopeless() {
			return "", false
		}
		if !missing || o.Record.Error.Message < message {
			message, missing = o.Record.Error.Message, true
		}
	}
	return message, missing
}

// suspended says what goes on although nothing new is started, and what is kept.
func suspended(c *v1alpha1.BenchmarkCampaign, d decide.Decision, trouble error) string {
	parts := []string{"spec.suspend is true: nothing new is started"}
	if len(d.Kept) > 0 && c.Spec.WhenSuspended != v1alpha1.SuspendReleaseNodes {
		parts = append(parts, "nodes of "+strings.Join(d.Kept, ", ")+" are kept (whenSuspended: ReleaseNodes lets them go)")
	}
	return strings.Join(append(parts, goingOn(d, trouble)...), "; ")
}

func progressing(status v1alpha1.BenchmarkCampaignStatus, d decide.Decision, trouble error) string {
	return strings.Join(append([]string{status.Progress + " trials done"}, goingOn(d, trouble)...), "; ")
}

// goingOn is what runs, what is waited for, and what failed.
func goingOn(d decide.Decision, trouble error) []string {
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

// setReady writes Ready and its two companions, which follow kstatus: Reconciling and Stalled are there only
// when they are true, and never both.
func setReady(status *v1alpha1.BenchmarkCampaignStatus, generation int64, p decide.Problem, stalled bool) {
	ready := metav1.ConditionUnknown
	switch {
	case stalled:
		ready = metav1.ConditionFalse
	case p.Reason == v1alpha1.ReasonFinished:
		ready = metav1.ConditionTrue
	}
	set(status, generation, v1alpha1.ConditionReady, ready, p.Reason, p.Message)
	for kind, present := range map[string]bool{
		v1alpha1.ConditionStalled:     stalled,
		v1alpha1.ConditionReconciling: p.Reason == v1alpha1.ReasonProgressing || p.Reason == v1alpha1.ReasonQueued,
	} {
		if present {
			set(status, generation, kind, metav1.ConditionTrue, p.Reason, shorten(p.Message, maxCompanion))
		} else {
			meta.RemoveStatusCondition(&status.Conditions, kind)
		}
	}
}

func set(status *v1alpha1.BenchmarkCampaignStatus, generation int64, kind string, value metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: shorten(message, maxMessage), ObservedGeneration: generation,
	})
}

// listed cuts a list of what runs.
func listed(running []string) []string {
	if len(running) <= maxRunning {
		return running
	}
	return append(slices.Clone(running[:maxRunning]), fmt.Sprintf("%d more", len(running)-maxRunning))
}

// shorten cuts a text to n bytes.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-3], "") + "..."
}

func truth(ok bool) metav1.ConditionStatus {
	if ok {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// writeStatus writes the status once, if it changed, and then tells of what changed in it.
func (r *CampaignReconciler) writeStatus(ctx context.Context, c *v1alpha1.BenchmarkCampaign, status v1alpha1.BenchmarkCampaignStatus) error {
	if equality.Semantic.DeepEqual(c.Status, status) {
		return nil
	}
	before := c.Status
	c.Status = status
	if err := r.Status().Update(ctx, c); err != nil {
		return ignoreConflict(fmt.Errorf("write the status: %w", err))
	}
	r.tell(c, before)
	return nil
}
