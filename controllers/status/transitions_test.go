package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// inputOf returns the input of a campaign with one cell. Its trials at the given client counts failed. The trial at 4
// clients was Gated.
func inputOf(failed ...int32) view.Input {
	c := campaigntest.Campaign([]string{"arm"}, []string{"6p0r"}, 1, 2, 4)
	c.Spec.Retries = new(int32(0))
	c.Spec.Gates.MaxIOWaitPercent = v1alpha1.ToDecimal("5") // campaigntest.Measured has 6 % iowait
	p := plan.Build(c)
	var records []record.Record
	for _, clients := range failed {
		records = append(records, campaigntest.Errored(p.SweepTrial(p.Cells[0], clients, 1), record.ReasonDriverFailed, "exit code 64"))
	}
	records = append(records, campaigntest.Measured(p.SweepTrial(p.Cells[0], 4, 1), 1000))
	return view.NewInput(c, p, records, "v0")
}

func TestFindTransitions(t *testing.T) {
	nothing := v1alpha1.BenchmarkCampaignStatus{}
	none, one, two := summary.Status(inputOf()), summary.Status(inputOf(1)), summary.Status(inputOf(1, 2))
	if len(none.Cells[0].NotMeasured) != 1 || len(none.Cells[0].FailedClients) != 0 {
		t.Fatalf("a Gated trial is not measured, and has not failed: %+v", none.Cells[0])
	}
	ready := func(reason string) v1alpha1.BenchmarkCampaignStatus {
		var s v1alpha1.BenchmarkCampaignStatus
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionUnknown, Reason: reason})
		return s
	}
	for name, tc := range map[string]struct {
		before, after v1alpha1.BenchmarkCampaignStatus
		failed        []int32
		reason        string
	}{
		"no change":               {one, one, nil, ""},
		"Gated is no failure":     {nothing, none, nil, ""},
		"first failure":           {none, one, []int32{1}, ""},
		"second failure":          {one, two, []int32{2}, ""},
		"two failures at once":    {none, two, []int32{1, 2}, ""},
		"measured after a rerun":  {two, none, nil, ""},
		"two statuses of nothing": {nothing, nothing, nil, ""},
		"first Ready":             {nothing, ready(v1alpha1.ReasonProgressing), nil, v1alpha1.ReasonProgressing},
		"another reason of Ready": {ready(v1alpha1.ReasonProgressing), ready(v1alpha1.ReasonQueued), nil, v1alpha1.ReasonQueued},
		"the same reason":         {ready(v1alpha1.ReasonQueued), ready(v1alpha1.ReasonQueued), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := FindTransitions(tc.before, tc.after)
			var failed []int32
			for _, p := range got.Failed {
				if p.Variant != "arm" || p.Topology != "6p0r" {
					t.Errorf("failed point %+v", p)
				}
				failed = append(failed, p.Clients)
			}
			if diff := cmp.Diff(tc.failed, failed); diff != "" {
				t.Errorf("failed points (-want +got):\n%s", diff)
			}
			reason := ""
			if got.Ready != nil {
				reason = got.Ready.Reason
			}
			if reason != tc.reason {
				t.Errorf("Ready changed to %q, want %q", reason, tc.reason)
			}
		})
	}
}

func TestFailureText_failedPoint_quotesTheCause(t *testing.T) {
	in := inputOf(1, 2)
	for point, want := range map[SweepPoint]string{
		{"arm", "6p0r", 1}:   "DriverFailed: exit code 64",
		{"arm", "6p0r", 16}:  "",
		{"other", "6p0r", 1}: "",
	} {
		if got := FailureText(in.Assessment, point); got != want {
			t.Errorf("%+v: got %q, want %q", point, got, want)
		}
	}
}
