package synthetic_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

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
// sides together: the exact binomial test, the smaller tail doubled.
func surprise(k, n int, p float64) float64 {
	counts := distuv.Binomial{N: float64(n), P: p}
	return min(1, 2*min(counts.CDF(float64(k)), 1-counts.CDF(float64(k-1))))
}

func TestSurprise(t *testing.T) {
	for _, tt := range []struct {
		k, n    int
		p, want float64
	}{
		{10, 20, 0.5, 1}, {0, 10, 0.5, 2.0 / 1024}, {10, 10, 0.5, 2.0 / 1024}, {1, 10, 0.5, 22.0 / 1024}, {20, 20, 0.9, 2 * math.Pow(0.9, 20)},
	} {
		if got := surprise(tt.k, tt.n, tt.p); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%d of %d at %g: %g, want %g", tt.k, tt.n, tt.p, got, tt.want)
		}
	}
}

// Without noise the rule finds the knee that each scenario says is true; with it, less often where it is in doubt.
func TestScenariosAreWhatTheySay(t *testing.T) {
	for _, s := range scenarios() {
		var points []analysis.Point
		for _, clients := range s.clients {
			if !slices.Contains(s.gated, clients) {
				points = append(points, analysis.Point{Clients: clients, DocsPerSecond: s.machine.Rate(int(clients)), Verdict: analysis.Measured})
			}
		}
		if c := analysis.NewCurve(points, percentOfPeak); c.Knee.Clients != s.knee {
			t.Errorf("%s: knee %d, want %d", s.name, c.Knee.Clients, s.knee)
		}
		if s.doubt && expected(s, 10_000) > least {
			t.Errorf("%s: noise seldom moves its knee", s.name)
		}
	}
}
