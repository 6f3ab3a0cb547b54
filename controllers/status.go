package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
)

// maxMessage keeps a condition's message readable, and the status below its bound. In bytes.
const maxMessage = 2048

// nextStatus is what the status should say: what the records show, what runs, and what a person has to do.
func nextStatus(c *v1alpha1.BenchmarkCampaign, p plan.Plan, a analysis.Assessment, d decide.Decision,
	records []record.Record, reports []string, trouble error) v1alpha1.BenchmarkCampaignStatus {
	status := report.Status(report.Input{Campaign: c, Plan: p, Assessment: a, Records: records})
	status.ObservedGeneration = c.Generation
	status.Reports = reports
	status.Running = d.Running
	status.Conditions = c.DeepCopy().Status.Conditions
	for i := range status.Cells {
		status.Cells[i].Phase = d.Phases[p.Cells[i].Name]
	}
	status.StartedAt, status.CompletedAt = span(records, d.Over)
	ready, stalled := readiness(c, a, d, status, trouble)
	setReady(&status, c.Generation, ready, stalled)
	ok, reason, message := a.Conclusive()
	set(&status, c.Generation, v1alpha1.ConditionConclusive, truth(ok), reason, message)
	return status
}

// invalidStatus says what is wrong with a spec that the API server could not refuse. What was found before stays.
func invalidStatus(c *v1alpha1.BenchmarkCampaign, invalid field.ErrorList) v1alpha1.BenchmarkCampaignStatus {
	status := *c.Status.DeepCopy()
	status.ObservedGeneration = c.Generation
	status.Running = nil
	setReady(&status, c.Generation, decide.Problem{Reason: v1alpha1.ReasonInvalidSpec, Message: invalid.ToAggregate().Error()}, true)
	return status
}

// readiness is the reason and message of Ready, and whether a person has to act. A campaign that is neither
// stalled nor over is at work, unless it is suspended.
func readiness(c *v1alpha1.BenchmarkCampaign, a analysis.Assessment, d decide.Decision,
	status v1alpha1.BenchmarkCampaignStatus, trouble error) (decide.Problem, bool) {
	switch {
	case errors.Is(trouble, errNameConflict):
		return decide.Problem{Reason: v1alpha1.ReasonNameConflict, Message: trouble.Error()}, true
	case d.Stalled != nil:
		return *d.Stalled, true
	case a.Finished && !a.Measured:
		return decide.Problem{Reason: v1alpha1.ReasonNothingMeasured, Message: nothingMeasured(status)}, true
	case d.Over:
		return decide.Problem{Reason: v1alpha1.ReasonFinished, Message: finished(status)}, false
	case c.Spec.Suspend != nil && *c.Spec.Suspend && len(d.Running) == 0:
		return decide.Problem{Reason: v1alpha1.ReasonSuspended, Message: "spec.suspend is true: nothing new is started"}, false
	}
	return decide.Problem{Reason: v1alpha1.ReasonProgressing, Message: progressing(status, d, trouble)}, false
}

func nothingMeasured(status v1alpha1.BenchmarkCampaignStatus) string {
	s := "no trial gave a valid measurement"
	for _, cell := range status.Cells {
		if len(cell.Failed) > 0 {
			return fmt.Sprintf("%s; %s on %s: %s", s, cell.Variant, cell.Topology, cell.Failed[0])
		}
	}
	return s
}

func finished(status v1alpha1.BenchmarkCampaignStatus) string {
	s := fmt.Sprintf("%s trials done; knees %s", status.Progress, status.Knees)
	if status.SharedClients != "" {
		s += "; shared clients " + status.SharedClients
	}
	if status.Result != "" {
		s += "; " + status.Result
	}
	return s
}

func progressing(status v1alpha1.BenchmarkCampaignStatus, d decide.Decision, trouble error) string {
	parts := []string{status.Progress + " trials done"}
	if len(d.Running) > 0 {
		parts = append(parts, "running "+strings.Join(d.Running, ", "))
	}
	if len(d.Waiting) > 0 {
		parts = append(parts, "waiting: "+strings.Join(d.Waiting, ", "))
	}
	if trouble != nil {
		parts = append(parts, "trying again: "+trouble.Error())
	}
	return strings.Join(parts, "; ")
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
		v1alpha1.ConditionReconciling: p.Reason == v1alpha1.ReasonProgressing,
	} {
		if present {
			set(status, generation, kind, metav1.ConditionTrue, p.Reason, p.Message)
		} else {
			meta.RemoveStatusCondition(&status.Conditions, kind)
		}
	}
}

func set(status *v1alpha1.BenchmarkCampaignStatus, generation int64, kind string, value metav1.ConditionStatus, reason, message string) {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage-3], "") + "..."
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: kind, Status: value, Reason: reason, Message: message, ObservedGeneration: generation,
	})
}

func truth(ok bool) metav1.ConditionStatus {
	if ok {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// span is from the start of the first trial to the end of the last, the latter only when all is over.
func span(records []record.Record, over bool) (started, completed *metav1.Time) {
	var first, last int64
	for _, r := range records {
		if r.StartedAt > 0 && (first == 0 || r.StartedAt < first) {
			first = r.StartedAt
		}
		last = max(last, r.FinishedAt)
	}
	if first > 0 {
		started = &metav1.Time{Time: time.UnixMilli(first).Truncate(time.Second)}
	}
	if over && last > 0 {
		completed = &metav1.Time{Time: time.UnixMilli(last).Truncate(time.Second)}
	}
	return started, completed
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
