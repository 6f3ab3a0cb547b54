package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/apply"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/controllers/status"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// reasonTrialFailed is the reason of the Event for a trial that failed and is not retried.
const reasonTrialFailed = "TrialFailed"

// writeStatus writes the status if it changed, and then records an Event for each transition. The Events quote the reasons of
// failed trials from the assessment.
func (r *CampaignReconciler) writeStatus(ctx context.Context, c *v1alpha1.BenchmarkCampaign, after v1alpha1.BenchmarkCampaignStatus, a campaign.Assessment) error {
	if equality.Semantic.DeepEqual(c.Status, after) {
		return nil
	}
	before := c.Status
	c.Status = after
	if err := r.Status().Update(ctx, c); err != nil {
		return children.IgnoreConflict(fmt.Errorf("cannot write the status of the campaign: %w", err))
	}
	r.Metrics.RecordStatus(c.CreationTimestamp.Time, before, after, r.Clock.Now())
	r.recordEvents(c, status.FindTransitions(before, after), a)
	return nil
}

// recordEvents records an Event for each transition. The caller has already written the status.
func (r *CampaignReconciler) recordEvents(c *v1alpha1.BenchmarkCampaign, t status.Transitions, a campaign.Assessment) {
	for _, p := range t.Failed {
		note := fmt.Sprintf("the trial of variant %s on topology %s at %d clients failed, and Knee does not retry this trial: %s", p.Variant, p.Topology, p.Clients, status.FailureText(a, p))
		r.Recorder.Eventf(c, nil, corev1.EventTypeWarning, reasonTrialFailed, "Reconcile", "%s", children.Shorten(note, apply.MaxNote))
	}
	if t.Ready == nil {
		return
	}
	kind := corev1.EventTypeNormal
	if t.Ready.Status == metav1.ConditionFalse {
		kind = corev1.EventTypeWarning
	}
	r.Recorder.Eventf(c, nil, kind, t.Ready.Reason, "Reconcile", "%s", children.Shorten(t.Ready.Message, apply.MaxNote))
	if t.Ready.Reason == v1alpha1.ReasonFinished {
		r.leftovers.ReportFinished(c)
	}
}
