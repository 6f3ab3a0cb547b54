package analysis_test

import (
	"math"
	"testing"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/record"
)

func TestCosts(t *testing.T) {
	c := analysistest.StudyCampaign()
	c.Spec.Variants[0].PricePerHour = decimal("0.80") // intel
	c.Spec.Variants[1].PricePerHour = decimal("0.72") // arm
	c.Spec.Variants[1].StoragePricePerHour = decimal("0.08")
	three := int32(3)
	c.Spec.Topologies[0].Nodes = &three
	_, a := measureAll(c, analysistest.StudyRecord)
	if len(a.Costs) != 2 || len(a.CostRatios) != 1 {
		t.Fatalf("costs %+v %+v, want two and one ratio", a.Costs, a.CostRatios)
	}
	intel, arm := a.Costs[0], a.Costs[1]
	near(t, "intel per hour", intel.PerHour, 2.4, 1e-12)
	near(t, "arm per hour, volumes included", arm.PerHour, 2.4, 1e-12)
	near(t, "arm docs/s", arm.DocsPerSecond, analysis.Median(a.Cell("arm", "6p0r").FinalDocsPerSecond()), 0)
	near(t, "arm documents per unit", arm.DocsPerUnit, 3600*arm.DocsPerSecond/2.4, 1e-6)
	r, perf := a.CostRatios[0], a.Ratios[0]
	near(t, "at equal prices the ratio is that of docs/s", r.Ratio, perf.Ratio, 1e-12)
	near(t, "low", r.Low, perf.Low, 1e-12)
	near(t, "confidence", r.Confidence, perf.Confidence, 0)

	// The published price: arm at 0.72 and intel at 0.80, no volumes.
	c.Spec.Variants[1].StoragePricePerHour = nil
	_, a = measureAll(c, analysistest.StudyRecord)
	r, perf = a.CostRatios[0], a.Ratios[0]
	near(t, "ratio of documents per unit", r.Ratio, perf.Ratio*0.80/0.72, 1e-12)
	near(t, "low", r.Low, perf.Low*0.80/0.72, 1e-12)
	near(t, "high", r.High, perf.High*0.80/0.72, 1e-12)
	near(t, "break-even price ratio", r.BreakEven, perf.Ratio, 0)
	near(t, "its low", r.BreakEvenLow, perf.Low, 0)
	near(t, "its high", r.BreakEvenHigh, perf.High, 0)
	near(t, "break-even price of arm's three nodes", r.BreakEvenPrice, perf.Ratio*2.4, 1e-12)
	// At the break-even price the documents of both cost the same.
	near(t, "both cost the same", perf.Ratio/(r.BreakEvenPrice/2.4), 1, 1e-12)
}

func TestCostsNeedPrices(t *testing.T) {
	c := analysistest.StudyCampaign()
	if _, a := measureAll(c, analysistest.StudyRecord); len(a.Costs)+len(a.CostRatios) != 0 {
		t.Errorf("costs without prices: %+v %+v", a.Costs, a.CostRatios)
	}
	c.Spec.Variants[0].PricePerHour = decimal("0.80")
	if _, a := measureAll(c, analysistest.StudyRecord); len(a.Costs) != 1 || a.Costs[0].Variant != "intel" || len(a.CostRatios) != 0 {
		t.Errorf("with one price: %+v %+v, want intel's cost and no ratio", a.Costs, a.CostRatios)
	}
}

func TestCostWithoutAnInterval(t *testing.T) {
	c := analysistest.StudyCampaign()
	one := int32(1)
	c.Spec.Final.Repetitions = &one
	c.Spec.Variants[0].PricePerHour, c.Spec.Variants[1].PricePerHour = decimal("1"), decimal("2")
	_, a := measureAll(c, analysistest.StudyRecord)
	if len(a.CostRatios) != 1 {
		t.Fatalf("%+v, want one", a.CostRatios)
	}
	r := a.CostRatios[0]
	if r.Confidence != 0 || !math.IsNaN(r.Low) || !math.IsNaN(r.BreakEvenHigh) {
		t.Errorf("%+v, want no interval of one repetition", r)
	}
	near(t, "ratio", r.Ratio, a.Ratios[0].Ratio/2, 1e-12)
}

func TestCostsAtFixedClients(t *testing.T) {
	c := analysistest.Campaign([]string{"a", "b"}, []string{"t"}, 2, 4)
	c.Spec.Sweep.Mode = "Fixed"
	c.Spec.Variants[0].PricePerHour, c.Spec.Variants[1].PricePerHour = decimal("1"), decimal("1")
	_, a := measureAll(c, func(t record.Trial) record.Record {
		return analysistest.Measured(t, 1000*float64(t.Clients)*(1+float64(t.Repetition)/1000))
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
