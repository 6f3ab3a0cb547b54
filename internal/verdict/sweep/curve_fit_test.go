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
