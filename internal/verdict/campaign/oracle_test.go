package campaign_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// oracle holds expected values that hack/oracle computes without this package.
type oracle struct {
	Drift []struct {
		Runs []struct { // in the order of their starts
			Cell string
			Docs float64
		}
		Percent, P float64
	}
	Cost []struct {
		Nodes                                  int32
		Prices                                 []string // of the cell's node and volume, then of the baseline's
		Docs, BaselineDocs                     []float64
		PerHour, DocsPerUnit                   float64
		Ratio, Low, High                       float64
		BreakEven, BreakEvenLow, BreakEvenHigh float64
		BreakEvenPrice                         float64
	}
}

func readOracle(t *testing.T) (o oracle) {
	t.Helper()
	text, err := os.ReadFile("testdata/oracle.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	if len(o.Drift) == 0 || len(o.Cost) == 0 {
		t.Fatal("testdata/oracle.json has no cases of drift or of cost")
	}
	return o
}

// TestOracle_drift compares p of 999 random permutations with p of all permutations. It allows four standard errors. One
// permutation in 1,000 is the observed order itself, so p is never below 0.001.
func TestOracle_drift(t *testing.T) {
	for i, want := range readOracle(t).Drift {
		var finals []final
		repetitions := map[string]int32{}
		for minute, r := range want.Runs {
			repetitions[r.Cell]++
			finals = append(finals, final{r.Cell, 1, repetitions[r.Cell], int64(minute), r.Docs})
		}
		got := campaign.Trends(cellsOf(finals), 3, 1)[0]
		near(t, "drift in percent", got.PercentOverall, want.Percent, 1e-9)
		expected := (1 + 999*want.P) / 1000
		near(t, "p of the drift", got.P, expected, 4*math.Sqrt(want.P*(1-want.P)/1000)+1e-9)
		if got.P < 0.001 {
			t.Errorf("row %d: p is %v, below 0.001", i, got.P)
		}
	}
}

func TestOracle_cost(t *testing.T) {
	for _, want := range readOracle(t).Cost {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 2)
		c.Spec.Sweep.Mode = "Fixed"
		c.Spec.Topologies[0].Nodes = &want.Nodes
		baseline, cell := &c.Spec.Variants[0], &c.Spec.Variants[1]
		cell.PricePerHour, cell.StoragePricePerHour = v1alpha1.ToDecimal(want.Prices[0]), v1alpha1.ToDecimal(want.Prices[1])
		baseline.PricePerHour, baseline.StoragePricePerHour = v1alpha1.ToDecimal(want.Prices[2]), v1alpha1.ToDecimal(want.Prices[3])
		var cells []campaign.Cell
		for variant, docs := range map[string][]float64{"a": want.BaselineDocs, "b": want.Docs} {
			var finals []final
			for i, d := range docs {
				finals = append(finals, final{variant, 1, int32(i + 1), int64(i), d})
			}
			cells = append(cells, cellsOf(finals)...)
		}
		for i := range cells {
			cells[i].Topology = "t"
		}
		ratio := campaign.Ratio{Topology: "t", Variant: "b", Baseline: "a", BaselineTopology: "t", Estimate: stats.Estimate{
			Ratio: want.BreakEven, Low: want.BreakEvenLow, High: want.BreakEvenHigh, Confidence: 0.95}}
		costs, ratios := campaign.Costs(c.Spec, cells, []campaign.Ratio{ratio})
		if len(costs) != 2 || len(ratios) != 1 {
			t.Fatalf("got %+v and %+v, want two costs and one ratio", costs, ratios)
		}
		got := costs[0]
		if got.Variant != "b" {
			got = costs[1]
		}
		for what, pair := range map[string][2]float64{
			"price per hour": {got.PerHour, want.PerHour}, "documents per unit": {got.DocsPerUnit, want.DocsPerUnit},
			"ratio": {ratios[0].Ratio, want.Ratio}, "low": {ratios[0].Low, want.Low}, "high": {ratios[0].High, want.High},
			"break-even ratio": {ratios[0].BreakEven, want.BreakEven}, "its low": {ratios[0].BreakEvenLow, want.BreakEvenLow},
			"its high": {ratios[0].BreakEvenHigh, want.BreakEvenHigh}, "break-even price": {ratios[0].BreakEvenPrice, want.BreakEvenPrice},
		} {
			near(t, what, pair[0], pair[1], 1e-9*pair[1])
		}
	}
}
