package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// TaskRatio compares one figure of one task between two cells, over the Measured Final repetitions.
type TaskRatio struct {
	Task     string
	Search   bool
	Figure   string // throughput, service_time_p50, latency_p99, ...: a latency of a closed loop is not among them
	Variant  string
	Topology string
	Baseline string // on BaselineTopology
	Estimate
	BaselineTopology string
	Clients          int32
	BaselineClients  int32
	Placements       int     // how many the estimate rests on; above 1 it compares placement means
	OpenLoop         bool    // of the OpenLoop trials: one run each, so that there is no interval and no test
	Note             string  // what to think of when reading it; empty: nothing
	Comparisons      int     // of how many TaskRatios that are tested
	AdjustedP        float64 // after Holm over all that are tested; NaN when it is not
	Distinguishable  bool
}

// Tested tells whether the figures were held against noise: there are repetitions.
func (t TaskRatio) Tested() bool { return t.HasInterval() }

// Hopeless tells whether no difference of this figure, however large, could be told from noise beside so many others.
func (t TaskRatio) Hopeless() bool {
	return t.Tested() && float64(max(t.Comparisons, 1))*t.MinP > Alpha
}

// TaskRepetitions is how many repetitions a cell (placements, where there are several) it takes for a difference of one
// task to be told from noise beside all the others; 0 when there are enough.
func TaskRepetitions(tasks []TaskRatio) int {
	for _, t := range tasks {
		if t.Hopeless() {
			return Repetitions(t.Comparisons)
		}
	}
	return 0
}

// TaskRatios compares the search tasks of the cells of each ratio, and the OpenLoop latencies where there are some.
//
// In a closed loop a request's latency is its service time, and their mean at equal clients is the reciprocal of
// throughput (Little's law): latency is compared only where a target throughput was set, and throughput only where none
// was, for else it is the target.
func TaskRatios(p plan.Plan, cells []Cell, ratios []Ratio) []TaskRatio {
	var samples []taskSample
	for _, r := range ratios {
		x, y := findCell(cells, r.Variant, r.Topology), findCell(cells, r.Baseline, cmp.Or(r.BaselineTopology, r.Topology))
		if x == nil || y == nil {
			continue
		}
		samples = append(samples, searchSamples(p, r, finalsAt(*x, r.Clients), finalsAt(*y, cmp.Or(r.BaselineClients, r.Clients)))...)
		if r.Clients == lowestClients(*x) { // once a pair of cells
			samples = append(samples, openLoopSamples(r, x.OpenLoop, y.OpenLoop)...)
		}
	}
	return compareTasks(p, samples)
}

// compareTasks makes ratios of samples: intervals hold together where the repetitions allow it (Bonferroni), and the
// p values are adjusted for each other (Holm).
func compareTasks(p plan.Plan, samples []taskSample) []TaskRatio {
	tested := 0
	for _, s := range samples {
		if s.tested() {
			tested++
		}
	}
	out := make([]TaskRatio, len(samples))
	ps := make([]float64, len(samples))
	for i, s := range samples {
		t := s.ratio
		t.Comparisons = tested
		t.Placements, t.Estimate = estimate(p, s.x, s.y, 1-Alpha/float64(max(tested, 1)))
		if !t.Tested() {
			t.P = math.NaN()
		}
		out[i], ps[i] = t, t.P
	}
	for i, adjusted := range Holm(ps) {
		t := &out[i]
		t.AdjustedP = adjusted
		t.Distinguishable = t.Tested() && adjusted <= Alpha && (t.Low > 1 || t.High < 1)
	}
	return out
}

// taskSample is one figure of one task in two cells, by placement.
type taskSample struct {
	ratio  TaskRatio // what it is of
	x, y   [][]float64
	placed bool // the placements' means are compared
}

func (s taskSample) tested() bool {
	if s.placed {
		return len(s.x) > 1 && len(s.y) > 1
	}
	return len(slices.Concat(s.x...)) > 1 && len(slices.Concat(s.y...)) > 1
}

// searchSamples are the figures of the search tasks that both cells' Finals have.
func searchSamples(p plan.Plan, r Ratio, x, y [][]record.Record) []taskSample {
	var out []taskSample
	for _, name := range taskNames(x, true) {
		tasksX, tasksY := tasksNamed(x, name), tasksNamed(y, name)
		for _, f := range taskFigures {
			s := sample(r, name, f, tasksX, tasksY)
			s.ratio.Search, s.placed = true, p.Placements > 1
			if len(s.x) > 0 && len(s.y) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// openLoopSamples are the latencies of the ingest tasks at a fixed rate, one run each.
func openLoopSamples(r Ratio, x, y *Outcome) []taskSample {
	if x == nil || y == nil || !x.Measured() || !y.Measured() {
		return nil
	}
	one, other := [][]record.Record{{*x.Record}}, [][]record.Record{{*y.Record}}
	var out []taskSample
	for _, name := range taskNames(one, false) {
		for _, f := range taskFigures {
			s := sample(r, name, f, tasksNamed(one, name), tasksNamed(other, name))
			s.ratio.OpenLoop = true
			s.ratio.Clients, s.ratio.BaselineClients = x.Trial.Clients, y.Trial.Clients
			if len(s.x) > 0 && len(s.y) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// taskNames are the names of the search tasks, or of the ingest tasks, in the driver's order.
func taskNames(records [][]record.Record, search bool) []string {
	var out []string
	for _, r := range slices.Concat(records...) {
		for _, t := range r.Tasks {
			if t.Search == search && !slices.Contains(out, t.Name) {
				out = append(out, t.Name)
			}
		}
	}
	return out
}

func tasksNamed(records [][]record.Record, name string) [][]record.Task {
	out := make([][]record.Task, len(records))
	for i, placement := range records {
		for _, r := range placement {
			for _, t := range r.Tasks {
				if t.Name == name {
					out[i] = append(out[i], t)
				}
			}
		}
	}
	return out
}

func lowestClients(c Cell) int32 {
	clients := c.FinalClients()
	if len(clients) == 0 {
		return 0
	}
	return clients[0]
}
