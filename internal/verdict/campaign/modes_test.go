package campaign_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// noisy returns a function that measures a saturating cell. The knee depends on the variant, and the noise only on
// the trial.
func noisy(cv float64) func(record.Trial) record.Record {
	return func(t record.Trial) record.Record {
		knee := map[string]float64{"a": 4, "b": 16, "c": 8}[t.Variant]
		docs := 1000 * min(float64(t.Clients), knee) / knee
		draw := rand.New(rand.NewPCG(uint64(t.Clients)<<16|uint64(t.Repetition), uint64(len(t.Phase))<<8|uint64(t.Placement)))
		return campaigntest.Measured(t, docs*math.Exp(cv*draw.NormFloat64()))
	}
}

// modes returns campaigns that together use every way to request trials.
func modes() map[string]*v1alpha1.BenchmarkCampaign {
	out := map[string]*v1alpha1.BenchmarkCampaign{}
	for name, change := range map[string]func(*v1alpha1.BenchmarkCampaignSpec){
		"full":     func(*v1alpha1.BenchmarkCampaignSpec) {},
		"repeated": func(s *v1alpha1.BenchmarkCampaignSpec) { s.Sweep.Repetitions = new(int32(3)) },
		"adaptive": func(s *v1alpha1.BenchmarkCampaignSpec) { s.Sweep.Strategy = v1alpha1.SweepAdaptive },
		"fixed":    func(s *v1alpha1.BenchmarkCampaignSpec) { s.Sweep.Mode = v1alpha1.SweepFixed },
		"placements": func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Final.Placements, s.Final.Repetitions = new(int32(3)), new(int32(2))
		},
		"stages": func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Final.MaxRepetitions, s.Final.Repetitions = new(int32(12)), new(int32(3))
		},
		"open loop": func(s *v1alpha1.BenchmarkCampaignSpec) { s.Final.OpenLoop = &v1alpha1.OpenLoop{} },
		"named": func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Comparisons = []v1alpha1.Comparison{{Cell: v1alpha1.CellName{Variant: "a", Topology: "t"}, Baseline: v1alpha1.CellName{Variant: "a", Topology: "u"}}}
		},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t", "u"}, 1, 2, 4, 8, 16, 32)
		change(&c.Spec)
		out[name] = c
	}
	return out
}

// TestAssess_shuffledRecords_sameAnswer checks that in every mode the answer depends only on the set of records. Their
// order does not matter, nor do failed attempts that a valid attempt followed.
func TestAssess_shuffledRecords_sameAnswer(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 1))
	for name, c := range modes() {
		p := plan.Build(c)
		records, want := campaigntest.Assess(c, noisy(0.02))
		if !want.Finished || !want.Measured {
			t.Errorf("%s: %d of %d trials done", name, want.Done, want.Planned)
		}
		shuffled := slices.Clone(records)
		draw.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := difference(want, campaign.Assess(p, c.Spec, shuffled)); diff != "" {
			t.Errorf("%s, in another order (-want +got):\n%s", name, diff)
		}
		again := slices.Clone(records)
		var failed []record.Record
		for i := range again {
			lost := campaigntest.Errored(again[i].Attempt.Trial, record.ReasonPodFailed, "evicted")
			lost.Attempt.N = again[i].Attempt.N
			failed = append(failed, lost)
			again[i].Attempt.N++
		}
		got := campaign.Assess(p, c.Spec, append(failed, again...))
		for i := range got.Cells {
			if !slices.Equal(got.Cells[i].FinalRates(), want.Cells[i].FinalRates()) {
				t.Errorf("%s: Finals %v, want %v", name, got.Cells[i].FinalRates(), want.Cells[i].FinalRates())
			}
		}
		if diff := difference(campaign.Assessment{Ratios: want.Ratios, Shared: want.Shared, Noise: want.Noise},
			campaign.Assessment{Ratios: got.Ratios, Shared: got.Shared, Noise: got.Noise}); diff != "" {
			t.Errorf("%s, with failed attempts (-want +got):\n%s", name, diff)
		}
	}
}

// TestProgress_moreRecords_neverDecreases checks that more records never reduce the number of done trials, and that a campaign is
// finished only if all its trials are done.
func TestProgress_moreRecords_neverDecreases(t *testing.T) {
	for name, c := range modes() {
		p := plan.Build(c)
		records, all := campaigntest.Assess(c, noisy(0.02))
		done := 0
		for n := range records {
			a := campaign.Assess(p, c.Spec, records[:n])
			if a.Done < done || a.Done > a.Planned || a.Finished != (a.Done == a.Planned) {
				t.Fatalf("%s after %d records: %d of %d done, finished %t, before %d", name, n, a.Done, a.Planned, a.Finished, done)
			}
			if a.Finished && n < len(records) && a.Done < all.Done {
				t.Fatalf("%s is finished after %d of %d records", name, n, len(records))
			}
			done = a.Done
		}
	}
}

func TestRatios_namedComparisons_areAdded(t *testing.T) {
	cell := func(variant, topology string) v1alpha1.CellName {
		return v1alpha1.CellName{Variant: v1alpha1.Name(variant), Topology: v1alpha1.Name(topology)}
	}
	c := campaigntest.Campaign([]string{"a", "b", "c"}, []string{"t", "u"}, 1, 2, 4, 8, 16, 32)
	c.Spec.Comparisons = []v1alpha1.Comparison{
		{Cell: cell("b", "t"), Baseline: cell("a", "t")}, // compared even without this entry
		{Cell: cell("a", "u"), Baseline: cell("a", "t")},
		{Cell: cell("c", "t"), Baseline: cell("b", "t")},
		{Cell: cell("a", "u"), Baseline: cell("a", "t")}, // listed a second time
		{Cell: cell("a", "t"), Baseline: cell("b", "t")}, // L3: reverses an automatic comparison
		{Cell: cell("b", "t"), Baseline: cell("c", "t")}, // L3: reverses a named comparison
	}
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		r := noisy(0.001)(t)
		if t.Topology == "u" && t.Clients > 8 { // gives u another knee than t
			r = campaigntest.Errored(t, record.ReasonPodFailed, "why")
		}
		return r
	})
	var got []string
	for _, r := range a.Ratios {
		got = append(got, fmt.Sprintf("%s/%s@%d over %s/%s@%d %t of %d", r.Variant, r.Topology, r.Clients,
			r.Baseline, r.BaselineTopology, r.BaselineClients, r.Named, r.Comparisons))
	}
	want := []string{
		"b/t@16 over a/t@16 false of 6", "c/t@16 over a/t@16 false of 6", "b/u@8 over a/u@8 false of 6", "c/u@8 over a/u@8 false of 6",
		"a/u@8 over a/t@16 true of 6", "c/t@16 over b/t@16 true of 6",
		"a/t@16 over b/t@16 true of 6", "b/t@16 over c/t@16 true of 6",
	}
	if !slices.Equal(got, want) {
		t.Errorf("ratios %q\nwant %q", got, want)
	}
	if n := campaign.Comparisons(c.Spec, plan.Build(c)); n != 6 {
		t.Errorf("L3: the plan has %d comparisons, want 6", n)
	}
}

func TestRatios_fixedSweep_oneForEachClientCount(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 2, 4, 8)
	c.Spec.Sweep.Mode = v1alpha1.SweepFixed
	c.Spec.Final.Repetitions = new(int32(6))
	_, a := campaigntest.Assess(c, noisy(0.001))
	if len(a.Ratios) != 3 || len(a.Cells[0].Finals) != 18 || a.Cells[0].FinalRates() != nil {
		t.Fatalf("ratios %+v of %d Finals; Finals at several client counts are no repeats: %v",
			a.Ratios, len(a.Cells[0].Finals), a.Cells[0].FinalRates())
	}
	for i, clients := range []int32{2, 4, 8} {
		r := a.Ratios[i]
		want := min(float64(clients), 16) / 16 / (min(float64(clients), 4) / 4) // ratio of the two curves without noise
		if r.Clients != clients || r.BaselineClients != clients || r.N != 6 || r.Comparisons != 3 {
			t.Errorf("%+v, want one of 3 comparisons at %d clients", r, clients)
		}
		near(t, fmt.Sprintf("ratio at %d", clients), r.Ratio, want, 0.005*want)
	}
	if len(a.Shared) != 0 || a.Cells[0].Curve.Knee != nil || len(a.Asked.Sweeps["t"]) != 0 {
		t.Errorf("shared %v, knee %v: there is no sweep", a.Shared, a.Cells[0].Curve.Knee)
	}
	if n := len(a.Cells[0].FinalsAt(4)); n != 1 {
		t.Errorf("%d placements, want one", n)
	}
	for _, d := range doubts.Doubts(a) {
		if slices.Contains([]string{v1alpha1.ReasonKneeNotFound, v1alpha1.ReasonNoSharedClients, v1alpha1.ReasonPeakAtRangeEdge}, d.Reason) {
			t.Errorf("%s is no doubt without a sweep", d.Reason)
		}
	}
}

// TestRatios_severalPlacements_areTheSample checks that the sample of a ratio consists of the placements: repetitions on one machine
// do not count as more machines.
func TestRatios_severalPlacements_areTheSample(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 2, 4)
	c.Spec.Final.Placements, c.Spec.Final.Repetitions = new(int32(4)), new(int32(5))
	records, a := campaigntest.Assess(c, noisy(0.01))
	finals := a.Cell("b", "t").FinalsAt(4)
	if len(finals) != 4 || len(finals[0]) != 5 || len(a.Cell("b", "t").FinalRates()) != 20 {
		t.Errorf("Finals by placement: %v", finals)
	}
	if r := a.Ratios[0]; r.Placements != 4 || r.N != 4 || r.M != 4 {
		t.Errorf("%+v, want an estimate on 4 placements", r)
	}
	// A placement whose Finals all failed does not count.
	for i := range records {
		if records[i].Attempt.Phase == record.Final && records[i].Attempt.Placement == 2 && records[i].Attempt.Variant == "b" {
			records[i].Rejections.WritePool = 9
		}
	}
	a = campaign.Assess(plan.Build(c), c.Spec, records)
	if r := a.Ratios[0]; r.Placements != 3 || r.N != 3 || r.M != 4 {
		t.Errorf("%+v, want an estimate on 3 and 4 placements", r)
	}
}

// TestOpenLoop_noSharedClients_isNotPlanned checks a topology that has no shared clients: it has no Finals, no OpenLoop trial and no
// comparison.
func TestOpenLoop_noSharedClients_isNotPlanned(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"good", "bad"}, 1, 2, 4)
	c.Spec.Retries = new(int32(0))
	c.Spec.Final.OpenLoop = &v1alpha1.OpenLoop{PercentOfKnee: v1alpha1.ToDecimal("50")}
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		if t.Topology == "bad" && t.Variant == "a" {
			return campaigntest.Errored(t, record.ReasonClusterNotReady, "red")
		}
		return campaigntest.Measured(t, 1000)
	})
	if o := a.Cell("a", "good").OpenLoop; o == nil || !o.Measured() || o.Trial.TargetDocsPerSecond != 500 {
		t.Errorf("OpenLoop of a/good: %+v", o)
	}
	if o := a.Cell("b", "bad").OpenLoop; o != nil || !a.Finished || a.Planned != 4*3+2*5 {
		t.Errorf("OpenLoop of b/bad: %+v, %d of %d done", o, a.Done, a.Planned)
	}
}

// TestOpenLoop_gateFails_isGatedAndNotCounted checks that gates also judge an OpenLoop trial, and that its docs/s do not count as
// a figure of the cell.
func TestOpenLoop_gateFails_isGatedAndNotCounted(t *testing.T) {
	c := campaigntest.Campaign([]string{"a"}, []string{"t"}, 1, 2, 4)
	c.Spec.Final.OpenLoop = &v1alpha1.OpenLoop{}
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		r := campaigntest.Measured(t, 1000)
		if t.Phase == record.OpenLoop {
			r = campaigntest.Measured(t, 9999)
			r.Rejections.WritePool = 1
		}
		return r
	})
	cell := a.Cells[0]
	if cell.OpenLoop.Judgement.Verdict != verdict.Gated || !a.Finished {
		t.Errorf("%+v", cell.OpenLoop)
	}
	if cell.Curve.Highest.Rate != 1000 || slices.Max(cell.FinalRates()) != 1000 || slices.Max(slices.Concat(cell.FinalsAt(1)...)) != 1000 {
		t.Errorf("an OpenLoop trial's docs/s are among the figures: %+v", cell)
	}
}

// TestRatios_severalPlacements_needDependsOnTheirMeans checks that the required number of placements depends on the spread of the
// placements' means, not on the spread within one machine.
func TestRatios_severalPlacements_needDependsOnTheirMeans(t *testing.T) {
	need := func(machine, run float64) int {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
		c.Spec.Final.Placements, c.Spec.Final.Repetitions = new(int32(5)), new(int32(3))
		_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
			draw := rand.New(rand.NewPCG(uint64(t.Placement), uint64(len(t.Variant))+uint64(t.Variant[0]-'a')*7))
			docs := 1000 * math.Exp(machine*draw.NormFloat64())
			if t.Phase == record.Final {
				docs *= 1 + run*float64(t.Repetition-2)
			}
			return campaigntest.Measured(t, docs)
		})
		if r := a.Ratios[0]; r.Verdict != stats.TooNoisy || r.Placements != 5 {
			t.Fatalf("%+v, want a ratio of 5 placements that is too noisy", r)
		}
		return a.Ratios[0].Need
	}
	// Machines differ by 8 %, and repetitions on one machine by 0.1 %: a handful of placements is not enough.
	few, many := need(0.08, 0.001), need(0.16, 0.001)
	if few < 30 || many < 3*few {
		t.Errorf("need %d placements at 8 %% between machines and %d at 16 %%, want dozens, and about four times as many", few, many)
	}
}
