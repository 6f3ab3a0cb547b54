package report_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestStatus_lowRates_keepTheirDecimals checks that rates of few calls per second are not rounded to whole numbers.
func TestStatus_lowRates_keepTheirDecimals(t *testing.T) {
	for rate, want := range map[float64]string{
		3.25: "3.25", 0.4: "0.4", 0.000412345678: "0.000412346", 236273.4: "236273", 12345678: "12345678", 99999.96: "100000",
	} {
		c := campaigntest.CommandCampaign([]string{"a", "b"}, 1)
		s := summary.Status(finished(c, func(trial record.Trial) record.Record { return campaigntest.MeasuredLoad(trial, rate, "calls/s") }))
		got := s.Cells[0]
		if got.Peak == nil || got.Peak.Throughput != want || got.Knee == nil || got.Knee.Throughput != want || got.FinalThroughput != want || s.Unit != "calls/s" {
			t.Errorf("%v: peak %+v, knee %+v, Finals %q in %s, want %q", rate, got.Peak, got.Knee, got.FinalThroughput, s.Unit, want)
		}
	}
}

// TestStatus_failedTrials_countsEveryPhase checks that failed counts the same trials as planned and done.
func TestStatus_failedTrials_countsEveryPhase(t *testing.T) {
	c := twoVariants("t")
	c.Spec.Sweep.Anchor = new(true)
	c.Spec.Final.OpenLoop = &v1alpha1.OpenLoop{}
	for _, phase := range []record.Phase{record.Sweep, record.Final, record.Anchor, record.OpenLoop} {
		s := summary.Status(finished(c, func(trial record.Trial) record.Record {
			if trial.Phase == phase && trial.Variant == "b" && (phase != record.Sweep || trial.Clients == 1) && trial.Repetition <= 1 {
				return campaigntest.Errored(trial, record.ReasonDriverFailed, "exit 64")
			}
			return plain(trial)
		}))
		planned := int(*s.TrialCounts.Planned)
		if diff := cmp.Diff(v1alpha1.NewTrialCounts(planned, planned, 1), s.TrialCounts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", phase, diff)
		}
	}
}

// TestStatus_manyComparisons_countsOmitted checks that the status says how many ratios only the report has.
func TestStatus_manyComparisons_countsOmitted(t *testing.T) {
	for n, omitted := range map[int]int32{33: 0, 36: 3} {
		var variants []string
		for i := range n {
			variants = append(variants, fmt.Sprintf("v%d", i))
		}
		c := campaigntest.Campaign(variants, []string{"t"}, 1)
		if s := summary.Status(finished(c, plain)); len(s.Comparisons) != 32 || s.OmittedComparisons != omitted {
			t.Errorf("%d variants: %d comparisons and %d omitted, want 32 and %d", n, len(s.Comparisons), s.OmittedComparisons, omitted)
		}
	}
}
