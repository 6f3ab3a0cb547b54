package spec_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	command "github.com/knee-bench/knee/internal/drivers/command/spec"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/test/wrappers"
)

func validate(c *v1alpha1.BenchmarkCampaign) field.ErrorList {
	driver, _ := command.New(c.Spec.Workload.Drivers)
	return driver.Validate(drivers.Campaign{Spec: c.Spec, Clients: plan.Clients(c.Spec.Sweep)})
}

func TestValidate_figures(t *testing.T) {
	metric := func(name, path string) v1alpha1.JSONMetric {
		return v1alpha1.JSONMetric{Name: v1alpha1.Name(name), JSONFigure: v1alpha1.JSONFigure{Path: v1alpha1.JSONPath(path), Unit: "x"}}
	}
	for _, tt := range []struct {
		name       string
		json       v1alpha1.JSONFigures
		prometheus *v1alpha1.Prometheus
		want       []string
	}{
		{"valid paths", v1alpha1.JSONFigures{
			Throughput: v1alpha1.JSONFigure{Path: "$.rate"}, Operations: "$['a b'][0]", Metrics: []v1alpha1.JSONMetric{metric("a", "$.a"), metric("b", "$..b[?@.c==1].d")},
		}, &v1alpha1.Prometheus{Queries: []v1alpha1.PrometheusQuery{{Name: "c"}}}, nil},
		{"invalid paths", v1alpha1.JSONFigures{
			Throughput: v1alpha1.JSONFigure{Path: "$..["}, Seconds: "$a", Latency: &v1alpha1.JSONLatency{P99: "$."}, Metrics: []v1alpha1.JSONMetric{metric("a", "$[")},
		}, nil, []string{
			"spec.workload.command.json.throughput.path", "spec.workload.command.json.seconds", "spec.workload.command.json.latency.p99",
			"spec.workload.command.json.metrics[0].path",
		}},
		{"two metrics of one name", v1alpha1.JSONFigures{Throughput: v1alpha1.JSONFigure{Path: "$.rate"}, Metrics: []v1alpha1.JSONMetric{metric("a", "$.a")}},
			&v1alpha1.Prometheus{Queries: []v1alpha1.PrometheusQuery{{Name: "b"}, {Name: "a"}}},
			[]string{"spec.workload.command.prometheus.queries[1].name"}},
	} {
		c := wrappers.MakeCampaign("x").Variant("a").Obj()
		c.Spec.Workload = v1alpha1.Workload{Drivers: v1alpha1.Drivers{Command: &v1alpha1.Command{Args: []string{"$(KNEE_CLIENTS)"}, JSON: &tt.json, Prometheus: tt.prometheus}}}
		var got []string
		for _, err := range validate(c) {
			got = append(got, err.Field)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestValidate_patterns(t *testing.T) {
	text := &v1alpha1.TextFigures{
		Throughput: v1alpha1.TextFigure{Pattern: "rate ([0-9.]+)", Unit: "ops/s"}, Failures: "(", Seconds: "no group", After: "^summary",
		Latency: &v1alpha1.TextLatency{Unit: "ms", P99: "(a{1000})"},
		Metrics: []v1alpha1.TextMetric{{Name: "gc", TextFigure: v1alpha1.TextFigure{Pattern: "(?!x)(y)", Unit: "ms"}}},
	}
	c := wrappers.MakeCampaign("x").Variant("a").Obj()
	c.Spec.Workload = v1alpha1.Workload{Drivers: v1alpha1.Drivers{Command: &v1alpha1.Command{Args: []string{"$(KNEE_CLIENTS)"}, Text: text,
		Prometheus: &v1alpha1.Prometheus{Queries: []v1alpha1.PrometheusQuery{{Name: "gc"}}}}}}
	fields := func() (got []string) {
		for _, err := range validate(c) {
			got = append(got, strings.TrimPrefix(err.Field, "spec.workload.command."))
		}
		return got
	}
	if got, want := fields(), []string{"text.failures", "text.seconds", "text.latency.p99", "text.metrics[0].pattern", "prometheus.queries[0].name"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	c.Spec.Workload.Command.Text, c.Spec.Workload.Command.Preset = nil, v1alpha1.PresetFreon
	if got := fields(); len(got) > 0 {
		t.Errorf("the preset is refused: %v", got)
	}
	c.Spec.Workload.Command.Prometheus.Queries[0].Name = "p75"
	if got := fields(); !slices.Equal(got, []string{"prometheus.queries[0].name"}) {
		t.Errorf("a query with the name of a metric of the preset: %v", got)
	}
}

// TestValidate_clients checks that a program must get its client count. Otherwise its load would be the same at each
// count.
func TestValidate_clients(t *testing.T) {
	one, two := []int32{8}, []int32{8, 16}
	for name, tt := range map[string]struct {
		change  func(*v1alpha1.Command)
		clients []int32
		perPod  *int32
		missing bool
	}{
		"nowhere":            {func(*v1alpha1.Command) {}, two, nil, true},
		"an argument":        {func(c *v1alpha1.Command) { c.Args = []string{"-n", "5", "--threads=$(KNEE_CLIENTS)"} }, two, nil, false},
		"the command":        {func(c *v1alpha1.Command) { c.Command = []string{"sh", "-c", "load -t $(KNEE_CLIENTS)"} }, two, nil, false},
		"the environment":    {func(c *v1alpha1.Command) { c.Env = map[string]v1alpha1.ParamValue{"THREADS": "$(KNEE_CLIENTS)"} }, two, nil, false},
		"the text of it":     {func(c *v1alpha1.Command) { c.Args = []string{"-t", "$$(KNEE_CLIENTS)"} }, two, nil, true},
		"a shell's variable": {func(c *v1alpha1.Command) { c.Args = []string{"-t", "$KNEE_CLIENTS ${KNEE_CLIENTS}"} }, two, nil, true},
		"a parameter, not replaced": {func(c *v1alpha1.Command) {
			c.Params, c.Args = map[string]v1alpha1.ParamValue{"t": "$(KNEE_CLIENTS)"}, []string{"-t", "$(t)"}
		}, two, nil, true},
		"a query": {func(c *v1alpha1.Command) {
			c.Prometheus = &v1alpha1.Prometheus{Queries: []v1alpha1.PrometheusQuery{{Name: "q", Query: "$(KNEE_CLIENTS)"}}}
		}, two, nil, true},
		"one count":                    {func(*v1alpha1.Command) {}, one, nil, false},
		"one count, over several pods": {func(*v1alpha1.Command) {}, one, ptr.To[int32](4), true},
	} {
		w := wrappers.MakeCampaign("x").Variant("a").Command("a:1", "a").Clients(tt.clients...)
		w.Spec.Workload.ClientsPerPod = tt.perPod
		w.Spec.Workload.Command.Args = nil
		tt.change(w.Spec.Workload.Command)
		errs := validate(w.Obj())
		if !tt.missing && len(errs) == 0 {
			continue
		}
		if !tt.missing || len(errs) != 1 || errs[0].Field != "spec.workload.command.args" || !strings.Contains(errs[0].Detail, "$(KNEE_CLIENTS)") {
			t.Errorf("%s: %v", name, errs)
		}
	}
	ranged := wrappers.MakeCampaign("x").Variant("a").Command("a:1", "a")
	ranged.Spec.Workload.Command.Args = nil
	ranged.Spec.Sweep = v1alpha1.Sweep{Range: &v1alpha1.ClientRange{Min: 4, Max: 8, Step: 4}}
	if errs := validate(ranged.Obj()); len(errs) != 1 {
		t.Errorf("a range: %v", errs)
	}
}

// TestValidate_noReader_fails checks a campaign that was stored with the removed field parser: the API server has dropped the field, and
// checks the rule of the schema only when the spec is changed.
func TestValidate_noReader_fails(t *testing.T) {
	c := wrappers.MakeCampaign("x").Variant("a").Command("a:1", "a").Obj()
	c.Spec.Workload.Command.Preset = ""
	if errs := validate(c); len(errs) != 1 || errs[0].Field != "spec.workload.command" || !strings.Contains(errs[0].Detail, "set json, text or preset") {
		t.Errorf("%v", errs)
	}
}
