package watch

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plugin/terminal"
)

// ProgressLine returns one line about the progress of a campaign: n of m trials, what runs or what the campaign waits for, and
// the time left. If now is the zero time, it leaves out the time left.
func ProgressLine(s v1alpha1.BenchmarkCampaignStatus, now time.Time) string {
	parts := []string{progressBar(s.TrialCounts)}
	if doing := currentActivity(s); doing != "" {
		parts = append(parts, doing)
	}
	if left, known := timeLeft(s, now); known {
		parts = append(parts, fmt.Sprintf("about %s left", left))
	}
	if s.Knees != "" {
		parts = append(parts, "knees "+s.Knees)
	}
	return strings.Join(parts, "  ")
}

// currentActivity returns what runs. If nothing runs, it returns what the campaign waits for, or the message of Ready.
func currentActivity(s v1alpha1.BenchmarkCampaignStatus) string {
	switch ready := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); {
	case len(s.Running) > 0:
		return strings.Join(s.Running, ", ")
	case len(s.Waiting) > 0:
		return terminal.Shorten("waiting: "+strings.Join(s.Waiting, ", "), 160)
	case ready != nil:
		return terminal.Shorten(ready.Message, 160)
	}
	return ""
}

// progressBar draws "7/24" as a bar of 20 characters, followed by the figures.
func progressBar(trials v1alpha1.TrialCounts) string {
	done, planned := ptr.Deref(trials.Done, 0), ptr.Deref(trials.Planned, 0)
	if planned == 0 {
		return "[....................]"
	}
	full := int(20 * done / planned)
	return fmt.Sprintf("[%s%s] %d of %d trials", strings.Repeat("#", full), strings.Repeat(".", 20-full), done, planned)
}

// timeLeft estimates the remaining time. It assumes that a remaining trial takes as long as the average completed trial.
func timeLeft(s v1alpha1.BenchmarkCampaignStatus, now time.Time) (time.Duration, bool) {
	done, planned := ptr.Deref(s.TrialCounts.Done, 0), ptr.Deref(s.TrialCounts.Planned, 0)
	if done == 0 || done == planned || s.StartedAt == nil || now.IsZero() {
		return 0, false
	}
	each := now.Sub(s.StartedAt.Time) / time.Duration(done)
	return (each * time.Duration(planned-done)).Round(10 * time.Second), true
}

// Outcome returns the result of a campaign. over is true if nothing will change unless a user acts. A status of an older
// generation does not count.
func Outcome(c *v1alpha1.BenchmarkCampaign) (over bool, err error) {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.ObservedGeneration != c.Generation {
		return false, nil
	}
	switch ready.Status {
	case metav1.ConditionTrue:
		return true, nil
	case metav1.ConditionFalse:
		return true, fmt.Errorf("a person must act on campaign %s/%s: %s: %s\nhelp: %s",
			c.Namespace, c.Name, ready.Reason, ready.Message, terminal.ReasonPage(ready.Reason))
	}
	return false, nil
}
