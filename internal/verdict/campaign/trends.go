package campaign

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Trend describes how docs/s of the Finals changed with the order of the runs, over all cells of a topology.
type Trend struct {
	Topology       string  // name of the topology, or of the two cells of a comparison across topologies
	PercentOverall float64 // change from the first to the last run of the Finals, relative to the mean of each group of runs
	P              float64 // probability that noise alone gives such a change, from permutations within groups of runs
	Interleaved    bool    // whether every cell ran in each block before the next block began
	Together       bool    // whether runs of different cells in a block overlapped, as they do on separate node pools
	Confounded     bool    // whether a difference may come from the time of the runs instead of the variants
	Message        string  // text for a human reader; empty unless Confounded
}

// trendAlpha is the significance level of a trend. It is low, because there is one test per topology and a false alarm makes a
// whole campaign inconclusive.
const trendAlpha = 0.01

// Trends examines the Finals of every topology with at least two cells, in the order of the runs. A comparison is confounded with
// time in two cases. In the first case, the cells did not take turns. In the second case, docs/s changed with the order of the
// runs, significantly and by more than half of the smallest difference that matters. Turns cancel only a steady drift.
func Trends(cells []Cell, smallestDifferencePercent float64, seed uint64) []Trend {
	var out []Trend
	for _, topology := range cellTopologies(cells) {
		runs := finalRuns(cells, topology)
		if countBy(runs, func(r run) string { return r.cell }) < 2 {
			continue
		}
		out = append(out, newTrend(topology, runs, smallestDifferencePercent, seed))
	}
	return out
}

// trendsAcross examines each compared pair of cells on two topologies in the same way as Trends.
func trendsAcross(a Assessment, smallestDifferencePercent float64, seed uint64) []Trend {
	var out []Trend
	for i, r := range a.Ratios {
		first := slices.IndexFunc(a.Ratios, func(other Ratio) bool { return samePair(r, other) }) == i // one trend per pair of cells
		if r.BaselineTopology == r.Topology || !first {
			continue
		}
		x, y := a.Cell(r.Variant, r.Topology), a.Cell(r.Baseline, r.BaselineTopology)
		nameX, nameY := a.CellName(x.Variant, x.Topology), a.CellName(y.Variant, y.Topology)
		runs := sortByStart(append(runsOf(*x, nameX), runsOf(*y, nameY)...))
		out = append(out, newTrend(nameX+" against "+nameY, runs, smallestDifferencePercent, seed))
	}
	return out
}

func samePair(r, other Ratio) bool {
	return r.Variant == other.Variant && r.Topology == other.Topology &&
		r.Baseline == other.Baseline && r.BaselineTopology == other.BaselineTopology
}

func newTrend(of string, runs []run, smallestDifferencePercent float64, seed uint64) Trend {
	t := Trend{Topology: of, Interleaved: isInterleaved(runs), Together: ranTogether(runs)}
	t.PercentOverall, t.P = estimateDrift(runs, seed)
	unit := "docs/s"
	for _, r := range runs {
		unit = cmp.Or(r.unit, unit)
	}
	t.Confounded, t.Message = t.setConfounded(unit, smallestDifferencePercent)
	return t
}

func (t Trend) setConfounded(unit string, smallestDifferencePercent float64) (confounded bool, message string) {
	if !t.Interleaved {
		return true, fmt.Sprintf("the Final repetitions of the cells of %s did not alternate, so a difference may come from the time of "+
			"the trials: set a new spec.rerun to measure the cells again in alternating blocks", t.Topology)
	}
	if t.P <= trendAlpha && math.Abs(t.PercentOverall) > smallestDifferencePercent/2 {
		return true, fmt.Sprintf("%s of %s changed by %+.1f %% from the first to the last repetition (p = %.3f), more than half of "+
			"spec.final.smallestDifferencePercent (%g): find what changed with time (a volume that fills, burst credits, a throttled "+
			"or shared machine), then set a new spec.rerun", unit, t.Topology, t.PercentOverall, t.P, smallestDifferencePercent)
	}
	return false, ""
}

// run is a Final that has a record.
type run struct {
	cell    string // name of the cell; within a topology, its variant
	group   group  // key of the runs that differ only by noise and time
	block   block
	started int64   // Unix milliseconds
	ended   int64   // Unix milliseconds; 0: unknown
	logDocs float64 // log of docs/s; NaN unless Measured
	unit    string  // unit of the rate; empty unless Measured
}

type group struct {
	cell      string
	placement record.Placement
	clients   int32
}

type block struct {
	placement  record.Placement
	repetition int32
}

func (b block) before(c block) bool {
	return b.placement < c.placement || b.placement == c.placement && b.repetition < c.repetition
}

func cellTopologies(cells []Cell) []string {
	var out []string
	for _, c := range cells {
		if !slices.Contains(out, c.Topology) {
			out = append(out, c.Topology)
		}
	}
	return out
}

// finalRuns returns the Finals of a topology in the order of their starts. A Final with several attempts starts with the attempt
// that its outcome uses.
func finalRuns(cells []Cell, topology string) []run {
	var out []run
	for _, c := range cells {
		if c.Topology == topology {
			out = append(out, runsOf(c, c.Variant)...)
		}
	}
	return sortByStart(out)
}

// runsOf returns the Finals of a cell. name identifies the cell among the compared cells.
func runsOf(c Cell, name string) []run {
	var out []run
	for _, o := range c.Finals {
		if o.Record == nil {
			continue
		}
		r := run{
			cell: name, group: group{name, o.Trial.Placement, o.Trial.Clients},
			block: block{o.Trial.Placement, o.Trial.Repetition}, started: o.Record.StartTime(), ended: o.Record.EndTime(), logDocs: math.NaN(),
		}
		if o.Measured() {
			r.logDocs = math.Log(o.Rate())
			_, r.unit = o.Record.Rate()
		}
		out = append(out, r)
	}
	return out
}

func sortByStart(runs []run) []run {
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.started, b.started) })
	return runs
}

func countBy[K comparable](runs []run, of func(run) K) int {
	seen := map[K]bool{}
	for _, r := range runs {
		seen[of(r)] = true
	}
	return len(seen)
}

// isInterleaved reports whether no run started after the first run of a later block. The runs must be sorted by start.
func isInterleaved(runs []run) bool {
	var latest block
	since := int64(math.MinInt64) // start of the first run of the latest block
	for _, r := range runs {
		switch {
		case latest.before(r.block):
			latest, since = r.block, r.started
		case r.block.before(latest) && r.started > since:
			return false
		}
	}
	return true
}

// ranTogether reports whether a run started before a run of another cell in the same block had ended. The runs must be sorted by start.
func ranTogether(runs []run) bool {
	latest := map[block]run{} // the run of each block that ended last
	for _, r := range runs {
		before, ok := latest[r.block]
		if ok && before.cell != r.cell && (before.ended > r.started || before.started == r.started) {
			return true
		}
		if !ok || r.ended > before.ended {
			latest[r.block] = r
		}
	}
	return false
}

// estimateDrift estimates the drift of docs/s over the order of the runs. percent is the change from the first run to the last. p
// is the two-sided p value of the hypothesis that there is no drift. It comes from 999 permutations of docs/s within their groups.
// The place of a run is its position in the order of the runs. docs/s and places are relative to the mean of their group, so
// differences between variants and client counts have no effect. Runs that started at the same time have the same place. The
// function returns (0, 1) if it cannot compute a drift.
func estimateDrift(runs []run, seed uint64) (percent, p float64) {
	places, docs := relativeRuns(runs)
	observed, spread := 0.0, 0.0
	for i := range docs {
		for j := range docs[i] {
			observed += places[i][j] * docs[i][j]
			spread += places[i][j] * places[i][j]
		}
	}
	if spread == 0 {
		return 0, 1
	}
	const permutations, rounding = 999, 1e-12
	rng := rand.New(rand.NewPCG(seed, 0x7265_6e64))
	asMuch := 1 // permutations with at least the observed drift; starts at 1, because the observed order is one of the permutations
	for range permutations {
		sum := 0.0
		for i, d := range docs {
			for j := len(d) - 1; j >= 0; j-- {
				k := rng.IntN(j + 1)
				d[j], d[k] = d[k], d[j]
				sum += places[i][j] * d[j]
			}
		}
		if math.Abs(sum) >= math.Abs(observed)*(1-rounding)-rounding*spread {
			asMuch++
		}
	}
	return 100 * math.Expm1(observed/spread), float64(asMuch) / (permutations + 1)
}

// relativeRuns returns the places and the log docs/s of each group, both minus the mean of the group. A place is 0 for the first
// run and 1 for the last run.
func relativeRuns(runs []run) (places, docs [][]float64) {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return math.IsNaN(r.logDocs) })
	last := countBy(runs, func(r run) int64 { return r.started }) - 1
	index := map[group]int{}
	place := 0
	for i, r := range runs {
		if i > 0 && r.started != runs[i-1].started {
			place++
		}
		g, seen := index[r.group]
		if !seen {
			g = len(docs)
			index[r.group] = g
			places, docs = append(places, nil), append(docs, nil)
		}
		places[g] = append(places[g], float64(place)/float64(max(last, 1)))
		docs[g] = append(docs[g], r.logDocs)
	}
	for i := range docs {
		subtractMean(places[i])
		subtractMean(docs[i])
	}
	return places, docs
}

func subtractMean(values []float64) {
	m := stats.Mean(values)
	for i := range values {
		values[i] -= m
	}
}
