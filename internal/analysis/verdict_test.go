package analysis

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestJudgeRatio(t *testing.T) {
	interval := func(low, high, confidence float64, n int) Estimate {
		return Estimate{N: n, M: n, Ratio: math.Sqrt(low * high), Low: low, High: high, Confidence: confidence}
	}
	noise := Noise{0.015, 6}
	for _, tt := range []struct {
		name        string
		e           Estimate
		told        bool
		comparisons int
		want        RatioVerdict
		need        int
	}{
		{"faster", interval(1.44, 1.49, 0.971, 4), true, 1, Faster, 0},
		{"slower", interval(0.8, 0.9, 0.971, 4), true, 1, Slower, 0},
		{"equivalent", interval(0.98, 1.02, 0.971, 4), false, 1, Equivalent, 0},
		{"told from noise, but smaller than what matters", interval(1.01, 1.02, 0.971, 4), true, 1, Equivalent, 0},
		{"the bounds are inclusive", interval(0.97, 1.03, 0.971, 4), false, 1, Equivalent, 0},
		{"above the smallest difference, not told apart after Holm", interval(1.01, 1.1, 0.971, 4), false, 1, TooNoisy, RepetitionsFor(0.015, 3, 1)},
		{"it may be either", interval(0.96, 1.02, 0.971, 4), false, 1, TooNoisy, RepetitionsFor(0.015, 3, 1)},
		{"more than there are are needed, whatever the noise says", interval(0.96, 1.02, 0.95, 30), false, 1, TooNoisy, 31},
		{"two repetitions show no equivalence", interval(0.99, 1.01, 2.0/3, 2), false, 1, TooNoisy, RepetitionsFor(0.015, 3, 1)},
		{"nor four among two comparisons", interval(0.99, 1.01, 1-2.0/70, 4), false, 2, TooNoisy, RepetitionsFor(0.015, 3, 2)},
		{"no interval", Estimate{N: 1, M: 4, Ratio: 1.5, Low: math.NaN(), High: math.NaN()}, false, 1, NoVerdict, 0},
	} {
		if got, need := JudgeRatio(tt.e, tt.told, 3, noise, tt.comparisons); got != tt.want || need != tt.need {
			t.Errorf("%s: %q need %d, want %q need %d", tt.name, got, need, tt.want, tt.need)
		}
	}
}

// At a CV of 1.5 % the half-width is 3.07 % with 4 repetitions, 2.48 % with 5, 1.00 % with 19.
func TestRepetitionsFor(t *testing.T) {
	for _, tt := range []struct {
		cv, difference float64
		comparisons    int
		want           int
	}{
		{0.015, 2 * 3.07, 1, 4},
		{0.015, 2 * 2.48, 1, 5},
		{0.015, 2 * 1.00, 1, 19},
		{0.0001, 3, 1, 4},      // 4 are needed to tell anything
		{0.0001, 3, 6, 5},      // of six comparisons, 5
		{0, 3, 1, 4},           // no noise
		{math.NaN(), 3, 1, 4},  // noise not known
		{0.015, 0, 1, 4},       // nothing to tell
		{10, 0.01, 1, 100_000}, // out of reach
	} {
		if got := RepetitionsFor(tt.cv, tt.difference, tt.comparisons); got != tt.want {
			t.Errorf("CV %v, difference %v %%, %d comparisons: %d, want %d", tt.cv, tt.difference, tt.comparisons, got, tt.want)
		}
	}
	for m := 1; m <= 8; m++ { // more noise or comparisons, or a smaller difference, never need fewer
		for _, d := range []float64{1, 2, 3, 5} {
			if RepetitionsFor(0.02, d, m) < RepetitionsFor(0.01, d, m) || RepetitionsFor(0.02, d, m+1) < RepetitionsFor(0.02, d, m) ||
				RepetitionsFor(0.02, d+1, m) > RepetitionsFor(0.02, d, m) {
				t.Errorf("not monotone at %d comparisons, %v %%", m, d)
			}
		}
	}
}

// The approximate half-width against simulation.
func TestHalfWidthAgainstSimulation(t *testing.T) {
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

func TestCompareMeans(t *testing.T) {
	x := [][]float64{{2, 8}, {5}, nil, {3, 3, 3}} // means 4, 5 and 3
	y := [][]float64{{1, 4}, {2, 2}}              // means 2 and 2
	got, want := CompareMeans(x, y, 0.95), Compare([]float64{4, 5, 3}, []float64{2, 2}, 0.95)
	if got.N != 3 || got.M != 2 || !within(got.Ratio, want.Ratio, 1e-12) || !within(got.Low, want.Low, 1e-12) || !within(got.High, want.High, 1e-12) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if e := CompareMeans(nil, y, 0.95); e.N != 0 || !math.IsNaN(e.Ratio) {
		t.Errorf("of nothing: %+v", e)
	}
}

func TestCompareTwoStages(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	x, y := noisy(rng, 12, 1.4, 0.015), noisy(rng, 12, 1, 0.015)
	got, plain, wide := CompareTwoStages(x, y, 0.95), Compare(x, y, 0.95), Compare(x, y, 0.96)
	if got.Confidence != 0.95 || got.Low != wide.Low || got.High != wide.High || got.Low >= plain.Low || got.Ratio != plain.Ratio {
		t.Errorf("%+v, want the interval of %+v, said to hold in 95 %%", got, wide)
	}
	// Two repetitions have no more than they have.
	if got := CompareTwoStages(x[:2], y[:2], 0.95); !within(got.Confidence, 2.0/3, 1e-9) {
		t.Errorf("%+v, want a confidence of 2/3", got)
	}
}

func BenchmarkRepetitionsFor(b *testing.B) {
	for b.Loop() {
		RepetitionsFor(0.02, 1, 28)
	}
}

// The bounds come through logs: one that lies on the smallest difference may miss it by a rounding.
func TestEquivalentAtTheSmallestDifference(t *testing.T) {
	e := Compare([]float64{97, 97, 97, 97}, []float64{100, 100, 100, 100}, 1-Alpha)
	if got, _ := JudgeRatio(e, false, 3, Noise{}, 1); got != Equivalent {
		t.Errorf("a ratio of %.17g to %.17g is %q, not equivalent within 3 %%", e.Low, e.High, got)
	}
}
