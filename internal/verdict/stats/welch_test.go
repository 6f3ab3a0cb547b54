package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWelch_textbookExample_matchesR compares with R's t.test(extra ~ group, data = sleep) (Student 1908): t = -1.8608, df = 17.776,
// p = 0.07939, interval [-3.3654832, 0.2054832].
func TestWelch_textbookExample_matchesR(t *testing.T) {
	w := newWelch([]float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}, []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4})
	low, high := w.interval(0.95)
	if !within(w.freedom, 17.776, 0.0005) || !within(w.tails().p(), 0.07939, 0.000005) || !within(low, -3.3654832, 1e-6) || !within(high, 0.2054832, 1e-6) {
		t.Errorf("%+v, p %v, interval [%v, %v]", w, w.tails().p(), low, high)
	}
	for difference, want := range map[float64]float64{0: 1, 1: 0, -1: 0} {
		if w := newWelch([]float64{difference, difference}, []float64{0, 0, 0}); w.tails().p() != want {
			t.Errorf("no noise, difference %v: p %v, want %v", difference, w.tails().p(), want)
		}
	}
}

// TestCompare_containsBothIntervals checks that Compare returns the hull of the rank interval and of Welch's interval, and says which
// of them gives the bounds.
func TestCompare_containsBothIntervals(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 14))
	seen := map[Bounds]int{}
	for range 2000 {
		x, y := noisy(rng, 2+rng.IntN(8), 1.1, 0.01), noisy(rng, 2+rng.IntN(8), 1, 0.05*rng.Float64())
		e, ranks := Compare(x, y, 0.95), CompareRanks(x, y, 0.95)
		low, high := newWelch(toLogs(x), toLogs(y)).interval(e.Confidence)
		lowest, highest := min(ranks.Low, math.Exp(low)), max(ranks.High, math.Exp(high))
		if e.Low != lowest || e.High != highest || e.Ratio != ranks.Ratio || e.MinP != ranks.MinP || e.Confidence != min(0.95, ranks.Confidence) {
			t.Fatalf("%+v of ranks %+v and Welch [%v, %v]", e, ranks, math.Exp(low), math.Exp(high))
		}
		fromRanks := map[Bounds][2]bool{RankBounds: {true, true}, WelchBounds: {false, false}}
		if want, pure := fromRanks[e.Bounds]; pure && want != [2]bool{e.Low == ranks.Low, e.High == ranks.High} {
			t.Fatalf("bounds %s: %+v of ranks %+v", e.Bounds, e, ranks)
		}
		seen[e.Bounds]++
	}
	if seen[RankBounds] < 100 || seen[WelchBounds] < 100 || seen[MixedBounds] < 100 || len(seen) != 3 {
		t.Errorf("bounds %v", seen)
	}
	e := Compare([]float64{101, 99}, []float64{100}, 0.95)
	if e.HasInterval() || e.Bounds != "" || !within(e.CV, math.Log(101.0/99)/math.Sqrt2, 1e-12) || !math.IsNaN(e.BaselineCV) {
		t.Errorf("two values against one: %+v", e)
	}
}

// TestCompare_unequalNoise_coversWhatItStates checks the conditions in which the rank interval covers least.
func TestCompare_unequalNoise_coversWhatItStates(t *testing.T) {
	const rounds, truth = 6000, 1.46
	for _, tt := range []struct {
		n, m int
		x, y float64
	}{{4, 4, 0.01, 0.03}, {4, 4, 0.005, 0.05}, {8, 8, 0.005, 0.05}, {4, 8, 0.05, 0.01}, {8, 4, 0.05, 0.01}, {19, 19, 0.005, 0.05}} {
		rng := rand.New(rand.NewPCG(15, uint64(100*tt.n+tt.m)))
		hits := 0.0
		for range rounds {
			if e := Compare(noisy(rng, tt.n, truth, tt.x), noisy(rng, tt.m, 1, tt.y), 0.95); e.Low <= truth && truth <= e.High {
				hits++
			}
		}
		if got := hits / rounds; got < 0.95-3*math.Sqrt(0.95*0.05/rounds) {
			t.Errorf("%+v: the interval holds the ratio in %.2f %%, states 95 %%", tt, 100*got)
		}
	}
}
