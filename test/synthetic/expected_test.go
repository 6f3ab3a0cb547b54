package synthetic_test

import (
	"math"
	"math/rand/v2"

	"github.com/knee-bench/knee/internal/analysis"
)

// expected is how often the literal rule finds the knee in figures without a cluster and an agent: each the curve's,
// times the noise of a level and of the bulks of a load.
func expected(s scenario, studies int) float64 {
	const bulks = corpus / bulkSize
	cv := math.Hypot(noise, bulkCV/math.Sqrt(bulks))
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range studies {
		var points []analysis.Point
		for _, clients := range s.clients {
			for range repeats {
				docs := s.machine.Curve(int(clients)) * math.Exp(cv*rng.NormFloat64())
				points = append(points, analysis.Point{Clients: clients, DocsPerSecond: docs, Verdict: analysis.Measured})
			}
		}
		if analysis.NewCurve(points, percentOfPeak).Knee.Clients == s.knee {
			found++
		}
	}
	return float64(found) / float64(studies)
}

// surprise is the probability of a count at least as far out as k on its side, of n draws with probability p, both
// sides together: the exact binomial test with doubled tail.
func surprise(k, n int, p float64) float64 {
	below, above := 0.0, 0.0
	for i := range n + 1 {
		c, _ := math.Lgamma(float64(n + 1))
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(n - i + 1))
		mass := math.Exp(c - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		if i <= k {
			below += mass
		}
		if i >= k {
			above += mass
		}
	}
	return min(1, 2*min(below, above))
}
