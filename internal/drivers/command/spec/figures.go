package spec

import (
	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/command/parser"
)

// figures returns the selectors of the figures, and the name of the field that holds them.
func (c command) figures() (figures commandconfig.Figures, name string) {
	switch {
	case c.JSON != nil:
		return jsonFigures(*c.JSON), "json"
	case c.Text != nil:
		return textFigures(*c.Text), "text"
	}
	preset, _ := parser.Preset(string(c.Preset))
	return preset.Figures, "preset"
}

func jsonFigures(in v1alpha1.JSONFigures) commandconfig.Figures {
	out := commandconfig.Figures{
		Throughput: jsonFigure("", in.Throughput),
		Operations: string(in.Operations), Failures: string(in.Failures), Seconds: string(in.Seconds),
	}
	if l := in.Latency; l != nil {
		out.LatencyUnit = string(l.Unit)
		out.Latency = latencies(l.Min, l.Mean, l.P50, l.P90, l.P99, l.P999, l.Max)
	}
	for _, m := range in.Metrics {
		out.Metrics = append(out.Metrics, jsonFigure(m.Name, m.JSONFigure))
	}
	return out
}

func jsonFigure(name v1alpha1.Name, f v1alpha1.JSONFigure) commandconfig.Figure {
	return commandconfig.Figure{Name: string(name), Selector: string(f.Path), Unit: string(f.Unit)}
}

func textFigures(in v1alpha1.TextFigures) commandconfig.Figures {
	out := commandconfig.Figures{
		Throughput: textFigure("", in.Throughput),
		Operations: string(in.Operations), Failures: string(in.Failures), Seconds: string(in.Seconds),
	}
	if l := in.Latency; l != nil {
		out.LatencyUnit = string(l.Unit)
		out.Latency = latencies(l.Min, l.Mean, l.P50, l.P90, l.P99, l.P999, l.Max)
	}
	for _, m := range in.Metrics {
		out.Metrics = append(out.Metrics, textFigure(m.Name, m.TextFigure))
	}
	return out
}

func textFigure(name v1alpha1.Name, f v1alpha1.TextFigure) commandconfig.Figure {
	return commandconfig.Figure{Name: string(name), Selector: string(f.Pattern), Unit: string(f.Unit)}
}

// latencyNames are the names of the latencies' fields, in the order of the parameters of latencies.
var latencyNames = []string{"min", "mean", "p50", "p90", "p99", "p999", "max"}

// latencies returns the selectors that are set, by the names of their fields.
func latencies[T ~string](selectors ...T) map[string]string {
	out := map[string]string{}
	for i, selector := range selectors {
		if selector != "" {
			out[latencyNames[i]] = string(selector)
		}
	}
	return out
}
