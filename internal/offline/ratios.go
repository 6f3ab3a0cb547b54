package offline

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/analysis"
)

// shared is what the cells of each topology share, and all of them.
type shared struct {
	names []string // topologies
	of    map[string]analysis.Shared
	all   analysis.Shared
}

func sharedOf(cells []*cell) shared {
	s := shared{names: topologies(cells), of: map[string]analysis.Shared{}}
	for _, topology := range s.names {
		s.of[topology] = analysis.SharedClients(curves(cells, func(c *cell) bool { return c.topology == topology }))
	}
	s.all = analysis.SharedClients(curves(cells, func(*cell) bool { return true }))
	return s
}

// curves are those of the cells with a sweep: a file of Finals alone shares nothing.
func curves(cells []*cell, of func(*cell) bool) []analysis.Curve {
	var out []analysis.Curve
	for _, c := range cells {
		if of(c) && len(c.sweep) > 0 {
			out = append(out, c.curve)
		}
	}
	return out
}

func found(s analysis.Shared) (clients *int32, fallback bool) {
	if s.Clients == 0 {
		return nil, false
	}
	return &s.Clients, !s.Agreed
}

// ratios compares every variant with the baseline, by topology: at peaks, at knees, at the shared clients, and over
// the Finals. What one of the two does not have is left out.
func ratios(cells []*cell, s shared, o Options, noise analysis.Noise) []Ratio {
	var out []Ratio
	var finals []final
	for _, c := range cells {
		base := find(cells, o.Baseline, c.topology)
		if base == nil || c.variant == o.Baseline {
			continue
		}
		add := func(at string, ratio float64) {
			r := Ratio{Variant: c.variant, Baseline: base.variant, At: at, Ratio: ratio}
			if len(s.names) > 1 {
				r.Topology = c.topology
			}
			out = append(out, r)
		}
		sweep := func(at string, x, y *analysis.Point) {
			if x != nil && y != nil && x.Observed() && y.Observed() {
				add(at, x.DocsPerSecond/y.DocsPerSecond)
			}
		}
		sweep(AtPeak, c.curve.Peak, base.curve.Peak)
		sweep(AtKnee, c.curve.Knee, base.curve.Knee)
		if clients := s.of[c.topology].Clients; clients > 0 {
			sweep(AtShared, c.curve.At(clients), base.curve.At(clients))
		}
		several := len(common(c, base)) > 1
		for _, clients := range common(c, base) {
			add(AtFinal, math.NaN())
			if several {
				out[len(out)-1].Clients = clients
			}
			finals = append(finals, final{len(out) - 1, c.placements(clients), base.placements(clients)})
		}
	}
	estimate(out, finals, o, noise)
	return slices.DeleteFunc(out, func(r Ratio) bool { return math.IsNaN(r.Ratio) })
}

// final is a ratio over the Finals that is to be estimated: the samples by placement.
type final struct {
	index int
	x, y  [][]float64
}

// byPlacement tells whether means of placements are compared: where one of the two has several. Repetitions on one
// machine are no repetitions of the machine.
func (f final) byPlacement() bool { return len(f.x) > 1 || len(f.y) > 1 }

// values are how many are compared.
func (f final) values() (x, y int) {
	if f.byPlacement() {
		return len(f.x), len(f.y)
	}
	return len(slices.Concat(f.x...)), len(slices.Concat(f.y...))
}

// estimate fills the ratios of the Finals in, as analysis.Assess does: their intervals hold together with confidence
// 1 - Alpha where the repetitions allow it. A comparison that can have no interval is none that the others have to make up
// for, neither in their intervals nor in Holm's p.
func estimate(out []Ratio, finals []final, o Options, noise analysis.Noise) {
	m := 0
	for _, f := range finals {
		if x, y := f.values(); x > 1 && y > 1 {
			m++
		}
	}
	confidence := 1 - analysis.Alpha/float64(max(m, 1))
	estimates, p := make([]analysis.Estimate, len(finals)), make([]float64, len(finals))
	for i, f := range finals {
		if f.byPlacement() {
			estimates[i] = analysis.CompareMeans(f.x, f.y, confidence)
		} else {
			estimates[i] = analysis.Compare(slices.Concat(f.x...), slices.Concat(f.y...), confidence)
		}
		p[i] = math.NaN()
		if estimates[i].HasInterval() {
			p[i] = estimates[i].P
		}
	}
	for i, adjusted := range analysis.Holm(p) {
		e, r := estimates[i], &out[finals[i].index]
		r.Ratio = e.Ratio
		if !e.HasInterval() {
			continue
		}
		told := adjusted <= analysis.Alpha && (e.Low > 1 || e.High < 1)
		verdict, _ := analysis.JudgeRatio(e, told, o.SmallestDifference, noise, m)
		r.Low, r.High, r.Confidence, r.P = &e.Low, &e.High, &e.Confidence, &e.P
		if text := string(verdict); text != "" {
			r.Verdict = &text
		}
		if m > 1 {
			r.AdjustedP = &adjusted
		}
	}
}

func find(cells []*cell, variant, topology string) *cell {
	for _, c := range cells {
		if c.variant == variant && c.topology == topology {
			return c
		}
	}
	return nil
}

// common are the client counts at which both cells have a Final, ascending; 0 stands for Finals that tell none.
func common(a, b *cell) []int32 {
	var out []int32
	for _, j := range a.finals {
		same := func(other judged) bool { return other.row.Clients == j.row.Clients }
		if !slices.Contains(out, j.row.Clients) && slices.ContainsFunc(b.finals, same) {
			out = append(out, j.row.Clients)
		}
	}
	slices.Sort(out)
	return out
}

// placements are docs/s of the Measured Finals at a client count, by placement.
func (c *cell) placements(clients int32) [][]float64 {
	of := map[string][]float64{}
	var order []string
	for _, j := range c.finals {
		if j.row.Clients != clients || j.judgement.Verdict != analysis.Measured {
			continue
		}
		k := j.row.Placement
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], *j.row.DocsPerSecond)
	}
	slices.Sort(order)
	out := make([][]float64, len(order))
	for i, k := range order {
		out[i] = of[k]
	}
	return out
}
