package sweep

import (
	"math"
	"testing"
)

// TestSteering_repeatedCounts_standardErrorShrinks kills mutants of `make mutate` that other tests did not notice.
func TestSteering_repeatedCounts_standardErrorShrinks(t *testing.T) {
	s := steering{fit: []float64{0, 1}, weight: []float64{4, 2}, sigma: 0.1, peak: 1, peakEnd: 1, peakWeight: 2, margin: 0.5}
	for k, want := range []float64{0.5 / (0.1 * math.Sqrt(1.0/4+1.0/2)), 0.5 / (0.1 * math.Sqrt(1.0/2))} {
		if got := s.distance(k); math.Abs(got-want) > 1e-12 {
			t.Errorf("distance of count %d is %v standard errors, want %v", k, got, want)
		}
	}
}
