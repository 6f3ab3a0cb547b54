package analysis_test

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// A load that fills no index goes through all of the analysis in its own unit.
func TestLoadWithoutAnIndex(t *testing.T) {
	c := analysistest.CommandCampaign([]string{"old", "new"}, 50, 100, 200)
	_, a := measureAll(c, func(trial record.Trial) record.Record {
		rate := map[int32]float64{50: 12000, 100: 15000, 200: 15100}[trial.Clients]
		if trial.Variant == "new" {
			rate *= 1.3
		}
		return analysistest.MeasuredLoad(trial, rate*(1+float64(trial.Repetition)/1000), "calls/s")
	})
	if a.Unit != "calls/s" || !a.Finished || a.Shared["default"].Clients != 100 {
		t.Errorf("unit %q, finished %t, shared %+v", a.Unit, a.Finished, a.Shared)
	}
	if len(a.Ratios) != 1 || a.Ratios[0].Verdict != analysis.Faster {
		t.Fatalf("ratios %+v", a.Ratios)
	}
	near(t, "ratio", a.Ratios[0].Ratio, 1.3, 0.003)
	if len(a.Tasks) != 0 {
		t.Errorf("ratios of tasks of a load that has none: %+v", a.Tasks)
	}
}

func TestJudgeOfLoads(t *testing.T) {
	command := analysistest.CommandCampaign([]string{"old"}, 100).Spec
	osb := analysistest.Campaign([]string{"arm"}, []string{"t"}, 4).Spec
	osb.Gates = v1alpha1.Gates{}
	trial := record.Trial{Variant: "old", Clients: 100, Phase: record.Sweep}
	for _, tt := range []struct {
		name    string
		spec    v1alpha1.BenchmarkCampaignSpec
		change  func(*record.Record)
		verdict analysis.Verdict
		says    string
	}{
		{"fine", command, func(*record.Record) {}, analysis.Measured, ""},
		{"in another unit", command, func(r *record.Record) { r.Load.Unit = "rows/s" }, analysis.Errored, "the record's rate is in rows/s, and the campaign's in calls/s"},
		{"of a campaign that fills an index", osb, func(*record.Record) {}, analysis.Errored, "in calls/s, and the campaign's in docs/s"},
		{"an index where there is none", command, func(r *record.Record) { *r = analysistest.Measured(trial, 5) }, analysis.Errored, "in docs/s, and the campaign's in calls/s"},
		{"its own error comes first", osb, func(r *record.Record) {
			r.Error = &record.Error{Reason: record.ReasonDeadline, Message: "too late"}
		}, analysis.Errored, "too late"},
		{"no rate", command, func(r *record.Record) { r.Load.Rate = 0 }, analysis.Errored, "a rate of 0 calls/s is no measurement"},
		{"no unit", command, func(r *record.Record) { r.Load.Unit = "" }, analysis.Errored, "has no unit"},
		{"nothing measured", command, func(r *record.Record) { r.Load = nil }, analysis.Errored, "no load was measured"},
		{"failures", command, func(r *record.Record) { r.Load.Failures = 15000 }, analysis.Gated, "above maxErrorRate 0"},
		{"failures that are allowed", with(command, v1alpha1.Gates{MaxErrorRate: v1alpha1.ToDecimal("0.02")}), func(r *record.Record) { r.Load.Failures = 15000 }, analysis.Measured, ""},
		{"neither operations nor failures told", command, func(r *record.Record) { r.Load.Operations = 0 }, analysis.Measured, ""},
		{"the same with a gate on them", with(command, v1alpha1.Gates{MaxErrorRate: v1alpha1.ToDecimal("0")}), func(r *record.Record) { r.Load.Operations = 0 }, analysis.Gated, "cannot be judged"},
		{"failures not counted", command, func(r *record.Record) { r.Load.FailuresUncounted = true }, analysis.Measured, ""},
		{"failures not counted, a gate on them", with(command, v1alpha1.Gates{MaxErrorRate: v1alpha1.ToDecimal("1")}), func(r *record.Record) { r.Load.FailuresUncounted = true }, analysis.Gated, "maxErrorRate 1 cannot be judged: the record has no ingest task, nor a count of failed operations"},
		{"failures not counted, an expression", with(command, expressions("trial.load.failures == 0")), func(r *record.Record) { r.Load.FailuresUncounted = true }, analysis.Gated, "cannot be judged"},
		{"no failures, an expression", with(command, expressions("trial.load.failures == 0 && trial.errorRate == 0.0")), func(*record.Record) {}, analysis.Measured, ""},
		{"gates on what only an index has", with(command, v1alpha1.Gates{MaxCVPercent: v1alpha1.ToDecimal("5")}), func(*record.Record) {}, analysis.Gated, "maxCVPercent 5 cannot be judged"},
		{"an expression", with(command, expressions("trial.load.rate > 900.0 && trial.load.p99 < 400 && !has(trial.docsPerSecond)")), func(*record.Record) {}, analysis.Measured, ""},
		{"one that fails", with(command, expressions("trial.load.metrics['gc'] < 2")), func(r *record.Record) {
			three := 3.0
			r.Load.Metrics = []record.Metric{{Name: "gc", Value: &three}}
		}, analysis.Gated, "not true that"},
		{"one on a metric that could not be had", with(command, expressions("trial.load.metrics['gc'] < 2")), func(r *record.Record) {
			r.Load.Metrics = []record.Metric{{Name: "gc", Note: "no answer"}}
		}, analysis.Gated, "cannot be judged"},
		{"one on an index", with(command, expressions("trial.docsPerSecond > 1")), func(*record.Record) {}, analysis.Gated, "docsPerSecond of the trial was not measured"},
		{"one on corrections", with(command, expressions("size(trial.load.notes) == 0")), func(r *record.Record) { r.Load.Notes = []string{"x"} }, analysis.Gated, "not true"},
	} {
		r := analysistest.MeasuredLoad(trial, 15000, "calls/s")
		tt.change(&r)
		j := analysis.JudgeFor(tt.spec, r)
		says := ""
		if len(j.Failures) > 0 {
			says = j.Failures[0].Message
		}
		if j.Verdict != tt.verdict || !strings.Contains(says, tt.says) || tt.says == "" && says != "" {
			t.Errorf("%s: %s %q, want %s %q", tt.name, j.Verdict, says, tt.verdict, tt.says)
		}
	}
}

func with(spec v1alpha1.BenchmarkCampaignSpec, g v1alpha1.Gates) v1alpha1.BenchmarkCampaignSpec {
	spec.Gates = g
	return spec
}

// A comparison of a cell that the campaign leaves out makes no interval wider.
func TestComparisonsOfCellsThatAreThere(t *testing.T) {
	c := analysistest.Campaign([]string{"a", "b", "c"}, []string{"small", "large"}, 4)
	c.Spec.Comparisons = []v1alpha1.Comparison{{
		Cell:     v1alpha1.CellName{Variant: "a", Topology: "small"},
		Baseline: v1alpha1.CellName{Variant: "b", Topology: "large"},
	}}
	p := plan.Build(c)
	if got := analysis.Comparisons(c.Spec, p); got != 5 {
		t.Errorf("%d comparisons of all cells, want 5", got)
	}
	for i, cell := range p.Cells {
		if cell.Variant() == "b" && cell.Topology() == "large" {
			p.Cells = append(p.Cells[:i:i], p.Cells[i+1:]...)
			break
		}
	}
	if got := analysis.Comparisons(c.Spec, p); got != 3 {
		t.Errorf("%d comparisons without b on large, want 3", got)
	}
}
