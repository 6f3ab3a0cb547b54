package resources

import (
	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// commandDriver is any program, in its own image. The agent puts the clients where its arguments name them.
type commandDriver struct{ *v1alpha1.Command }

func (d commandDriver) image(Options) string { return d.Image }

func (commandDriver) hasAgent() bool { return false }

func (commandDriver) from() (*v1alpha1.WorkloadSource, string) { return nil, "" }

func (d commandDriver) configure(cfg *record.Config, _ v1alpha1.BenchmarkCampaignSpec) {
	command := &record.CommandConfig{
		Command: d.Command.Command, Args: d.Args, Env: texts(d.Env), Params: texts(d.Params), Parser: string(d.Parser),
	}
	if d.JSON != nil {
		command.JSON = jsonFigures(*d.JSON)
	}
	if p := d.Prometheus; p != nil {
		command.Prometheus = &record.PrometheusConfig{URL: p.URL}
		for _, q := range p.Queries {
			command.Prometheus.Queries = append(command.Prometheus.Queries,
				record.PrometheusQuery{Name: string(q.Name), Query: q.Query, Unit: string(q.Unit)})
		}
	}
	cfg.Command = command
}

func jsonFigures(in v1alpha1.JSONFigures) *record.JSONFigures {
	out := &record.JSONFigures{
		Throughput: jsonMetric("", in.Throughput),
		Operations: string(in.Operations), Failures: string(in.Failures), Seconds: string(in.Seconds),
	}
	if l := in.Latency; l != nil {
		out.LatencyUnit = string(l.Unit)
		out.Latency = map[string]string{}
		for name, path := range map[string]v1alpha1.JSONPath{
			"mean": l.Mean, "p50": l.P50, "p90": l.P90, "p99": l.P99, "p999": l.P999, "max": l.Max,
		} {
			if path != "" {
				out.Latency[name] = string(path)
			}
		}
	}
	for _, m := range in.Metrics {
		out.Metrics = append(out.Metrics, jsonMetric(string(m.Name), m.JSONFigure))
	}
	return out
}

func jsonMetric(name string, f v1alpha1.JSONFigure) record.JSONMetric {
	return record.JSONMetric{Name: name, Path: string(f.Path), Unit: string(f.Unit)}
}
