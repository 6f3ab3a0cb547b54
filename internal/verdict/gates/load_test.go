package gates_test

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

func TestJudgeFor(t *testing.T) {
	command := campaigntest.CommandCampaign([]string{"old"}, 100).Spec
	osb := campaigntest.Campaign([]string{"arm"}, []string{"t"}, 4).Spec
	osb.Gates = v1alpha1.Gates{}
	trial := record.Trial{Variant: "old", Clients: 100, Phase: record.Sweep}
	for _, tt := range []struct {
		name    string
		spec    v1alpha1.BenchmarkCampaignSpec
		change  func(*record.Record)
		verdict verdict.Verdict
		says    string
	}{
		{"fine", command, func(*record.Record) {}, verdict.Measured, ""},
		{"in another unit", command, func(r *record.Record) { r.Load.Unit = "rows/s" }, verdict.Errored, "the stored record of this trial has its rate in rows/s, but spec.workload gives a rate in calls/s"},
		{"of a campaign that fills an index", osb, func(*record.Record) {}, verdict.Errored, "in calls/s, but spec.workload gives a rate in docs/s"},
		{"an index where there is none", command, func(r *record.Record) { *r = campaigntest.Measured(trial, 5) }, verdict.Errored, "in docs/s, but spec.workload gives a rate in calls/s"},
		{"its own error comes first", osb, func(r *record.Record) {
			r.Error = &record.Error{Reason: record.ReasonDeadline, Message: "too late"}
		}, verdict.Errored, "too late"},
		{"no rate", command, func(r *record.Record) { r.Load.Rate = 0 }, verdict.Errored, "the driver reported the rate 0 calls/s, which is not a valid measurement"},
		{"no unit", command, func(r *record.Record) { r.Load.Unit = "" }, verdict.Errored, "without a unit"},
		{"nothing measured", command, func(r *record.Record) { r.Load = nil }, verdict.Errored, "the record of the trial has no figures of the load"},
		{"failures", command, func(r *record.Record) { r.Load.Failures = 15000 }, verdict.Gated, "above maxErrorRate 0"},
		{"failures that are allowed", with(command, v1alpha1.Gates{MaxErrorRate: v1alpha1.ToDecimal("0.02")}), func(r *record.Record) { r.Load.Failures = 15000 }, verdict.Measured, ""},
		{"neither operations nor failures told", command, func(r *record.Record) { r.Load.Operations = 0 }, verdict.Measured, ""},
		{"the same with a gate on them", with(command, v1alpha1.Gates{MaxErrorRate: v1alpha1.ToDecimal("0")}), func(r *record.Record) { r.Load.Operations = 0 }, verdict.Gated, "cannot be judged"},
		{"failures not counted", command, func(r *record.Record) { r.Load.FailuresUncounted = true }, verdict.Measured, ""},
		{"failures not counted, a gate on them", with(command, v1alpha1.Gates{MaxErrorRate: v1alpha1.ToDecimal("1")}), func(r *record.Record) { r.Load.FailuresUncounted = true }, verdict.Gated, "maxErrorRate 1 cannot be judged: the record has no ingest task and no count of failed operations"},
		{"failures not counted, an expression", with(command, expressions("trial.load.failures == 0")), func(r *record.Record) { r.Load.FailuresUncounted = true }, verdict.Gated, "cannot be judged"},
		{"no failures, an expression", with(command, expressions("trial.load.failures == 0 && trial.errorRate == 0.0")), func(*record.Record) {}, verdict.Measured, ""},
		{"gates on what only an index has", with(command, v1alpha1.Gates{MaxCVPercent: v1alpha1.ToDecimal("5")}), func(*record.Record) {}, verdict.Gated, "maxCVPercent 5 cannot be judged"},
		{"an expression", with(command, expressions("trial.load.rate > 900.0 && trial.load.p99 < 400 && !has(trial.docsPerSecond)")), func(*record.Record) {}, verdict.Measured, ""},
		{"one that fails", with(command, expressions("trial.load.metrics['gc'] < 2")), func(r *record.Record) {
			three := 3.0
			r.Load.Metrics = []record.Metric{{Name: "gc", Value: &three}}
		}, verdict.Gated, "this expression is not true: "},
		{"one on a metric that could not be had", with(command, expressions("trial.load.metrics['gc'] < 2")), func(r *record.Record) {
			r.Load.Metrics = []record.Metric{{Name: "gc", Note: "no answer"}}
		}, verdict.Gated, "cannot be judged"},
		{"one on an index", with(command, expressions("trial.docsPerSecond > 1")), func(*record.Record) {}, verdict.Gated, "docsPerSecond of the trial was not measured"},
		{"one on corrections", with(command, expressions("size(trial.load.notes) == 0")), func(r *record.Record) { r.Load.Notes = []string{"x"} }, verdict.Gated, "not true"},
	} {
		r := campaigntest.MeasuredLoad(trial, 15000, "calls/s")
		tt.change(&r)
		j := gates.JudgeFor(tt.spec, r)
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
