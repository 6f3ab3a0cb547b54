package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrderStatistic_confidence_matchesEnumeration compares the confidence of the interval with an enumeration of all orders of n and m
// values. All orders are equally likely if both samples come from one population. The interval goes from the k-th
// smallest to the k-th largest difference. It contains 0 unless fewer than k differences lie on one side of 0.
func TestOrderStatistic_confidence_matchesEnumeration(t *testing.T) {
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
				k, achieved := orderStatistic(n, m, confidence)
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

// TestRankTails_smallSamples_matchesEnumeration compares p with an enumeration of all orders of the values. Each tie counts against a
// difference.
func TestRankTails_smallSamples_matchesEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	draws := map[string]func(n int) []float64{
		"no ties":   func(n int) []float64 { return noisy(rng, n, 1, 0.1) },
		"some ties": func(n int) []float64 { return whole(rng, n, 9) },
		"many ties": func(n int) []float64 { return whole(rng, n, 3) },
	}
	for name, draw := range draws {
		for range 300 {
			x, y := draw(1+rng.IntN(6)), draw(1+rng.IntN(6))
			if got, want := rankTails(len(x), len(y), pairwise(x, y), 0).p(), enumeratedP(x, y); !within(got, want, 1e-9) {
				t.Fatalf("%s: %v against %v: p %v, by enumeration %v", name, x, y, got, want)
			}
		}
	}
	if e := CompareRanks([]float64{99, 99, 100}, []float64{97, 97}, 0.95); !within(e.P, 0.2, 1e-12) {
		t.Errorf("99, 99, 100 against 97, 97: p %v, want 0.2", e.P)
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

// enumeratedP computes p from all equally likely orders of two samples without ties. It is twice the share of orders with at most as
// many pairs on one side as x and y have, equal values included.
func enumeratedP(x, y []float64) float64 {
	above, below := 0, 0
	for _, a := range x {
		for _, b := range y {
			if a >= b {
				above++
			}
			if a <= b {
				below++
			}
		}
	}
	all, tail := 0.0, 0.0
	for u, c := range mixes(len(x), len(y)) {
		all += c
		if u <= min(above, below) {
			tail += c
		}
	}
	return min(1, 2*tail/all)
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

// TestTruth_M3_family_intervalAndPAgree checks random families of 1 to 10 comparisons, with and without ties, in one stage and in
// two. The interval of each comparison excludes 1 exactly if its adjusted p is at most Alpha, whenever the samples are large enough.
func TestTruth_M3_family_intervalAndPAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	draws := []func(n int, median float64) []float64{
		func(n int, median float64) []float64 { return noisy(rng, n, median, 0.015) },
		func(n int, median float64) []float64 { return whole(rng, n, 1+int(10*median)) },
		func(n int, median float64) []float64 { return noisy(rng, n, median, 0.001+0.1*rng.Float64()) },
	}
	compares := map[string]func(x, y []float64, confidence float64) Estimate{"ranks": CompareRanks, "one stage": Compare, "two stages": func(x, y []float64, confidence float64) Estimate {
		return CompareTwoStages(x, y, confidence, 1)
	}, "two stages, widened": func(x, y []float64, confidence float64) Estimate {
		return CompareTwoStages(x, y, confidence, 1.3)
	}}
	for name, compare := range compares {
		excluded, included, few := 0, 0, 0
		for range 6000 {
			m, draw := 1+rng.IntN(10), draws[rng.IntN(len(draws))]
			n := Repetitions(m) - 1 + rng.IntN(12)
			e := compare(draw(n, 1+0.06*rng.Float64()), draw(n+rng.IntN(3), 1), FamilyConfidence(m))
			excludes := e.Low > 1 || e.High < 1
			switch {
			case e.TooFew(m):
				few++
				if e.Distinguishable(m) || e.Confidence >= FamilyConfidence(m) {
					t.Fatalf("%s, family of %d: %+v is too small, but distinguishable", name, m, e)
				}
				continue
			case excludes:
				excluded++
			default:
				included++
			}
			if e.Confidence < FamilyConfidence(m)-1e-12 || excludes != (AdjustP(e.P, m) <= Alpha) || excludes != e.Distinguishable(m) {
				t.Fatalf("%s, family of %d: %+v excludes 1: %t, adjusted p %v", name, m, e, excludes, AdjustP(e.P, m))
			}
		}
		if excluded < 1000 || included < 1000 || few < 50 {
			t.Errorf("%s: %d intervals exclude 1, %d include it, %d samples are too small: the test says nothing", name, excluded, included, few)
		}
	}
}

// TestTruth_M3_adjustedP_agreesWithVerdict is a comparison of two: Holm's p was 0.032, but the verdict was too noisy.
func TestTruth_M3_adjustedP_agreesWithVerdict(t *testing.T) {
	e := CompareRanks([]float64{103.5, 104, 106, 108, 110}, []float64{100, 101, 102, 103, 104.5}, FamilyConfidence(2))
	p := AdjustP(e.P, 2)
	if verdict, _ := JudgeRatio(e, e.Distinguishable(2), alike(0.02, 3, 2)); verdict != TooNoisy || !within(p, 2*2*4.0/252, 1e-12) || !(e.Low <= 1 && e.High > 1) {
		t.Errorf("%+v: adjusted p %v, verdict %s; want 0.0635, an interval with 1, too noisy", e, p, verdict)
	}
	if !math.IsNaN(AdjustP(math.NaN(), 3)) || AdjustP(0.4, 3) != 1 || AdjustP(0.01, 0) != 0.01 {
		t.Error("an adjusted p is m times p, at most 1; NaN stays NaN")
	}
}
