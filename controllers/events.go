package controllers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// maxNote is what the API server takes of an event's note, in bytes.
const maxNote = 1024

// tell makes an event of each transition of Ready's reason, after it has been written.
func (r *CampaignReconciler) tell(c *v1alpha1.BenchmarkCampaign, before v1alpha1.BenchmarkCampaignStatus) {
	was := meta.FindStatusCondition(before.Conditions, v1alpha1.ConditionReady)
	is := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	if is == nil || was != nil && was.Reason == is.Reason {
		return
	}
	kind := corev1.EventTypeNormal
	if is.Status == metav1.ConditionFalse {
		kind = corev1.EventTypeWarning
	}
	r.Recorder.Eventf(c, nil, kind, is.Reason, "Reconcile", "%s", shorten(is.Message, maxNote))
}
