package figures

import "github.com/knee-bench/knee/internal/record"

// taskFigures lists the figures of the driver's tasks. A column of results.csv shows the first ingest task.
var taskFigures = []Figure{
	{Field: "name", Of: Task, Help: "the task's name", Get: taskPart(always(func(t *record.Task) string { return t.Name }))},
	{Field: "search", Of: Task, Help: "true for a search task, false for an ingest task", Get: taskPart(always(func(t *record.Task) bool { return t.Search }))},
	{Field: "errorRate", Of: Task, Help: "share of failed requests, 0 to 1", Get: taskPart(always(func(t *record.Task) float64 { return t.ErrorRate }))},
	{Field: "throughput", Of: Task, Help: "mean throughput, in the unit that the field unit names", Get: taskPart(nonZero(func(t *record.Task) float64 { return t.Throughput }))},
	{Field: "unit", Of: Task, Help: "unit of throughput and target: docs/s or ops/s", Get: taskPart(nonZero(func(t *record.Task) string { return t.Unit }))},
	{Name: "target_throughput", Field: "target", Of: Task, Column: 114, In: IndexLoads, Help: "target throughput, in the task's own unit; unknown for a closed loop", Get: ingestTask(nonZero(func(t *record.Task) float64 { return t.Target }))},
	{Field: "mean", Of: Task, Unit: "ms", Help: "mean service time", Get: serviceTime(func(l *record.Latency) float64 { return l.Mean })},
	{Name: "service_time_p50_ms", Field: "p50", Of: Task, Unit: "ms", Column: 111, In: IndexLoads, Help: "service time, 50th percentile", Get: serviceTime(func(l *record.Latency) float64 { return l.P50 })},
	{Name: "service_time_p90_ms", Field: "p90", Of: Task, Unit: "ms", Column: 112, In: IndexLoads, Help: "service time, 90th percentile", Get: serviceTime(func(l *record.Latency) float64 { return l.P90 })},
	{Name: "service_time_p99_ms", Field: "p99", Of: Task, Unit: "ms", Column: 113, In: IndexLoads, Help: "service time, 99th percentile", Get: serviceTime(func(l *record.Latency) float64 { return l.P99 })},
	{Field: "p999", Of: Task, Unit: "ms", Help: "service time, 99.9th percentile", Get: serviceTime(func(l *record.Latency) float64 { return l.P999 })},
	{Field: "max", Of: Task, Unit: "ms", Help: "highest service time", Get: serviceTime(func(l *record.Latency) float64 { return l.Max })},
	{Name: "latency_p50_ms", Field: "latencyP50", Of: Task, Unit: "ms", Column: 49, Row: 15, In: IndexLoads, Help: "latency, 50th percentile" + closedLoop, Get: latency(func(l *record.Latency) float64 { return l.P50 })},
	{Name: "latency_p90_ms", Field: "latencyP90", Of: Task, Unit: "ms", Column: 50, Row: 16, In: IndexLoads, Help: "latency, 90th percentile" + closedLoop, Get: latency(func(l *record.Latency) float64 { return l.P90 })},
	{Name: "latency_p99_ms", Field: "latencyP99", Of: Task, Unit: "ms", Column: 51, Row: 17, In: IndexLoads, Help: "latency, 99th percentile" + closedLoop, Get: latency(func(l *record.Latency) float64 { return l.P99 })},
	{Name: "latency_p999_ms", Field: "latencyP999", Of: Task, Unit: "ms", Column: 110, Row: 18, In: IndexLoads, Help: "latency, 99.9th percentile" + closedLoop, Get: latency(func(l *record.Latency) float64 { return l.P999 })},
	{Name: "latency_max_ms", Unit: "ms", Column: 52, In: IndexLoads, Help: "highest latency" + closedLoop, Get: latency(func(l *record.Latency) float64 { return l.Max })},
}

const closedLoop = "; in a closed loop it is the reciprocal of the rate, and the field is absent in gate expressions"

func serviceTime(of func(*record.Latency) float64) Getter {
	return ingestTask(within(func(t *record.Task) *record.Latency { return t.ServiceTime }, nonZero(of)))
}

// latency reads a latency of each task. The field of a closed-loop task is unknown, because its latency would equal the service
// time.
func latency(of func(*record.Latency) float64) Getter {
	g := ingestTask(within(func(t *record.Task) *record.Latency { return t.Latency }, nonZero(of)))
	ofTask := g.part
	g.part = func(s Subject) (any, bool) {
		if s.Task.Target == 0 {
			return nil, false
		}
		return ofTask(s)
	}
	return g
}
