package campaign

import (
	"cmp"
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// TaskRatio compares one figure of one task in two cells, measured by their Measured Finals or their open loops.
type TaskRatio struct {
	Task     string
	Search   bool
	Figure   string // throughput, service_time_p50, latency_p99, ...; there are no latencies of closed loops
	Variant  string
	Topology string
	Baseline string // variant of the baseline; its topology is BaselineTopology
	stats.Estimate
	BaselineTopology string
	Clients          int32
	BaselineClients  int32
	Placements       int     // number of placements in the estimate; above 1, the means of placements are compared
	OpenLoop         bool    // true: from the OpenLoop trials; each has one run, so there is no interval and no test
	Note             string  // note for the reader; empty: no note
	Comparisons      int     // number of TaskRatios that are tested together
	AdjustedP        float64 // p adjusted for all tested ratios; NaN if this ratio is not tested
	Distinguishable  bool
}

// Tested reports whether there are repetitions, which are necessary to compare a difference with noise.
func (t TaskRatio) Tested() bool { return t.HasInterval() }

// Hopeless reports whether there are so many comparisons that even the largest difference of this figure could not be
// distinguished from noise.
func (t TaskRatio) Hopeless() bool {
	return t.Tested() && t.TooFew(t.Comparisons)
}

// TaskRepetitions returns the number of repetitions per cell that is necessary to distinguish a difference of one task from noise.
// With several placements, it is the number of placements. It returns 0 if there are enough repetitions or placements.
func (a Assessment) TaskRepetitions() int {
	for _, t := range a.Tasks {
		if t.Hopeless() {
			return a.LeastRepetitions(t.Comparisons)
		}
	}
	return 0
}

// TaskRatios compares the search tasks of the two cells of each ratio. It also compares the latencies of the open loops if there
// are any.
//
// In a closed loop, the latency of a request is its service time. At equal client counts, the mean service time is the reciprocal
// of the throughput (Little's law). So latencies are compared only if a target throughput was set. Throughputs are compared only
// if no target was set, because otherwise the throughput equals the target. A ratio that reverses an earlier ratio adds nothing, so
// its tasks are not compared.
func TaskRatios(d Design, cells []Cell, ratios []Ratio) []TaskRatio {
	var samples []taskSample
	for i, r := range ratios {
		if slices.ContainsFunc(ratios[:i], r.reverses) {
			continue
		}
		x, y := findCell(cells, r.Variant, r.Topology), findCell(cells, r.Baseline, cmp.Or(r.BaselineTopology, r.Topology))
		if x == nil || y == nil {
			continue
		}
		clients := [2]int32{r.Clients, cmp.Or(r.BaselineClients, r.Clients)}
		for _, s := range searchSamples(d, r, finalRecordsAt(*x, clients[0]), finalRecordsAt(*y, clients[1])) {
			s.earlier = earlierLooks(d, *x, *y, clients)
			samples = append(samples, s)
		}
		if r.Clients == lowestClients(*x) { // only once for each pair of cells
			samples = append(samples, openLoopSamples(r, x.OpenLoop, y.OpenLoop)...)
		}
	}
	return compareTasks(d, samples)
}

// compareTasks computes the ratios of samples. All intervals hold together if there are enough repetitions (stats.FamilyConfidence).
func compareTasks(d Design, samples []taskSample) []TaskRatio {
	tested := 0
	for _, s := range samples {
		if s.tested() {
			tested++
		}
	}
	out := make([]TaskRatio, len(samples))
	for i, s := range samples {
		t := s.ratio
		t.Comparisons = tested
		t.Placements, t.Estimate = EstimateRatio(d, s.x, s.y, s.earlier, stats.FamilyConfidence(tested))
		if !t.Tested() {
			t.P = math.NaN()
		}
		t.AdjustedP, t.Distinguishable = t.AdjustP(tested), t.Estimate.Distinguishable(tested)
		out[i] = t
	}
	return out
}

// taskSample holds the values of one figure of one task in two cells, by placement.
type taskSample struct {
	ratio   TaskRatio // only the names of the figure and of the cells are set
	x, y    [][]float64
	earlier []stats.Look // looks at fewer repetitions
	placed  bool         // whether the means of placements are compared
}

func (s taskSample) tested() bool {
	if s.placed {
		return len(s.x) > 1 && len(s.y) > 1
	}
	return len(slices.Concat(s.x...)) > 1 && len(slices.Concat(s.y...)) > 1
}

// searchSamples returns samples of all figures of the search tasks that the Finals of both cells have.
func searchSamples(d Design, r Ratio, x, y [][]record.Record) []taskSample {
	var out []taskSample
	for _, name := range taskNames(x, true) {
		tasksX, tasksY := tasksNamed(x, name), tasksNamed(y, name)
		for _, f := range taskFigures {
			s := sample(r, name, f, tasksX, tasksY)
			s.ratio.Search, s.placed = true, d.Placements > 1
			if len(s.x) > 0 && len(s.y) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// openLoopSamples returns samples of the latencies of ingest tasks. x and y are the OpenLoop trials of the two cells of the
// ratio, one trial for each cell.
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

// taskNames returns the names of the search tasks, or of the ingest tasks, in the driver's order.
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
