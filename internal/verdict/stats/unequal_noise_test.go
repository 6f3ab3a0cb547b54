package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCompareNoise_quantilesOfF_matchTables checks p at quantiles from published tables of the F distribution.
func TestCompareNoise_quantilesOfF_matchTables(t *testing.T) {
	for _, tt := range []struct {
		freedomX, freedomY int
		f, p               float64
	}{
		{3, 3, 15.439, 0.05}, {9, 9, 4.0260, 0.05}, {4, 10, 4.4683, 0.05}, {3, 3, 29.457, 0.02}, {10, 10, 1, 1},
	} {
		noisy, quiet := Noise{math.Sqrt(tt.f) * 0.01, tt.freedomX}, Noise{0.01, tt.freedomY}
		for _, pair := range [][2]Noise{{noisy, quiet}, {quiet, noisy}} {
			ratio, p, ok := CompareNoise(pair[0], pair[1])
			if !ok || math.Abs(ratio-math.Sqrt(tt.f)) > 1e-9 || math.Abs(p-tt.p) > 2e-5 {
				t.Errorf("%+v: ratio %g, p %g, %t", tt, ratio, p, ok)
			}
		}
	}
	for _, unknown := range []Noise{{math.NaN(), 0}, {0, 3}} {
		if _, _, ok := CompareNoise(unknown, Noise{0.01, 3}); ok {
			t.Errorf("%+v can be compared", unknown)
		}
	}
}

// TestCompareNoise_equalNoise_holdsLevel checks that p is below 5 % in 5 % of pairs of samples with equal noise.
func TestCompareNoise_equalNoise_holdsLevel(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	const rounds = 20_000
	below := 0
	for range rounds {
		var noise [2]Noise
		for i, n := range []int{4, 6} {
			values := make([]float64, n)
			for j := range values {
				values[j] = math.Exp(0.02 * draw.NormFloat64())
			}
			noise[i] = PooledNoise([][]float64{values})
		}
		if _, p, ok := CompareNoise(noise[0], noise[1]); ok && p <= 0.05 {
			below++
		}
	}
	if share := float64(below) / rounds; math.Abs(share-0.05) > 3*math.Sqrt(0.05*0.95/rounds) {
		t.Errorf("p is at most 5 %% in %.2f %% of %d pairs", 100*share, rounds)
	}
}
