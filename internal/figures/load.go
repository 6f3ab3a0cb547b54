package figures

import (
	"slices"

	"github.com/knee-bench/knee/internal/record"
)

// loadFigures lists the figures that the driver reports about a load that does not fill an index.
var loadFigures = []Figure{
	{Name: "seconds", Field: "seconds", Of: Load, Unit: "s", Column: 17, In: OtherLoads, Help: "length of the load", Get: ofLoad(nonZero(func(l *record.Load) float64 { return l.Seconds }))},
	{Name: "operations", Field: "operations", Of: Load, Column: 144, Row: 44, In: OtherLoads, Help: "operations that succeeded", Get: ofLoad(nonZero(func(l *record.Load) int64 { return l.Operations }))},
	{Name: "failed_operations", Field: "failures", Of: Load, Column: 145, Row: 45, In: OtherLoads, Zero: ZeroNoRow, Help: "operations that failed; unknown where the driver does not count them", Get: ofLoad(func(l *record.Load) (int64, bool) {
		return l.Failures, !l.FailuresUncounted && l.Operations+l.Failures > 0
	})},
	{Name: "latency_mean_ms", Field: "mean", Of: Load, Unit: "ms", Column: 146, Row: 46, In: OtherLoads, Help: "mean latency of a request", Get: loadLatency(func(l *record.Latency) float64 { return l.Mean })},
	{Name: "latency_p50_ms", Field: "p50", Of: Load, Unit: "ms", Column: 49, Row: 15, In: OtherLoads, Help: "latency of a request, 50th percentile" + reciprocal, Get: loadLatency(func(l *record.Latency) float64 { return l.P50 })},
	{Name: "latency_p90_ms", Field: "p90", Of: Load, Unit: "ms", Column: 50, Row: 16, In: OtherLoads, Help: "latency of a request, 90th percentile" + reciprocal, Get: loadLatency(func(l *record.Latency) float64 { return l.P90 })},
	{Name: "latency_p99_ms", Field: "p99", Of: Load, Unit: "ms", Column: 51, Row: 17, In: OtherLoads, Help: "latency of a request, 99th percentile" + reciprocal, Get: loadLatency(func(l *record.Latency) float64 { return l.P99 })},
	{Name: "latency_p999_ms", Field: "p999", Of: Load, Unit: "ms", Column: 110, Row: 18, In: OtherLoads, Help: "latency of a request, 99.9th percentile" + reciprocal, Get: loadLatency(func(l *record.Latency) float64 { return l.P999 })},
	{Name: "latency_max_ms", Field: "max", Of: Load, Unit: "ms", Column: 52, Row: 47, In: OtherLoads, Help: "highest latency of a request" + reciprocal, Get: loadLatency(func(l *record.Latency) float64 { return l.Max })},
	{Field: "metrics", Of: Load, Help: "metrics that the campaign defines, by name, as in trial.load.metrics['gc-seconds'] < 2; a metric that could not be measured is absent", Get: ofLoad(always(metrics))},
	{Name: "corrections", Field: "notes", Of: Load, Column: 147, In: OtherLoads, Help: "notes about figures of the driver that contradict each other or are missing",
		Get: ofLoad(always(func(l *record.Load) []string { return slices.Concat([]string{}, l.Notes) }))},
}

const reciprocal = "; in a closed loop it is the reciprocal of the rate"

func loadLatency(of func(*record.Latency) float64) Getter {
	return ofLoad(within(func(l *record.Load) *record.Latency { return l.Latency }, nonZero(of)))
}

func metrics(l *record.Load) map[string]float64 {
	out := map[string]float64{}
	for _, m := range l.Metrics {
		if m.Value != nil {
			out[m.Name] = *m.Value
		}
	}
	return out
}

// loaderFigures lists the figures of the pod that made the load.
var loaderFigures = []Figure{
	{Name: "loader_host", Field: "host", Of: Loader, Column: 61, Help: "Kubernetes node of the loader", Get: loader(func(l *record.Loader) string { return l.Host })},
	{Name: "loader_cores", Field: "cores", Of: Loader, Column: 116, Help: "logical processors of the loader's Kubernetes node", Get: loader(func(l *record.Loader) int64 { return int64(l.Cores) })},
	{Name: "loader_cpu_cores", Field: "cpuCores", Of: Loader, Column: 45, Help: "mean CPU of the driver's processes, in cores", Get: loader(func(l *record.Loader) float64 { return l.CPUCores })},
	{Name: "loader_busiest_percent", Field: "busiestPercent", Of: Loader, Unit: "%", Column: 46, Row: 39, Help: "CPU of the driver's busiest process, in percent of one core; near 100 the loader is the limit",
		Get: loader(func(l *record.Loader) float64 { return l.BusiestPercent })},
	{Name: "loader_busiest_process", Field: "busiestProcess", Of: Loader, Column: 47, Help: "name of the driver's busiest process", Get: loader(func(l *record.Loader) string { return l.BusiestProcess })},
	{Name: "client_utilization", Field: "clientUtilization", Of: Loader, Column: 48, Row: 38, Help: "share of time (0 to 1) in which the clients waited for OpenSearch; below 0.9 the loader is the limit",
		Get: loader(func(l *record.Loader) float64 { return l.UtilizationOfTime })},
	{Name: "loader_memory_bytes", Field: "memoryBytes", Of: Loader, Unit: "bytes", Column: 115, Help: "highest resident memory of the driver's processes", Get: loader(func(l *record.Loader) int64 { return l.MemoryBytes })},
}

func loader[T interface {
	value
	comparable
}](of func(*record.Loader) T) Getter {
	return ofRecord(nonZero(func(r *record.Record) T { return of(&r.Loader) }))
}
