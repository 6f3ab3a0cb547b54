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

func TestShrinkTowards(t *testing.T) {
	unknown := Noise{CV: math.NaN()}
	for _, tt := range []struct {
		name              string
		own, others, want Noise
	}{
		{"enough of its own", Noise{0.01, 3}, Noise{0.05, 30}, Noise{0.01, 3}},
		{"one degree short", Noise{0.01, 2}, Noise{0.04, 30}, Noise{math.Sqrt((2*0.0001 + 0.0016) / 3), 3}},
		{"none of its own", unknown, Noise{0.04, 30}, Noise{0.04, 3}},
		{"the others know less", unknown, Noise{0.04, 2}, Noise{0.04, 2}},
		{"the only cell", Noise{0.01, 1}, unknown, Noise{0.01, 1}},
		{"nobody knows", unknown, unknown, unknown},
	} {
		got := tt.own.ShrinkTowards(tt.others)
		if got.Freedom != tt.want.Freedom || !within(got.CV, tt.want.CV, 1e-12) && !(math.IsNaN(got.CV) && math.IsNaN(tt.want.CV)) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestNoise_pool_likeOneSet checks that pooling the noise of two sets gives the noise of both sets together.
func TestNoise_pool_likeOneSet(t *testing.T) {
	x, y := [][]float64{{10, 11, 12}, {5, 6}}, [][]float64{{100, 130, 90, 95}}
	a, b, none := PooledNoise(x), PooledNoise(y), PooledNoise(nil)
	all := PooledNoise(append(x, y...))
	if got := a.Pool(b); got.Freedom != all.Freedom || math.Abs(got.CV-all.CV) > 1e-12 {
		t.Errorf("%+v, want %+v", got, all)
	}
	if a.Pool(none) != a || none.Pool(b) != b {
		t.Error("a set without repeats changes the noise")
	}
}
