package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestIsotonic(t *testing.T) {
	// By hand, with the method of Barlow et al. and equal weights: 3 and 2 are pooled to 2.5, and 4, 3, 5 and 1 to
	// 3.25.
	fit, misfit := Isotonic([]float64{1, 3, 2, 4, 3, 5, 1}, []float64{1, 1, 1, 1, 1, 1, 1})
	want := []float64{1, 2.5, 2.5, 3.25, 3.25, 3.25, 3.25}
	if !slices.EqualFunc(fit, want, func(a, b float64) bool { return within(a, b, 1e-12) }) || !within(misfit, 0.5+8.75, 1e-12) {
		t.Errorf("%v with misfit %v, want %v with 9.25", fit, misfit, want)
	}
	if fit, _ := Isotonic([]float64{2, 1}, []float64{3, 1}); !within(fit[0], 1.75, 1e-12) || fit[1] != fit[0] {
		t.Errorf("weights: %v, want 1.75 twice", fit)
	}
	if fit, misfit := Unimodal([]float64{1, 5, 4, 4.5, 2}, []float64{1, 1, 1, 1, 1}); !within(misfit, 0.125, 1e-12) ||
		!slices.EqualFunc(fit, []float64{1, 5, 4.25, 4.25, 2}, func(a, b float64) bool { return within(a, b, 1e-12) }) {
		t.Errorf("unimodal: %v with misfit %v", fit, misfit)
	}
	for _, f := range []func(v, w []float64) ([]float64, float64){Isotonic, Unimodal} {
		if fit, misfit := f(nil, nil); len(fit) != 0 || misfit != 0 {
			t.Errorf("of nothing: %v, %v", fit, misfit)
		}
	}
}

// TestFits_randomPoints_matchBruteForce compares the fits with slow computations. The best monotone fit is the max-min of
// weighted means (Robertson, Wright and Dykstra 1988, theorem 1.4.4). The best unimodal fit is found by trying each
// mode.
func TestFits_randomPoints_matchBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 500 {
		n := 1 + rng.IntN(9)
		v, w := make([]float64, n), make([]float64, n)
		for i := range v {
			v[i], w[i] = float64(rng.IntN(7)), float64(1+rng.IntN(3))
		}
		fit, misfit := Isotonic(v, w)
		want := maxMin(v, w)
		for i := range fit {
			if !within(fit[i], want[i], 1e-9) {
				t.Fatalf("isotonic of %v with %v: %v, want %v", v, w, fit, want)
			}
		}
		if !within(misfit, squares(v, w, fit), 1e-9) {
			t.Fatalf("misfit %v, is %v", misfit, squares(v, w, fit))
		}
		fit, misfit = Unimodal(v, w)
		least := math.Inf(1)
		for mode := 0; mode <= n; mode++ {
			back, backW := slices.Clone(v[mode:]), slices.Clone(w[mode:])
			slices.Reverse(back)
			slices.Reverse(backW)
			least = min(least, squares(v[:mode], w[:mode], maxMin(v[:mode], w[:mode]))+squares(back, backW, maxMin(back, backW)))
		}
		if !within(misfit, least, 1e-9) || !within(squares(v, w, fit), least, 1e-9) {
			t.Fatalf("unimodal of %v with %v: %v leaves %v, the least is %v", v, w, fit, squares(v, w, fit), least)
		}
		peak := slices.Index(fit, slices.Max(fit))
		back := slices.Clone(fit[peak:])
		slices.Reverse(back)
		if !slices.IsSorted(fit[:peak+1]) || !slices.IsSorted(back) {
			t.Fatalf("not unimodal: %v", fit)
		}
	}
}

func maxMin(v, w []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = math.Inf(-1)
		for from := 0; from <= i; from++ {
			lowest := math.Inf(1)
			for to := i; to < len(v); to++ {
				sum, weight := 0.0, 0.0
				for j := from; j <= to; j++ {
					sum, weight = sum+v[j]*w[j], weight+w[j]
				}
				lowest = min(lowest, sum/weight)
			}
			out[i] = max(out[i], lowest)
		}
	}
	return out
}

func squares(v, w, fit []float64) float64 {
	sum := 0.0
	for i := range v {
		sum += w[i] * (v[i] - fit[i]) * (v[i] - fit[i])
	}
	return sum
}
