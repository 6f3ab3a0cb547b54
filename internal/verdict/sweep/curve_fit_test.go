package sweep

import (
	"math"
	"slices"
	"testing"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

func TestFitted(t *testing.T) {
	points := append(measured([]int32{1, 2, 4, 8}, []float64{50, 102, 98, 60}), Point{Clients: 3, DocsPerSecond: 500, Verdict: verdict.Gated})
	c := NewCurve(points, 97)
	docs := func(points []Point) (out []float64) {
		for _, p := range points {
			out = append(out, math.Round(10*p.DocsPerSecond)/10)
		}
		return out
	}
	// A drop of 40 % counts as a fall at 1 % noise, but not at 50 % noise.
	if got, want := docs(c.Fitted(stats.Noise{CV: 0.01})), []float64{50, 102, 98, 60}; !slices.Equal(got, want) {
		t.Errorf("a fall beyond noise: %v, want %v", got, want)
	}
	pooled := math.Round(10*math.Cbrt(102*98*60)) / 10
	want := []float64{50, pooled, pooled, pooled}
	if got := docs(c.Fitted(stats.Noise{CV: 0.5})); !slices.Equal(got, want) {
		t.Errorf("a fall within noise: %v, want %v", got, want)
	}
	if got := docs(c.Rising()); !slices.Equal(got, want) {
		t.Errorf("rising: %v, want %v", got, want)
	}
	if c.At(2).DocsPerSecond != 102 {
		t.Error("the curve itself was changed")
	}
}

// mutation: fall threshold of the fit 9 to 3. The last of three points lies d below two equal points. A fit that only rises then
// has a misfit of 2 d^2/3, which is 9 sigma^2 at d = 3.67 sigma.
func TestCurveFit_fallOfThreeStandardDeviations_isNoise(t *testing.T) {
	for d, falls := range map[float64]bool{0.03: false, 0.0365: false, 0.037: true} {
		fit := curveFit([]float64{1, 1, 1 - d}, []float64{1, 1, 1}, 0.01)
		if got := fit[2] < fit[1]; got != falls {
			t.Errorf("a fall of %v at a noise of 0.01: fit %v, falls %t", d, fit, got)
		}
	}
}

// mutation: kneeIndex excludes the threshold.
func TestKneeIndex_rateAtThreshold_passes(t *testing.T) {
	share := math.Log(0.97)
	if got := kneeIndex([]float64{2 * share, share, 0}, share); got != 1 {
		t.Errorf("knee at index %d, want 1: the threshold is inclusive", got)
	}
}
