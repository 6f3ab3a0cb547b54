package stats_test

import (
	"math"
	"testing"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

func TestMedian(t *testing.T) {
	values := []float64{5, 1, 4, 2}
	if got := stats.Median(values); got != 3 {
		t.Errorf("median of an even number: %v, want 3", got)
	}
	if values[0] != 5 {
		t.Error("Median sorted its argument")
	}
	if got := stats.Median([]float64{7, 1, 3}); got != 3 {
		t.Errorf("median of an odd number: %v, want 3", got)
	}
	if got := stats.Median(nil); !math.IsNaN(got) {
		t.Errorf("median of nothing: %v, want NaN", got)
	}
}
