package campaign_test

import (
	"math"
	"slices"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestAssess_studyRecords_matchPublishedFigures(t *testing.T) {
	c := campaigntest.StudyCampaign()
	records, a := campaigntest.Assess(c, campaigntest.StudyRecord)
	arm, intel := a.Cell("arm", "6p0r"), a.Cell("intel", "6p0r")

	near(t, "arm peak", arm.Curve.Peak.Rate, 349156, 0)
	near(t, "arm peak clients", float64(arm.Curve.Peak.Clients), 32, 0)
	near(t, "arm target", arm.Curve.Target, 338681.32, 1e-6)
	near(t, "arm knee", float64(arm.Curve.Knee.Clients), 16, 0)
	near(t, "intel peak", intel.Curve.Peak.Rate, 243044, 0)
	near(t, "intel peak clients", float64(intel.Curve.Peak.Clients), 48, 0)
	near(t, "intel target", intel.Curve.Target, 235752.68, 1e-6)
	near(t, "intel knee", float64(intel.Curve.Knee.Clients), 12, 0)
	if got, want := arm.Curve.Passing, []int32{16, 24, 32, 40, 48}; !slices.Equal(got, want) {
		t.Errorf("arm passes at %v, want %v", got, want)
	}
	if got, want := intel.Curve.Passing, []int32{12, 16, 20, 32, 48}; !slices.Equal(got, want) {
		t.Errorf("intel passes at %v, want %v", got, want)
	}
	if s := a.Shared["6p0r"]; s.Clients != 16 || !s.Agreed {
		t.Errorf("shared clients: %+v, want 16, agreed", s)
	}

	failed := intel.Curve.At(24)
	if failed.Verdict != verdict.Errored || !math.IsNaN(failed.Rate) || len(failed.Failures) == 0 {
		t.Errorf("the failed point: %+v, want Errored, without a figure, with its failure", failed)
	}
	// The peak of intel is at 48 clients, the highest count, but it is only 0.3 % above 20 clients. This is within the noise.
	if intel.Curve.PeakGated || intel.Curve.PeakAtRangeEdge || arm.Curve.PeakAtRangeEdge {
		t.Errorf("a peak at the edge: arm %+v, intel %+v", arm.Curve, intel.Curve)
	}

	ratio := func(what string, x, y, want float64) { t.Helper(); near(t, what, x/y, want, 0.000005) }
	ratio("ratio of peaks", arm.Curve.Peak.Rate, intel.Curve.Peak.Rate, 1.43660)
	ratio("ratio at own knees", arm.Curve.Knee.Rate, intel.Curve.Knee.Rate, 1.44676)
	ratio("ratio at the shared clients", arm.Curve.At(16).Rate, intel.Curve.At(16).Rate, 1.46133)

	p := plan.Build(c)
	at16 := func(cell int) *record.Record { return a.Outcomes[p.SweepTrials(p.Cells[cell])[1]].Record }
	armEfficiency, _ := figures.Efficiency(at16(1))
	intelEfficiency, _ := figures.Efficiency(at16(0))
	near(t, "arm efficiency", armEfficiency, 3935.9, 0.05)
	near(t, "intel efficiency", intelEfficiency, 2551.1, 0.05)
	near(t, "ratio of efficiencies", armEfficiency/intelEfficiency, 1.543, 0.0005)
	cpuSeconds, _ := figures.CPUSecondsPerMillion(at16(1))
	near(t, "arm CPU seconds per million documents", cpuSeconds, 0.879*16/345964*1e6, 1e-9)

	// 2 cells x (7 Sweep + 4 Final) trials, and one Warmup per start of the JVM. A JVM starts before the sweep and before each Final.
	if a.Planned != 22 || a.Done != 22 || !a.Finished || len(records) != 32 {
		t.Errorf("%d of %d trials done by %d records, finished %t; want 22 of 22 by 32", a.Done, a.Planned, len(records), a.Finished)
	}
	if len(a.Ratios) != 1 {
		t.Fatalf("ratios: %+v, want one", a.Ratios)
	}
	r := a.Ratios[0]
	near(t, "confidence", r.Confidence, 0.95, 1e-12)
	near(t, "ratio of Finals", r.Ratio, 1.46133, 0.003)
	near(t, "low", r.Low, 1.46133*0.991/1.004, 0.00001)
	near(t, "high", r.High, 1.46133*1.004/0.991, 0.00001)
	if r.Variant != "arm" || r.Baseline != "intel" || r.Clients != 16 || !r.Distinguishable {
		t.Errorf("ratio %+v, want arm over intel at 16 clients, distinguishable", r)
	}
	// The threshold of the knee is within the noise of several points. So neither the knee at 16 clients nor the knee
	// at 12 clients is certain, and the report must show this.
	for _, c := range a.Cells {
		if !(c.Stability > 0.05 && c.Stability < 0.95) {
			t.Errorf("stability of %s's knee: %v", c.Variant, c.Stability)
		}
	}
	if r.Verdict != stats.Faster || r.Need != 0 {
		t.Errorf("verdict %q, need %d, want faster", r.Verdict, r.Need)
	}
	ok, reason, message := doubts.Conclusive(a)
	if ok || reason != v1alpha1.ReasonTrialsFailed {
		t.Errorf("conclusive %t %s %q, want %s", ok, reason, message, v1alpha1.ReasonTrialsFailed)
	}
}

func TestKnee_studyAtEachThreshold(t *testing.T) {
	for _, tt := range []struct {
		percent    string
		arm, intel int32
	}{
		{"95", 12, 12},
		{"97", 16, 12},
		{"98.5", 16, 20},
		{"100", 32, 48},
	} {
		c := campaigntest.StudyCampaign()
		c.Spec.Knee.PercentOfPeak = v1alpha1.ToDecimal(tt.percent)
		_, a := campaigntest.Assess(c, campaigntest.StudyRecord)
		arm, intel := a.Cell("arm", "6p0r").Curve.Knee.Clients, a.Cell("intel", "6p0r").Curve.Knee.Clients
		if arm != tt.arm || intel != tt.intel {
			t.Errorf("%s %%: knees arm %d intel %d, want %d and %d", tt.percent, arm, intel, tt.arm, tt.intel)
		}
	}
}

// TestEstimateRatio_dependentRepetitions_widensInterval checks that the order of the repetitions matters if each depends on the one
// before, in one stage and in two, and that means of placements are not tested.
func TestEstimateRatio_dependentRepetitions_widensInterval(t *testing.T) {
	x := [][]float64{{100, 100.1, 100.2, 100.1, 102, 102.1, 102, 102.2, 104, 104.1}}
	mixed := [][]float64{{100, 104, 102.1, 100.1, 102, 104.1, 100.2, 102.2, 100.1, 102}}
	y := [][]float64{{90, 90.1, 91, 91.1, 91, 92, 92.1, 92, 93, 93.1}}
	for _, d := range []campaign.Design{{Repetitions: 10, Placements: 1}, {Repetitions: 4, MaxRepetitions: 10, Placements: 1}} {
		_, e := campaign.EstimateRatio(d, x, y, nil, 0.95)
		_, independent := campaign.EstimateRatio(d, mixed, [][]float64{{90, 93, 91, 92.1, 90.1, 93.1, 91.1, 92, 91, 92}}, nil, 0.95)
		if e.Widening < 1.5 || independent.Widening != 1 || e.Low >= independent.Low || e.High <= independent.High || math.Abs(e.Ratio-independent.Ratio) > 1e-9 {
			t.Errorf("%+v: dependent %+v, independent %+v", d, e, independent)
		}
	}
	if _, e := campaign.EstimateRatio(campaign.Design{Placements: 10}, x, y, nil, 0.95); e.Widening != 1 {
		t.Errorf("means of placements: %+v", e)
	}
}
