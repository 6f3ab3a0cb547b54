package controllers

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
)

// maxNote is what the API server takes of an event's note, in bytes.
const maxNote = 1024

// reasonTrialFailed is the reason of the event that tells of a trial that is given up.
const reasonTrialFailed = "TrialFailed"

// tell makes an event of each transition of Ready's reason and of each trial that has been given up, after it has been
// written.
func (r *CampaignReconciler) tell(c *v1alpha1.BenchmarkCampaign, before v1alpha1.BenchmarkCampaignStatus) {
	for _, note := range givenUp(before, c.Status) {
		r.Recorder.Eventf(c, nil, corev1.EventTypeWarning, reasonTrialFailed, "Reconcile", "%s", shorten(note, maxNote))
	}
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
	if is.Reason == v1alpha1.ReasonFinished {
		if cells, known := r.leftovers.get(c.UID); known {
			r.reportLeftBehind(c, cells, "the campaign is finished")
		}
	}
}

// givenUp are the trials of a sweep that a status lists as Errored and the one before it did not, by cell. What is cut
// off a long list is told of in the report alone, and so is a count that was told of before.
func givenUp(before, after v1alpha1.BenchmarkCampaignStatus) []string {
	type trial struct{ variant, topology, clients string }
	errored := func(s v1alpha1.BenchmarkCampaignStatus) (keys []trial, notes map[trial]string) {
		notes = map[trial]string{}
		for _, cell := range s.Cells {
			for _, text := range cell.NotMeasured {
				what, why, found := strings.Cut(text, ": ")
				clients, isErrored := strings.CutSuffix(what, " clients "+string(analysis.Errored))
				if !found || !isErrored {
					continue
				}
				key := trial{cell.Variant, cell.Topology, clients}
				keys = append(keys, key)
				notes[key] = fmt.Sprintf("%s on %s at %s clients is given up: %s", cell.Variant, cell.Topology, clients, why)
			}
		}
		return keys, notes
	}
	_, told := errored(before)
	keys, notes := errored(after)
	var out []string
	for _, key := range keys {
		if _, known := told[key]; !known {
			out = append(out, notes[key])
		}
	}
	return out
}
