package analysis_test

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/record"
)

// plainly measures two variants whose knee is at 2 clients, b 30 % above a.
func plainly(t record.Trial) record.Record {
	docs := map[int32]float64{1: 50, 2: 110, 4: 100}[t.Clients] * (1 + float64(t.Repetition)/1000)
	if t.Variant == "b" {
		docs *= 1.3
	}
	return analysistest.Measured(t, docs)
}

// doubt is the message of a doubt; empty when there is none.
func doubt(a analysis.Assessment, reason string) string {
	var found []string
	for _, d := range a.Doubts() {
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

func TestAGatedOpenLoopIsADoubt(t *testing.T) {
	c := analysistest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	c.Spec.Final.OpenLoop = &v1alpha1.OpenLoop{}
	_, a := measureAll(c, func(t record.Trial) record.Record {
		r := plainly(t)
		if t.Phase == record.OpenLoop && t.Variant == "b" {
			r.Rejections.WritePool = 1
		}
		return r
	})
	says(t, doubt(a, v1alpha1.ReasonTrialsGated), "a gate failed in b OpenLoop")
}

// The rate of a full corpus changes with the size of the index: only the same stretch of it compares.
func TestOtherStretchesOfTheCorpusAreADoubt(t *testing.T) {
	for _, tt := range []struct {
		a, b  float64 // shares of the corpus
		fixed bool
		want  string
	}{
		{0.80, 0.785, false, ""},
		{0.80, 0.60, false, "in b against a (60.0 % to 80.0 %)"},
		{0.50, 0.80, true, "b against a at 1 clients (50.0 % to 80.0 %), b against a at 2 clients"},
	} {
		c := analysistest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
		if tt.fixed {
			c.Spec.Sweep.Mode = v1alpha1.SweepFixed
		}
		_, a := measureAll(c, func(t record.Trial) record.Record {
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

// Cells of two topologies that did not take turns may differ by the time of their runs alone.
func TestARatioAcrossTopologiesNeedsTurns(t *testing.T) {
	for _, tt := range []struct {
		inTurn bool
		want   string
	}{
		{true, ""},
		{false, "a/u against a/t did not take turns"},
	} {
		c := analysistest.Campaign([]string{"a"}, []string{"t", "u"}, 1, 2, 4)
		c.Spec.Comparisons = []v1alpha1.Comparison{{
			Cell: v1alpha1.CellName{Variant: "a", Topology: "u"}, Baseline: v1alpha1.CellName{Variant: "a", Topology: "t"},
		}}
		runs := int64(0)
		_, a := measureAll(c, func(t record.Trial) record.Record {
			r := plainly(t)
			runs++
			r.StartedAt += runs * 600_000
			if !tt.inTurn && t.Topology == "u" {
				r.StartedAt += 1e9 // as if all of u had come after all of t
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

// A comparison across topologies has a trend of its own: that of one variant alone is in no topology's.
func TestARatioAcrossTopologiesThatDriftIsADoubt(t *testing.T) {
	c := analysistest.Campaign([]string{"a"}, []string{"t", "u"}, 1, 2, 4)
	c.Spec.Comparisons = []v1alpha1.Comparison{{
		Cell: v1alpha1.CellName{Variant: "a", Topology: "u"}, Baseline: v1alpha1.CellName{Variant: "a", Topology: "t"},
	}}
	eight := int32(8)
	c.Spec.Final.Repetitions = &eight
	runs := int64(0)
	_, a := measureAll(c, func(t record.Trial) record.Record {
		r := plainly(t)
		runs++
		r.StartedAt += runs * 600_000
		return scaled(r, 1-0.006*float64(runs))
	})
	says(t, doubt(a, v1alpha1.ReasonOrderConfounded), "docs/s of a/u against a/t changed by -")
}

// scaled is a record with docs/s times a factor.
func scaled(r record.Record, by float64) record.Record {
	r.Ingest.DocsPerSecond *= by
	return r
}

// Where as many are planned as it takes, more of them are not what is to be done about those that are missing.
func TestTooFewOfEnoughThatArePlanned(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*v1alpha1.BenchmarkCampaign)
		spoil  func(record.Trial, *record.Record)
		says   string
		not    string
	}{
		{"one failed", nil, func(t record.Trial, r *record.Record) {
			*r = analysistest.Errored(t, record.ReasonPodFailed, "evicted")
		}, "mend what failed, then raise spec.retries", "gate"},
		{"one failed a gate", nil, func(_ record.Trial, r *record.Record) { r.Rejections.WritePool = 1 }, "change the gate that failed", "spec.retries"},
		{"of two stages", func(c *v1alpha1.BenchmarkCampaign) {
			c.Spec.Final.Repetitions, c.Spec.Final.MaxRepetitions = new(int32(2)), new(int32(3))
		}, nil, "set spec.final.maxRepetitions to at least 4", "spec.retries"},
	} {
		c := analysistest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
		c.Spec.Retries = new(int32(0))
		if tt.change != nil {
			tt.change(c)
		}
		_, a := measureAll(c, func(t record.Trial) record.Record {
			r := plainly(t)
			if tt.spoil != nil && t.Phase == record.Final && t.Variant == "b" && t.Repetition == 4 {
				tt.spoil(t, &r)
			}
			return r
		})
		message := doubt(a, v1alpha1.ReasonTooFewRepetitions)
		says(t, message, "too few Measured repetitions of b against a", tt.says)
		if strings.Contains(message, tt.not) || tt.spoil != nil && strings.Contains(message, "set spec.final") {
			t.Errorf("%s: %q", tt.name, message)
		}
	}
}

// Advice that the API would refuse is none.
func TestNoiseThatNoNumberOfRepetitionsOvercomes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		spread float64
		change func(*v1alpha1.BenchmarkCampaign)
		says   []string
		not    string
	}{
		{"a little", 0.03, nil, []string{"would do", "raise spec.final.repetitions,"}, "allows"},
		{"much", 0.2, nil, []string{"more than the 50 that spec.final.repetitions allows", "lessen the noise"}, "raise spec.final.repetitions"},
		{"two stages", 0.03, func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Final.MaxRepetitions = new(int32(5)) },
			[]string{"raise spec.final.maxRepetitions,"}, "allows"},
		{"placements", 0.2, func(c *v1alpha1.BenchmarkCampaign) {
			c.Spec.Final.Repetitions, c.Spec.Final.Placements = new(int32(1)), new(int32(5))
		}, []string{"more than the 16 that spec.final.placements allows", "lessen the noise"}, "raise spec.final.placements"},
	} {
		c := analysistest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
		if tt.change != nil {
			tt.change(c)
		}
		_, a := measureAll(c, func(t record.Trial) record.Record {
			n := max(t.Repetition, t.Placement) // of the same spread in both cells
			if t.Variant == "b" {
				n++
			}
			r := analysistest.Measured(t, map[int32]float64{1: 50, 2: 110, 4: 100}[t.Clients]*(1+tt.spread*float64(n%3)))
			r.Nodes[0].Environment.Host = t.Variant + "-" + string('0'+t.Placement)
			return r
		})
		message := doubt(a, v1alpha1.ReasonNotDistinguishable)
		says(t, message, tt.says...)
		if strings.Contains(message, tt.not) {
			t.Errorf("%s: %q", tt.name, message)
		}
	}
}

// Where no count was Measured in every cell, more counts and a lower knee are of no help.
func TestNoCountThatWasMeasuredInEveryCell(t *testing.T) {
	c := analysistest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	_, a := measureAll(c, func(t record.Trial) record.Record {
		r := plainly(t)
		if (t.Clients == 2) == (t.Variant == "a") {
			r.Rejections.WritePool = 1
		}
		return r
	})
	message := doubt(a, v1alpha1.ReasonNoSharedClients)
	says(t, message, "no client count was Measured in every cell: mend what failed, or loosen spec.gates")
	if strings.Contains(message, "percentOfPeak") {
		t.Error(message)
	}
}
