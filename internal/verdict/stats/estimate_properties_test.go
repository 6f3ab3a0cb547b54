package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aclements/go-moremath/stats"
)

// TestCompare_confidence_matchesEnumeration compares the confidence of the interval with an enumeration of all orders of n and m
// values. All orders are equally likely if both samples come from one population. The interval goes from the k-th
// smallest to the k-th largest difference. It contains 0 unless fewer than k differences lie on one side of 0.
func TestCompare_confidence_matchesEnumeration(t *testing.T) {
	for n := 2; n <= 6; n++ {
		for m := 2; m <= 6; m++ {
			counts := mixes(n, m) // number of orders, by number of differences above 0
			all := 0.0
			for _, c := range counts {
				all += c
			}
			holds := func(k int) float64 {
				sum := 0.0
				for above, c := range counts {
					if above >= k && n*m-above >= k {
						sum += c
					}
				}
				return sum / all
			}
			for _, confidence := range []float64{0.5, 0.9, 0.95, 0.975, 0.99, 0.999} {
				k, achieved := orderStatistic(stats.UDist{N1: n, N2: m}, confidence)
				if !within(achieved, holds(k), 1e-9) {
					t.Errorf("%d x %d at %v: k = %d holds in %v, by enumeration in %v", n, m, confidence, k, achieved, holds(k))
				}
				if k > 1 && holds(k) < confidence-1e-9 {
					t.Errorf("%d x %d at %v: k = %d has only %v", n, m, confidence, k, holds(k))
				}
				if 2*(k+1) <= n*m && holds(k+1) >= confidence+1e-9 {
					t.Errorf("%d x %d at %v: k = %d is not the narrowest, %d has %v", n, m, confidence, k, k+1, holds(k+1))
				}
			}
		}
	}
}

// mixes returns, for each k, the number of orders of n and m values in which k of the n x m differences are positive.
func mixes(n, m int) []float64 {
	counts := make([]float64, n*m+1)
	for set := range 1 << (n + m) {
		above, below, size := 0, 0, 0
		for i := range n + m {
			if set>>i&1 == 1 {
				size++
				above += below
			} else {
				below++
			}
		}
		if size == n {
			counts[above]++
		}
	}
	return counts
}

// TestMannWhitney_smallSamples_matchEnumeration compares the two-sided p with an enumeration of all divisions of the values into
// two samples: twice the smaller tail of the rank sum. It covers samples with and without ties, of equal and
// different sizes.
func TestMannWhitney_smallSamples_matchEnumeration(t *testing.T) {
	if got := mannWhitney([]float64{99, 99, 100}, []float64{97, 97}); !within(got, 0.2, 1e-12) {
		t.Errorf("99, 99, 100 against 97, 97: p %v, want 0.2", got)
	}
	rng := rand.New(rand.NewPCG(6, 6))
	draws := map[string]func(n int) []float64{
		"no ties":   func(n int) []float64 { return noisy(rng, n, 1, 0.1) },
		"some ties": func(n int) []float64 { return whole(rng, n, 9) },
		"many ties": func(n int) []float64 { return whole(rng, n, 3) },
	}
	for name, draw := range draws {
		unequal := 0
		for range 300 {
			x, y := draw(1+rng.IntN(6)), draw(1+rng.IntN(6))
			if len(x) != len(y) {
				unequal++
			}
			if got, want := mannWhitney(x, y), enumeratedP(x, y); !within(got, want, 1e-9) {
				t.Fatalf("%s: %v against %v: p %v, by enumeration %v", name, x, y, got, want)
			}
		}
		if unequal < 100 {
			t.Errorf("%s: only %d of samples of two sizes", name, unequal)
		}
	}
}

// whole draws n random integers from 97 to 96+numbers. A small range gives ties.
func whole(rng *rand.Rand, n, numbers int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(97 + rng.IntN(numbers))
	}
	return out
}

// enumeratedP computes p from all subsets of the values with the size of x. All subsets are equally likely.
func enumeratedP(x, y []float64) float64 {
	all := slices.Concat(x, y)
	ranks := make([]int, len(all)) // two times the mid-rank, which makes it an integer
	for i, v := range all {
		for _, w := range all {
			switch {
			case w < v:
				ranks[i] += 2
			case w == v:
				ranks[i]++
			}
		}
	}
	sum := func(set int) (sum, size int) {
		for i, r := range ranks {
			if set>>i&1 == 1 {
				sum, size = sum+r, size+1
			}
		}
		return sum, size
	}
	seen, _ := sum(1<<len(x) - 1)
	low, high, count := 0.0, 0.0, 0.0
	for set := range 1 << len(all) {
		s, size := sum(set)
		if size != len(x) {
			continue
		}
		count++
		if s <= seen {
			low++
		}
		if s >= seen {
			high++
		}
	}
	return min(1, 2*min(low, high)/count)
}

func TestCompare_shuffledOrScaled_isInvariant(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	same := func(a, b float64) bool {
		return math.Abs(a-b) <= 1e-9*math.Abs(b) || math.IsNaN(a) && math.IsNaN(b)
	}
	for range 300 {
		x, y := noisy(rng, 1+rng.IntN(8), 1.2, 0.1), noisy(rng, 1+rng.IntN(8), 1, 0.1)
		e := Compare(x, y, 0.95)

		shuffled, scaled := slices.Clone(x), make([]float64, len(y))
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		const unit = 8192
		for i := range shuffled {
			shuffled[i] *= unit
		}
		for i := range scaled {
			scaled[i] = unit * y[i]
		}
		if s := Compare(shuffled, scaled, 0.95); !same(s.Ratio, e.Ratio) || !same(s.Low, e.Low) || !same(s.High, e.High) || !same(s.P, e.P) {
			t.Errorf("in another order and unit: %+v, was %+v", s, e)
		}
		for i := range scaled {
			scaled[i] = y[i] / 2 // half the baseline gives a ratio of twice the size
		}
		if s := Compare(x, scaled, 0.95); !same(s.Ratio, 2*e.Ratio) || !same(s.Low, 2*e.Low) || !same(s.High, 2*e.High) {
			t.Errorf("half the baseline: %+v, was %+v", s, e)
		}
		if s := Compare(y, x, 0.95); !same(s.Ratio, 1/e.Ratio) || !same(s.Low, 1/e.High) || !same(s.High, 1/e.Low) || !same(s.P, e.P) || s.Confidence != e.Confidence {
			t.Errorf("the other way round: %+v, was %+v", s, e)
		}
	}
}

// TestHolm_simultaneousIntervals_agree checks Holm against the simultaneous intervals at 1 - Alpha/m. If an interval
// excludes 1, Bonferroni and Holm find a difference: Holm is never stricter than Bonferroni. An interval excludes 1
// exactly if m times p is at most Alpha.
func TestHolm_simultaneousIntervals_agree(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	off, told := 0, 0
	for range 500 {
		m := 1 + rng.IntN(5)
		var p []float64
		var estimates []Estimate
		for range m {
			n := 6 + rng.IntN(3)
			e := Compare(noisy(rng, n, 1+0.03*rng.Float64(), 0.015), noisy(rng, n, 1, 0.015), 1-Alpha/float64(m))
			if e.Confidence < 1-Alpha/float64(m) {
				t.Fatalf("%d repetitions do not have the confidence for %d comparisons", n, m)
			}
			estimates, p = append(estimates, e), append(p, e.P)
		}
		for i, adjusted := range Holm(p) {
			e := estimates[i]
			isOff := e.Low > 1 || e.High < 1
			if isOff {
				off++
				if adjusted > Alpha {
					t.Errorf("%+v is off 1, but p after Holm is %v", e, adjusted)
				}
			}
			if adjusted <= Alpha {
				told++
			}
			if bonferroni := float64(m) * p[i]; isOff != (bonferroni <= Alpha) {
				t.Errorf("of %d: off 1 %t with Bonferroni's p %v: %+v", m, isOff, bonferroni, e)
			}
		}
	}
	if off < 100 || told < off {
		t.Errorf("%d intervals off 1, %d told by Holm: the test says nothing", off, told)
	}
}
