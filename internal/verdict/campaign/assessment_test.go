package campaign_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

func TestProgress(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t", "u"}, 1, 2, 4)
	p := plan.Build(c)
	a := campaign.Assess(p, c.Spec, nil)
	// Four cells x (3 Sweep + 4 Final) trials. Warmups do not count.
	if a.Planned != 28 || a.Done != 0 || a.Finished || a.Measured || len(a.Shared) != 0 {
		t.Errorf("before any record: %+v", a)
	}
	var records []record.Record
	for _, i := range p.Groups[0] {
		for _, trial := range p.SweepTrials(p.Cells[i]) {
			records = append(records, campaigntest.Measured(trial, 1000))
		}
	}
	a = campaign.Assess(p, c.Spec, records)
	if a.Planned != 28 || a.Done != 6 || !a.Measured || len(a.Shared) != 0 {
		t.Errorf("one group swept: %d of %d done, measured %t, shared %v; want 6 of 28, true, and none",
			a.Done, a.Planned, a.Measured, a.Shared)
	}
	if cell := a.Cell("a", "t"); !cell.SweepDone || cell.Done != 3 || cell.Planned != 7 {
		t.Errorf("cell a/t: %+v, want its sweep done, 3 of 7 trials", cell)
	}
	records, a = campaigntest.Assess(c, func(t record.Trial) record.Record { return campaigntest.Measured(t, 1000+float64(t.Repetition)) })
	// Two cells share each pool. Each cell starts one JVM for its sweep and one for each Final, and each start has a Warmup.
	if a.Planned != 28 || a.Done != 28 || !a.Finished || len(a.Ratios) != 2 || len(records) != 28+4*(1+4) {
		t.Errorf("all: %d of %d done by %d records, finished %t, %d ratios", a.Done, a.Planned, len(records), a.Finished, len(a.Ratios))
	}
}

func TestAssess_recordsOutsidePlan_areIgnored(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	records, before := campaigntest.Assess(c, func(t record.Trial) record.Record { return campaigntest.Measured(t, 1000) })
	other := campaigntest.Measured(records[1].Attempt.Trial, 9999)
	other.Attempt.Cell = "another"
	stranger := campaigntest.Measured(records[1].Attempt.Trial, 9999)
	stranger.Attempt.Campaign = "another"
	shrunk := campaigntest.Measured(records[1].Attempt.Trial, 9999)
	shrunk.Attempt.Clients = 64
	warmup := campaigntest.Measured(records[0].Attempt.Trial, 9999)
	warmup.Attempt.Cell = "another"
	warmed := campaigntest.Measured(records[0].Attempt.Trial, 9999)
	warmed.Attempt.Campaign = "another"
	after := campaign.Assess(plan.Build(c), c.Spec, append(records, other, stranger, shrunk, warmup, warmed))
	if after.Done != before.Done || after.Cell("a", "t").Curve.Peak.Rate != 1000 || len(after.Outcomes) != len(before.Outcomes) {
		t.Errorf("records of other cells, campaigns and client counts changed the assessment: %+v", after)
	}
}

// difference returns the difference between two assessments. NaN equals NaN.
func difference(a, b campaign.Assessment) string {
	return cmp.Diff(a, b, cmpopts.EquateNaNs(), cmp.Exporter(func(reflect.Type) bool { return true }))
}

// TestAssess_warmups_areShownButNotJudged checks that all Warmups appear among the outcomes and do not change anything
// else.
func TestAssess_warmups_areShownButNotJudged(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	p := plan.Build(c)
	records, _ := campaigntest.Assess(c, func(t record.Trial) record.Record { return campaigntest.Measured(t, 1000) })
	third := p.WarmupTrial(p.Cells[0], p.SweepTrials(p.Cells[0])[0], 9)
	with := campaign.Assess(p, c.Spec, append(records, campaigntest.Measured(third, 9999)))
	if o, shown := with.Outcomes[third]; !shown || o.Record == nil || o.Record.Ingest.DocsPerSecond != 9999 {
		t.Errorf("a Warmup that was not planned: %+v, %t; want it among the outcomes", o, shown)
	}
	without := campaign.Assess(p, c.Spec, slices.DeleteFunc(records, func(r record.Record) bool { return r.Attempt.Phase == record.Warmup }))
	if n := len(with.Outcomes) - len(without.Outcomes); n != 2*(1+4)+1 {
		t.Errorf("%d Warmups among the outcomes, want 11", n)
	}
	with.Outcomes, without.Outcomes, with.Attempts, without.Attempts = nil, nil, nil, nil
	if diff := difference(without, with); diff != "" {
		t.Errorf("Warmups change what is found (-without +with):\n%s", diff)
	}
	if a := campaign.Assess(p, c.Spec, []record.Record{campaigntest.Measured(third, 9999)}); a.Measured || a.Done != 0 {
		t.Errorf("a Warmup alone: measured %t, %d done", a.Measured, a.Done)
	}
}

func TestAssess_clientListChanged_reusesRecords(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	figures := map[int32]float64{1: 50, 2: 100, 4: 110, 8: 120}
	records, _ := campaigntest.Assess(c, func(t record.Trial) record.Record { return campaigntest.Measured(t, figures[t.Clients]) })

	c.Spec.Sweep.Clients = []int32{1, 2}
	a := campaign.Assess(plan.Build(c), c.Spec, records)
	if peak := a.Cell("a", "t").Curve.Peak; peak.Clients != 2 || a.Shared["t"].Clients != 2 || a.Finished {
		t.Errorf("shrunk to 1, 2: peak at %d, shared %d, finished %t; want 2, 2, and Finals at 2 to be measured",
			peak.Clients, a.Shared["t"].Clients, a.Finished)
	}
	c.Spec.Sweep.Clients = []int32{1, 2, 4, 8}
	a = campaign.Assess(plan.Build(c), c.Spec, records)
	if _, known := a.Shared["t"]; known || a.Finished || a.Cell("a", "t").Curve.Peak.Clients != 4 || len(a.Ratios) != 0 {
		t.Errorf("extended by 8: %+v; want an unfinished sweep with what is known", a)
	}
	c.Spec.Sweep.Clients = []int32{1, 2, 4}
	strict := v1alpha1.ToDecimal("5")
	c.Spec.Gates.MaxIOWaitPercent = strict
	a = campaign.Assess(plan.Build(c), c.Spec, records)
	if !a.Finished || a.Measured || !a.Cell("a", "t").Curve.PeakGated {
		t.Errorf("a stricter gate: finished %t, measured %t; want judged anew from the same records", a.Finished, a.Measured)
	}
}

// TestTruth_M3_intervalContainsOne_notDistinguishable checks a case with two comparisons: a p of 8/252 is significant alone, and by
// Holm's method, because the other p is smaller. But the interval, which holds for both comparisons together, contains 1. So this
// ratio is not distinguishable, and its adjusted p says the same.
func TestTruth_M3_intervalContainsOne_notDistinguishable(t *testing.T) {
	c := campaigntest.Campaign([]string{"base", "far", "near"}, []string{"t"}, 1, 2, 4)
	c.Spec.Final.Repetitions = new(int32(5))
	finals := map[string][]float64{
		"base": {100, 101, 102, 103, 104}, "far": {200, 201, 202, 203, 204}, "near": {102.5, 105, 106, 107, 108},
	}
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		if t.Phase == record.Final {
			return campaigntest.Measured(t, finals[t.Variant][t.Repetition-1])
		}
		return campaigntest.Measured(t, 100)
	})
	far, nearer := a.Ratios[0], a.Ratios[1]
	near(t, "near's p", nearer.P, 2*4.0/252, 1e-12)
	near(t, "near's adjusted p", nearer.AdjustedP, 2*2*4.0/252, 1e-12)
	if !far.Distinguishable || nearer.Distinguishable || !(nearer.Low <= 1 && nearer.High > 1) {
		t.Errorf("far %+v, near %+v; want the far one alone distinguishable", far, nearer)
	}
}

func TestAssess_singleVariant_hasNoRatios(t *testing.T) {
	c := campaigntest.Campaign([]string{"only"}, []string{"t"}, 1, 2, 4)
	c.Spec.Baseline = ""
	figures := map[int32]float64{1: 50, 2: 110, 4: 100}
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record { return campaigntest.Measured(t, figures[t.Clients]) })
	if a.Shared["t"].Clients != 2 || !a.Finished || len(a.Ratios) != 0 || len(a.Cells[0].FinalRates()) != 4 {
		t.Errorf("%+v, want Finals at the cell's own knee and no ratio", a)
	}
	if ok, reason, message := doubts.Conclusive(a); !ok || reason != v1alpha1.ReasonConclusive {
		t.Errorf("conclusive: %t %s %q", ok, reason, message)
	}
}

// TestRatios_twoComparisons_areAdjusted checks two comparisons: the intervals hold for both together, and each p is adjusted.
func TestRatios_twoComparisons_areAdjusted(t *testing.T) {
	c := campaigntest.Campaign([]string{"base", "same", "faster"}, []string{"t"}, 1, 2, 4)
	five := int32(5)
	c.Spec.Final.Repetitions = &five
	c.Spec.Final.SmallestDifferencePercent = v1alpha1.ToDecimal("0.5") // smaller than the noise, so that variant same is not equivalent
	scale := map[string]float64{"base": 1, "same": 1.001, "faster": 1.3}
	sweep := map[int32]float64{1: 50, 2: 110, 4: 100}
	noise := []float64{1, 0.99, 1.01, 0.995, 1.005}
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		return campaigntest.Measured(t, 1000*scale[t.Variant]*sweep[t.Clients]*noise[(t.Repetition-1)%5])
	})
	if len(a.Ratios) != 2 {
		t.Fatalf("%+v, want two ratios", a.Ratios)
	}
	same, faster := a.Ratios[0], a.Ratios[1]
	if same.Variant != "same" || same.Distinguishable || same.Comparisons != 2 || !(same.Low < 1 && same.High > 1) {
		t.Errorf("same: %+v", same)
	}
	if faster.Variant != "faster" || !faster.Distinguishable {
		t.Errorf("faster: %+v", faster)
	}
	near(t, "faster's adjusted p", faster.AdjustedP, 2*2.0/252, 1e-12)
	near(t, "faster's confidence", faster.Confidence, 0.975, 1e-12)
	if ok, reason, message := doubts.Conclusive(a); ok || reason != v1alpha1.ReasonNotDistinguishable || !strings.Contains(message, "same against base") ||
		strings.Contains(message, "faster against") {
		t.Errorf("conclusive: %t %s %q", ok, reason, message)
	}
}

// TestAssess_noSharedClients_finishesWithoutFinals checks that a topology without shared clients has no Finals, and that the campaign
// still finishes.
func TestAssess_noSharedClients_finishesWithoutFinals(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"good", "bad"}, 1, 2, 4)
	retries := int32(0)
	c.Spec.Retries = &retries
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		if t.Topology == "bad" && t.Variant == "a" {
			return campaigntest.Errored(t, record.ReasonClusterNotReady, "red")
		}
		return campaigntest.Measured(t, 1000+float64(t.Repetition))
	})
	if s := a.Shared["bad"]; s.Clients != 0 || s.Agreed || s.Why == "" || !a.Finished || len(a.Ratios) != 1 {
		t.Errorf("shared %+v, finished %t, ratios %+v", s, a.Finished, a.Ratios)
	}
	if finals := a.Cell("b", "bad").Finals; len(finals) != 0 {
		t.Errorf("Finals of a topology without shared clients: %+v", finals)
	}
}

// TestAssess_largestCampaign_isFast checks that the largest campaign is assessed in much less than a second, because every reconcile
// assesses it.
func TestAssess_largestCampaign_isFast(t *testing.T) {
	c := largest()
	records, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		return campaigntest.Measured(t, 1000*math.Log(float64(t.Clients)+10)+float64(t.Repetition))
	})
	if !a.Finished || len(a.Ratios) != 28 || len(records) < 32*(64+50) {
		t.Fatalf("finished %t with %d ratios of %d records", a.Finished, len(a.Ratios), len(records))
	}
	p := plan.Build(c)
	took := time.Hour
	for try := 0; try < 10 && took > 2*time.Second; try++ { // a busy machine may be slow some of the times
		begin := time.Now()
		campaign.Assess(p, c.Spec, records)
		took = time.Since(begin)
	}
	t.Logf("%d records took %s", len(records), took)
	if took > 2*time.Second {
		t.Errorf("%d records took %s", len(records), took)
	}
}

// largest returns the largest campaign that the API admits.
func largest() *v1alpha1.BenchmarkCampaign {
	variants, topologies, clients := []string{}, []string{}, []int32{}
	for i := range 8 {
		variants = append(variants, fmt.Sprintf("variant-%d", i))
	}
	for i := range 4 {
		topologies = append(topologies, fmt.Sprintf("topology-%d", i))
	}
	for i := range int32(64) {
		clients = append(clients, 1+i)
	}
	c := campaigntest.Campaign(variants, topologies, clients...)
	repetitions := int32(50)
	c.Spec.Final.Repetitions = &repetitions
	return c
}

// TestAssess_loadWithoutIndex_usesUnitOfLoad checks that the complete analysis of a load that fills no index uses the unit of the load.
func TestAssess_loadWithoutIndex_usesUnitOfLoad(t *testing.T) {
	c := campaigntest.CommandCampaign([]string{"old", "new"}, 50, 100, 200)
	_, a := campaigntest.Assess(c, func(trial record.Trial) record.Record {
		rate := map[int32]float64{50: 12000, 100: 15000, 200: 15100}[trial.Clients]
		if trial.Variant == "new" {
			rate *= 1.3
		}
		return campaigntest.MeasuredLoad(trial, rate*(1+float64(trial.Repetition)/1000), "calls/s")
	})
	if a.Unit != "calls/s" || !a.Finished || a.Shared["default"].Clients != 100 {
		t.Errorf("unit %q, finished %t, shared %+v", a.Unit, a.Finished, a.Shared)
	}
	if len(a.Ratios) != 1 || a.Ratios[0].Verdict != stats.Faster {
		t.Fatalf("ratios %+v", a.Ratios)
	}
	near(t, "ratio", a.Ratios[0].Ratio, 1.3, 0.003)
	if len(a.Tasks) != 0 {
		t.Errorf("ratios of tasks of a load that has none: %+v", a.Tasks)
	}
}

// TestComparisons_excludedCell_isNotCounted checks that comparisons of a cell that the campaign excludes are not counted. So
// they do not make intervals wider.
func TestComparisons_excludedCell_isNotCounted(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b", "c"}, []string{"small", "large"}, 4)
	c.Spec.Comparisons = []v1alpha1.Comparison{{
		Cell:     v1alpha1.CellName{Variant: "a", Topology: "small"},
		Baseline: v1alpha1.CellName{Variant: "b", Topology: "large"},
	}}
	p := plan.Build(c)
	if got := campaign.Comparisons(c.Spec, p); got != 5 {
		t.Errorf("%d comparisons of all cells, want 5", got)
	}
	for i, cell := range p.Cells {
		if cell.Variant() == "b" && cell.Topology() == "large" {
			p.Cells = append(p.Cells[:i:i], p.Cells[i+1:]...)
			break
		}
	}
	if got := campaign.Comparisons(c.Spec, p); got != 3 {
		t.Errorf("%d comparisons without b on large, want 3", got)
	}
}
