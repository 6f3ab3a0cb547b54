package controllers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
)

// statusOf is the status of a campaign of one cell of which the trials at these client counts failed.
func statusOf(failed ...int32) v1alpha1.BenchmarkCampaignStatus {
	c := analysistest.Campaign([]string{"arm"}, []string{"6p0r"}, 1, 2, 4)
	c.Spec.Retries = new(int32(0))
	c.Spec.Gates.MaxIOWaitPercent = v1alpha1.ToDecimal("5") // Measured has 6
	p := plan.Build(c)
	var records []record.Record
	for _, clients := range failed {
		records = append(records, analysistest.Errored(p.SweepTrial(p.Cells[0], clients, 1), record.ReasonDriverFailed, "exit code 64"))
	}
	records = append(records, analysistest.Measured(p.SweepTrial(p.Cells[0], 4, 1), 1000))
	return report.Status(report.NewInput(c, p, records, "v0"))
}

func TestATrialThatIsGivenUpIsToldOfOnce(t *testing.T) {
	none, one, two := statusOf(), statusOf(1), statusOf(1, 2)
	if len(none.Cells[0].NotMeasured) != 1 {
		t.Fatalf("the Gated trial is not listed: %q", none.Cells[0].NotMeasured)
	}
	for what, tc := range map[string]struct {
		before, after v1alpha1.BenchmarkCampaignStatus
		want          []string
	}{
		"nothing new":            {one, one, nil},
		"gated is not given up":  {v1alpha1.BenchmarkCampaignStatus{}, none, nil},
		"the first":              {none, one, []string{"arm on 6p0r at 1 clients is given up: "}},
		"the second alone":       {one, two, []string{"arm on 6p0r at 2 clients is given up: "}},
		"both":                   {none, two, []string{"arm on 6p0r at 1 clients is given up: ", "arm on 6p0r at 2 clients is given up: "}},
		"measured after all":     {two, none, nil},
		"nothing before a start": {v1alpha1.BenchmarkCampaignStatus{}, v1alpha1.BenchmarkCampaignStatus{}, nil},
	} {
		got := givenUp(tc.before, tc.after)
		var heads []string
		for _, note := range got {
			head, cause, _ := strings.Cut(note, ": ")
			heads = append(heads, head+": ")
			if !strings.Contains(cause, "exit code 64") {
				t.Errorf("%s: no cause in %q", what, note)
			}
		}
		if diff := cmp.Diff(tc.want, heads); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}
