package campaign_test

import (
	"math"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

func TestCosts(t *testing.T) {
	c := campaigntest.StudyCampaign()
	c.Spec.Variants[0].PricePerHour = v1alpha1.ToDecimal("0.80") // intel
	c.Spec.Variants[1].PricePerHour = v1alpha1.ToDecimal("0.72") // arm
	c.Spec.Variants[1].StoragePricePerHour = v1alpha1.ToDecimal("0.08")
	three := int32(3)
	c.Spec.Topologies[0].Nodes = &three
	_, a := campaigntest.Assess(c, campaigntest.StudyRecord)
	if len(a.Costs) != 2 || len(a.CostRatios) != 1 {
		t.Fatalf("costs %+v %+v, want two and one ratio", a.Costs, a.CostRatios)
	}
	intel, arm := a.Costs[0], a.Costs[1]
	near(t, "intel per hour", intel.PerHour, 2.4, 1e-12)
	near(t, "arm per hour, volumes included", arm.PerHour, 2.4, 1e-12)
	near(t, "arm docs/s", arm.Rate, stats.Median(a.Cell("arm", "6p0r").FinalRates()), 0)
	near(t, "arm documents per unit", arm.DocsPerUnit, 3600*arm.Rate/2.4, 1e-6)
	r, perf := a.CostRatios[0], a.Ratios[0]
	near(t, "at equal prices the ratio is that of docs/s", r.Ratio, perf.Ratio, 1e-12)
	near(t, "low", r.Low, perf.Low, 1e-12)
	near(t, "confidence", r.Confidence, perf.Confidence, 0)

	// The published prices: arm costs 0.72 and intel 0.80, without volumes.
	c.Spec.Variants[1].StoragePricePerHour = nil
	_, a = campaigntest.Assess(c, campaigntest.StudyRecord)
	r, perf = a.CostRatios[0], a.Ratios[0]
	near(t, "ratio of documents per unit", r.Ratio, perf.Ratio*0.80/0.72, 1e-12)
	near(t, "low", r.Low, perf.Low*0.80/0.72, 1e-12)
	near(t, "high", r.High, perf.High*0.80/0.72, 1e-12)
	near(t, "break-even price ratio", r.BreakEven, perf.Ratio, 0)
	near(t, "its low", r.BreakEvenLow, perf.Low, 0)
	near(t, "its high", r.BreakEvenHigh, perf.High, 0)
	near(t, "break-even price of arm's three nodes", r.BreakEvenPrice, perf.Ratio*2.4, 1e-12)
	// At the break-even price, documents cost the same on both variants.
	near(t, "both cost the same", perf.Ratio/(r.BreakEvenPrice/2.4), 1, 1e-12)
}

func TestCosts_missingPrices_areOmitted(t *testing.T) {
	c := campaigntest.StudyCampaign()
	if _, a := campaigntest.Assess(c, campaigntest.StudyRecord); len(a.Costs)+len(a.CostRatios) != 0 {
		t.Errorf("costs without prices: %+v %+v", a.Costs, a.CostRatios)
	}
	c.Spec.Variants[0].PricePerHour = v1alpha1.ToDecimal("0.80")
	if _, a := campaigntest.Assess(c, campaigntest.StudyRecord); len(a.Costs) != 1 || a.Costs[0].Variant != "intel" || len(a.CostRatios) != 0 {
		t.Errorf("with one price: %+v %+v, want intel's cost and no ratio", a.Costs, a.CostRatios)
	}
}

func TestCosts_oneRepetition_ratioHasNoInterval(t *testing.T) {
	c := campaigntest.StudyCampaign()
	one := int32(1)
	c.Spec.Final.Repetitions = &one
	c.Spec.Variants[0].PricePerHour, c.Spec.Variants[1].PricePerHour = v1alpha1.ToDecimal("1"), v1alpha1.ToDecimal("2")
	_, a := campaigntest.Assess(c, campaigntest.StudyRecord)
	if len(a.CostRatios) != 1 {
		t.Fatalf("%+v, want one", a.CostRatios)
	}
	r := a.CostRatios[0]
	if r.Confidence != 0 || !math.IsNaN(r.Low) || !math.IsNaN(r.BreakEvenHigh) {
		t.Errorf("%+v, want no interval of one repetition", r)
	}
	near(t, "ratio", r.Ratio, a.Ratios[0].Ratio/2, 1e-12)
}

func TestCosts_fixedSweep_oneForEachClientCount(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 2, 4)
	c.Spec.Sweep.Mode = "Fixed"
	c.Spec.Variants[0].PricePerHour, c.Spec.Variants[1].PricePerHour = v1alpha1.ToDecimal("1"), v1alpha1.ToDecimal("1")
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		return campaigntest.Measured(t, 1000*float64(t.Clients)*(1+float64(t.Repetition)/1000))
	})
	if len(a.Costs) != 4 || len(a.CostRatios) != 2 {
		t.Fatalf("%+v %+v, want a cost at each client count of each cell", a.Costs, a.CostRatios)
	}
	for i, clients := range []int32{2, 4, 2, 4} {
		if a.Costs[i].Clients != clients || math.Abs(a.Costs[i].DocsPerUnit-3600*1000*float64(clients)) > 0.01*3600*1000*float64(clients) {
			t.Errorf("%+v, want the cost at %d clients", a.Costs[i], clients)
		}
	}
}
