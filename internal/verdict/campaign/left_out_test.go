package campaign_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
)

// exceptCell returns a function that measures all cells with noisy, except one cell whose attempts are all Errored.
func exceptCell(variant, topology string) func(record.Trial) record.Record {
	return func(t record.Trial) record.Record {
		if t.Variant == variant && (topology == "" || t.Topology == topology) {
			return campaigntest.Errored(t, record.ReasonClusterNotReady, "red")
		}
		return noisy(0.001)(t)
	}
}

// TestTruth_H1_cellWithoutKnee_isLeftOut checks that a variant that is always Errored does not remove the ratios of the other
// variants, in every mode of a sweep. The other cells have the same ratios as in a campaign without the variant. The family of their
// intervals still includes the variant: the number of comparisons is that of the spec.
func TestTruth_H1_cellWithoutKnee_isLeftOut(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.BenchmarkCampaignSpec){
		"full":     func(*v1alpha1.BenchmarkCampaignSpec) {},
		"adaptive": func(s *v1alpha1.BenchmarkCampaignSpec) { s.Sweep.Strategy = v1alpha1.SweepAdaptive },
		"stages": func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Final.MaxRepetitions = new(int32(12))
		},
		"open loop": func(s *v1alpha1.BenchmarkCampaignSpec) { s.Final.OpenLoop = &v1alpha1.OpenLoop{} },
	} {
		answer := func(variants ...string) campaign.Assessment {
			c := campaigntest.Campaign(variants, []string{"t", "u"}, 1, 2, 4, 8, 16, 32)
			c.Spec.Retries, c.Spec.Final.Repetitions = new(int32(0)), new(int32(5))
			change(&c.Spec)
			_, a := campaigntest.Assess(c, exceptCell("dead", ""))
			return a
		}
		want, got := answer("a", "b"), answer("a", "b", "dead")
		if len(want.Ratios) != 2 || len(got.Ratios) != 2 || got.Comparisons != 4 || !got.Finished || !got.Measured {
			t.Fatalf("%s: %d ratios of %d comparisons, finished %t; want 2 of 4", name, len(got.Ratios), got.Comparisons, got.Finished)
		}
		for i, r := range got.Ratios {
			if w := want.Ratios[i]; r.Ratio != w.Ratio || r.N != w.N || r.Verdict != w.Verdict || r.AdjustedP < w.AdjustedP {
				t.Errorf("%s: %+v, without the variant %+v", name, r, w)
			}
		}
		if leftOut := []campaign.CellKey{{Variant: "dead", Topology: "t"}, {Variant: "dead", Topology: "u"}}; !slices.Equal(got.LeftOut, leftOut) {
			t.Errorf("%s: left out %v, want %v", name, got.LeftOut, leftOut)
		}
		for _, topology := range []string{"t", "u"} {
			dead := got.Cell("dead", topology)
			if len(dead.Finals) != 0 || dead.OpenLoop != nil || dead.Done != dead.Planned || len(got.Cell("b", topology).Finals) < 4 {
				t.Errorf("%s: cell without a knee on %s: %d Finals, %d of %d trials", name, topology, len(dead.Finals), dead.Done, dead.Planned)
			}
			if s := got.Shared[topology]; !s.Agreed || s.Clients != want.Shared[topology].Clients || !strings.HasSuffix(s.Why, "cells without a knee are left out: dead") {
				t.Errorf("%s: shared %+v, want the count of %+v", name, s, want.Shared[topology])
			}
		}
		ok, reason, message := doubts.Conclusive(got)
		if ok || reason != v1alpha1.ReasonKneeNotFound || !strings.Contains(message, "no client count of these cells (dead/t, dead/u) has a valid measurement that passed every gate, so no comparison includes these cells") ||
			!strings.Contains(message, "exclude the cells with spec.matrix") {
			t.Errorf("%s: %t %s %q", name, ok, reason, message)
		}
	}
}

// TestTruth_H1_baselineWithoutKnee_hasNoRatios checks that the other variants are still measured together, so that another baseline
// gives a ratio without new trials.
func TestTruth_H1_baselineWithoutKnee_hasNoRatios(t *testing.T) {
	c := campaigntest.Campaign([]string{"dead", "a", "b"}, []string{"t"}, 1, 2, 4, 8, 16, 32)
	c.Spec.Retries = new(int32(0))
	records, got := campaigntest.Assess(c, exceptCell("dead", "t"))
	if len(got.Ratios) != 0 || got.Comparisons != 2 || !got.Finished || len(got.Cell("a", "t").Finals) != 4 {
		t.Errorf("%d ratios, %d comparisons, finished %t, %d Finals of a", len(got.Ratios), got.Comparisons, got.Finished, len(got.Cell("a", "t").Finals))
	}
	c.Spec.Baseline = "a"
	again, got := campaigntest.Assess(c, exceptCell("dead", "t"))
	if len(got.Ratios) != 1 || got.Ratios[0].Variant != "b" || len(again) != len(records) {
		t.Errorf("another baseline: ratios %+v of %d records, want b against a of %d records", got.Ratios, len(again), len(records))
	}
}

// TestTruth_H1_cellGetsKnee_isComparedAgain checks that a cell is left out only as long as it has no knee.
func TestTruth_H1_cellGetsKnee_isComparedAgain(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b", "c"}, []string{"t"}, 1, 2, 4, 8, 16, 32)
	c.Spec.Retries = new(int32(0))
	records, a := campaigntest.Assess(c, exceptCell("c", "t"))
	c.Spec.Retries = new(int32(1))
	for _, r := range records {
		if r.Attempt.Variant == "c" && r.Attempt.Phase == record.Sweep {
			next := noisy(0.001)(r.Attempt.Trial)
			next.Attempt.N = 2
			records = append(records, next)
		}
	}
	after := campaign.Assess(plan.Build(c), c.Spec, records)
	if len(a.LeftOut) != 1 || len(after.LeftOut) != 0 || after.Comparisons != 2 || after.Finished || len(after.Cell("c", "t").Finals) != 4 {
		t.Errorf("left out %v, then %v with %d comparisons, finished %t", a.LeftOut, after.LeftOut, after.Comparisons, after.Finished)
	}
}

// TestTruth_H1_onlyKneeOfTopology_isMeasuredIfCompared checks a topology where only one cell has a knee. The cell has Finals only if
// a comparison across topologies uses them.
func TestTruth_H1_onlyKneeOfTopology_isMeasuredIfCompared(t *testing.T) {
	for _, named := range []bool{false, true} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t", "u"}, 1, 2, 4, 8, 16, 32)
		c.Spec.Retries = new(int32(0))
		if named {
			c.Spec.Comparisons = []v1alpha1.Comparison{{Cell: v1alpha1.CellName{Variant: "a", Topology: "u"}, Baseline: v1alpha1.CellName{Variant: "a", Topology: "t"}}}
		}
		_, got := campaigntest.Assess(c, exceptCell("b", "u"))
		finals, ratios := 0, 1
		if named {
			finals, ratios = 4, 2
		}
		if len(got.Cell("a", "u").Finals) != finals || len(got.Ratios) != ratios || got.Comparisons != ratios+1 || !got.Finished {
			t.Errorf("named %t: %d Finals of a/u, %d ratios of %d comparisons, finished %t", named, len(got.Cell("a", "u").Finals), len(got.Ratios), got.Comparisons, got.Finished)
		}
	}
}
