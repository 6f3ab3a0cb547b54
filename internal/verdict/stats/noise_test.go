package stats

import (
	"math"
	"testing"
)

func TestPooledNoise(t *testing.T) {
	// Two groups with different means: the sums of squares are 0.0002 and 0.02, with 1 + 2 degrees of freedom.
	e := math.Exp
	n := PooledNoise([][]float64{{100 * e(0.01), 100 * e(-0.01)}, {7}, nil, {5 * e(-0.1), 5, 5 * e(0.1)}})
	if n.Freedom != 3 || !within(n.CV, math.Sqrt(0.0202/3), 1e-12) {
		t.Errorf("%+v, want CV %v on 3 degrees of freedom", n, math.Sqrt(0.0202/3))
	}
	if n := PooledNoise([][]float64{{1}, {2}, nil}); n.Freedom != 0 || !math.IsNaN(n.CV) {
		t.Errorf("without repeats: %+v", n)
	}
}
