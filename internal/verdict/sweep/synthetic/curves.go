// Package synthetic makes sweeps with a known true knee. They are used to simulate the methods that find knees.
package synthetic

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// Clients are the client counts of every curve.
var Clients = []int32{8, 12, 16, 20, 24, 32, 40, 48}

// Shapes are the kinds of curves.
var Shapes = []string{"saturating", "retrograde", "stepped", "flat"}

// PercentOfPeak is the share of the peak that a knee must reach.
const PercentOfPeak = v1alpha1.DefaultPercentOfPeak

// Curve is a true curve, without noise.
type Curve struct {
	Shape string
	Docs  []float64 // docs/s at Clients
	CV    float64   // noise of one measurement, 0 to 1
	Knee  int       // index of the true knee in Clients: the first count that reaches PercentOfPeak of the peak
}

// New returns a random curve of the given shape. Its CV is between 0.5 and 3 %.
func New(rng *rand.Rand, shape string) Curve {
	c := Curve{Shape: shape, CV: uniform(rng, 0.005, 0.03)}
	scale := 20_000 * math.Exp(uniform(rng, 0, 3)) // docs/s, 20,000 to 400,000
	at := shapes[shape](rng)
	for _, n := range Clients {
		c.Docs = append(c.Docs, scale*at(float64(n)))
	}
	c.Knee = kneeOf(c.Docs)
	return c
}

func kneeOf(docs []float64) int {
	peak := slices.Max(docs)
	return slices.IndexFunc(docs, func(d float64) bool { return 100*d >= PercentOfPeak*peak })
}

// Irregular returns a curve whose docs/s differ from this curve at each count by a random factor. sd is the standard deviation of its
// log. The factor is a part of the true curve, so repeats do not average it out.
func (c Curve) Irregular(rng *rand.Rand, sd float64) Curve {
	c.Docs = slices.Clone(c.Docs)
	for i := range c.Docs {
		c.Docs[i] *= math.Exp(sd * rng.NormFloat64())
	}
	c.Knee = kneeOf(c.Docs)
	return c
}

// Measure returns a random measurement at an index of Clients.
func (c Curve) Measure(rng *rand.Rand, at int) float64 {
	return c.Docs[at] * math.Exp(c.CV*rng.NormFloat64())
}

var shapes = map[string]func(*rand.Rand) func(clients float64) float64{
	"saturating": saturating, "retrograde": retrograde, "stepped": stepped, "flat": flat,
}

// saturating returns a curve that rises to a plateau. The curve is an exponential, or a soft minimum of a line and a constant.
func saturating(rng *rand.Rand) func(float64) float64 {
	if rng.IntN(2) == 0 {
		scale := uniform(rng, 2, 20)
		return func(n float64) float64 { return 1 - math.Exp(-n/scale) }
	}
	corner, sharpness := uniform(rng, 2, 40), uniform(rng, 1, 5)
	return func(n float64) float64 { return math.Pow(1+math.Pow(n/corner, -sharpness), -1/sharpness) }
}

// retrograde returns a curve of Gunther's Universal Scalability Law. Its peak is between 10 and 44 clients.
func retrograde(rng *rand.Rand) func(float64) float64 {
	alpha, peak := uniform(rng, 0.005, 0.15), uniform(rng, 10, 44)
	beta := (1 - alpha) / (peak * peak)
	return func(n float64) float64 { return n / (1 + alpha*(n-1) + beta*n*(n-1)) }
}

// stepped returns a curve of steps. At about every second client count, it jumps up by 1 to 16 %.
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

// flat returns a curve that changes by at most 2 % over all client counts. So its knee is the first count.
func flat(rng *rand.Rand) func(float64) float64 {
	change := uniform(rng, -0.02, 0.02)
	first, last := float64(Clients[0]), float64(Clients[len(Clients)-1])
	return func(n float64) float64 { return 1 + change*(n-first)/(last-first) }
}

func uniform(rng *rand.Rand, low, high float64) float64 { return low + (high-low)*rng.Float64() }
