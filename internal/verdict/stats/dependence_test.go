package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// ar1 draws n values in which each depends on the value before.
func ar1(rng *rand.Rand, n int, correlation float64) []float64 {
	out := make([]float64, n)
	last := rng.NormFloat64()
	for i := range out {
		out[i] = math.Exp(0.015 * last)
		last = correlation*last + math.Sqrt(1-correlation*correlation)*rng.NormFloat64()
	}
	return out
}

func TestNewDependence(t *testing.T) {
	// Deviations of the logs -1, -1, -1, -1, 1, 1, 1, 1: the products sum to 5 and the squares to 8.
	steps := make([]float64, 8)
	for i := range steps {
		steps[i] = math.Exp(float64(2*(i/4) - 1))
	}
	if d := NewDependence(steps); d.Correlation != 0.8 || !within(d.P, 2.0/70, 0.02) {
		t.Errorf("%+v, want a correlation of 0.8, its highest value, and p = 2/70: two of 70 orders are as regular", d)
	}
	for _, groups := range [][][]float64{nil, {{1, 2, 3, 4, 5, 6, 7}}, {{5, 5, 5, 5, 5, 5, 5, 5}}} {
		if d := NewDependence(groups...); d.P != 1 || d.Correlation != 0 || d.Widening() != 1 {
			t.Errorf("%v: %+v, want no dependence", groups, d)
		}
	}
	if w := (Dependence{Correlation: 0.6, P: 0.01}).Widening(); !within(w, 2, 1e-12) {
		t.Errorf("widening %v, want 2", w)
	}
	if w := (Dependence{Correlation: 0.6, P: 0.06}).Widening(); w != 1 {
		t.Errorf("not significant: widening %v, want 1", w)
	}
}

// TestNewDependence_simulatedRuns checks the rate of false alarms, the power, and the bias of the correlation.
func TestNewDependence_simulatedRuns(t *testing.T) {
	const rounds = 250
	for _, tt := range []struct {
		n                   int
		correlation         float64
		leastFound, atMost  float64 // share of significant results
		lowest, highestMean float64 // mean correlation; the estimate is never negative
	}{
		{8, 0, 0, 0.085, 0, 0.25}, {16, 0, 0, 0.085, 0, 0.15}, {16, 0.5, 0.7, 1, 0.42, 0.56}, {32, 0.5, 0.95, 1, 0.44, 0.55},
	} {
		rng := rand.New(rand.NewPCG(16, uint64(tt.n)))
		found, mean := 0.0, 0.0
		for range rounds {
			d := NewDependence(ar1(rng, tt.n, tt.correlation), ar1(rng, tt.n, tt.correlation))
			mean += d.Correlation / rounds
			if d.P <= Alpha {
				found += 1.0 / rounds
			}
		}
		if found < tt.leastFound || found > tt.atMost || mean < tt.lowest || mean > tt.highestMean {
			t.Errorf("n = %d, correlation %v: found in %.3f, mean %.3f", tt.n, tt.correlation, found, mean)
		}
	}
}

// TestCompareWidened checks that both bounds are farther from the ratio, and that P remains the dual of the interval.
func TestCompareWidened(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 17))
	excluded := 0
	for range 3000 {
		x, y, w := noisy(rng, 4+rng.IntN(9), 1+0.06*rng.Float64(), 0.015), noisy(rng, 4+rng.IntN(9), 1, 0.03*rng.Float64()), 1+rng.Float64()
		e, plain := CompareWidened(x, y, 0.95, w), Compare(x, y, 0.95)
		if !within(math.Log(e.Low/e.Ratio), w*math.Log(plain.Low/e.Ratio), 1e-9) || !within(math.Log(e.High/e.Ratio), w*math.Log(plain.High/e.Ratio), 1e-9) ||
			e.Ratio != plain.Ratio || e.Widening != w || plain.Widening != 1 || e.P < plain.P-1e-12 {
			t.Fatalf("widened by %v: %+v, was %+v", w, e, plain)
		}
		excludes := e.Low > 1 || e.High < 1
		if excludes != e.Distinguishable(1) {
			t.Fatalf("%+v excludes 1: %t", e, excludes)
		}
		if excludes {
			excluded++
		}
	}
	if excluded < 300 || excluded > 2700 {
		t.Errorf("%d of 3000 exclude 1: the test says nothing", excluded)
	}
}
