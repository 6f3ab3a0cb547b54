package analysis

import (
	"github.com/google/cel-go/cel"

	"github.com/knee-bench/knee/internal/record"
)

// The fields of what gates.expressions see of a load that fills no index.

func loadLatency(v *view) record.Latency {
	if v.record.Load.Latency == nil {
		return record.Latency{}
	}
	return *v.record.Load.Latency
}

var loadFields = []viewField{
	always("rate", cel.DoubleType, "operations that succeeded a second, in unit", func(v *view) float64 { return v.record.Load.Rate }),
	always("unit", cel.StringType, "rows/s, calls/s, or as workload.command.json says", func(v *view) string { return v.record.Load.Unit }),
	some("seconds", cel.DoubleType, "length of the load", func(v *view) float64 { return v.record.Load.Seconds }),
	some("operations", cel.IntType, "that succeeded", func(v *view) int64 { return v.record.Load.Operations }),
	{"failures", "operations that did not; absent where the driver counted none", cel.IntType, func(v *view) any {
		if v.record.Load.FailuresUncounted {
			return nil
		}
		return v.record.Load.Failures
	}},
	some("mibPerSecond", cel.DoubleType, "payload, MiB/s", func(v *view) float64 { return v.record.Load.MiBs }),
	some("mean", cel.DoubleType, "latency of one request, ms", func(v *view) float64 { return loadLatency(v).Mean }),
	some("p50", cel.DoubleType, "latency of one request, ms", func(v *view) float64 { return loadLatency(v).P50 }),
	some("p90", cel.DoubleType, "latency of one request, ms", func(v *view) float64 { return loadLatency(v).P90 }),
	some("p99", cel.DoubleType, "latency of one request, ms", func(v *view) float64 { return loadLatency(v).P99 }),
	some("p999", cel.DoubleType, "latency of one request, ms", func(v *view) float64 { return loadLatency(v).P999 }),
	some("max", cel.DoubleType, "latency of one request, ms", func(v *view) float64 { return loadLatency(v).Max }),
	always("metrics", cel.MapType(cel.StringType, cel.DoubleType), "the campaign's own figures by name, as in trial.load.metrics['gc-seconds'] < 2; those that could not be had are not in it", loadMetrics),
	always("notes", cel.ListType(cel.StringType), "where the driver's figures contradict each other, or are missing", func(v *view) []string { return append([]string{}, v.record.Load.Notes...) }),
}

func loadMetrics(v *view) map[string]float64 {
	out := map[string]float64{}
	for _, m := range v.record.Load.Metrics {
		if m.Value != nil {
			out[m.Name] = *m.Value
		}
	}
	return out
}
