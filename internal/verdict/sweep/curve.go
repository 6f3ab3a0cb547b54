// Package sweep finds the peak and the knee of a sweep, and the stability of the knee. It also finds the next client count of an
// adaptive sweep, and the client count that several cells share.
package sweep

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Point is the result of one client count in a cell's sweep.
type Point struct {
	Clients  int32
	Rate     float64 // in the campaign's unit, for example docs/s; NaN if Errored, never 0
	Verdict  verdict.Verdict
	Failures []verdict.Failure
	Repeats  int // number of values in the median; set only for points of a Curve
}

// Observed reports whether the point has a rate, because it is Measured or Gated.
func (p Point) Observed() bool { return p.Verdict == verdict.Measured || p.Verdict == verdict.Gated }

// Curve is the current sweep of a cell with its peak and its knee. A pointer is nil if there is no such point.
type Curve struct {
	Points  []Point // one point per client count, in ascending order
	Peak    *Point  // Measured point with the highest docs/s; of several such points, the one with the fewest clients
	Highest *Point  // Measured or Gated point with the highest docs/s; of several such points, a Gated one
	Target  float64 // docs/s that a point must reach to pass: percentOfPeak of the peak; NaN without a peak
	Knee    *Point  // point with the fewest clients that passes
	Passing []int32 // client counts that pass, in ascending order; there may be gaps

	PeakGated       bool // whether a Gated point is not below the peak, or there are Gated points but no peak
	PeakAtRangeEdge bool // whether the peak is at the highest observed client count, so that docs/s may still rise; see CheckPeakAtEdge
	KneeAtRangeEdge bool // whether the knee is the lowest observed client count; fewer clients may reach the same docs/s
}

// rounding is the relative tolerance of the comparison with the target.
const rounding = 1e-12

// NewCurve computes the curve of a sweep. A point passes if it is Measured and its docs/s are at least percentOfPeak of the peak.
// The comparison has a relative tolerance of 1e-12. This is thousands of times the error of binary rounding, and far below any
// measurable difference. For example, 745117.431 is 97 % of 768162.3 and passes. Repeats of a client count are first combined into
// one point.
func NewCurve(points []Point, percentOfPeak float64) Curve {
	c := Curve{Points: summarise(points), Target: math.NaN()}
	for i := range c.Points {
		p := &c.Points[i]
		if p.Verdict == verdict.Measured && (c.Peak == nil || p.Rate > c.Peak.Rate) {
			c.Peak = p
		}
		if p.Observed() && (c.Highest == nil || p.Rate > c.Highest.Rate ||
			p.Rate == c.Highest.Rate && p.Verdict == verdict.Gated && c.Highest.Verdict != verdict.Gated) {
			c.Highest = p
		}
	}
	c.PeakGated = c.Highest != nil && c.Highest.Verdict == verdict.Gated
	if c.Peak == nil {
		return c
	}
	c.Target = percentOfPeak / 100 * c.Peak.Rate
	for i := range c.Points {
		p := &c.Points[i]
		if p.Verdict != verdict.Measured || p.Rate < c.Target*(1-rounding) {
			continue
		}
		c.Passing = append(c.Passing, p.Clients)
		if c.Knee == nil {
			c.Knee = p
		}
	}
	observed := slices.DeleteFunc(slices.Clone(c.Points), func(p Point) bool { return !p.Observed() })
	c.PeakAtRangeEdge = c.Peak.Clients == observed[len(observed)-1].Clients
	c.KneeAtRangeEdge = c.Knee.Clients == observed[0].Clients
	return c
}

// At returns the point at a client count. It returns nil if there is no such point.
func (c Curve) At(clients int32) *Point {
	for i := range c.Points {
		if c.Points[i].Clients == clients {
			return &c.Points[i]
		}
	}
	return nil
}

// shareOfPeak returns docs/s of a Measured point divided by docs/s of the peak. It returns false if there is no Measured point at
// this client count.
func (c Curve) shareOfPeak(clients int32) (float64, bool) {
	p := c.At(clients)
	if p == nil || p.Verdict != verdict.Measured {
		return 0, false
	}
	return p.Rate / c.Peak.Rate, true
}

// summarise combines the repeats of each client count into one point. docs/s is the median of the Measured and Gated repeats,
// because a failed gate says nothing about docs/s. One Gated repeat makes the point Gated, because the gate failed at this count.
// The point is Errored only if all repeats are Errored. The failures are those of the repeats with the verdict of the point.
func summarise(points []Point) []Point {
	byClients := map[int32][]Point{}
	for _, p := range points {
		byClients[p.Clients] = append(byClients[p.Clients], p)
	}
	out := make([]Point, 0, len(byClients))
	for clients, repeats := range byClients {
		p := Point{Clients: clients, Rate: math.NaN(), Verdict: verdict.Errored}
		for _, v := range []verdict.Verdict{verdict.Gated, verdict.Measured} {
			if slices.ContainsFunc(repeats, func(r Point) bool { return r.Verdict == v }) {
				p.Verdict = v
				break
			}
		}
		var figures []float64
		for _, r := range repeats {
			if r.Observed() {
				figures = append(figures, r.Rate)
			}
			if r.Verdict == p.Verdict {
				p.Failures = append(p.Failures, r.Failures...)
			}
		}
		if p.Observed() {
			p.Rate, p.Repeats = stats.Median(figures), len(figures)
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Point) int { return int(a.Clients - b.Clients) })
	return out
}
