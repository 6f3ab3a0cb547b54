package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// closedLoop is what makes a latency at equal clients no evidence of its own (Little's law).
const closedLoop = "A closed loop sends a request when the one before it is answered: at equal clients its latency is the reciprocal of throughput " +
	"(Little's law), and no evidence of its own."

// latencies tells of the latency of each task: of the Finals, whose loop is closed unless a task has a target
// throughput, and of the open loop.
func latencies(d *document, in Input) {
	groups := taskGroups(in)
	if len(groups) == 0 {
		return
	}
	d.section("Latency")
	text := "Medians over the Measured Final repetitions, by the driver, in ms. " + closedLoop
	if fillsIndex(in) {
		text += " With a target throughput, latency counts from when a request was due, service time from when it was sent."
	}
	d.para("%s", text)
	t := d.table("task", "kind ", "cell ", "clients", "runs", "throughput", "target", "mean", "p50", "p90", "p99", "p99.9", "service p50", "service p90", "service p99", "note ")
	for _, g := range groups {
		latency := func(of func(record.Latency) float64) string { return fixed(g.median(ofLatencyIn(of)), 1) }
		service := func(of func(record.Latency) float64) string { return fixed(g.median(ofServiceIn(of)), 1) }
		t.row(g.task, g.kind, cellName(in, g.variant, g.topology), integer(g.clients), fmt.Sprint(len(g.tasks)),
			strings.TrimSpace(brief(g.median(func(t record.Task) float64 { return t.Throughput }))+" "+g.tasks[0].Unit),
			known(g.tasks[0].Target),
			latency(func(l record.Latency) float64 { return l.Mean }),
			latency(func(l record.Latency) float64 { return l.P50 }), latency(func(l record.Latency) float64 { return l.P90 }),
			latency(func(l record.Latency) float64 { return l.P99 }), latency(func(l record.Latency) float64 { return l.P999 }),
			service(func(l record.Latency) float64 { return l.P50 }), service(func(l record.Latency) float64 { return l.P90 }),
			service(func(l record.Latency) float64 { return l.P99 }), g.note())
	}
	if fillsIndex(in) {
		t.without("mean")
	} else {
		t.without("target", "service p50", "service p90", "service p99")
	}
	d.charts(latencyCharts(d, in)...)
	taskRatios(d, in)
}

// taskRatios compares the tasks that say something of their own.
func taskRatios(d *document, in Input) {
	if len(in.Assessment.Tasks) == 0 {
		return
	}
	const mostOpen = 24 // rows that a reader takes in
	d.foldable("Ratios of tasks", len(in.Assessment.Tasks) > mostOpen)
	d.para("Intervals hold for all that are tested together, and p is adjusted for all of them (Holm). An open loop is one run each, and is not tested.")
	t := d.table("task", "figure ", "ratio ", "topology ", "clients", "times", "interval", "confidence", "p adjusted", "what ")
	for _, r := range in.Assessment.Tasks {
		bounds, sure := "", ""
		if r.HasInterval() {
			bounds, sure = interval(r.Low, r.High), percent(r.Confidence, 1)
		}
		t.row(r.Task, r.Figure, r.Variant+" / "+r.Baseline, topologies(r.Topology, r.BaselineTopology), integer(r.Clients),
			fixed(r.Ratio, 3), bounds, sure, trimmed(r.AdjustedP, 4), taskVerdict(r))
	}
	if n := analysis.TaskRepetitions(in.Assessment.Tasks); n > 0 {
		d.para("So many figures are compared that no difference of one can be told from noise with fewer than %d repetitions.", n)
	}
}

// taskVerdict says what the ratio of a task tells, and what to think of when reading it.
func taskVerdict(r analysis.TaskRatio) string {
	what := "not told from noise"
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

// topologies names the topology of a comparison, or both.
func topologies(of, baseline string) string {
	if baseline == "" || baseline == of {
		return of
	}
	return of + " / " + baseline
}

// taskGroup is one task of a cell at one client count, over the repetitions.
type taskGroup struct {
	task, kind, variant, topology string
	clients                       int32
	tasks                         []record.Task
}

// taskGroups lists the tasks of the Measured Finals and of the open loops: by topology, task, then cell.
func taskGroups(in Input) []*taskGroup {
	var out []*taskGroup
	index := map[string]*taskGroup{}
	add := func(o analysis.Outcome) {
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
	return analysis.Median(values)
}

// note says what is to be known of a group's latency.
func (g *taskGroup) note() string {
	latency := g.median(ofLatencyIn(func(l record.Latency) float64 { return l.P99 }))
	service := g.median(ofServiceIn(func(l record.Latency) float64 { return l.P99 }))
	throughput := g.median(func(t record.Task) float64 { return t.Throughput })
	const (
		far  = 2    // times
		held = 0.97 // of the target, as the first and the last request of a run leave some of its time out
	)
	var notes []string
	if g.tasks[0].Target == 0 {
		return "closed loop"
	}
	if latency > far*service {
		notes = append(notes, "latency far above service time: requests waited for their turn, the target is near or above what it can do")
	}
	if throughput < held*g.tasks[0].Target {
		notes = append(notes, "the target throughput was not held")
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
