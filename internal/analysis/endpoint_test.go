package analysis_test

import (
	"slices"
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
