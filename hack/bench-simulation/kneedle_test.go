package main

import (
	"testing"

	"github.com/knee-bench/knee/internal/verdict/sweep"
)

func pointsOf(docs func(clients float64) float64) (points []sweep.Point) {
	for n := range int32(10) {
		points = append(points, sweep.Point{Clients: n, Rate: docs(float64(n))})
	}
	return points
}

// Satopaa et al. (2011), figure 2: y = 5 - 1/(x + 0.1) at ten points from 0 to 1 has its knee at the third point, 0.22.
func TestKneedle_curveOfFigure2_isThirdPoint(t *testing.T) {
	if got := kneedle(pointsOf(func(n float64) float64 { return 5 - 1/(n/9+0.1) })); got != 2 {
		t.Errorf("knee at point %d, want 2", got)
	}
}

func TestKneedle_straightLine_hasNoKnee(t *testing.T) {
	if got := kneedle(pointsOf(func(n float64) float64 { return 1 + n })); got != 0 {
		t.Errorf("knee at point %d, want none", got)
	}
}

// Both maxima of the difference are knees: the first one is taken.
func TestKneedle_twoSteps_isFirstStep(t *testing.T) {
	docs := []float64{0, 40, 60, 60, 60, 60, 99, 100, 100, 100}
	if got := kneedle(pointsOf(func(n float64) float64 { return docs[int(n)] })); got != 2 {
		t.Errorf("knee at point %d, want 2", got)
	}
}
