package analysis

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Trend is how docs/s of the Finals moved with the order of the runs, over all cells of a topology.
type Trend struct {
	Topology       string  // or the two cells of a comparison across topologies
	PercentOverall float64 // change from the first to the last run of the Finals, each cell against its own mean
	P              float64 // that noise alone gives as much, by permutation within the cells
	Interleaved    bool    // every cell ran in every block before any ran in the next
	Confounded     bool    // the comparison may be one of times rather than of variants
	Message        string  // for a person, when Confounded
}

// trendAlpha is the level at which a trend counts: there is one test a topology, and a false alarm costs a campaign.
const trendAlpha = 0.01

// Trends looks at the Finals of every topology with at least two cells, in the order in which they ran. A comparison is
// confounded with time when the cells did not take turns, or when docs/s moved with the order of the runs, beyond noise
// and by more than half of the smallest difference that matters: turns balance a steady drift, no other.
func Trends(cells []Cell, smallestDifferencePercent float64, seed uint64) []Trend {
	var out []Trend
	for _, topology := range topologiesOf(cells) {
		runs := finalRuns(cells, topology)
		if countBy(runs, func(r run) string { return r.cell }) < 2 {
			continue
		}
		out = append(out, trendOf(topology, runs, smallestDifferencePercent, seed))
	}
	return out
}

// trendsAcross looks at each pair of cells of two topologies that are compared, as Trends does at those of one.
func (a *Assessment) trendsAcross(smallestDifferencePercent float64, seed uint64) []Trend {
	var out []Trend
	for i, r := range a.Ratios {
		first := slices.IndexFunc(a.Ratios, func(other Ratio) bool { return samePair(r, other) }) == i // of several client counts
		if r.BaselineTopology == r.Topology || !first {
			continue
		}
		x, y := a.Cell(r.Variant, r.Topology), a.Cell(r.Baseline, r.BaselineTopology)
		nameX, nameY := a.cellName(*x), a.cellName(*y)
		runs := inOrder(append(runsOf(*x, nameX), runsOf(*y, nameY)...))
		out = append(out, trendOf(nameX+" against "+nameY, runs, smallestDifferencePercent, seed))
	}
	return out
}

func samePair(r, other Ratio) bool {
	return r.Variant == other.Variant && r.Topology == other.Topology &&
		r.Baseline == other.Baseline && r.BaselineTopology == other.BaselineTopology
}

func trendOf(of string, runs []run, smallestDifferencePercent float64, seed uint64) Trend {
	t := Trend{Topology: of, Interleaved: interleaved(runs)}
	t.PercentOverall, t.P = driftOf(runs, seed)
	unit := "docs/s"
	for _, r := range runs {
		unit = cmp.Or(r.unit, unit)
	}
	t.Confounded, t.Message = t.judge(unit, smallestDifferencePercent)
	return t
}

func (t Trend) judge(unit string, smallestDifferencePercent float64) (confounded bool, message string) {
	if !t.Interleaved {
		return true, fmt.Sprintf("the repetitions of the cells of %s did not take turns, so that they may differ by the time "+
			"of their trials alone: set a new spec.rerun, which measures them in blocks", t.Topology)
	}
	if t.P <= trendAlpha && math.Abs(t.PercentOverall) > smallestDifferencePercent/2 {
		return true, fmt.Sprintf("%s of %s changed by %+.1f %% from the first to the last repetition (p = %.3f), more than half of "+
			"spec.final.smallestDifferencePercent (%g): find what changed with time (a volume that fills, burst credits, a throttled "+
			"or shared machine), then set a new spec.rerun", unit, t.Topology, t.PercentOverall, t.P, smallestDifferencePercent)
	}
	return false, ""
}

// run is one Final that was measured.
type run struct {
	cell    string // its variant
	group   group  // runs that differ by noise and time alone
	block   block
	started int64   // Unix ms
	logDocs float64 // NaN unless Measured
	unit    string  // of the rate; empty unless Measured
}

type group struct {
	cell               string
	placement, clients int32
}

type block struct{ placement, repetition int32 }

func (b block) before(c block) bool {
	return b.placement < c.placement || b.placement == c.placement && b.repetition < c.repetition
}

func topologiesOf(cells []Cell) []string {
	var out []string
	for _, c := range cells {
		if !slices.Contains(out, c.Topology) {
			out = append(out, c.Topology)
		}
	}
	return out
}

// finalRuns are a topology's Finals, in the order in which they started. Where several attempts were made, the one that
// counts is meant.
func finalRuns(cells []Cell, topology string) []run {
	var out []run
	for _, c := range cells {
		if c.Topology == topology {
			out = append(out, runsOf(c, c.Variant)...)
		}
	}
	return inOrder(out)
}

// runsOf are a cell's Finals, under a name that tells the cell from the others.
func runsOf(c Cell, name string) []run {
	var out []run
	for _, o := range c.Finals {
		if o.Record == nil {
			continue
		}
		placement := max(o.Trial.Placement, 1)
		r := run{
			cell: name, group: group{name, placement, o.Trial.Clients},
			block: block{placement, o.Trial.Repetition}, started: o.Record.StartedAt, logDocs: math.NaN(),
		}
		if o.Measured() {
			r.logDocs = math.Log(o.DocsPerSecond())
			_, r.unit = o.Record.Rate()
		}
		out = append(out, r)
	}
	return out
}

func inOrder(runs []run) []run {
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

// interleaved tells whether no run started before all runs of the blocks before its own had. The runs are in order.
func interleaved(runs []run) bool {
	var latest block
	since := int64(math.MinInt64) // when the first run of the latest block started
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

// driftOf is the slope of docs/s over the order of the runs, as the change in percent from the first run to the last,
// with the figures and places of each group taken against the group's own mean, so that neither variants nor client
// counts count; and the two-sided p of no drift, by 999 permutations of the figures within their groups. Runs that
// started together share their place. (0, 1) when there is nothing to see.
func driftOf(runs []run, seed uint64) (percent, p float64) {
	places, docs := drifting(runs)
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
	asMuch := 1 // the order as it was is one of them
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

// drifting gives each group's places, from 0 of the first run to 1 of the last, and log docs/s, both less the group's
// mean.
func drifting(runs []run) (places, docs [][]float64) {
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
		centre(places[i])
		centre(docs[i])
	}
	return places, docs
}

func centre(values []float64) {
	m := mean(values)
	for i := range values {
		values[i] -= m
	}
}
