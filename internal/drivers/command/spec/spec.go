// Package spec implements the manager's side of the driver "command", which runs any program in its own image. The program's
// arguments contain a placeholder, which the agent replaces by the client count.
package spec

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/record"
)

type command struct{ *v1alpha1.Command }

// New returns the driver, and whether the campaign sets the field command.
func New(d v1alpha1.Drivers) (drivers.Spec, bool) { return command{d.Command}, d.Command != nil }

func (c command) Describe() string {
	return fmt.Sprintf("a program; parser %s reads its output", c.Parser)
}

func (command) FillsIndex() bool { return false }

func (c command) Unit() string {
	if c.JSON != nil {
		return string(c.JSON.Throughput.Unit)
	}
	return "calls/s"
}

func (c command) Override(v v1alpha1.Variant) {
	c.Command.Params = drivers.Merge(c.Command.Params, v.Params)
	c.Command.Image = cmp.Or(v.Image, c.Command.Image)
}

func (c command) Params() map[string]v1alpha1.ParamValue { return c.Command.Params }

func (command) NeedsOpenSearch() bool { return false }

func (command) DefaultIndex() string { return "" }

func (command) Files() (*v1alpha1.WorkloadSource, *field.Path) { return nil, nil }

func (command) Duration(bool) (time.Duration, bool) { return 0, false }

func (command) CallTime() time.Duration { return 0 }

func (command) Documents(bool) (int64, bool) { return 0, false }

func (c command) Image(drivers.Images) string { return c.Command.Image }

func (command) HasAgent() bool { return false }

func (command) NodePorts() []int32 { return nil }

func (c command) Configure(cfg *record.Config, _ v1alpha1.BenchmarkCampaignSpec) {
	out := commandconfig.Config{
		Command: c.Command.Command, Args: c.Args, Env: drivers.Texts(c.Env), Params: drivers.Texts(c.Command.Params), Parser: string(c.Parser),
	}
	if c.JSON != nil {
		out.JSON = jsonFigures(*c.JSON)
	}
	if p := c.Prometheus; p != nil {
		out.Prometheus = &commandconfig.Prometheus{URL: p.URL}
		for _, q := range p.Queries {
			out.Prometheus.Queries = append(out.Prometheus.Queries,
				commandconfig.PrometheusQuery{Name: string(q.Name), Query: q.Query, Unit: string(q.Unit)})
		}
	}
	cfg.Driver = record.NewDriverConfig(commandconfig.Name, out)
}

func jsonFigures(in v1alpha1.JSONFigures) *commandconfig.JSONFigures {
	out := &commandconfig.JSONFigures{
		Throughput: jsonMetric("", in.Throughput),
		Operations: string(in.Operations), Failures: string(in.Failures), Seconds: string(in.Seconds),
	}
	if l := in.Latency; l != nil {
		out.LatencyUnit = string(l.Unit)
		out.Latency = map[string]string{}
		for _, p := range latencyPaths(*l) {
			if p.path != "" {
				out.Latency[p.name] = string(p.path)
			}
		}
	}
	for _, m := range in.Metrics {
		out.Metrics = append(out.Metrics, jsonMetric(string(m.Name), m.JSONFigure))
	}
	return out
}

func jsonMetric(name string, f v1alpha1.JSONFigure) commandconfig.JSONMetric {
	return commandconfig.JSONMetric{Name: name, Path: string(f.Path), Unit: string(f.Unit)}
}

type namedPath struct {
	name string
	path v1alpha1.JSONPath
}

// latencyPaths returns the paths of the latency figures with the names of their fields.
func latencyPaths(l v1alpha1.JSONLatency) []namedPath {
	return []namedPath{{"mean", l.Mean}, {"p50", l.P50}, {"p90", l.P90}, {"p99", l.P99}, {"p999", l.P999}, {"max", l.Max}}
}
