package sections

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/plots"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// closedLoop explains why latencies at equal client counts are not independent evidence (Little's law).
const closedLoop = "In a closed loop, a client sends its next request after the answer to the previous request. At equal client counts, latency is the reciprocal of throughput " +
	"(Little's law), so latency is not independent evidence."

// latencies writes the latency of each task in the Finals and in the open loop. A task in a Final runs in a closed loop unless the
// task has a target throughput.
func latencies(d *document.Document, in view.Input) {
	groups := taskGroups(in)
	if len(groups) == 0 {
		return
	}
	d.Section("Latency")
	text := "Each figure is the median of the Final repetitions that passed every gate (verdict Measured), as reported by the driver of the load. Latencies are in ms. " + closedLoop
	if view.FillsIndex(in) {
		text += " With a target throughput, latency starts when a request was due, and service time starts when the request was sent."
	}
	d.Para("%s", text)
	t := d.Table("task", "kind ", "cell ", "clients", "runs", "throughput", "target", "mean", "p50", "p90", "p99", "p99.9", "service p50", "service p90", "service p99", "note ")
	for _, g := range groups {
		latency := func(of func(record.Latency) float64) string { return format.Fixed(g.median(ofLatencyIn(of)), 1) }
		service := func(of func(record.Latency) float64) string { return format.Fixed(g.median(ofServiceIn(of)), 1) }
		t.Row(g.task, g.kind, view.CellName(in, g.variant, g.topology), format.IntText(g.clients), fmt.Sprint(len(g.tasks)),
			strings.TrimSpace(format.Significant(g.median(func(t record.Task) float64 { return t.Throughput }))+" "+g.tasks[0].Unit),
			format.OrEmpty(g.tasks[0].Target),
			latency(func(l record.Latency) float64 { return l.Mean }),
			latency(func(l record.Latency) float64 { return l.P50 }), latency(func(l record.Latency) float64 { return l.P90 }),
			latency(func(l record.Latency) float64 { return l.P99 }), latency(func(l record.Latency) float64 { return l.P999 }),
			service(func(l record.Latency) float64 { return l.P50 }), service(func(l record.Latency) float64 { return l.P90 }),
			service(func(l record.Latency) float64 { return l.P99 }), g.note())
	}
	if view.FillsIndex(in) {
		t.RemoveColumns("mean")
	} else {
		t.RemoveColumns("target", "service p50", "service p90", "service p99")
	}
	d.Charts(plots.Latency(d, in)...)
	taskRatios(d, in)
}

// taskRatios writes the ratios of tasks whose figures do not depend on the rate.
func taskRatios(d *document.Document, in view.Input) {
	if len(in.Assessment.Tasks) == 0 {
		return
	}
	const mostOpen = 24 // longer tables are folded at first
	d.Foldable("Ratios of tasks", len(in.Assessment.Tasks) > mostOpen)
	d.Para("The intervals hold for all tested figures together, and p is adjusted for all tested figures (Bonferroni). An open loop has only one run per cell, so it is not tested.")
	t := d.Table("task", "figure ", "ratio ", "topology ", "clients", "times", "interval", "confidence", "p adjusted", "what ")
	for _, r := range in.Assessment.Tasks {
		bounds, sure := "", ""
		if r.HasInterval() {
			bounds, sure = format.Interval(r.Low, r.High), format.Percent(r.Confidence, 1)
		}
		t.Row(r.Task, r.Figure, r.Variant+" / "+r.Baseline, topologies(r.Topology, r.BaselineTopology), format.IntText(r.Clients),
			format.Fixed(r.Ratio, 3), bounds, sure, format.Trimmed(r.AdjustedP, 4), taskVerdict(r))
	}
	if n := in.Assessment.TaskRepetitions(); n > 0 {
		d.Para("The table compares many figures. At least %d repetitions (or placements, if there are several) are necessary to distinguish a difference of one figure from noise.", n)
	}
}

// taskVerdict returns the verdict on the ratio of a task, with the note of the ratio.
func taskVerdict(r campaign.TaskRatio) string {
	what := "not distinguished from noise"
	switch {
	case r.OpenLoop:
		what = "open loop, not tested"
	case !r.Tested():
		what = "not tested"
	case r.Hopeless():
		what = "too few repetitions"
	case r.Distinguishable && r.Ratio > 1:
		what = "higher"
	case r.Distinguishable:
		what = "lower"
	}
	if r.Note != "" {
		what += "; " + r.Note
	}
	return what
}

// topologies returns the topology of a comparison. If the baseline is on a different topology, it returns both.
func topologies(of, baseline string) string {
	if baseline == "" || baseline == of {
		return of
	}
	return of + " / " + baseline
}

// taskGroup holds the repetitions of a task of a cell at a client count.
type taskGroup struct {
	task, kind, variant, topology string
	clients                       int32
	tasks                         []record.Task
}

// taskGroups returns the tasks of the Measured Finals and of the open loops, sorted by topology, kind, task name and client count.
func taskGroups(in view.Input) []*taskGroup {
	var out []*taskGroup
	index := map[string]*taskGroup{}
	add := func(o campaign.Outcome) {
		for _, t := range tasksOf(*o.Record) {
			kind := "ingest"
			switch {
			case t.Search:
				kind = "search"
			case o.Record.Load != nil:
				kind = "load"
			}
			if o.Trial.Phase == record.OpenLoop {
				kind += ", open loop"
			}
			key := fmt.Sprint(kind, "\x00", t.Name, "\x00", o.Trial.Cell, "\x00", o.Trial.Clients)
			if index[key] == nil {
				index[key] = &taskGroup{task: t.Name, kind: kind, variant: o.Trial.Variant, topology: o.Trial.Topology, clients: o.Trial.Clients}
				out = append(out, index[key])
			}
			index[key].tasks = append(index[key].tasks, t)
		}
	}
	for _, c := range in.Assessment.Cells {
		for _, o := range c.Finals {
			if o.Measured() {
				add(o)
			}
		}
		if c.OpenLoop != nil && c.OpenLoop.Measured() {
			add(*c.OpenLoop)
		}
	}
	topologies := in.Assessment.Topologies()
	slices.SortStableFunc(out, func(x, y *taskGroup) int {
		return cmp.Or(slices.Index(topologies, x.topology)-slices.Index(topologies, y.topology), strings.Compare(x.kind, y.kind), strings.Compare(x.task, y.task), cmp.Compare(x.clients, y.clients))
	})
	return out
}

func (g *taskGroup) median(of func(record.Task) float64) float64 {
	var values []float64
	for _, t := range g.tasks {
		if f := of(t); f != 0 && !math.IsNaN(f) {
			values = append(values, f)
		}
	}
	return stats.Median(values)
}

// note returns a note that helps a reader to interpret the latency of a group.
func (g *taskGroup) note() string {
	latency := g.median(ofLatencyIn(func(l record.Latency) float64 { return l.P99 }))
	service := g.median(ofServiceIn(func(l record.Latency) float64 { return l.P99 }))
	throughput := g.median(func(t record.Task) float64 { return t.Throughput })
	const (
		far  = 2    // a latency above this many service times is reported as far above the service time
		held = 0.97 // share of the target; the start and the end of a run reduce the throughput a little
	)
	var notes []string
	if g.tasks[0].Target == 0 {
		return "closed loop"
	}
	if latency > far*service {
		notes = append(notes, "latency far above service time: requests waited before they were sent, so the target throughput is near or above the capacity")
	}
	if throughput < held*g.tasks[0].Target {
		notes = append(notes, "the target throughput was not reached")
	}
	return strings.Join(notes, "; ")
}

func ofLatencyIn(of func(record.Latency) float64) func(record.Task) float64 {
	return func(t record.Task) float64 {
		if t.Latency == nil {
			return math.NaN()
		}
		return of(*t.Latency)
	}
}

func ofServiceIn(of func(record.Latency) float64) func(record.Task) float64 {
	return func(t record.Task) float64 {
		if t.ServiceTime == nil {
			return math.NaN()
		}
		return of(*t.ServiceTime)
	}
}

// tasksOf returns the driver's tasks. For a load that does not fill an index, it returns one task with the figures of all
// requests.
func tasksOf(r record.Record) []record.Task {
	if r.Load == nil {
		return r.Tasks
	}
	return []record.Task{{Name: "request", Throughput: r.Load.Rate, Unit: r.Load.Unit, Latency: r.Load.Latency}}
}
