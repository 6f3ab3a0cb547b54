package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Two endpoints are two clusters, of which the campaign says nothing: what they show of themselves is listed and makes no
// comparison suspect. One endpoint is one cluster.
func TestDifferencesOfEndpoints(t *testing.T) {
	other := func(r *record.Record) {
		e := &r.Nodes[0].Environment
		e.JVM, e.OpenSearch, e.HeapBytes, e.Processors, e.Mlockall, e.Arch = "another", "2.19.0 abc", 8<<30, 2, !e.Mlockall, "arm64"
	}
	for name, c := range map[string]struct {
		urls    [2]string
		suspect bool
	}{
		"two endpoints": {[2]string{"https://one.example", "https://two.example"}, false},
		"one endpoint":  {[2]string{"https://one.example", "https://one.example"}, true},
	} {
		campaign := onOnePool()
		for i, url := range c.urls {
			campaign.Spec.Variants[i].Endpoint = &v1alpha1.Endpoint{URL: url}
		}
		p := plan.Build(campaign)
		a := analysis.Assess(p, campaign.Spec, analysistest.MeasureAll(p, campaign.Spec, fingerprinted(other)))
		got := list(a.Differences)
		for _, field := range []string{"architecture", "jvm", "opensearch", "heap", "processors", "mlockall"} {
			want := field + " declared"
			if c.suspect {
				want = field + " suspect"
			}
			if !slices.Contains(got, want) {
				t.Errorf("%s: %q is not among %q", name, want, got)
			}
		}
	}
}

// Of an endpoint's machines nothing is known: no gate that looks at them is passed, should one get past admission.
func TestGatesOnWhatAnEndpointDoesNotShow(t *testing.T) {
	campaign := onOnePool()
	campaign.Spec.Gates = v1alpha1.Gates{MaxCPUPercent: v1alpha1.ToDecimal("100"), MaxThrottledPercent: v1alpha1.ToDecimal("100"),
		Expressions: []v1alpha1.GateExpression{{Name: "calm", Expression: "trial.nodes.all(n, n.ioWaitPercent < 1000)"}}}
	p := plan.Build(campaign)
	bare := func(t record.Trial) record.Record {
		r := fingerprinted(func(*record.Record) {})(t)
		n := &r.Nodes[0]
		n.CPU, n.Pressure, n.Disk, n.Network, n.Throttled = nil, nil, nil, nil, nil
		return r
	}
	a := analysis.Assess(p, campaign.Spec, analysistest.MeasureAll(p, campaign.Spec, bare))
	for trial, o := range a.Outcomes {
		if trial.Phase == record.Sweep && len(o.Judgement.Failures) != 3 {
			t.Errorf("%v fails %v", trial, o.Judgement.Failures)
		}
	}
}

// Where the campaign wants it, gates on what an endpoint does not show are named instead of failed; the others judge, and
// what is wrong with an expression itself is no want of telemetry.
func TestGatesThatAreReportedInstead(t *testing.T) {
	campaign := onOnePool()
	variants := []string{string(campaign.Spec.Variants[0].Name)}
	bare := func(t record.Trial) record.Record {
		r := fingerprinted(func(*record.Record) {})(t)
		if n := &r.Nodes[0]; t.Variant == variants[0] {
			n.CPU, n.Pressure, n.Throttled = nil, nil, nil
		}
		return r
	}
	assess := func(gates v1alpha1.Gates) analysis.Assessment {
		campaign.Spec.Gates = gates
		p := plan.Build(campaign)
		return analysis.Assess(p, campaign.Spec, analysistest.MeasureAll(p, campaign.Spec, bare))
	}
	gates := v1alpha1.Gates{NotEvaluable: v1alpha1.NotEvaluableReport, MaxCPUPercent: v1alpha1.ToDecimal("100"),
		Expressions: []v1alpha1.GateExpression{{Name: "calm", Expression: "trial.nodes.all(n, n.ioWaitPercent < 1000)"}}}
	a := assess(gates)
	for trial, o := range a.Outcomes {
		want := 0
		if trial.Variant == variants[0] {
			want = 2
		}
		if o.Judgement.Verdict != analysis.Measured || len(o.Judgement.NotEvaluable) != want || len(o.Judgement.Notes()) != want {
			t.Errorf("%v: %+v", trial, o.Judgement)
		}
	}
	if doubts := doubtsOf(a, v1alpha1.ReasonGatesNotEvaluable); len(doubts) != 1 || !strings.Contains(doubts[0], "calm of "+variants[0]+", maxCPUPercent of "+variants[0]+";") {
		t.Errorf("%q", doubts)
	}
	if ok, reason, message := a.Conclusive(); ok || reason != v1alpha1.ReasonGatesNotEvaluable {
		t.Errorf("%t %s: %s", ok, reason, message)
	}
	gates.Expressions[0].Expression = "trial.clients / 0 == 1"
	for trial, o := range assess(gates).Outcomes {
		if trial.Phase != record.Warmup && o.Judgement.Verdict != analysis.Gated {
			t.Errorf("an expression that divides by zero: %v is %s", trial, o.Judgement.Verdict)
		}
	}
	gates.Expressions, gates.MaxCPUPercent = nil, nil
	if doubts := doubtsOf(assess(gates), v1alpha1.ReasonGatesNotEvaluable); len(doubts) != 0 {
		t.Errorf("nothing is to be evaluated: %q", doubts)
	}
}

// The CPU that a node reports of itself is judged where no probe tells it.
func TestCPUGate_reportedByNodes(t *testing.T) {
	campaign := onOnePool()
	campaign.Spec.Gates = v1alpha1.Gates{MaxCPUPercent: v1alpha1.ToDecimal("80")}
	p := plan.Build(campaign)
	for _, tt := range []struct {
		mean float64
		want analysis.Verdict
	}{{80, analysis.Measured}, {80.5, analysis.Gated}} {
		a := analysis.Assess(p, campaign.Spec, analysistest.MeasureAll(p, campaign.Spec, func(t record.Trial) record.Record {
			r := fingerprinted(func(*record.Record) {})(t)
			r.Nodes[0].CPU, r.Nodes[0].ReportedCPU = nil, &record.ReportedCPU{Mean: tt.mean, Min: 10, Max: 100, Samples: 6}
			return r
		}))
		for trial, o := range a.Outcomes {
			if trial.Phase != record.Warmup && o.Judgement.Verdict != tt.want {
				t.Errorf("%v at %v %%: %s %v", trial, tt.mean, o.Judgement.Verdict, o.Judgement.Failures)
			}
		}
	}
}

func doubtsOf(a analysis.Assessment, reason string) []string {
	var out []string
	for _, d := range a.Doubts() {
		if d.Reason == reason {
			out = append(out, d.Message)
		}
	}
	return out
}
