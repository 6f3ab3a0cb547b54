package stats

import "testing"

// The tests of this file kill mutants of `make mutate` that other tests did not notice.

func TestDistinguishable_adjustedPAtAlpha_isDistinguishable(t *testing.T) {
	e := Estimate{Confidence: 1 - Alpha/2, P: Alpha / 2}
	if !e.Distinguishable(2) || e.Distinguishable(3) {
		t.Errorf("p = %v is distinguishable of 2 comparisons: %v, of 3: %v; want true, false", e.P, e.Distinguishable(2), e.Distinguishable(3))
	}
}

func TestCompareTwoStages_oneValueEach_pIsAtMostOne(t *testing.T) {
	if e := CompareTwoStages([]float64{1}, []float64{2}, 0.95, 1); e.P != 1 || e.MinP != 1 {
		t.Errorf("P = %v, MinP = %v, want 1", e.P, e.MinP)
	}
}
