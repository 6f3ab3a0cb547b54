package steady

import (
	"math"
	"time"
)

// Settings of CVPercent. It computes the mean of docs/s over each period of meanOver, because the rate within single seconds
// varies with refreshes and pauses. It needs at least minMeans means, because two means are too few to compute a spread.
const (
	meanOver = 5 * time.Second
	minMeans = 4
)

// CVPercent returns the coefficient of variation of docs/s in a window, in percent. It divides the standard deviation of the
// 5-second means by their mean. It returns 0 if the window holds fewer than four means.
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
