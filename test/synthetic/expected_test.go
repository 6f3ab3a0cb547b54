package synthetic_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// expected returns how often the knee rule finds the true knee in simulated docs/s, without a cluster or an agent. Each
// value is the curve's docs/s with the noise of one index and of the bulks of one load.
func expected(s scenario, studies int) float64 {
	const bulks = corpus / bulkSize
	cv := math.Hypot(noise, bulkCV/math.Sqrt(bulks))
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range studies {
		var points []sweep.Point
		for _, clients := range s.clients {
			for range repeats {
				docs := s.machine.Curve(int(clients)) * math.Exp(cv*rng.NormFloat64())
				points = append(points, sweep.Point{Clients: clients, Rate: docs, Verdict: verdict.Measured})
			}
		}
		if sweep.NewCurve(points, percentOfPeak).Knee.Clients == s.knee {
			found++
		}
	}
	return float64(found) / float64(studies)
}

// surprise returns the two-sided p-value of k hits in n draws with probability p. It is the exact binomial test: the
// smaller tail doubled.
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

// TestScenarios_statedKneeAndDoubt_areTrue checks the scenarios. Without noise the knee rule must find each scenario's knee. In
// scenarios with doubt, noise must often move the knee.
func TestScenarios_statedKneeAndDoubt_areTrue(t *testing.T) {
	for _, s := range scenarios() {
		var points []sweep.Point
		for _, clients := range s.clients {
			if !slices.Contains(s.gated, clients) {
				points = append(points, sweep.Point{Clients: clients, Rate: s.machine.Rate(int(clients)), Verdict: verdict.Measured})
			}
		}
		if c := sweep.NewCurve(points, percentOfPeak); c.Knee.Clients != s.knee {
			t.Errorf("%s: knee %d, want %d", s.name, c.Knee.Clients, s.knee)
		}
		if s.doubt && expected(s, 10_000) > least {
			t.Errorf("%s: noise seldom moves its knee", s.name)
		}
	}
}
