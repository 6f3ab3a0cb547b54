package report

import (
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// ofIndex are the figures, as measures and as columns, that only a load that fills an index has.
var ofIndex = []string{
	"whole_docs_per_second", "drained_docs_per_second", "osb_docs_per_second", "window", "window_note", "documents", "total_indexed",
	"index_failed", "count", "corpus", "bulk_size", "index_bytes", "rejections", "rejections_write_pool", "rejections_indexing_pressure",
	"rejections_shard_pressure", "rejections_admission_control", "rejections_circuit_breakers", "rejections_segment_replication", "rejections_remote_store", "requests", "cpu_seconds_per_million_documents",
	"osb_run_id", "primaries", "replicas", "refresh_interval", "settings_digest", "target_docs_per_second", "steady_seconds", "cv_percent",
	"segments", "merges", "merge_seconds", "merged_mib", "merge_throttle_seconds", "refresh_seconds", "flush_seconds",
	"write_pool_threads", "write_pool_active_max", "write_pool_queue_max",
	"service_time_p50_ms", "service_time_p90_ms", "service_time_p99_ms", "target_throughput",
}

// named is a figure's name in a campaign's files: docs_per_second is rate where the load counts something else.
func named(in Input, figure string) string {
	if fillsIndex(in) {
		return figure
	}
	return strings.Replace(figure, rateMeasure, "rate", 1)
}

// measuresOf are the measures that a campaign's load can have.
func measuresOf(in Input) []measure {
	if fillsIndex(in) {
		return measures
	}
	var out []measure
	for _, m := range measures {
		if slices.Contains(ofIndex, m.name) {
			continue
		}
		m.name, m.unit = named(in, m.name), strings.Replace(m.unit, "docs/s", unit(in), 1)
		switch m.name {
		case "rate":
			m.help = "operations that succeeded a second, by the driver"
		case "payload_mib_per_second":
			m.help = "by the driver"
		case "rate_per_cpu_percent":
			m.help = strings.Replace(m.help, "docs/s", unit(in), 1)
		}
		if strings.HasPrefix(m.name, "latency_") {
			m.help = "of one request; in a closed loop the reciprocal of the rate"
		}
		out = append(out, m)
	}
	out = append(out,
		measure{"operations", "", "that succeeded", ofLoad(func(l record.Load) float64 { return float64(l.Operations) })},
		measure{"failed_operations", "", "that did not", ofLoad(func(l record.Load) float64 { return float64(l.Failures) })},
		measure{"latency_mean_ms", "ms", "of one request", ofLatency(func(l record.Latency) float64 { return l.Mean })},
		measure{"latency_max_ms", "ms", "of one request", ofLatency(func(l record.Latency) float64 { return l.Max })},
	)
	for _, name := range metricNames(in) {
		out = append(out, metricMeasure(in, name))
	}
	return out
}

func ofLoad(of func(record.Load) float64) func(record.Record) float64 {
	return func(r record.Record) float64 {
		if r.Load == nil {
			return math.NaN()
		}
		return nonZero(of(*r.Load))
	}
}

// metricMeasure is one of the campaign's own figures.
func metricMeasure(in Input, name string) measure {
	of := ""
	for _, o := range in.Assessment.Outcomes {
		if m := metricOf(o.Record, name); m != nil && m.Unit != "" {
			of = m.Unit
		}
	}
	return measure{"metric_" + name, of, "a metric that the campaign asks for", func(r record.Record) float64 {
		if m := metricOf(&r, name); m != nil && m.Value != nil {
			return *m.Value
		}
		return math.NaN()
	}}
}

func metricOf(r *record.Record, name string) *record.Metric {
	if r == nil || r.Load == nil {
		return nil
	}
	for i, m := range r.Load.Metrics {
		if m.Name == name {
			return &r.Load.Metrics[i]
		}
	}
	return nil
}

// metricNames are those of the records that count, in alphabetical order.
func metricNames(in Input) []string {
	var out []string
	for _, o := range in.Assessment.Outcomes {
		if o.Record != nil && o.Record.Load != nil {
			for _, m := range o.Record.Load.Metrics {
				out = append(out, m.Name)
			}
		}
	}
	return unique(out)
}
