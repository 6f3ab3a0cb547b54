// Package synthetic makes sweeps whose true knee is known, for simulations of what finds it.
package synthetic

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Clients is the grid of every curve.
var Clients = []int32{8, 12, 16, 20, 24, 32, 40, 48}

// Shapes are the kinds of curves.
var Shapes = []string{"saturating", "retrograde", "stepped", "flat"}

// PercentOfPeak is what a knee must reach.
const PercentOfPeak = 97

// Curve is a true curve, without noise.
type Curve struct {
	Shape string
	Docs  []float64 // docs/s at Clients
	CV    float64   // noise of one measurement, 0 to 1
	Knee  int       // index into Clients, by the literal rule
}

// New draws a curve of a shape, with a CV between 0.5 and 3 %.
func New(rng *rand.Rand, shape string) Curve {
	c := Curve{Shape: shape, CV: uniform(rng, 0.005, 0.03)}
	scale := 20_000 * math.Exp(uniform(rng, 0, 3)) // docs/s, 20,000 to 400,000
	at := shapes[shape](rng)
	for _, n := range Clients {
		c.Docs = append(c.Docs, scale*at(float64(n)))
	}
	peak := slices.Max(c.Docs)
	c.Knee = slices.IndexFunc(c.Docs, func(d float64) bool { return 100*d >= PercentOfPeak*peak })
	return c
}

// Measure draws a measurement at an index into Clients.
func (c Curve) Measure(rng *rand.Rand, at int) float64 {
	return c.Docs[at] * math.Exp(c.CV*rng.NormFloat64())
}

var shapes = map[string]func(*rand.Rand) func(clients float64) float64{
	"saturating": saturating, "retrograde": retrograde, "stepped": stepped, "flat": flat,
}

// saturating rises to a plateau, exponentially or as a soft minimum of a line and a level.
func saturating(rng *rand.Rand) func(float64) float64 {
	if rng.IntN(2) == 0 {
		scale := uniform(rng, 2, 20)
		return func(n float64) float64 { return 1 - math.Exp(-n/scale) }
	}
	corner, sharpness := uniform(rng, 2, 40), uniform(rng, 1, 5)
	return func(n float64) float64 { return math.Pow(1+math.Pow(n/corner, -sharpness), -1/sharpness) }
}

// retrograde is Gunther's Universal Scalability Law with its peak within the grid or just below.
func retrograde(rng *rand.Rand) func(float64) float64 {
	alpha, peak := uniform(rng, 0.005, 0.15), uniform(rng, 10, 44)
	beta := (1 - alpha) / (peak * peak)
	return func(n float64) float64 { return n / (1 + alpha*(n-1) + beta*n*(n-1)) }
}

// stepped stays level but for jumps up of 1 to 16 % at about every second count.
func stepped(rng *rand.Rand) func(float64) float64 {
	levels, level := map[float64]float64{}, 1.0
	for i, n := range Clients {
		if i > 0 && rng.IntN(2) == 0 {
			level *= 1 + uniform(rng, 0.01, 0.16)
		}
		levels[float64(n)] = level
	}
	return func(n float64) float64 { return levels[n] }
}

// flat changes by at most 2 % over the whole grid: its knee is the first count.
func flat(rng *rand.Rand) func(float64) float64 {
	change := uniform(rng, -0.02, 0.02)
	first, last := float64(Clients[0]), float64(Clients[len(Clients)-1])
	return func(n float64) float64 { return 1 + change*(n-first)/(last-first) }
}

func uniform(rng *rand.Rand, low, high float64) float64 { return low + (high-low)*rng.Float64() }
