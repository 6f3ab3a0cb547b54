package steady

import (
	"math"
	"time"
)

// The means over which the variation within a window is told, and how many there must be: the rate of single seconds
// swings with refreshes and pauses, and two means say nothing of a spread.
const (
	meanOver = 5 * time.Second
	minMeans = 4
)

// CVPercent is the coefficient of variation of docs/s within a window, in percent: the standard deviation of the means
// of five seconds over their mean. 0 when the window holds fewer than four.
func CVPercent(samples []Sample, w Window) float64 {
	n := int(w.To.Sub(w.From) / meanOver)
	if n < minMeans {
		return 0
	}
	means := make([]float64, n)
	sum := 0.0
	for i := range means {
		from := w.From.Add(time.Duration(i) * meanOver)
		means[i] = Part(samples, from, from.Add(meanOver)).Rate()
		sum += means[i] / float64(n)
	}
	if sum <= 0 {
		return 0
	}
	squares := 0.0
	for _, m := range means {
		squares += (m - sum) * (m - sum)
	}
	return 100 * math.Sqrt(squares/float64(n-1)) / sum
}
