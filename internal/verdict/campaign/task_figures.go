package campaign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/gates"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// taskFigure is a figure of a task. The function in its field of returns 0 if the task does not have the figure.
type taskFigure struct {
	name string
	of   func(t record.Task) float64
}

var taskFigures = []taskFigure{
	{"throughput", func(t record.Task) float64 {
		if t.Target > 0 {
			return 0
		}
		return t.Throughput
	}},
	{"service_time_p50", ofServiceTime(p50)}, {"service_time_p90", ofServiceTime(p90)}, {"service_time_p99", ofServiceTime(p99)},
	{"latency_p50", ofLatency(p50)}, {"latency_p90", ofLatency(p90)}, {"latency_p99", ofLatency(p99)},
}

func p50(l record.Latency) float64 { return l.P50 }
func p90(l record.Latency) float64 { return l.P90 }
func p99(l record.Latency) float64 { return l.P99 }

func ofServiceTime(of func(record.Latency) float64) func(record.Task) float64 {
	return func(t record.Task) float64 {
		if t.ServiceTime == nil {
			return 0
		}
		return of(*t.ServiceTime)
	}
}

func ofLatency(of func(record.Latency) float64) func(record.Task) float64 {
	return func(t record.Task) float64 {
		if t.Latency == nil || t.Target <= 0 {
			return 0
		}
		return of(*t.Latency)
	}
}

func sample(r Ratio, task string, f taskFigure, x, y [][]record.Task) taskSample {
	return taskSample{
		ratio: TaskRatio{
			Task: task, Figure: f.name, Variant: r.Variant, Topology: r.Topology,
			Baseline: r.Baseline, BaselineTopology: cmp.Or(r.BaselineTopology, r.Topology),
			Clients: r.Clients, BaselineClients: cmp.Or(r.BaselineClients, r.Clients), Note: taskNote(f, r, x, y),
		},
		x: valuesByPlacement(x, f), y: valuesByPlacement(y, f),
	}
}

// farAbove is a ratio of latency to service time. At this ratio or above, a request waited at least half of its latency.
const farAbove = 2

// taskNote returns a note that helps a reader to interpret the ratio of a figure.
func taskNote(f taskFigure, r Ratio, x, y [][]record.Task) string {
	var notes []string
	if one, other := targetThroughput(x), targetThroughput(y); one != other {
		notes = append(notes, fmt.Sprintf("the target throughputs of the compared cells differ: %s and %s", gates.Number(one), gates.Number(other)))
	} else if one == 0 && strings.HasPrefix(f.name, "service_time") {
		notes = append(notes, "closed loop: the mean service time follows from the throughput and the number of clients, so service time adds little information")
	}
	if percentile, is := strings.CutPrefix(f.name, "latency_"); is {
		for _, side := range []struct {
			variant string
			tasks   [][]record.Task
		}{{r.Variant, x}, {r.Baseline, y}} {
			latency := stats.Median(slices.Concat(valuesByPlacement(side.tasks, f)...))
			service := stats.Median(slices.Concat(valuesByPlacement(side.tasks, figureNamed("service_time_"+percentile))...))
			if latency >= farAbove*service {
				notes = append(notes, fmt.Sprintf("latency is %.1f times the service time on variant %s: requests waited before they were sent, so the target throughput is near or above the capacity",
					latency/service, side.variant))
			}
		}
	}
	return strings.Join(notes, "; ")
}

func figureNamed(name string) taskFigure {
	return taskFigures[slices.IndexFunc(taskFigures, func(f taskFigure) bool { return f.name == name })]
}

// valuesByPlacement returns the values of a figure of tasks by placement. It leaves out a placement without values.
func valuesByPlacement(tasks [][]record.Task, f taskFigure) [][]float64 {
	var out [][]float64
	for _, placement := range tasks {
		var values []float64
		for _, t := range placement {
			if v := f.of(t); stats.Positive(v) {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			out = append(out, values)
		}
	}
	return out
}

// targetThroughput returns the target throughput of a task, in the unit of the task. It returns 0 if the task has no target.
func targetThroughput(tasks [][]record.Task) float64 {
	for _, placement := range tasks {
		for _, t := range placement {
			return t.Target
		}
	}
	return 0
}
