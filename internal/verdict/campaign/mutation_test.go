package campaign_test

import (
	"math"
	"slices"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// The tests of this file kill mutants of `make mutate` that other tests did not notice.

// across returns a campaign with topologies t and u that also compares variant a on u with variant a on t.
func across() *v1alpha1.BenchmarkCampaign {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t", "u"}, 1, 2, 4)
	c.Spec.Comparisons = []v1alpha1.Comparison{{Cell: v1alpha1.CellName{Variant: "a", Topology: "u"}, Baseline: v1alpha1.CellName{Variant: "a", Topology: "t"}}}
	return c
}

// mutation: ratio when the Finals of either topology are done, instead of both.
func TestRatios_acrossTopologies_needFinalsOfBoth(t *testing.T) {
	c := across()
	records, all := campaigntest.Assess(c, noisy(0.001))
	if len(all.Ratios) != 3 {
		t.Fatalf("%d ratios %+v, want three", len(all.Ratios), all.Ratios)
	}
	for _, unfinished := range []string{"t", "u"} {
		some := slices.DeleteFunc(slices.Clone(records), func(r record.Record) bool {
			return r.Attempt.Phase == record.Final && r.Attempt.Topology == unfinished && r.Attempt.Repetition > 3
		})
		got := campaign.Assess(plan.Build(c), c.Spec, some).Ratios
		if len(got) != 1 || got[0].Topology == unfinished || got[0].BaselineTopology == unfinished {
			t.Errorf("%s is not finished: ratios %+v, want only the ratio within the other topology", unfinished, got)
		}
	}
}

// mutation: only comparisons of topologies with Finals counted. The number must not fall when a topology has no shared clients.
func TestComparisons_topologyWithoutFinals_isCounted(t *testing.T) {
	c := across()
	c.Spec.Retries = new(int32(0))
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		if t.Topology == "u" {
			return campaigntest.Errored(t, record.ReasonClusterNotReady, "red")
		}
		return noisy(0.001)(t)
	})
	if len(a.Ratios) != 1 || a.Comparisons != 3 {
		t.Errorf("%d ratios, %d comparisons, want one of three: only t has Finals", len(a.Ratios), a.Comparisons)
	}
}

// mutation: sweep repeats left out of the noise.
func TestNoise_includesSweepRepeats(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	c.Spec.Sweep.Repetitions, c.Spec.Final.Repetitions = new(int32(3)), new(int32(5))
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		docs := 1000 * float64(t.Clients)
		if t.Phase == record.Sweep {
			docs *= math.Exp(0.01 * float64(t.Repetition-2)) // the logs of three repeats have a variance of 0.01 squared
		}
		return campaigntest.Measured(t, docs)
	})
	sweeps, finals := 2*3*(3-1), 2*(5-1)
	if a.Noise.Freedom != sweeps+finals {
		t.Errorf("%d degrees of freedom, want %d of the sweeps and %d of the Finals", a.Noise.Freedom, sweeps, finals)
	}
	near(t, "CV", a.Noise.CV, 0.01*math.Sqrt(float64(sweeps)/float64(sweeps+finals)), 1e-9)
}

// mutation: second-stage noise over all topologies.
func TestFinalRepetitions_otherTopologyIsNoisy_changesNothing(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t", "u"}, 1, 2, 4)
	c.Spec.Final.Repetitions, c.Spec.Final.MaxRepetitions = new(int32(6)), new(int32(30))
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		if t.Topology == "u" {
			return noisy(0.04)(t)
		}
		return noisy(0.0001)(t)
	})
	quiet, noisy := len(a.Cell("a", "t").Finals), len(a.Cell("a", "u").Finals)
	if quiet != 6 || noisy <= 6 {
		t.Errorf("%d Finals on the quiet topology and %d on the noisy one, want 6 and more", quiet, noisy)
	}
}

// mutation: stability at 97 % whatever percentOfPeak. At 90 % of the peak the knee is far from the threshold, at 97 % it would be
// at 4 clients.
func TestStability_dependsOnPercentOfPeak(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	c.Spec.Knee.PercentOfPeak = v1alpha1.ToDecimal("90")
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		docs := map[int32]float64{1: 500, 2: 935, 4: 1000}[t.Clients]
		return campaigntest.Measured(t, docs*(1+0.005*float64(t.Repetition%3-1)))
	})
	for _, cell := range a.Cells {
		if cell.Curve.Knee.Clients != 2 || !(cell.Stability > 0.9) {
			t.Errorf("%s: knee %d with a stability of %v, want 2 and nearly 1", cell.Variant, cell.Curve.Knee.Clients, cell.Stability)
		}
	}
}

// mutation: no Bonferroni for tasks.
func TestTaskRatios_intervals_holdTogether(t *testing.T) {
	_, a := campaigntest.Assess(searchCampaign(6), searching)
	if len(a.Tasks) == 0 {
		t.Fatal("no task is compared")
	}
	for _, r := range a.Tasks {
		if least := 1 - 0.05/float64(len(a.Tasks)); r.Confidence < least {
			t.Errorf("%s %s: confidence %v, want at least %v for one of %d intervals", r.Task, r.Figure, r.Confidence, least, len(a.Tasks))
		}
	}
}

// mutation: drift limit d instead of d/2.
func TestTrends_driftAboveHalfOfSmallestDifference_confounds(t *testing.T) {
	falling := cellsOf(turns(6, func(place int) float64 { return math.Exp(-0.04 * float64(place) / 11) }))
	for _, tt := range []struct {
		smallestDifferencePercent float64
		confounded                bool
	}{{3, true}, {6, true}, {7.6, true}, {8.4, false}} {
		got := campaign.Trends(falling, tt.smallestDifferencePercent, 1)[0]
		if got.Confounded != tt.confounded {
			t.Errorf("a drift of %.2f %% where %v %% matter: confounded %t", got.PercentOverall, tt.smallestDifferencePercent, got.Confounded)
		}
	}
}

// mutation: permutation p without the observed order. The observed order is one of 1,000, so p is at least 0.001.
func TestTrends_clearDrift_pCountsTheObservedOrder(t *testing.T) {
	got := campaign.Trends(cellsOf(turns(12, func(place int) float64 { return math.Exp(-0.01 * float64(place)) })), 3, 1)[0]
	near(t, "p", got.P, 0.001, 1e-12)
}

// mutation: disturbed client check below 2-least instead of 1/least.
func TestClientChecks_loaderSlowerByTheSameFactor_isDisturbed(t *testing.T) {
	for ratio, disturbed := range map[float64]bool{1 / 1.0501: true, 1 / 1.0499: false, 0.951: true} {
		_, a := campaigntest.Assess(campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8), func(trial record.Trial) record.Record {
			r := kneeAt2(trial)
			if trial.Phase == record.Final && trial.Repetition == 1 {
				r.ClientCheck = &record.ClientCheck{DocsPerSecond: ratio * r.Ingest.DocsPerSecond, Window: r.Ingest.Window}
			}
			return r
		})
		for _, check := range a.ClientChecks {
			if check.Disturbed != disturbed || check.Bound {
				t.Errorf("the loader reached %v of the driver's docs/s: %+v", ratio, check)
			}
		}
		if len(a.ClientChecks) != 2 {
			t.Errorf("%d checks, want two", len(a.ClientChecks))
		}
	}
}

// mutation: two repetitions are not tested.
func TestTaskRatios_twoRepetitions_areTested(t *testing.T) {
	_, a := campaigntest.Assess(searchCampaign(2), searching)
	for _, r := range a.Tasks {
		if r.Comparisons != len(a.Tasks) || !r.Tested() {
			t.Errorf("%s %s: one of %d comparisons, tested %t, want one of %d", r.Task, r.Figure, r.Comparisons, r.Tested(), len(a.Tasks))
		}
	}
	if len(a.Tasks) == 0 {
		t.Error("no task is compared")
	}
}

// mutation: one placement with figures is tested. A single machine has no spread.
func TestTaskRatios_onePlacementOfBaseline_isNotTested(t *testing.T) {
	c := searchCampaign(3)
	c.Spec.Final.Placements, c.Spec.Retries = new(int32(2)), new(int32(0))
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		if t.Phase == record.Final && t.Variant == "a" && t.Placement == 2 {
			return campaigntest.Errored(t, record.ReasonDriverFailed, "exit 64")
		}
		return searching(t)
	})
	for _, r := range a.Tasks {
		if r.Comparisons != 0 || r.Tested() {
			t.Errorf("%s %s: one of %d comparisons, tested %t, want none", r.Task, r.Figure, r.Comparisons, r.Tested())
		}
	}
	if len(a.Tasks) == 0 {
		t.Error("no task is compared")
	}
}

// mutation: an attempt without a plan fails if it is not Errored.
func TestAssessAttempts_onlyErrored_failed(t *testing.T) {
	trial := func(clients int32) record.Trial {
		return record.Trial{Variant: "a", Topology: "t", Phase: record.Sweep, Clients: clients, Repetition: 1}
	}
	a := campaign.AssessAttempts(campaign.Design{PercentOfPeak: 97}, []campaign.CellKey{{Variant: "a", Topology: "t"}}, []campaign.Judged{
		{Record: campaigntest.Measured(trial(1), 100), Judgement: verdict.Judgement{Verdict: verdict.Measured}},
		{Record: campaigntest.Errored(trial(2), record.ReasonDriverFailed, "exit 64"), Judgement: verdict.Judgement{Verdict: verdict.Errored}},
	})
	for clients, failed := range map[int32]bool{1: false, 2: true} {
		if o := a.Outcomes[trial(clients)]; !o.Done || o.Failed != failed {
			t.Errorf("%d clients: done %t, failed %t, want done and failed %t", clients, o.Done, o.Failed, failed)
		}
	}
}
