package invariants

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// TestStatusViolations checks that statusViolations finds each broken rule.
func TestStatusViolations(t *testing.T) {
	at := metav1.NewTime(time.Unix(1_700_000_000, 0))
	cond := func(kind string, status metav1.ConditionStatus, generation int64) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, ObservedGeneration: generation, LastTransitionTime: at}
	}
	ready := func(s metav1.ConditionStatus) metav1.Condition { return cond(v1alpha1.ConditionReady, s, 2) }
	moved := ready(metav1.ConditionTrue)
	moved.LastTransitionTime = metav1.NewTime(at.Add(time.Second))
	for name, tt := range map[string]struct {
		before, after v1alpha1.BenchmarkCampaignStatus
		want          string // empty: no violation
	}{
		"finished":      {after: v1alpha1.BenchmarkCampaignStatus{Progress: "2/2", Conditions: []metav1.Condition{ready("True")}}},
		"none yet":      {},
		"running":       {after: v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{ready("Unknown"), cond("Reconciling", "True", 2)}}},
		"stalled":       {after: v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{ready("False"), cond("Stalled", "True", 2)}}},
		"no Ready":      {after: v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{cond("Stalled", "True", 2)}}, want: "0 conditions Ready"},
		"both":          {after: v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{ready("False"), cond("Stalled", "True", 2), cond("Reconciling", "True", 2)}}, want: "Reconciling and Stalled"},
		"ready, busy":   {after: v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{ready("True"), cond("Reconciling", "True", 2)}}, want: "Ready, and"},
		"stalled?":      {after: v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{ready("Unknown"), cond("Stalled", "True", 2)}}, want: "Ready is Unknown"},
		"silent":        {after: v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{ready("False")}}, want: "no condition says"},
		"companion":     {after: v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{ready("Unknown"), cond("Reconciling", "False", 2)}}, want: "is there and False"},
		"ahead":         {after: v1alpha1.BenchmarkCampaignStatus{ObservedGeneration: 3}, want: "observedGeneration 3"},
		"back":          {before: v1alpha1.BenchmarkCampaignStatus{ObservedGeneration: 2}, after: v1alpha1.BenchmarkCampaignStatus{ObservedGeneration: 1}, want: "after 2"},
		"ahead of it":   {after: v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{cond("Ready", "Unknown", 3)}}, want: "observedGeneration 3"},
		"more than all": {after: v1alpha1.BenchmarkCampaignStatus{Progress: "3/2"}, want: "progress"},
		"time moved": {before: v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{ready("True")}},
			after: v1alpha1.BenchmarkCampaignStatus{Conditions: []metav1.Condition{moved}}, want: "lastTransitionTime"},
		"too big": {after: v1alpha1.BenchmarkCampaignStatus{Result: strings.Repeat("x", maxStatus)}, want: "bytes"},
	} {
		c := &v1alpha1.BenchmarkCampaign{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: tt.after}
		got := strings.Join(statusViolations(tt.before, c), "; ")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestStatuses_progressDecreases_isViolation checks that progress may go back only after a record was removed or the spec changed.
func TestStatuses_progressDecreases_isViolation(t *testing.T) {
	v := New()
	at := func(generation int64, progress string) *v1alpha1.BenchmarkCampaign {
		c := &v1alpha1.BenchmarkCampaign{ObjectMeta: metav1.ObjectMeta{UID: "u", Generation: generation}}
		c.Status.Progress, c.Status.ObservedGeneration = progress, generation
		return c
	}
	wrong := func() int { return len(v.Violations("")) }
	v.Check(at(1, ""), at(1, "3/4"))
	v.Check(at(1, "3/4"), at(2, "2/6"))
	v.forget("u")
	v.Check(at(2, "2/6"), at(2, "1/6"))
	if n := wrong(); n != 0 {
		t.Errorf("%d violations, want none", n)
	}
	v.Check(at(2, "1/6"), at(2, "0/6"))
	if n := wrong(); n != 1 {
		t.Errorf("%d violations, want one", n)
	}
}
