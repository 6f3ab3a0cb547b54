package doubts_test

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
)

// TestGates_figuresUnknownAtEndpoint_fail checks gates on figures of an endpoint's machines, which are unknown. If
// admission did not refuse these gates, trials must fail them.
func TestGates_figuresUnknownAtEndpoint_fail(t *testing.T) {
	c := campaigntest.OnOnePool()
	c.Spec.Gates = v1alpha1.Gates{MaxCPUPercent: v1alpha1.ToDecimal("100"), MaxThrottledPercent: v1alpha1.ToDecimal("100"),
		Expressions: []v1alpha1.GateExpression{{Name: "calm", Expression: "trial.nodes.all(n, n.ioWaitPercent < 1000)"}}}
	p := plan.Build(c)
	bare := func(t record.Trial) record.Record {
		r := campaigntest.WithEnvironment(func(*record.Record) {})(t)
		n := &r.Nodes[0]
		n.CPU, n.Pressure, n.Disk, n.Network, n.Throttled = nil, nil, nil, nil, nil
		return r
	}
	a := campaign.Assess(p, c.Spec, campaigntest.MeasureAll(p, c.Spec, bare))
	for trial, o := range a.Outcomes {
		if trial.Phase == record.Sweep && len(o.Judgement.Failures) != 3 {
			t.Errorf("%v fails %v", trial, o.Judgement.Failures)
		}
	}
}

// TestGates_notEvaluableReport_areReported checks notEvaluable: Report. Gates on figures that an endpoint does not show are
// reported and do not fail. All other gates judge as usual, and an expression with an error still fails.
func TestGates_notEvaluableReport_areReported(t *testing.T) {
	c := campaigntest.OnOnePool()
	variants := []string{string(c.Spec.Variants[0].Name)}
	bare := func(t record.Trial) record.Record {
		r := campaigntest.WithEnvironment(func(*record.Record) {})(t)
		if n := &r.Nodes[0]; t.Variant == variants[0] {
			n.CPU, n.Pressure, n.Throttled = nil, nil, nil
		}
		return r
	}
	assess := func(gates v1alpha1.Gates) campaign.Assessment {
		c.Spec.Gates = gates
		p := plan.Build(c)
		return campaign.Assess(p, c.Spec, campaigntest.MeasureAll(p, c.Spec, bare))
	}
	gates := v1alpha1.Gates{NotEvaluable: v1alpha1.NotEvaluableReport, MaxCPUPercent: v1alpha1.ToDecimal("100"),
		Expressions: []v1alpha1.GateExpression{{Name: "calm", Expression: "trial.nodes.all(n, n.ioWaitPercent < 1000)"}}}
	a := assess(gates)
	for trial, o := range a.Outcomes {
		want := 0
		if trial.Variant == variants[0] {
			want = 2
		}
		if o.Judgement.Verdict != verdict.Measured || len(o.Judgement.NotEvaluable) != want || len(o.Judgement.Notes()) != want {
			t.Errorf("%v: %+v", trial, o.Judgement)
		}
	}
	if doubts := doubtsOf(a, v1alpha1.ReasonGatesNotEvaluable); len(doubts) != 1 || !strings.Contains(doubts[0], "calm for "+variants[0]+", maxCPUPercent for "+variants[0]+";") {
		t.Errorf("%q", doubts)
	}
	if ok, reason, message := doubts.Conclusive(a); ok || reason != v1alpha1.ReasonGatesNotEvaluable {
		t.Errorf("%t %s: %s", ok, reason, message)
	}
	gates.Expressions[0].Expression = "trial.clients / 0 == 1"
	for trial, o := range assess(gates).Outcomes {
		if trial.Phase != record.Warmup && o.Judgement.Verdict != verdict.Gated {
			t.Errorf("an expression that divides by zero: %v is %s", trial, o.Judgement.Verdict)
		}
	}
	gates.Expressions, gates.MaxCPUPercent = nil, nil
	if doubts := doubtsOf(assess(gates), v1alpha1.ReasonGatesNotEvaluable); len(doubts) != 0 {
		t.Errorf("nothing is to be evaluated: %q", doubts)
	}
}

// TestCPUGate_reportedByNodes checks that a gate judges the CPU that a node itself reports if there is no probe.
func TestCPUGate_reportedByNodes(t *testing.T) {
	c := campaigntest.OnOnePool()
	c.Spec.Gates = v1alpha1.Gates{MaxCPUPercent: v1alpha1.ToDecimal("80")}
	p := plan.Build(c)
	for _, tt := range []struct {
		mean float64
		want verdict.Verdict
	}{{80, verdict.Measured}, {80.5, verdict.Gated}} {
		a := campaign.Assess(p, c.Spec, campaigntest.MeasureAll(p, c.Spec, func(t record.Trial) record.Record {
			r := campaigntest.WithEnvironment(func(*record.Record) {})(t)
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

func doubtsOf(a campaign.Assessment, reason string) []string {
	var out []string
	for _, d := range doubts.Doubts(a) {
		if d.Reason == reason {
			out = append(out, d.Message)
		}
	}
	return out
}
