// Package steady selects the windows of a load in which docs/s is measured. It does no I/O.
package steady

import (
	"fmt"
	"math"
)

// batch is the number of samples that MSER-5 averages to one value.
const batch = 5

// minBatches is the minimum number of batches in a steady window.
const minBatches = 10

// MSER5 returns how many samples at the start belong to the warm-up. It averages batches of five samples. Then it chooses the
// truncation point that gives the mean of the remaining batches the smallest standard error. Source: White, "An effective
// truncation heuristic for bias reduction in simulation output", Simulation 69, 1997.
//
// Only points with at least ten remaining batches are considered, because the error of fewer batches can be small by chance.
// The series is not steady if the result is in the second half, or is the last point considered. An incomplete batch at the
// end is ignored.
func MSER5(samples []float64) (int, error) {
	n := len(samples) / batch
	if n < minBatches {
		return 0, fmt.Errorf("%d samples (one per second) are too few to find the steady part of the load: increase the duration of the load to get at least %d samples", len(samples), minBatches*batch)
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
		return 0, fmt.Errorf("docs/s is not steady for at least the first %d s of the %d s of load: increase the duration of the load", best*batch, n*batch)
	}
	return best * batch, nil
}

// errorOfMean returns the MSER statistic: the sum of the squared deviations divided by the square of the number of values.
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
