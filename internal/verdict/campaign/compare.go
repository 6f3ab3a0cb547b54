package campaign

import (
	"fmt"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Ratio compares docs/s (or the campaign's other unit) of a cell in the Final phase with docs/s of a baseline.
type Ratio struct {
	Topology, Variant, Baseline string
	BaselineTopology            string // equal to Topology, except in a named comparison
	Clients, BaselineClients    int32
	Named                       bool // true: from spec.comparisons
	Placements                  int  // number of placements in the estimate; above 1, the means of placements are compared
	stats.Estimate
	Verdict         stats.RatioVerdict
	Need            int     // for a ratio that is too noisy: about how many repetitions it needs in a new measurement
	NeedWithStage   int     // like Need, but together with the present repetitions: a second stage after this look. 0: Need is 0, or there are two stages already
	Comparisons     int     // number of comparisons of the campaign; the intervals hold for all of them together
	AdjustedP       float64 // p adjusted for the number of comparisons; it is at most Alpha exactly if the interval excludes 1
	Distinguishable bool    // AdjustedP is at most Alpha
}

// TooFew reports whether the samples are so small that even the largest difference could not be distinguished from noise.
func (r Ratio) TooFew() bool { return r.Estimate.TooFew(r.Comparisons) }

// reverses reports whether r and other compare the same loads with the baseline exchanged.
func (r Ratio) reverses(other Ratio) bool {
	return r.Variant == other.Baseline && r.Topology == other.BaselineTopology && r.Clients == other.BaselineClients &&
		other.Variant == r.Baseline && other.Topology == r.BaselineTopology && other.Clients == r.BaselineClients
}

// RatioName returns the names of the two cells of a ratio. In a Fixed campaign, it adds the client count.
func (d Design) RatioName(r Ratio) string {
	baseline := r.Baseline
	if r.BaselineTopology != "" && r.BaselineTopology != r.Topology {
		baseline = d.CellName(r.Baseline, r.BaselineTopology)
	}
	name := d.CellName(r.Variant, r.Topology) + " against " + baseline
	if d.Fixed {
		name += fmt.Sprintf(" at %d clients", r.Clients)
	}
	return name
}

// Pair is a comparison of a cell with a baseline cell.
type Pair struct {
	Cell, Baseline CellKey
	Named          bool    // true: from spec.comparisons
	Clients        []int32 // client counts of the comparison; nil: the shared counts, or, without a sweep, all common counts
}

// pairsOf returns the comparisons of a campaign: each variant with the baseline on the same topology, then the named comparisons.
// It does not repeat a comparison. It leaves out comparisons with a cell that is not in the plan.
func pairsOf(spec v1alpha1.BenchmarkCampaignSpec, p plan.Plan) []Pair {
	planned := map[CellKey]bool{}
	for _, c := range p.Cells {
		planned[CellKey{c.Variant(), c.Topology()}] = true
	}
	var out []Pair
	for _, topology := range topologiesOf(p) {
		for _, v := range spec.Variants {
			pair := Pair{Cell: CellKey{string(v.Name), topology}, Baseline: CellKey{spec.Baseline, topology}}
			if planned[pair.Cell] && planned[pair.Baseline] && pair.Cell != pair.Baseline {
				out = append(out, pair)
			}
		}
	}
	for _, c := range spec.Comparisons {
		pair := Pair{
			Cell:     CellKey{string(c.Cell.Variant), string(c.Cell.Topology)},
			Baseline: CellKey{string(c.Baseline.Variant), string(c.Baseline.Topology)}, Named: true,
		}
		listed := slices.ContainsFunc(out, func(p Pair) bool { return p.Cell == pair.Cell && p.Baseline == pair.Baseline })
		if planned[pair.Cell] && planned[pair.Baseline] && !listed {
			out = append(out, pair)
		}
	}
	return out
}

// withoutReversals leaves out each pair that reverses an earlier pair. Both ratios say the same, so they are one comparison of the
// family.
func withoutReversals(pairs []Pair) []Pair {
	var out []Pair
	for _, pair := range pairs {
		if !slices.ContainsFunc(out, func(p Pair) bool { return p.Cell == pair.Baseline && p.Baseline == pair.Cell }) {
			out = append(out, pair)
		}
	}
	return out
}

// pairIndices returns the pairs as indices of cells in the plan.
func pairIndices(p plan.Plan, pairs []Pair) [][2]int {
	index := map[CellKey]int{}
	for i, c := range p.Cells {
		index[CellKey{c.Variant(), c.Topology()}] = i
	}
	var out [][2]int
	for _, pair := range pairs {
		out = append(out, [2]int{index[pair.Cell], index[pair.Baseline]})
	}
	return out
}

// Comparisons returns the number of comparisons of a campaign by its spec. A ratio and its reversal are one comparison. Without a sweep,
// each pair is compared at each client count. The number does not depend on records: a topology without shared clients and a cell that
// is left out count, so that neither an interval nor the repetitions of another topology change when they are left out.
func Comparisons(spec v1alpha1.BenchmarkCampaignSpec, p plan.Plan) int {
	n := len(withoutReversals(pairsOf(spec, p)))
	if p.Fixed {
		n *= len(p.Clients)
	}
	return n
}

// CompareCells returns the ratios of all pairs of cells whose Finals are done. All intervals together have confidence 1 - Alpha if
// there are enough repetitions (stats.FamilyConfidence). The family is a.Comparisons, the number of comparisons of the spec. So
// an interval and an adjusted p do not change when other ratios are added or left out.
func CompareCells(a Assessment) []Ratio {
	confidence := stats.FamilyConfidence(a.Comparisons)
	values := groupRepeats
	if a.Placements > 1 {
		values = groupPlacements
	}
	known := map[*Cell]stats.Noise{}
	noiseOf := func(c *Cell) stats.Noise {
		if _, ok := known[c]; !ok {
			known[c] = noiseOfCell(a.Cells, c, values)
		}
		return known[c]
	}
	var out []Ratio
	for _, pair := range a.Pairs {
		x, y := a.Cell(pair.Cell.Variant, pair.Cell.Topology), a.Cell(pair.Baseline.Variant, pair.Baseline.Topology)
		if x == nil || y == nil || !finalsDone(a.Cells, x.Topology) || !finalsDone(a.Cells, y.Topology) {
			continue
		}
		for _, at := range clientsCompared(a.Design, pair, *x, *y) {
			r := Ratio{
				Topology: x.Topology, Variant: x.Variant, Baseline: y.Variant, BaselineTopology: y.Topology,
				Clients: at[0], BaselineClients: at[1], Named: pair.Named, Comparisons: a.Comparisons,
			}
			earlier := earlierLooks(a.Design, *x, *y, at)
			r.Placements, r.Estimate = EstimateRatio(a.Design, x.FinalsAt(at[0]), y.FinalsAt(at[1]), earlier, confidence)
			r.AdjustedP, r.Distinguishable = r.AdjustP(a.Comparisons), r.Estimate.Distinguishable(a.Comparisons)
			sizing := stats.Sizing{
				Noise: noiseOf(x), Baseline: noiseOf(y), SmallestDifferencePercent: a.SmallestDifferencePercent, Comparisons: a.Comparisons,
			}
			r.Verdict, r.Need = stats.JudgeRatio(r.Estimate, r.Distinguishable, sizing)
			if r.Need > 0 && !a.ComparesPlacements(x.FinalsAt(at[0]), y.FinalsAt(at[1])) && !a.hasTwoStages() {
				sizing.TwoStages, sizing.Earlier = true, append(slices.Clone(earlier), stats.Look{N: r.N, M: r.M})
				r.NeedWithStage = stats.RepetitionsFor(sizing)
			}
			out = append(out, r)
		}
	}
	return out
}

// clientsCompared returns the client counts at which two cells are compared. An entry holds two counts: first the client count of
// the cell, then the client count of its baseline.
func clientsCompared(d Design, pair Pair, x, y Cell) [][2]int32 {
	both := pair.Clients
	if both == nil {
		a, b := x.FinalClients(), y.FinalClients()
		if !d.Fixed {
			return [][2]int32{{a[0], b[0]}}
		}
		both = slices.DeleteFunc(a, func(clients int32) bool { return !slices.Contains(b, clients) })
	}
	var out [][2]int32
	for _, clients := range both {
		out = append(out, [2]int32{clients, clients})
	}
	return out
}

// ComparesPlacements reports whether the means of placements are compared instead of repetitions. If there are several placements,
// repetitions on one machine are not independent evidence about other machines. x and y are docs/s of two cells, by placement.
func (d Design) ComparesPlacements(x, y [][]float64) bool {
	return d.Placements > 1 || len(x) > 1 || len(y) > 1
}

// hasTwoStages reports whether the noise of the first repetitions fixes the number of all.
func (d Design) hasTwoStages() bool { return d.MaxRepetitions > d.Repetitions }

// LeastRepetitions returns the smallest number of repetitions, or of placements if there are several, with which a difference can be
// distinguished from noise among a number of comparisons.
func (d Design) LeastRepetitions(comparisons int) int {
	if d.hasTwoStages() && d.Placements <= 1 {
		return stats.RepetitionsInTwoStages(comparisons)
	}
	return stats.Repetitions(comparisons)
}

// EstimateRatio compares docs/s of two cells, given by placement, in the order of their repetitions. It also returns the number of
// placements that it used. If the repetitions depend on the repetition before, the interval is wider (stats.NewDependence). earlier
// holds the looks at fewer repetitions of the same cells. Placements are compared as if there were no earlier look.
func EstimateRatio(d Design, x, y [][]float64, earlier []stats.Look, confidence float64) (placements int, e stats.Estimate) {
	if d.ComparesPlacements(x, y) {
		return min(len(x), len(y)), stats.CompareMeans(x, y, confidence)
	}
	one, other := slices.Concat(x...), slices.Concat(y...)
	widening := stats.NewDependence(one, other).Widening()
	return 1, stats.CompareLooks(one, other, earlier, confidence, widening, d.hasTwoStages())
}

// groupPlacements returns the means of placements of each cell and client count. These means are compared if there are several
// placements.
func groupPlacements(cells []Cell) [][]float64 {
	var groups [][]float64
	for _, c := range cells {
		for _, clients := range c.FinalClients() {
			groups = append(groups, stats.GeometricMeans(c.FinalsAt(clients)))
		}
	}
	return groups
}
