package stats

import (
	"math"
	"testing"
)

func TestJudgeRatio(t *testing.T) {
	interval := func(low, high, confidence float64, n int) Estimate {
		return Estimate{N: n, M: n, Ratio: math.Sqrt(low * high), Low: low, High: high, Confidence: confidence}
	}
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
		{"the bounds are inclusive", interval(1/1.03, 1.03, 0.971, 4), false, 1, Equivalent, 0},
		{"M4: [0.9705, 1.0050] is outside 1/1.03", interval(0.9705, 1.0050, 0.971, 4), false, 1, TooNoisy, RepetitionsFor(alike(0.015, 3, 1))},
		{"M4: its inverse is outside 1.03", interval(1/1.0050, 1/0.9705, 0.971, 4), false, 1, TooNoisy, RepetitionsFor(alike(0.015, 3, 1))},
		{"M4: an interval within 1/1.03 and 1.03", interval(0.9715, 1.0050, 0.971, 4), false, 1, Equivalent, 0},
		{"M4: the inverse of an equivalent interval", interval(1/1.0050, 1/0.9715, 0.971, 4), false, 1, Equivalent, 0},
		{"above the smallest difference, not told apart after Holm", interval(1.01, 1.1, 0.971, 4), false, 1, TooNoisy, RepetitionsFor(alike(0.015, 3, 1))},
		{"it may be either", interval(0.96, 1.02, 0.971, 4), false, 1, TooNoisy, RepetitionsFor(alike(0.015, 3, 1))},
		{"more than there are are needed, whatever the noise says", interval(0.96, 1.02, 0.95, 30), false, 1, TooNoisy, 31},
		{"two repetitions show no equivalence", interval(0.99, 1.01, 2.0/3, 2), false, 1, TooNoisy, RepetitionsFor(alike(0.015, 3, 1))},
		{"nor four among two comparisons", interval(0.99, 1.01, 1-2.0/70, 4), false, 2, TooNoisy, RepetitionsFor(alike(0.015, 3, 2))},
		{"no interval", Estimate{N: 1, M: 4, Ratio: 1.5, Low: math.NaN(), High: math.NaN()}, false, 1, NoVerdict, 0},
	} {
		if got, need := JudgeRatio(tt.e, tt.told, alike(0.015, 3, tt.comparisons)); got != tt.want || need != tt.need {
			t.Errorf("%s: %q need %d, want %q need %d", tt.name, got, need, tt.want, tt.need)
		}
	}
}

// TestJudgeRatio_boundAtSmallestDifference_isEquivalent checks a bound that is exactly the smallest difference. Bounds are computed
// with logs, so rounding may move the bound slightly.
func TestJudgeRatio_boundAtSmallestDifference_isEquivalent(t *testing.T) {
	for _, x := range []float64{100 / 1.03, 100 * 1.03} {
		e := Compare([]float64{x, x, x, x}, []float64{100, 100, 100, 100}, 1-Alpha)
		if got, _ := JudgeRatio(e, false, alike(0, 3, 1)); got != Equivalent {
			t.Errorf("a ratio of %.17g to %.17g is %q, not equivalent within 3 %%", e.Low, e.High, got)
		}
	}
}
