package campaign_test

import (
	"math"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// spread returns a function that measures cells whose Finals have exactly this CV over each four repetitions, by cell name or variant.
func spread(cvs map[string]float64) func(record.Trial) record.Record {
	shape := []float64{-1.5, 0.5, -0.5, 1.5} // has the standard deviation sqrt(5/3)
	return func(t record.Trial) record.Record {
		docs := 1000 * min(float64(t.Clients), 2)
		cv, ok := cvs[t.Variant+"/"+t.Topology]
		if !ok {
			cv = cvs[t.Variant]
		}
		if t.Phase == record.Final {
			docs *= math.Exp(cv * shape[(int(t.Repetition)+int(t.Variant[0]))%4] / math.Sqrt(5.0/3))
		}
		return campaigntest.Measured(t, docs)
	}
}

// TestRatios_unequalNoise_needComesFromTheTwoCells checks that the needed repetitions of a ratio do not depend on the noise of a cell that
// the ratio does not compare.
func TestRatios_unequalNoise_needComesFromTheTwoCells(t *testing.T) {
	need := func(b, c float64) (ofB, ofC int) {
		spec := campaigntest.Campaign([]string{"a", "b", "c"}, []string{"t"}, 1, 2, 4)
		_, a := campaigntest.Assess(spec, spread(map[string]float64{"a": 0.01, "b": b, "c": c}))
		return a.Ratios[0].Need, a.Ratios[1].Need
	}
	quietB, noisyC := need(0.01, 0.05)
	noisyB, quietC := need(0.05, 0.01)
	allQuiet, _ := need(0.01, 0.01)
	allNoisy, _ := need(0.05, 0.05)
	if quietB != noisyC && (quietB != allQuiet || quietC != allQuiet || noisyB != noisyC || noisyB != allNoisy) || quietB == noisyC {
		t.Errorf("needs %d beside a noisy cell, %d of the noisy cell; exchanged %d and %d; all quiet %d", quietB, noisyC, quietC, noisyB, allQuiet)
	}
}

// TestFinalRepetitions_worstComparison_setsNumber checks that the second stage has the repetitions that the noisiest comparison of the
// topology needs, whether few or many quiet cells are measured beside it.
func TestFinalRepetitions_worstComparison_setsNumber(t *testing.T) {
	repetitions := func(noisy float64, variants ...string) int {
		c := campaigntest.Campaign(variants, []string{"t"}, 1, 2, 4)
		c.Spec.Final.MaxRepetitions = new(int32(50))
		c.Spec.Comparisons = nil
		_, a := campaigntest.Assess(c, spread(map[string]float64{"a": 0.005, "n": noisy, "q": 0.005, "r": 0.005}))
		return len(a.Cell("a", "t").Finals)
	}
	alone, beside := repetitions(0.03, "a", "n"), repetitions(0.03, "a", "n", "q", "r")
	if beside < alone {
		t.Errorf("%d repetitions for a noisy cell beside quiet cells, %d without them", beside, alone)
	}
	if quiet := repetitions(0.005, "a", "n"); quiet >= alone || quiet > 6 {
		t.Errorf("%d repetitions for two quiet cells, %d for a quiet and a noisy cell", quiet, alone)
	}
}

// TestFinalRepetitions_otherTopologyLeavesCellsOut_sameNumber checks that the repetitions of a topology depend on the comparisons of the
// spec, not on what another topology has measured.
func TestFinalRepetitions_otherTopologyLeavesCellsOut_sameNumber(t *testing.T) {
	repetitions := func(dead string) (int, int) {
		c := campaigntest.Campaign([]string{"a", "b", "c"}, []string{"t", "u"}, 1, 2, 4)
		c.Spec.Final.MaxRepetitions, c.Spec.Retries = new(int32(50)), new(int32(0))
		quiet := spread(map[string]float64{"a": 0.015, "b": 0.015, "c": 0.015})
		_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
			if t.Topology == "u" && (t.Variant == dead || dead == "all") {
				return campaigntest.Errored(t, record.ReasonClusterNotReady, "red")
			}
			return quiet(t)
		})
		return len(a.Cell("a", "t").Finals), a.Comparisons
	}
	want, m := repetitions("")
	for _, dead := range []string{"b", "all"} {
		if got, comparisons := repetitions(dead); got != want || comparisons != m || m != 4 {
			t.Errorf("without %s on the other topology: %d repetitions and %d comparisons, want %d and %d", dead, got, comparisons, want, m)
		}
	}
}

// TestFinalRepetitions_joinedTopologies_noisyBaselineCounts checks a comparison across topologies: the noise of its cell on the other
// topology decides, too, and the number does not change when the second stage of one topology is done.
func TestFinalRepetitions_joinedTopologies_noisyBaselineCounts(t *testing.T) {
	c := campaigntest.Campaign([]string{"a"}, []string{"t", "u"}, 1, 2, 4)
	c.Spec.Final.MaxRepetitions = new(int32(50))
	c.Spec.Comparisons = []v1alpha1.Comparison{{Cell: v1alpha1.CellName{Variant: "a", Topology: "u"}, Baseline: v1alpha1.CellName{Variant: "a", Topology: "t"}}}
	records, a := campaigntest.Assess(c, spread(map[string]float64{"a/t": 0.002, "a/u": 0.03}))
	quiet, noisy := len(a.Cell("a", "t").Finals), len(a.Cell("a", "u").Finals)
	if quiet != noisy || quiet < 10 {
		t.Errorf("%d repetitions of the quiet cell, %d of the noisy one; want the same, more than 10", quiet, noisy)
	}
	p, decided := plan.Build(c), false
	for n := range records {
		r := campaign.Assess(p, c.Spec, records[:n]).Asked.Finals["t"].Repetitions
		if decided = decided || r > 4; decided && int(r) != quiet {
			t.Fatalf("after %d records: %d repetitions, want %d", n, r, quiet)
		}
	}
}
