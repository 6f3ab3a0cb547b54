package doubts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
)

func TestConclusive(t *testing.T) {
	type setup struct {
		change  func(*v1alpha1.BenchmarkCampaign)
		measure func(record.Trial) record.Record
	}
	curve := map[int32]float64{1: 50, 2: 110, 4: 100}
	plain := func(t record.Trial) record.Record {
		docs := curve[t.Clients] * (1 + float64(t.Repetition)/1000)
		if t.Variant == "b" {
			docs *= 1.3
		}
		return campaigntest.Measured(t, docs)
	}
	with := func(change func(record.Trial, *record.Record)) func(record.Trial) record.Record {
		return func(t record.Trial) record.Record {
			r := plain(t)
			change(t, &r)
			return r
		}
	}
	fail := func(when func(record.Trial) bool) func(record.Trial) record.Record {
		return with(func(t record.Trial, r *record.Record) {
			if when(t) {
				*r = campaigntest.Errored(t, record.ReasonDriverFailed, "exit code 64")
			}
		})
	}
	set := func(t record.Trial, r *record.Record, docs float64) { *r = campaigntest.Measured(t, docs) }
	repetitions := func(n int32) func(*v1alpha1.BenchmarkCampaign) {
		return func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Final.Repetitions = &n }
	}
	for _, tt := range []struct {
		name string
		setup
		reason  string
		message string
	}{
		{"all well", setup{nil, plain}, v1alpha1.ReasonConclusive, "distinguished from noise"},
		{"a failed Warmup changes no figure", setup{nil, fail(func(t record.Trial) bool { return t.Phase == record.Warmup })},
			v1alpha1.ReasonConclusive, ""},
		{"no knee", setup{nil, fail(func(t record.Trial) bool { return t.Variant == "b" })},
			v1alpha1.ReasonKneeNotFound, "no client count of these cells (b) has a valid measurement that passed every gate"},
		{"no shared clients", setup{nil, with(func(t record.Trial, r *record.Record) {
			if t.Variant == "b" && t.Phase == record.Sweep {
				set(t, r, map[int32]float64{1: 100, 2: 70, 4: 60}[t.Clients])
			}
		})}, v1alpha1.ReasonNoSharedClients, "no client count passes in every cell; 2 is the best"},
		{"a gated peak", setup{nil, with(func(t record.Trial, r *record.Record) {
			if t.Variant == "b" && t.Phase == record.Sweep && t.Clients == 4 {
				set(t, r, 500)
				r.Rejections.WritePool = 3
			}
		})}, v1alpha1.ReasonPeakGated, "failed a gate, so Knee uses the highest value that passed every gate as the peak: b (4 clients); "},
		{"a peak at the edge", setup{nil, with(func(t record.Trial, r *record.Record) {
			if t.Variant == "b" && t.Clients == 4 {
				set(t, r, 144)
			}
		})}, v1alpha1.ReasonPeakAtRangeEdge, "so more clients may give a higher peak: b (4 clients); "},
		{"a failed point", setup{nil, fail(func(t record.Trial) bool { return t.Variant == "a" && t.Clients == 1 && t.Phase == record.Sweep })},
			v1alpha1.ReasonTrialsFailed, "these trials have no valid measurement: a Sweep 1 clients; fix the cause"},
		{"a failed Final", setup{func(c *v1alpha1.BenchmarkCampaign) { repetitions(6)(c) },
			fail(func(t record.Trial) bool { return t.Phase == record.Final && t.Variant == "b" && t.Repetition == 3 })},
			v1alpha1.ReasonTrialsFailed, "these trials have no valid measurement: b Final 3; fix the cause"},
		{"a gated Final", setup{func(c *v1alpha1.BenchmarkCampaign) { repetitions(6)(c) }, with(func(t record.Trial, r *record.Record) {
			if t.Phase == record.Final && t.Repetition == 2 {
				r.Nodes[0].CPU.IOWait = 40
			}
		})}, v1alpha1.ReasonTrialsGated, "the ratios do not include these trials, because a gate failed: a Final 2, b Final 2"},
		{"a shared loader", setup{func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Loader.Placement = v1alpha1.LoaderShared }, plain},
			v1alpha1.ReasonLoaderShared, "spec.loader.placement"},
		{"too few repetitions", setup{repetitions(3), plain}, v1alpha1.ReasonTooFewRepetitions,
			"no difference can be distinguished from noise: b against a (3 and 3); set spec.final.repetitions to at least 4"},
		{"no repetitions", setup{repetitions(0), plain}, v1alpha1.ReasonTooFewRepetitions, "no Final repetitions"},
		{"no difference that matters", setup{nil, with(func(t record.Trial, r *record.Record) {
			set(t, r, curve[t.Clients]*(1+float64(t.Repetition)/1000))
		})}, v1alpha1.ReasonConclusive, "every ratio is distinguished from noise or is equivalent (within spec.final.smallestDifferencePercent)"},
		{"too noisy", setup{nil, with(func(t record.Trial, r *record.Record) {
			noise := 1 + float64(t.Repetition)/100
			if t.Variant == "b" {
				noise = 1.04 - float64(t.Repetition)/125
			}
			set(t, r, curve[t.Clients]*noise)
		})}, v1alpha1.ReasonNotDistinguishable, "the measurements of these comparisons are too noisy to show a difference (at the 5 % level) or equivalence (within spec.final.smallestDifferencePercent): b against a (needs about 8 repetitions); "},
		{"docs/s that falls with the order of the runs", setup{repetitions(8), with(func(t record.Trial, r *record.Record) {
			if t.Phase == record.Final {
				set(t, r, r.Ingest.DocsPerSecond*(1-float64(t.Repetition)/50))
				r.StartedAt += int64(t.Repetition) * 200_000
			}
		})}, v1alpha1.ReasonOrderConfounded, "from the first to the last repetition"},

		{"another kernel", setup{nil, with(func(t record.Trial, r *record.Record) {
			if t.Variant == "b" {
				r.Nodes[0].Environment.Kernel = "6.9.1"
			}
		})}, v1alpha1.ReasonEnvironmentMismatch, "the compared cells differ in kernel (a: 6.8.0, b: 6.9.1), and the campaign does not declare these differences"},
		{"another kernel, accepted", setup{func(c *v1alpha1.BenchmarkCampaign) {
			c.Spec.AcceptedDifferences = []v1alpha1.EnvironmentField{"kernel"}
		}, with(func(t record.Trial, r *record.Record) {
			if t.Variant == "b" {
				r.Nodes[0].Environment.Kernel = "6.9.1"
			}
		})}, v1alpha1.ReasonConclusive, ""},
		{"never steady where a steady part is asked for", setup{nil, with(func(t record.Trial, r *record.Record) {
			if t.Phase == record.Final && t.Variant == "a" && t.Repetition < 3 {
				r.Ingest.WindowNote = "the warm-up would take more than half of the load"
			}
		})}, v1alpha1.ReasonNotSteady, "no steady part of the load was found in these cells, so docs/s covers the whole load: a (Final 1: the warm-up would take more than half of the load; number of other trials with this problem: 1)"},
		{"a failed OpenLoop", setup{func(c *v1alpha1.BenchmarkCampaign) {
			c.Spec.Final.OpenLoop = &v1alpha1.OpenLoop{}
			c.Spec.Workload.OSB.TargetThroughputParam = "rate"
		}, fail(func(t record.Trial) bool { return t.Phase == record.OpenLoop && t.Variant == "b" })},
			v1alpha1.ReasonTrialsFailed, "these trials have no valid measurement: b OpenLoop; fix the cause"},
		{"too few placements", setup{func(c *v1alpha1.BenchmarkCampaign) {
			three := int32(3)
			c.Spec.Final.Placements = &three
		}, plain}, v1alpha1.ReasonTooFewRepetitions,
			"these comparisons have too few valid placements (no error, no failed gate), so that no difference can be distinguished from noise: b against a (3 and 3); set spec.final.placements to at least 4"},
		{"placements that share a machine", setup{func(c *v1alpha1.BenchmarkCampaign) {
			four := int32(4)
			c.Spec.Final.Placements = &four
		}, with(func(t record.Trial, r *record.Record) {
			if len(r.Nodes) > 0 && t.Variant == "b" && t.Placement == 4 {
				r.Nodes[0].Environment.Host = "node-b"
			}
		})}, v1alpha1.ReasonPlacementsShared, "ran on the same machines, so the intervals do not cover the variation from machine to machine: b (4 placements on 3 machines); "},
		{"placements that all are on one machine", setup{func(c *v1alpha1.BenchmarkCampaign) {
			four := int32(4)
			c.Spec.Final.Placements = &four
		}, with(func(_ record.Trial, r *record.Record) { r.Nodes[0].Environment.Host = "alone" })},
			v1alpha1.ReasonPlacementsShared, "ran on the same machines, so the intervals do not cover the variation from machine to machine: a (4 placements on 1 machine), b (4 placements on 1 machine); "},
		{"placements on machines of their own", setup{func(c *v1alpha1.BenchmarkCampaign) {
			four := int32(4)
			c.Spec.Final.Placements = &four
		}, plain}, v1alpha1.ReasonConclusive, ""},
		{"placements on machines that are not known", setup{func(c *v1alpha1.BenchmarkCampaign) {
			four := int32(4)
			c.Spec.Final.Placements = &four
		}, with(func(_ record.Trial, r *record.Record) { r.Nodes[0].Environment.Host = "" })}, v1alpha1.ReasonConclusive, ""},
		{"one variant compares nothing", setup{func(c *v1alpha1.BenchmarkCampaign) {
			c.Spec.Variants, c.Spec.Baseline = c.Spec.Variants[:1], ""
		}, plain}, v1alpha1.ReasonConclusive, "every knee was found"},
		{"a Final of a placement that failed", setup{func(c *v1alpha1.BenchmarkCampaign) {
			five := int32(5)
			c.Spec.Final.Placements = &five
		}, fail(func(t record.Trial) bool { return t.Placement == 2 && t.Repetition == 1 && t.Variant == "a" })},
			v1alpha1.ReasonTrialsFailed, "a Final 1 of placement 2"},
		{"fixed client counts have no knee", setup{func(c *v1alpha1.BenchmarkCampaign) {
			repetitions(6)(c)
			c.Spec.Sweep.Mode = v1alpha1.SweepFixed
		}, plain}, v1alpha1.ReasonConclusive, "every cell was measured at every client count"},
		{"fixed client counts, too few repetitions for three ratios", setup{func(c *v1alpha1.BenchmarkCampaign) {
			c.Spec.Sweep.Mode = v1alpha1.SweepFixed
		}, plain}, v1alpha1.ReasonTooFewRepetitions, "b against a at 1 clients (4 and 4), b against a at 2 clients (4 and 4)"},
		{"a gated Final at a fixed client count", setup{func(c *v1alpha1.BenchmarkCampaign) {
			repetitions(7)(c)
			c.Spec.Sweep.Mode = v1alpha1.SweepFixed
		}, with(func(t record.Trial, r *record.Record) {
			if t.Phase == record.Final && t.Repetition == 2 && t.Clients == 4 && t.Variant == "a" {
				r.Nodes[0].CPU.IOWait = 40
			}
		})}, v1alpha1.ReasonTrialsGated, "the ratios do not include these trials, because a gate failed: a Final 2 at 4 clients"},
	} {
		c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
		retries := int32(0)
		c.Spec.Retries = &retries
		if tt.change != nil {
			tt.change(c)
		}
		_, a := campaigntest.Assess(c, tt.measure)
		ok, reason, message := doubts.Conclusive(a)
		if ok != (tt.reason == v1alpha1.ReasonConclusive) || reason != tt.reason || !strings.Contains(message, tt.message) {
			t.Errorf("%s: %t %s %q, want %s and %q", tt.name, ok, reason, message, tt.reason, tt.message)
		}
		if !a.Finished {
			t.Errorf("%s: %d of %d trials done, want all", tt.name, a.Done, a.Planned)
		}
	}
}

func TestConclusive_severalDoubts_listsAll(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	two := int32(2)
	c.Spec.Final.Repetitions = &two
	c.Spec.Loader.Placement = v1alpha1.LoaderShared
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record { return campaigntest.Measured(t, float64(100*t.Clients)) })
	ok, reason, message := doubts.Conclusive(a)
	if ok || reason != v1alpha1.ReasonPeakAtRangeEdge {
		t.Errorf("%t %s", ok, reason)
	}
	for _, part := range []string{"may give a higher peak: a (4 clients), b (4 clients); ", "spec.loader.placement", "at least 4"} {
		if !strings.Contains(message, part) {
			t.Errorf("%q is not in %q", part, message)
		}
	}
	if strings.Contains(message, "too noisy") {
		t.Errorf("too few repetitions and no difference are one doubt, not two: %q", message)
	}
	a = campaign.Assess(plan.Build(c), c.Spec, nil)
	if ok, reason, message := doubts.Conclusive(a); ok || reason != v1alpha1.ReasonNotFinished || message != fmt.Sprintf("0 of %d trials are done", a.Planned) {
		t.Errorf("unfinished: %t %s %q", ok, reason, message)
	}
}

// TestIntervalsShow_doubtsComeLast checks that a campaign has no doubt besides those that its intervals show, if the first doubt is one of
// these.
func TestIntervalsShow_doubtsComeLast(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	two := int32(2)
	c.Spec.Final.Repetitions = &two
	c.Spec.Loader.Placement = v1alpha1.LoaderShared
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record { return campaigntest.Measured(t, float64(100*t.Clients)) })
	shown := 0
	for _, d := range doubts.Doubts(a) {
		switch {
		case doubts.IntervalsShow(d.Reason):
			shown++
		case shown > 0:
			t.Errorf("%s comes after a doubt that the intervals show", d.Reason)
		}
	}
	if shown == 0 || shown == len(doubts.Doubts(a)) {
		t.Errorf("the intervals show %d of %d doubts, want some", shown, len(doubts.Doubts(a)))
	}
}

func TestDoubts_manyCells_messagesStayShort(t *testing.T) {
	var variants []string
	for i := range 8 {
		variants = append(variants, fmt.Sprintf("variant-number-%d-with-a-long-name", i)[:30])
	}
	c := campaigntest.Campaign(variants, []string{"t1", "t2", "t3", "t4"}, 1, 2, 4)
	two := int32(2)
	c.Spec.Final.Repetitions = &two
	c.Spec.Loader.Placement = v1alpha1.LoaderShared
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		r := campaigntest.Measured(t, float64(100*t.Clients))
		e := &r.Nodes[0].Environment
		e.Kernel, e.THP, e.JVM, e.OpenSearch = "kernel of "+t.Variant, t.Variant, t.Variant, t.Variant
		e.Image, e.MaxFiles, e.HeapBytes = "sha256:"+strings.Repeat(t.Variant, 9), int64(len(t.Cell)+int(t.Variant[15])), 1<<30*int64(t.Variant[15])
		r.Loader.BusiestPercent = 100
		r.Ingest.WindowNote = strings.Repeat("the load was never steady ", 20)
		return r
	})
	for _, d := range doubts.Doubts(a) {
		if len(d.Message) > 1500 {
			t.Errorf("%s takes %d characters: %s", d.Reason, len(d.Message), d.Message)
		}
		if !strings.Contains(d.Message, ": ") {
			t.Errorf("%s does not say what to do: %s", d.Reason, d.Message)
		}
	}
	if _, reason, message := doubts.Conclusive(a); reason != v1alpha1.ReasonEnvironmentMismatch || !strings.Contains(message, "and 30 more") || len(message) > 5_000 {
		t.Errorf("%s, %d characters: %s", reason, len(message), message)
	}
}

// TestConclusive_noRatios_messageNamesNone checks that the message mentions no ratio if no cells are compared.
func TestConclusive_noRatios_messageNamesNone(t *testing.T) {
	c := campaigntest.Campaign([]string{"a"}, []string{"t"}, 1, 2, 4)
	_, a := campaigntest.Assess(c, func(t record.Trial) record.Record {
		return campaigntest.Measured(t, map[int32]float64{1: 50, 2: 110, 4: 100}[t.Clients])
	})
	if ok, _, message := doubts.Conclusive(a); !ok || message != "every knee was found (lowest stability 100 %)" {
		t.Errorf("%t, %q", ok, message)
	}
}
