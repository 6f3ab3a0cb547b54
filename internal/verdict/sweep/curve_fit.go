package sweep

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// curveFit returns the assumed shape of a sweep's docs/s. The shape rises to a plateau. It has a fall after a mode only if noise
// does not explain the fall, by a likelihood ratio of three standard deviations. Two simpler fits do not work. A fit that only
// rises averages the fall of a retrograde curve into its peak, which moves the knee to fewer clients. A fit that may always fall
// mistakes the highest noisy point of a plateau for a mode. sigma is the standard deviation of a value of weight 1.
func curveFit(values, weights []float64, sigma float64) []float64 {
	const threeSigma = 9
	rising, a := stats.Isotonic(values, weights)
	falling, b := stats.Unimodal(values, weights)
	if a-b > threeSigma*sigma*sigma {
		return falling
	}
	return rising
}

// kneeIndex returns the first index whose rate reaches the threshold, or -1 if there are no points. The rates are log docs/s. The
// threshold is the highest rate plus logShare, the log of percentOfPeak/100.
func kneeIndex(logDocs []float64, logShare float64) int {
	peak := math.Inf(-1)
	for _, v := range logDocs {
		peak = max(peak, v)
	}
	return slices.IndexFunc(logDocs, func(v float64) bool { return v >= peak+logShare })
}

// Fitted returns the Measured points of a curve with docs/s of the fit that KneeStability uses. The result is for comparing
// methods by simulation. The peak and the knee of a campaign do not come from a fit.
func (c Curve) Fitted(noise stats.Noise) []Point {
	return c.refit(func(docs, weights []float64) []float64 { return curveFit(docs, weights, noise.CV) })
}

// Rising returns the Measured points of a curve with docs/s of a fit that only rises. The result is for comparing methods by
// simulation.
func (c Curve) Rising() []Point {
	return c.refit(func(docs, weights []float64) []float64 { fit, _ := stats.Isotonic(docs, weights); return fit })
}

func (c Curve) refit(fit func(docs, weights []float64) []float64) []Point {
	points := slices.DeleteFunc(slices.Clone(c.Points), func(p Point) bool { return p.Verdict != verdict.Measured })
	docs, weights := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		docs[i], weights[i] = math.Log(p.DocsPerSecond), float64(max(p.Repeats, 1))
	}
	for i, f := range fit(docs, weights) {
		points[i].DocsPerSecond = math.Exp(f)
	}
	return points
}
