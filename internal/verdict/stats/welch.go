package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// welch describes the difference between the means of two samples of logs whose noise may differ (Welch 1947).
type welch struct {
	difference float64
	error      float64 // standard error of difference
	freedom    float64 // degrees of freedom (Satterthwaite 1946)
}

// newWelch returns the difference of two samples. Each sample must have at least two values.
func newWelch(x, y []float64) welch {
	n, m := float64(len(x)), float64(len(y))
	a, b := SumOfSquares(x)/(n-1)/n, SumOfSquares(y)/(m-1)/m
	w := welch{difference: Mean(x) - Mean(y), error: math.Sqrt(a + b), freedom: n + m - 2}
	if a+b > 0 {
		w.freedom = (a + b) * (a + b) / (a*a/(n-1) + b*b/(m-1))
	}
	return w
}

// interval returns the confidence interval of the difference.
func (w welch) interval(confidence float64) (low, high float64) {
	half := w.error * distuv.StudentsT{Sigma: 1, Nu: w.freedom}.Quantile((1+confidence)/2)
	return w.difference - half, w.difference + half
}

// tails returns the tails of Welch's test.
func (w welch) tails() tails {
	switch {
	case w.error > 0:
		t := distuv.StudentsT{Sigma: 1, Nu: w.freedom}
		return tails{above: t.CDF(-w.difference / w.error), below: t.CDF(w.difference / w.error)}
	case w.difference > 0:
		return tails{above: 0, below: 1}
	case w.difference < 0:
		return tails{above: 1, below: 0}
	}
	return tails{above: 1, below: 1}
}
