package analysis

import (
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// pair is a comparison of two cells, each named by variant and topology.
type pair struct {
	variant, topology          string
	baseline, baselineTopology string
	named                      bool
}

// pairsOf are the comparisons of a campaign: each variant against the baseline on its own topology, then the named
// ones. One that is there already does not count twice, and one of a cell that the campaign leaves out not at all.
func pairsOf(spec v1alpha1.BenchmarkCampaignSpec, p plan.Plan) []pair {
	var topologies []string
	there := map[CellKey]bool{}
	for _, c := range p.Cells {
		there[CellKey{c.Variant(), c.Topology()}] = true
		if !slices.Contains(topologies, c.Topology()) {
			topologies = append(topologies, c.Topology())
		}
	}
	var out []pair
	for _, topology := range topologies {
		for _, v := range spec.Variants {
			both := there[CellKey{string(v.Name), topology}] && there[CellKey{spec.Baseline, topology}]
			if both && string(v.Name) != spec.Baseline {
				out = append(out, pair{string(v.Name), topology, spec.Baseline, topology, false})
			}
		}
	}
	for _, c := range spec.Comparisons {
		named := pair{string(c.Cell.Variant), string(c.Cell.Topology), string(c.Baseline.Variant), string(c.Baseline.Topology), true}
		both := there[CellKey{named.variant, named.topology}] && there[CellKey{named.baseline, named.baselineTopology}]
		if both && !slices.ContainsFunc(out, func(p pair) bool { p.named = true; return p == named }) {
			out = append(out, named)
		}
	}
	return out
}

// Comparisons is how many ratios a campaign has when each topology gets shared clients.
func Comparisons(spec v1alpha1.BenchmarkCampaignSpec, p plan.Plan) int {
	n := len(pairsOf(spec, p))
	if p.Fixed {
		n *= len(p.Clients)
	}
	return n
}

// comparisons is how many ratios the finished campaign has: one at each client count without a sweep, else one, or
// none where a topology has no shared clients.
func (a *Assessment) comparisons() int {
	n := 0
	for _, pair := range a.pairs {
		switch {
		case a.Fixed:
			n += a.clientCounts
		case a.mayHaveFinals(pair.topology) && a.mayHaveFinals(pair.baselineTopology):
			n++
		}
	}
	return n
}

// mayHaveFinals tells whether a topology has shared clients, or may yet.
func (a *Assessment) mayHaveFinals(topology string) bool {
	shared, known := a.Shared[topology]
	return !known || shared.Clients > 0
}

// compare makes the ratios of every pair of cells whose Finals are done. Their intervals hold together with
// confidence 1 - Alpha where the repetitions allow it (Bonferroni: each at 1 - Alpha/m).
func (a *Assessment) compare(p plan.Plan) {
	// How many comparisons there will be, not how many there are: an interval does not change as others come.
	comparisons := a.comparisons()
	confidence := 1 - Alpha/float64(max(comparisons, 1))
	var ps []float64
	for _, pair := range a.pairs {
		x, y := a.Cell(pair.variant, pair.topology), a.Cell(pair.baseline, pair.baselineTopology)
		if x == nil || y == nil || !a.finalsDone(x.Topology) || !a.finalsDone(y.Topology) {
			continue
		}
		for _, at := range clientsOf(a.Fixed, *x, *y) {
			r := Ratio{
				Topology: pair.topology, Variant: pair.variant, Baseline: pair.baseline, BaselineTopology: pair.baselineTopology,
				Clients: at[0], BaselineClients: at[1], Named: pair.named, Comparisons: comparisons,
			}
			r.Placements, r.Estimate = estimate(p, x.FinalsAt(at[0]), y.FinalsAt(at[1]), confidence)
			a.Ratios = append(a.Ratios, r)
			ps = append(ps, r.P)
		}
	}
	noise := a.Noise
	if p.Placements > 1 {
		noise = a.placementNoise()
	}
	for i, adjusted := range Holm(ps) {
		r := &a.Ratios[i]
		r.AdjustedP = adjusted
		r.Distinguishable = adjusted <= Alpha && (r.Low > 1 || r.High < 1)
		r.Verdict, r.Need = JudgeRatio(r.Estimate, r.Distinguishable, p.SmallestDifferencePercent, noise, comparisons)
	}
}

// clientsOf are the client counts at which two cells are compared: each at the shared clients of its own topology, or,
// without a sweep, both at each count.
func clientsOf(fixed bool, x, y Cell) [][2]int32 {
	a, b := x.FinalClients(), y.FinalClients()
	if !fixed {
		return [][2]int32{{a[0], b[0]}}
	}
	var out [][2]int32
	for _, clients := range a {
		if slices.Contains(b, clients) {
			out = append(out, [2]int32{clients, clients})
		}
	}
	return out
}

// estimate compares docs/s of two cells, by placement, and says on how many placements the estimate rests. Repetitions
// on one machine are no repetitions of the machine: where there are several placements, their means are compared.
func estimate(p plan.Plan, x, y [][]float64, confidence float64) (placements int, e Estimate) {
	if p.Placements > 1 {
		return min(len(x), len(y)), CompareMeans(x, y, confidence)
	}
	if p.MaxRepetitions > p.Repetitions {
		return 1, CompareTwoStages(slices.Concat(x...), slices.Concat(y...), confidence)
	}
	return 1, Compare(slices.Concat(x...), slices.Concat(y...), confidence)
}

// placementNoise is that of the means of placements, which are what is compared where there are several.
func (a *Assessment) placementNoise() Noise {
	var groups [][]float64
	for _, c := range a.Cells {
		for _, clients := range c.FinalClients() {
			groups = append(groups, geometricMeans(c.FinalsAt(clients)))
		}
	}
	return PooledNoise(groups)
}
