package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// CompareNoise compares two noises. The ratio is the larger CV divided by the smaller one. p is the two-sided p-value of the F test of
// equal variances (Snedecor 1934), which assumes normal noise on logs. ok is false if a noise is unknown or 0.
func CompareNoise(x, y Noise) (ratio, p float64, ok bool) {
	if x.Freedom == 0 || y.Freedom == 0 || !Positive(x.CV) || !Positive(y.CV) {
		return math.NaN(), math.NaN(), false
	}
	if x.CV < y.CV {
		x, y = y, x
	}
	ratio = x.CV / y.CV
	f := distuv.F{D1: float64(x.Freedom), D2: float64(y.Freedom)}
	return ratio, min(1, 2*f.Survival(ratio*ratio)), true
}
