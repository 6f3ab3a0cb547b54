package watch

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
)

func TestProgressLine(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 10, 0, 0, time.UTC)
	started := metav1.NewTime(now.Add(-6 * time.Minute))
	for name, tc := range map[string]struct {
		status v1alpha1.BenchmarkCampaignStatus
		want   string
	}{
		"nothing known yet": {v1alpha1.BenchmarkCampaignStatus{}, "[....................]"},
		"a third done": {
			v1alpha1.BenchmarkCampaignStatus{TrialCounts: v1alpha1.NewTrialCounts(12, 4, 0), StartedAt: &started, Running: []string{"arm 6p0r Sweep clients=16"}},
			"[######..............] 4 of 12 trials  arm 6p0r Sweep clients=16  about 12m0s left",
		},
		"waiting": {
			v1alpha1.BenchmarkCampaignStatus{TrialCounts: v1alpha1.NewTrialCounts(12, 0, 0), Waiting: []string{"OpenSearch\nof arm"}, Conditions: []metav1.Condition{{Type: "Ready", Message: "0/12 trials done; waiting: OpenSearch\nof arm"}}},
			"[....................] 0 of 12 trials  waiting: OpenSearch",
		},
		"over": {
			v1alpha1.BenchmarkCampaignStatus{TrialCounts: v1alpha1.NewTrialCounts(12, 12, 0), StartedAt: &started, Knees: "arm=16 intel=12"},
			"[####################] 12 of 12 trials  knees arm=16 intel=12",
		},
	} {
		if got := ProgressLine(tc.status, now); got != tc.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tc.want)
		}
	}
}

func TestCampaignOutcome(t *testing.T) {
	for status, want := range map[metav1.ConditionStatus]struct{ over, failed bool }{
		metav1.ConditionUnknown: {false, false},
		metav1.ConditionTrue:    {true, false},
		metav1.ConditionFalse:   {true, true},
	} {
		c := &v1alpha1.BenchmarkCampaign{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
		c.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: status, ObservedGeneration: 2, Reason: "R", Message: "because"}}
		over, err := Outcome(c)
		if over != want.over || (err != nil) != want.failed {
			t.Errorf("%s: over %v, error %v", status, over, err)
		}
		if err != nil && !strings.Contains(err.Error(), "because") {
			t.Errorf("%s: %v does not quote the condition", status, err)
		}
		c.Generation = 3
		if over, _ := Outcome(c); over {
			t.Errorf("%s: over although the status speaks of an older generation", status)
		}
	}
}
