package main

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// line is one line that says how far a campaign is: n of m trials, what runs or is waited for, time left.
func line(s v1alpha1.BenchmarkCampaignStatus, now time.Time) string {
	parts := []string{bar(s.Progress)}
	if doing := doing(s); doing != "" {
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

// doing is what runs, or what is waited for.
func doing(s v1alpha1.BenchmarkCampaignStatus) string {
	switch ready := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); {
	case len(s.Running) > 0:
		return strings.Join(s.Running, ", ")
	case ready != nil:
		_, rest, cut := strings.Cut(ready.Message, "trials done; ") // the bar says how many
		if !cut {
			rest = ready.Message
		}
		return shorten(rest, 160)
	}
	return ""
}

// bar draws "7/24" as a bar of 20 characters with the figures behind it.
func bar(progress string) string {
	done, planned, ok := figures(progress)
	if !ok {
		return "[....................]"
	}
	full := 20 * done / planned
	return fmt.Sprintf("[%s%s] %d of %d trials", strings.Repeat("#", full), strings.Repeat(".", 20-full), done, planned)
}

func figures(progress string) (done, planned int, ok bool) {
	n, err := fmt.Sscanf(progress, "%d/%d", &done, &planned)
	return done, planned, err == nil && n == 2 && planned > 0 && done >= 0 && done <= planned
}

// timeLeft assumes that the trials to come take as long as those that are done, on average.
func timeLeft(s v1alpha1.BenchmarkCampaignStatus, now time.Time) (time.Duration, bool) {
	done, planned, ok := figures(s.Progress)
	if !ok || done == 0 || done == planned || s.StartedAt == nil {
		return 0, false
	}
	each := now.Sub(s.StartedAt.Time) / time.Duration(done)
	return (each * time.Duration(planned-done)).Round(10 * time.Second), true
}

func shorten(s string, n int) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n-3]) + "..."
	}
	return s
}

// outcome is how a campaign stands: over means that watching on shows nothing new unless a person acts.
func outcome(c *v1alpha1.BenchmarkCampaign) (over bool, err error) {
	ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.ObservedGeneration != c.Generation {
		return false, nil
	}
	switch ready.Status {
	case metav1.ConditionTrue:
		return true, nil
	case metav1.ConditionFalse:
		return true, fmt.Errorf("campaign %s/%s needs you: %s: %s", c.Namespace, c.Name, ready.Reason, ready.Message)
	}
	return false, nil
}
