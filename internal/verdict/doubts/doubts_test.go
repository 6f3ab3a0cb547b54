package doubts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// plainly measures two variants whose knee is at 2 clients. Variant "b" is 30 % faster than variant "a".
func plainly(t record.Trial) record.Record {
	docs := map[int32]float64{1: 50, 2: 110, 4: 100}[t.Clients] * (1 + float64(t.Repetition)/1000)
	if t.Variant == "b" {
		docs *= 1.3
	}
	return campaigntest.Measured(t, docs)
}

// doubt returns the message of the doubt with this reason, or an empty text if the assessment has no such doubt.
func doubt(a campaign.Assessment, reason string) string {
	var found []string
	for _, d := range doubts.Doubts(a) {
		if d.Reason == reason {
			found = append(found, d.Message)
		}
	}
	return strings.Join(found, "\n")
}

func says(t *testing.T, message string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(message, part) {
			t.Errorf("%q is not in %q", part, message)
		}
	}
}

func TestDoubts_gatedOpenLoop_isReported(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	c.Spec.Final.OpenLoop = &v1alpha1.OpenLoop{}
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		r := plainly(t)
		if t.Phase == record.OpenLoop && t.Variant == "b" {
			r.Rejections.WritePool = 1
		}
		return r
	})
	says(t, doubt(a, v1alpha1.ReasonTrialsGated), "because a gate failed: b OpenLoop")
}

// TestDoubts_differentPartsOfCorpus_areReported checks measurements over different parts of the corpus. The rate changes
// with the size of the index, so only the same part can be compared.
func TestDoubts_differentPartsOfCorpus_areReported(t *testing.T) {
	for _, tt := range []struct {
		a, b  float64 // measured shares of the corpus
		fixed bool
		want  string
	}{
		{0.80, 0.785, false, ""},
		{0.80, 0.60, false, "the trials of these comparisons measured different shares of the corpus, because a measurement ends when the first client finishes: b against a (60.0 % to 80.0 %); "},
		{0.50, 0.80, true, "b against a at 1 clients (50.0 % to 80.0 %), b against a at 2 clients"},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
		if tt.fixed {
			c.Spec.Sweep.Mode = v1alpha1.SweepFixed
		}
		_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
			r := plainly(t)
			share := tt.a
			if t.Variant == "b" {
				share = tt.b
			}
			r.Ingest.Window, r.Ingest.Corpus, r.Ingest.Count, r.Ingest.TotalIndexed = record.WindowCorpus, 10_000, 10_000, 10_000
			r.Ingest.Documents = int64(share * 10_000)
			return r
		})
		if got := doubt(a, v1alpha1.ReasonNotSteady); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%g and %g of the corpus: %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestDoubts_topologiesWithoutTurns_areReported checks the doubt about cells of two topologies that did not take turns: they
// may differ only because they ran at different times.
func TestDoubts_topologiesWithoutTurns_areReported(t *testing.T) {
	for _, tt := range []struct {
		inTurn bool
		want   string
	}{
		{true, ""},
		{false, "a/u against a/t did not alternate"},
	} {
		c := campaigntest.Campaign([]string{"a"}, []string{"t", "u"}, 1, 2, 4)
		c.Spec.Comparisons = []v1alpha1.Comparison{{
			Cell: v1alpha1.CellName{Variant: "a", Topology: "u"}, Baseline: v1alpha1.CellName{Variant: "a", Topology: "t"},
		}}
		runs := int64(0)
		_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
			r := plainly(t)
			runs++
			r.StartedAt += runs * 600_000
			if !tt.inTurn && t.Topology == "u" {
				r.StartedAt += 1e9 // as if all trials of u had run after all of t
			}
			if t.Topology == "u" {
				r = scaled(r, 1.5)
			}
			return r
		})
		if got := doubt(a, v1alpha1.ReasonOrderConfounded); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("in turn %t: %q, want %q", tt.inTurn, got, tt.want)
		}
		if got := a.Ratios[0].Distinguishable; len(a.Ratios) != 1 || !got {
			t.Errorf("in turn %t: ratios %+v", tt.inTurn, a.Ratios)
		}
	}
}

// TestDoubts_trendAcrossTopologies_isReported checks the trend of a comparison across topologies. Within one topology
// there is no trend, because each topology has only one variant.
func TestDoubts_trendAcrossTopologies_isReported(t *testing.T) {
	c := campaigntest.Campaign([]string{"a"}, []string{"t", "u"}, 1, 2, 4)
	c.Spec.Comparisons = []v1alpha1.Comparison{{
		Cell: v1alpha1.CellName{Variant: "a", Topology: "u"}, Baseline: v1alpha1.CellName{Variant: "a", Topology: "t"},
	}}
	eight := int32(8)
	c.Spec.Final.Repetitions = &eight
	runs := int64(0)
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		r := plainly(t)
		runs++
		r.StartedAt += runs * 600_000
		return scaled(r, 1-0.006*float64(runs))
	})
	says(t, doubt(a, v1alpha1.ReasonOrderConfounded), "docs/s of a/u against a/t changed by -")
}

// scaled returns the record with its docs/s multiplied by a factor.
func scaled(r record.Record, by float64) record.Record {
	r.Ingest.DocsPerSecond *= by
	return r
}

// TestDoubts_tooFewMeasuredRepetitions_adviceFitsCause checks the advice if Measured repetitions are missing. If enough are planned, the
// advice must not be to plan more.
func TestDoubts_tooFewMeasuredRepetitions_adviceFitsCause(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*v1alpha1.BenchmarkCampaign)
		spoil  func(record.Trial, *record.Record)
		says   string
		not    string
	}{
		{"one failed", nil, func(t record.Trial, r *record.Record) {
			*r = campaigntest.Errored(t, record.ReasonPodFailed, "evicted")
		}, "fix the cause of the failed Finals, then raise spec.retries", "spec.gates"},
		{"one failed a gate", nil, func(_ record.Trial, r *record.Record) { r.Rejections.WritePool = 1 }, "change the failed gate in spec.gates", "spec.retries"},
		{"of two stages", func(c *v1alpha1.BenchmarkCampaign) {
			c.Spec.Final.Repetitions, c.Spec.Final.MaxRepetitions = new(int32(2)), new(int32(3))
		}, nil, "set spec.final.maxRepetitions to at least 4", "spec.retries"},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
		c.Spec.Retries = new(int32(0))
		if tt.change != nil {
			tt.change(c)
		}
		_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
			r := plainly(t)
			if tt.spoil != nil && t.Phase == record.Final && t.Variant == "b" && t.Repetition == 4 {
				tt.spoil(t, &r)
			}
			return r
		})
		message := doubt(a, v1alpha1.ReasonTooFewRepetitions)
		says(t, message, "these comparisons have too few valid repetitions (no error, no failed gate), so that no difference can be distinguished from noise: b against a", tt.says)
		if strings.Contains(message, tt.not) || tt.spoil != nil && strings.Contains(message, "set spec.final") {
			t.Errorf("%s: %q", tt.name, message)
		}
	}
}

// TestTruth_M6_highNoise_advice checks that the advice never names a value that the API would refuse, and never recommends another
// look at the same data (raised repetitions of a finished campaign).
func TestTruth_M6_highNoise_advice(t *testing.T) {
	for _, tt := range []struct {
		name   string
		spread float64
		change func(*v1alpha1.BenchmarkCampaign)
		says   []string
		not    string
	}{
		{"a little", 0.02, nil, []string{"needs about", "set spec.final.maxRepetitions to "}, "maximum"},
		{"much", 0.2, nil, []string{"more than 50, the maximum of spec.final.repetitions", "reduce the noise"}, "set spec.final"},
		{"so much that another look takes more trials than a new measurement", 0.032, nil,
			[]string{"needs about", "set spec.final.repetitions to ", " and a new spec.rerun"}, "maxRepetitions"},
		{"two stages", 0.03, func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Final.MaxRepetitions = new(int32(5)) },
			[]string{"set spec.final.maxRepetitions to ", " and a new spec.rerun"}, "maximum"},
		{"placements", 0.2, func(c *v1alpha1.BenchmarkCampaign) {
			c.Spec.Final.Repetitions, c.Spec.Final.Placements = new(int32(1)), new(int32(5))
		}, []string{"more than 16, the maximum of spec.final.placements", "reduce the noise"}, "set spec.final"},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
		if tt.change != nil {
			tt.change(c)
		}
		_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
			n := max(t.Repetition, int32(t.Placement)) // gives both cells the same spread
			if t.Variant == "b" {
				n++
			}
			r := campaigntest.Measured(t, map[int32]float64{1: 50, 2: 110, 4: 100}[t.Clients]*(1+tt.spread*float64(n%3)))
			r.Nodes[0].Environment.Host = t.Variant + "-" + string(rune('0'+t.Placement))
			return r
		})
		message := doubt(a, v1alpha1.ReasonNotDistinguishable)
		says(t, message, tt.says...)
		if strings.Contains(message, tt.not) {
			t.Errorf("%s: %q", tt.name, message)
		}
	}
}

// TestDoubts_noCommonClientCount_advisesFixingFailures checks the advice if no client count was Measured in every cell: more counts
// or a lower knee would not help.
func TestDoubts_noCommonClientCount_advisesFixingFailures(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		r := plainly(t)
		if (t.Clients == 2) == (t.Variant == "a") {
			r.Rejections.WritePool = 1
		}
		return r
	})
	message := doubt(a, v1alpha1.ReasonNoSharedClients)
	says(t, message, "no client count was Measured in every cell: fix the cause of the failed trials, or loosen spec.gates")
	if strings.Contains(message, "percentOfPeak") {
		t.Error(message)
	}
}

// TestTruth_M6_campaignsThatCannotContinue_advice checks the advice where more values of the same campaign would be another look: all
// of them are measured again.
func TestTruth_M6_campaignsThatCannotContinue_advice(t *testing.T) {
	_, a := campaigntest.Assess(campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4), func(t record.Trial) record.Record {
		return campaigntest.Measured(t, 100*float64(t.Clients)*(1+0.03*float64(t.Repetition%3)))
	})
	if len(a.Ratios) != 1 || a.Ratios[0].Verdict != stats.TooNoisy {
		t.Fatalf("%+v, want one ratio that is too noisy", a.Ratios)
	}
	chosen, placed, looked, few, spent := a, a, a, a, a
	again := func() []campaign.Ratio {
		out := slices.Clone(a.Ratios)
		out[0].Looks, out[0].LookFactor = []stats.Look{{N: 3, M: 3}, {N: 4, M: 4}}, 3
		return out
	}
	looked.Ratios, few.Ratios, spent.Ratios = again(), again(), again()
	looked.Ratios[0].LookFactor = 1.1
	spent.Ratios[0].LookFactor, spent.Ratios[0].Confidence, spent.Ratios[0].Need = 1, 0, 0
	looked.Ratios[0].Need = 20
	chosen.MaxRepetitions = 50 // Knee chose fewer repetitions than allowed
	placed.Placements = 4
	placed.Ratios = slices.Clone(a.Ratios)
	placed.Ratios[0].Need = 7
	for want, a := range map[string]campaign.Assessment{
		fmt.Sprintf("set spec.final.repetitions to %d and a new spec.rerun", a.Ratios[0].Need):          chosen,
		"set spec.final.placements to 7 and a new spec.rerun":                                           placed,
		"set spec.final.repetitions to 20 and a new spec.rerun":                                         looked,
		"no difference can be distinguished from noise: b against a (4 and 4); the earlier comparisons": few,
		"have used up the allowed error probability, so set a new spec.rerun":                           spent,
	} {
		if _, reason, message := doubts.Conclusive(a); !strings.Contains(message, want) {
			t.Errorf("%s %q, want %q", reason, message, want)
		}
	}
}
