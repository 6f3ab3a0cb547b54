// Package steady finds the windows of a load over which docs/s is taken. It is pure.
package steady

import (
	"fmt"
	"math"
)

// batch is the number of samples whose mean MSER-5 looks at.
const batch = 5

// minBatches is how many batches must be left for a steady window.
const minBatches = 10

// MSER5 says how many of the first samples belong to the warm-up: the truncation point that gives the mean of
// the rest its smallest standard error, looked for over means of five samples (White, "An effective truncation
// heuristic for bias reduction in simulation output", Simulation 69, 1997). Only points that leave ten batches are
// looked at: the error of fewer is small by chance. A point in the second half, or the last one looked at, says
// that the series is not steady. Samples after the last whole batch do not count.
func MSER5(samples []float64) (int, error) {
	n := len(samples) / batch
	if n < minBatches {
		return 0, fmt.Errorf("%d samples are fewer than %d batches of %d", len(samples), minBatches, batch)
	}
	means := make([]float64, n)
	for i := range means {
		for _, x := range samples[i*batch : (i+1)*batch] {
			means[i] += x / batch
		}
	}
	best, bestError, last := 0, math.Inf(1), n-minBatches
	for d := 0; d <= last; d++ {
		if e := errorOfMean(means[d:]); e < bestError {
			best, bestError = d, e
		}
	}
	if 2*best > n || best > 0 && best == last {
		return 0, fmt.Errorf("not steady: the warm-up would be at least %d of %d s", best*batch, n*batch)
	}
	return best * batch, nil
}

// errorOfMean is MSER's statistic: the squared deviations over the square of their number.
func errorOfMean(x []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return sum / float64(len(x)*len(x))
}
