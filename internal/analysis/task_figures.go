package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// taskFigure is one figure of a task; of gives 0 where the task has none.
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
		x: figures(x, f), y: figures(y, f),
	}
}

// farAbove is how many times the service time a latency is when most of it is waiting for a turn.
const farAbove = 2

// taskNote says what to think of when reading a figure.
func taskNote(f taskFigure, r Ratio, x, y [][]record.Task) string {
	var notes []string
	if one, other := target(x), target(y); one != other {
		notes = append(notes, fmt.Sprintf("the target throughputs differ: %s and %s", number(one), number(other)))
	} else if one == 0 && strings.HasPrefix(f.name, "service_time") {
		notes = append(notes, "closed loop: the reciprocal of throughput in the mean, no evidence of its own")
	}
	if percentile, is := strings.CutPrefix(f.name, "latency_"); is {
		for _, side := range []struct {
			variant string
			tasks   [][]record.Task
		}{{r.Variant, x}, {r.Baseline, y}} {
			latency := Median(slices.Concat(figures(side.tasks, f)...))
			service := Median(slices.Concat(figures(side.tasks, figureNamed("service_time_"+percentile))...))
			if latency >= farAbove*service {
				notes = append(notes, fmt.Sprintf("latency is %.1f times the service time on %s: requests waited for their turn, the target is near or above what it can do",
					latency/service, side.variant))
			}
		}
	}
	return strings.Join(notes, "; ")
}

func figureNamed(name string) taskFigure {
	return taskFigures[slices.IndexFunc(taskFigures, func(f taskFigure) bool { return f.name == name })]
}

// figures lists a figure by placement; a placement without any is left out.
func figures(tasks [][]record.Task, f taskFigure) [][]float64 {
	var out [][]float64
	for _, placement := range tasks {
		var values []float64
		for _, t := range placement {
			if v := f.of(t); positive(v) {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			out = append(out, values)
		}
	}
	return out
}

// target is the target throughput of a task, in its own unit; 0: none.
func target(tasks [][]record.Task) float64 {
	for _, placement := range tasks {
		for _, t := range placement {
			return t.Target
		}
	}
	return 0
}
