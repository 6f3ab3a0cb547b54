package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCompareRanks_halfWidth checks half-widths at a coefficient of variation of 1.5 %: about 3.07 % with 4 repetitions, 2.48 %
// with 5 and 1.00 % with 19.
func TestCompareRanks_halfWidth(t *testing.T) {
	for _, tt := range []struct {
		n    int
		want float64
	}{{4, 3.07}, {5, 2.48}, {19, 1.00}} {
		const rounds = 2000
		rng := rand.New(rand.NewPCG(7, uint64(tt.n)))
		sum := 0.0
		for range rounds {
			e := CompareRanks(noisy(rng, tt.n, 1, 0.015), noisy(rng, tt.n, 1, 0.015), 0.95)
			sum += 100 * (e.High - e.Low) / 2
		}
		if got := sum / rounds; !within(got, tt.want, 0.06) {
			t.Errorf("n = %d: mean half-width %.3f %%, want %.2f %%", tt.n, got, tt.want)
		}
	}
}

func TestRepetitions(t *testing.T) {
	for comparisons, want := range map[int]int{0: 4, 1: 4, 2: 5, 6: 5, 7: 6, 56: 7} {
		if got := Repetitions(comparisons); got != want {
			t.Errorf("%d comparisons: %d repetitions, want %d", comparisons, got, want)
		}
	}
	for comparisons, want := range map[int]int{1: 4, 2: 5, 5: 5, 6: 6} {
		n := RepetitionsInTwoStages(comparisons)
		enough := CompareTwoStages(make([]float64, n), make([]float64, n), FamilyConfidence(comparisons), 1)
		few := CompareTwoStages(make([]float64, n-1), make([]float64, n-1), FamilyConfidence(comparisons), 1)
		if n != want || enough.TooFew(comparisons) || !few.TooFew(comparisons) {
			t.Errorf("%d comparisons in two stages: %d repetitions, want %d", comparisons, n, want)
		}
	}
}

// alike returns the sizing of a comparison of two cells with the same noise.
func alike(cv, difference float64, comparisons int) Sizing {
	return Sizing{Noise: Noise{CV: cv}, Baseline: Noise{CV: cv}, SmallestDifferencePercent: difference, Comparisons: comparisons}
}

func TestRepetitionsFor(t *testing.T) {
	for _, tt := range []struct {
		cv, difference float64
		comparisons    int
		want           int
	}{
		{0.0001, 3, 1, 4},      // no difference can be distinguished with fewer than 4
		{0.0001, 3, 6, 5},      // six comparisons need at least 5
		{0, 3, 1, 4},           // no noise
		{math.NaN(), 3, 1, 4},  // unknown noise
		{0.015, 0, 1, 4},       // no smallest difference
		{10, 0.01, 1, 100_000}, // the upper limit of the result
	} {
		if got := RepetitionsFor(alike(tt.cv, tt.difference, tt.comparisons)); got != tt.want {
			t.Errorf("CV %v, difference %v %%, %d comparisons: %d, want %d", tt.cv, tt.difference, tt.comparisons, got, tt.want)
		}
	}
	for m := 1; m <= 8; m++ { // checks: more noise, more comparisons or a smaller difference never need fewer repetitions
		for _, d := range []float64{1, 2, 3, 5} {
			if RepetitionsFor(alike(0.02, d, m)) < RepetitionsFor(alike(0.01, d, m)) || RepetitionsFor(alike(0.02, d, m+1)) < RepetitionsFor(alike(0.02, d, m)) ||
				RepetitionsFor(alike(0.02, d+1, m)) > RepetitionsFor(alike(0.02, d, m)) {
				t.Errorf("not monotone at %d comparisons, %v %%", m, d)
			}
		}
	}
}

// TestTruth_L4_repetitionsFor_giveTheRightVerdict simulates campaigns with the number of repetitions that RepetitionsFor asks for. In
// 95 % of them, cells without a difference are equivalent. With a difference of the smallest difference, it is distinguished at least
// as often. Two repetitions fewer give the right verdict less often than that.
func TestTruth_L4_repetitionsFor_giveTheRightVerdict(t *testing.T) {
	const rounds, difference = 3000, 3
	for _, tt := range []struct {
		cv          float64
		comparisons int
	}{{0.015, 1}, {0.02, 1}, {0.015, 2}, {0.015, 3}, {0.01, 6}, {0.015, 6}, {0.015, 10}, {0.01, 20}} {
		right := func(n int) (equivalent, faster float64) {
			rng := rand.New(rand.NewPCG(31, uint64(n)))
			for range rounds {
				base := noisy(rng, n, 1, tt.cv)
				same := Compare(noisy(rng, n, 1, tt.cv), base, FamilyConfidence(tt.comparisons))
				if v, _ := JudgeRatio(same, same.Distinguishable(tt.comparisons), alike(0, difference, tt.comparisons)); v == Equivalent {
					equivalent += 1.0 / rounds
				}
				if Compare(noisy(rng, n, 1+difference/100.0, tt.cv), base, FamilyConfidence(tt.comparisons)).Low > 1 {
					faster += 1.0 / rounds
				}
			}
			return equivalent, faster
		}
		n := RepetitionsFor(alike(tt.cv, difference, tt.comparisons))
		const tolerance = 0.012 // three standard errors
		equivalent, faster := right(n)
		if equivalent < 0.95-tolerance || faster < 0.95-tolerance {
			t.Errorf("CV %v, %d comparisons, %d repetitions: equivalent %.3f, faster %.3f, want 0.95", tt.cv, tt.comparisons, n, equivalent, faster)
		}
		if fewer, _ := right(n - 2); fewer > 0.95 {
			t.Errorf("CV %v, %d comparisons: %d repetitions are too many, %d are enough (%.3f)", tt.cv, tt.comparisons, n, n-2, fewer)
		}
	}
}

// TestHalfWidth_approximation_matchesSimulation compares the approximate half-width with simulations, for equal and unequal noise.
func TestHalfWidth_approximation_matchesSimulation(t *testing.T) {
	for _, tt := range []struct {
		n          int
		confidence float64
		baseline   float64 // noise of the baseline; the other cell has 1 %
	}{
		{4, 0.95, 0.01}, {5, 0.95, 0.01}, {6, 0.95, 0.01}, {8, 0.95, 0.01}, {12, 0.95, 0.01}, {19, 0.95, 0.01}, {30, 0.95, 0.01}, {7, 0.99, 0.01}, {12, 0.99, 0.01},
		{4, 0.95, 0.05}, {8, 0.95, 0.05}, {12, 0.95, 0.05}, {20, 0.95, 0.05}, {30, 0.95, 0.05}, {12, 0.99, 0.05}, {8, 0.95, 0.02}, {20, 0.95, 0.02},
	} {
		const rounds, cv = 3000, 0.01
		rng := rand.New(rand.NewPCG(21, uint64(tt.n)))
		sum := 0.0
		for range rounds {
			e := Compare(noisy(rng, tt.n, 1, cv), noisy(rng, tt.n, 1, tt.baseline), tt.confidence)
			sum += math.Log(e.High/e.Low) / 2
		}
		mean, spread, _ := Sizing{Noise: Noise{CV: cv}, Baseline: Noise{CV: tt.baseline}}.noise()
		half, _, ok := halfWidth(tt.n, spread, tt.confidence)
		simulated, tolerance := sum/rounds/mean, 0.025

		switch {
		case tt.baseline != cv && tt.n < 8:
			tolerance = 0.09
		case tt.baseline != cv:
			tolerance = 0.05
		}
		if !ok || !within(half/simulated, 1, tolerance) {
			t.Errorf("n = %d at %v, noise of the baseline %v: %.4f, simulated %.4f (%.3f)", tt.n, tt.confidence, tt.baseline, half, simulated, half/simulated)
		}
	}
}

func BenchmarkRepetitionsFor(b *testing.B) {
	for b.Loop() {
		RepetitionsFor(alike(0.02, 1, 28))
	}
}

func BenchmarkRepetitionsFor_secondStageAfterLook(b *testing.B) {
	s := alike(0.02, 1, 28)
	s.Noise.Freedom, s.Baseline.Freedom, s.TwoStages, s.Earlier = 7, 7, true, []Look{{N: 8, M: 8}}
	for b.Loop() {
		RepetitionsFor(s)
	}
}
