package environment_test

import (
	"slices"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestDifferences_endpoints checks that differences between two endpoints are listed and are not suspect. They are
// two clusters that the campaign does not describe. At one endpoint, differences are suspect.
func TestDifferences_endpoints(t *testing.T) {
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
		benchmark := campaigntest.OnOnePool()
		for i, url := range c.urls {
			benchmark.Spec.Variants[i].Endpoint = &v1alpha1.Endpoint{URL: url}
		}
		p := plan.Build(benchmark)
		a := campaign.Assess(p, benchmark.Spec, campaigntest.MeasureAll(p, benchmark.Spec, campaigntest.WithEnvironment(other)))
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
