// Package spec implements the manager's side of the driver "command", which runs any program in its own image. The program's
// arguments contain a placeholder, which the agent replaces by the client count.
package spec

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/command/parser"
	"github.com/knee-bench/knee/internal/record"
)

type command struct{ *v1alpha1.Command }

// New returns the driver, and whether the campaign sets the field command.
func New(d v1alpha1.Drivers) (drivers.Spec, bool) { return command{d.Command}, d.Command != nil }

func (c command) Describe() string {
	switch {
	case c.JSON != nil:
		return "a program; its figures are in the JSON that it prints"
	case c.Text != nil:
		return "a program; patterns find its figures in the text that it prints"
	}
	return fmt.Sprintf("a program; its output is read as that of %s", c.Preset)
}

func (command) FillsIndex() bool { return false }

func (c command) Unit() string {
	f, _ := c.figures()
	return f.Throughput.Unit
}

func (c command) Override(v v1alpha1.Variant) {
	c.Command.Params = drivers.Merge(c.Command.Params, v.Params)
	c.Command.Image = cmp.Or(v.Image, c.Command.Image)
	c.Endpoint = parser.Expand(c.Endpoint, drivers.Texts(c.Command.Params))
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
		Command: c.Command.Command, Args: c.Args, Env: drivers.Texts(c.Env), Params: drivers.Texts(c.Command.Params), Preset: string(c.Preset),
	}
	switch figures, _ := c.figures(); {
	case c.JSON != nil:
		out.JSON = &figures
	case c.Text != nil:
		out.Text = &commandconfig.Text{
			Figures: figures, After: string(c.Text.After), SingleMatch: ptr.Deref(c.Text.SingleMatch, false),
			OptionalCounts: ptr.Deref(c.Text.OptionalCounts, false), IncludesFailures: ptr.Deref(c.Text.ThroughputIncludesFailures, false),
		}
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
