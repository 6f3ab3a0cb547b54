package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestHalfWidth checks half-widths at a coefficient of variation of 1.5 %: about 3.07 % with 4 repetitions, 2.48 %
// with 5 and 1.00 % with 19.
func TestHalfWidth(t *testing.T) {
	for _, tt := range []struct {
		n    int
		want float64
	}{{4, 3.07}, {5, 2.48}, {19, 1.00}} {
		const rounds = 2000
		rng := rand.New(rand.NewPCG(7, uint64(tt.n)))
		sum := 0.0
		for range rounds {
			e := Compare(noisy(rng, tt.n, 1, 0.015), noisy(rng, tt.n, 1, 0.015), 0.95)
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
}

// TestRepetitionsFor checks the number of repetitions. At a CV of 1.5 % the half-width is 3.07 % with 4 repetitions,
// 2.48 % with 5 and 1.00 % with 19. The smallest difference is two half-widths.
func TestRepetitionsFor(t *testing.T) {
	for _, tt := range []struct {
		cv, difference float64
		comparisons    int
		want           int
	}{
		{0.015, 2 * 3.07, 1, 4},
		{0.015, 2 * 2.48, 1, 5},
		{0.015, 2 * 1.00, 1, 19},
		{0.0001, 3, 1, 4},      // no difference can be distinguished with fewer than 4
		{0.0001, 3, 6, 5},      // six comparisons need at least 5
		{0, 3, 1, 4},           // no noise
		{math.NaN(), 3, 1, 4},  // unknown noise
		{0.015, 0, 1, 4},       // no smallest difference
		{10, 0.01, 1, 100_000}, // the upper limit of the result
	} {
		if got := RepetitionsFor(tt.cv, tt.difference, tt.comparisons); got != tt.want {
			t.Errorf("CV %v, difference %v %%, %d comparisons: %d, want %d", tt.cv, tt.difference, tt.comparisons, got, tt.want)
		}
	}
	for m := 1; m <= 8; m++ { // checks: more noise, more comparisons or a smaller difference never need fewer repetitions
		for _, d := range []float64{1, 2, 3, 5} {
			if RepetitionsFor(0.02, d, m) < RepetitionsFor(0.01, d, m) || RepetitionsFor(0.02, d, m+1) < RepetitionsFor(0.02, d, m) ||
				RepetitionsFor(0.02, d+1, m) > RepetitionsFor(0.02, d, m) {
				t.Errorf("not monotone at %d comparisons, %v %%", m, d)
			}
		}
	}
}

// TestHalfWidth_approximation_matchesSimulation compares the approximate half-width with simulations.
func TestHalfWidth_approximation_matchesSimulation(t *testing.T) {
	for _, tt := range []struct {
		n          int
		confidence float64
	}{{4, 0.95}, {5, 0.95}, {6, 0.95}, {8, 0.95}, {12, 0.95}, {19, 0.95}, {30, 0.95}, {7, 0.99}, {12, 0.99}} {
		const rounds, cv = 3000, 0.01
		rng := rand.New(rand.NewPCG(21, uint64(tt.n)))
		sum := 0.0
		for range rounds {
			e := Compare(noisy(rng, tt.n, 1, cv), noisy(rng, tt.n, 1, cv), tt.confidence)
			sum += math.Log(e.High/e.Low) / 2
		}
		simulated, got := sum/rounds/cv, halfWidth(tt.n, tt.confidence)
		if !within(got/simulated, 1, 0.025) {
			t.Errorf("n = %d at %v: %.4f, simulated %.4f (%.3f)", tt.n, tt.confidence, got, simulated, got/simulated)
		}
	}
}

func BenchmarkRepetitionsFor(b *testing.B) {
	for b.Loop() {
		RepetitionsFor(0.02, 1, 28)
	}
}
