package analysis

import (
	"math"
	"slices"
)

// Point is one client count of a cell's sweep.
type Point struct {
	Clients       int32
	DocsPerSecond float64 // in the campaign's unit, docs/s or another; NaN when Errored: a failed point has no figure, and is never 0
	Verdict       Verdict
	Failures      []Failure
	Repeats       int // of a curve's point: how many figures docs/s is the median of
}

// Observed tells whether the point has a figure: Measured or Gated.
func (p Point) Observed() bool { return p.Verdict == Measured || p.Verdict == Gated }

// Curve is a cell's sweep as far as it is known, and what is read off it. Pointers are nil when there is no such
// point.
type Curve struct {
	Points  []Point // by ascending clients, one a count
	Peak    *Point  // the highest docs/s among Measured points; of equal ones, the fewest clients
	Highest *Point  // the highest docs/s observed at all
	Target  float64 // docs/s that a count must reach to pass: percentOfPeak of the peak; NaN without a peak
	Knee    *Point  // the fewest clients that pass
	Passing []int32 // the counts that pass, ascending; not contiguous in general

	PeakGated       bool // a Gated point lies above the peak, or there is no peak beside it
	PeakAtRangeEdge bool // nothing was observed above the peak's client count: docs/s may still rise there
	KneeAtRangeEdge bool // the knee is the lowest count observed: fewer clients may do as well
}

// NewCurve reads a sweep's points by the literal rule: a point passes when it is Measured and its docs/s is at
// least percentOfPeak of the peak. The comparison has a relative tolerance of 1e-12, thousands of times what rounding
// to binary numbers does and far below what a measurement tells: 745117.431 is 97 % of 768162.3, and passes. Points of
// one client count are repeats and are summarised first.
func NewCurve(points []Point, percentOfPeak float64) Curve {
	c := Curve{Points: summarise(points), Target: math.NaN()}
	for i := range c.Points {
		p := &c.Points[i]
		if p.Verdict == Measured && (c.Peak == nil || p.DocsPerSecond > c.Peak.DocsPerSecond) {
			c.Peak = p
		}
		if p.Observed() && (c.Highest == nil || p.DocsPerSecond > c.Highest.DocsPerSecond) {
			c.Highest = p
		}
	}
	c.PeakGated = c.Highest != nil && c.Highest.Verdict == Gated
	if c.Peak == nil {
		return c
	}
	c.Target = percentOfPeak / 100 * c.Peak.DocsPerSecond
	const rounding = 1e-12
	for i := range c.Points {
		p := &c.Points[i]
		if p.Verdict != Measured || p.DocsPerSecond < c.Target*(1-rounding) {
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

// At is the point at a client count, or nil.
func (c Curve) At(clients int32) *Point {
	for i := range c.Points {
		if c.Points[i].Clients == clients {
			return &c.Points[i]
		}
	}
	return nil
}

// shareOfPeak is a Measured point's docs/s over the peak's; false when there is no Measured point at clients.
func (c Curve) shareOfPeak(clients int32) (float64, bool) {
	p := c.At(clients)
	if p == nil || p.Verdict != Measured {
		return 0, false
	}
	return p.DocsPerSecond / c.Peak.DocsPerSecond, true
}

// summarise makes one point of the repeats of a client count: the median of those with a figure, Measured and Gated,
// since a gate says nothing of docs/s. One Gated repeat gates the point, since the gate did not hold at that count.
// Errored repeats count only when there is nothing else. The failures are those of the repeats with the point's verdict.
func summarise(points []Point) []Point {
	byClients := map[int32][]Point{}
	for _, p := range points {
		byClients[p.Clients] = append(byClients[p.Clients], p)
	}
	out := make([]Point, 0, len(byClients))
	for clients, repeats := range byClients {
		p := Point{Clients: clients, DocsPerSecond: math.NaN(), Verdict: Errored}
		for _, v := range []Verdict{Gated, Measured} {
			if slices.ContainsFunc(repeats, func(r Point) bool { return r.Verdict == v }) {
				p.Verdict = v
				break
			}
		}
		var figures []float64
		for _, r := range repeats {
			if r.Observed() {
				figures = append(figures, r.DocsPerSecond)
			}
			if r.Verdict == p.Verdict {
				p.Failures = append(p.Failures, r.Failures...)
			}
		}
		if p.Observed() {
			p.DocsPerSecond, p.Repeats = Median(figures), len(figures)
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Point) int { return int(a.Clients - b.Clients) })
	return out
}

// Median is the middle value, or the mean of the two middle ones; NaN of nothing.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}
