package sweep

import (
	"math"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// edgeRise is the rise at the highest count that is no longer explained by noise, in standard errors of the difference between the
// peak and the highest other count. On a flat plateau, the peak is at the highest count by chance in 1 of m cells, where m is the
// number of counts of the plateau, so a small factor is enough. In simulations, it fires in at most 5 % of cells with a plateau of 4
// or more counts. With 1 % noise and one trial per count, it finds 82 % of curves that rise by 3 % at the last count, and 99 % of
// those that rise by 5 %.
const edgeRise = 1.2

// CheckPeakAtEdge sets PeakAtRangeEdge to false if noise explains that the peak is at the highest count: if no rise beyond edgeRise is
// left between the highest other Measured count and the peak. It changes nothing if the noise of a trial is unknown, or if there is
// no other Measured count.
//
// KneeAtRangeEdge has no such test: nothing was measured below the lowest count, so no measurement can tell whether fewer clients
// reach the same docs/s. The knee's stability tells whether noise moved the knee there.
func (c *Curve) CheckPeakAtEdge(noise stats.Noise) {
	if !c.PeakAtRangeEdge || noise.Freedom == 0 {
		return
	}
	var second *Point
	for i := range c.Points {
		p := &c.Points[i]
		if p != c.Peak && p.Verdict == verdict.Measured && (second == nil || p.Rate > second.Rate) {
			second = p
		}
	}
	if second == nil {
		return
	}
	rise := math.Log(c.Peak.Rate / second.Rate)
	c.PeakAtRangeEdge = rise > edgeRise*noise.CV*math.Sqrt(medianVariance(c.Peak.Repeats)+medianVariance(second.Repeats))
}

// medianVariances holds the variances of the median of 1 to 9 draws of a standard normal variable, by numerical
// integration of the density of the order statistics.
var medianVariances = []float64{1, 0.5, 0.4487, 0.2982, 0.2868, 0.2147, 0.2104, 0.1682, 0.1661}

// medianVariance returns the variance of the median of n draws of a standard normal variable.
func medianVariance(n int) float64 {
	if n <= len(medianVariances) {
		return medianVariances[max(n, 1)-1]
	}
	return math.Pi / 2 / float64(n) // asymptotic; at most 14 % too large
}
