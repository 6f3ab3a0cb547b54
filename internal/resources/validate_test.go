package resources_test

import (
	"slices"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// A path that is none, and two metrics of one name, would be found by the first trial only.
func TestValidateFigures(t *testing.T) {
	metric := func(name, path string) v1alpha1.JSONMetric {
		return v1alpha1.JSONMetric{Name: v1alpha1.Name(name), JSONFigure: v1alpha1.JSONFigure{Path: v1alpha1.JSONPath(path), Unit: "x"}}
	}
	for _, tt := range []struct {
		name       string
		json       v1alpha1.JSONFigures
		prometheus *v1alpha1.Prometheus
		want       []string
	}{
		{"paths", v1alpha1.JSONFigures{
			Throughput: v1alpha1.JSONFigure{Path: "$.rate"}, Operations: "$['a b'][0]", Metrics: []v1alpha1.JSONMetric{metric("a", "$.a"), metric("b", "$..b[?@.c==1].d")},
		}, &v1alpha1.Prometheus{Queries: []v1alpha1.PrometheusQuery{{Name: "c"}}}, nil},
		{"no paths", v1alpha1.JSONFigures{
			Throughput: v1alpha1.JSONFigure{Path: "$..["}, Seconds: "$a", Latency: &v1alpha1.JSONLatency{P99: "$."}, Metrics: []v1alpha1.JSONMetric{metric("a", "$[")},
		}, nil, []string{
			"spec.workload.command.json.throughput.path", "spec.workload.command.json.seconds", "spec.workload.command.json.latency.p99",
			"spec.workload.command.json.metrics[0].path",
		}},
		{"one name twice", v1alpha1.JSONFigures{Throughput: v1alpha1.JSONFigure{Path: "$.rate"}, Metrics: []v1alpha1.JSONMetric{metric("a", "$.a")}},
			&v1alpha1.Prometheus{Queries: []v1alpha1.PrometheusQuery{{Name: "b"}, {Name: "a"}}},
			[]string{"spec.workload.command.prometheus.queries[1].name"}},
	} {
		c := wrappers.MakeCampaign("x").Variant("a").Obj()
		c.Spec.Workload = v1alpha1.Workload{Command: &v1alpha1.Command{JSON: &tt.json, Prometheus: tt.prometheus}}
		var got []string
		for _, err := range resources.Validate(c, options) {
			got = append(got, err.Field)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
