package analysis

import (
	"math"
	"slices"
)

// pool is a stretch of neighbouring points that a monotone fit gives one value: their weighted mean.
type pool struct {
	sum    float64 // of weight x value
	weight float64
	count  int
}

func (p pool) mean() float64 { return p.sum / p.weight }

// poolAdjacent fits a non-decreasing sequence to values by weighted least squares: the pool-adjacent-violators
// algorithm (Ayer et al. 1955; Barlow et al., Statistical Inference under Order Restrictions, 1972). misfits[i] is the
// sum of weighted squares that the fit of the first i values alone leaves.
func poolAdjacent(values, weights []float64) (pools []pool, misfits []float64) {
	misfits = make([]float64, 1, len(values)+1)
	misfit := 0.0
	for i, v := range values {
		p := pool{weights[i] * v, weights[i], 1}
		for n := len(pools); n > 0 && pools[n-1].mean() >= p.mean(); n-- {
			q := pools[n-1]
			d := q.mean() - p.mean()
			misfit += q.weight * p.weight / (q.weight + p.weight) * d * d
			p = pool{q.sum + p.sum, q.weight + p.weight, q.count + p.count}
			pools = pools[:n-1]
		}
		pools = append(pools, p)
		misfits = append(misfits, misfit)
	}
	return pools, misfits
}

// isotonic is the non-decreasing fit of values, and its misfit.
func isotonic(values, weights []float64) (fit []float64, misfit float64) {
	pools, misfits := poolAdjacent(values, weights)
	fit = make([]float64, 0, len(values))
	for _, p := range pools {
		for range p.count {
			fit = append(fit, p.mean())
		}
	}
	return fit, misfits[len(values)]
}

// unimodal is the fit of values that rises up to a mode and falls after it, and its misfit. The mode is where a rising
// fit of what comes before and a falling fit of what comes after leave the least (Frisén 1986; by prefixes, Stout
// 2008); of equal ones the last.
func unimodal(values, weights []float64) (fit []float64, misfit float64) {
	n := len(values)
	backValues, backWeights := slices.Clone(values), slices.Clone(weights)
	slices.Reverse(backValues)
	slices.Reverse(backWeights)
	_, rising := poolAdjacent(values, weights)
	_, falling := poolAdjacent(backValues, backWeights)
	mode, misfit := n, rising[n]
	for i := n - 1; i >= 0; i-- {
		if m := rising[i] + falling[n-i]; m < misfit {
			mode, misfit = i, m
		}
	}
	fit, _ = isotonic(values[:mode], weights[:mode])
	fall, _ := isotonic(backValues[:n-mode], backWeights[:n-mode])
	slices.Reverse(fall)
	return append(fit, fall...), misfit
}

// curveFit is the shape that a sweep's docs/s are taken to have: rising up to a plateau, and falling after a mode only
// where noise does not explain the fall, by a likelihood ratio: three standard deviations. A rising fit alone pools the
// fall of a retrograde curve into its peak, which moves the knee to fewer clients; one that always may fall takes the
// highest noise of a plateau for a mode. sigma is the standard deviation of a value of weight 1.
func curveFit(values, weights []float64, sigma float64) []float64 {
	const threeSigma = 9
	rising, a := isotonic(values, weights)
	falling, b := unimodal(values, weights)
	if a-b > threeSigma*sigma*sigma {
		return falling
	}
	return rising
}

// kneeIndex is where the literal rule finds the knee in log docs/s; logShare is the log of percentOfPeak/100. -1 of
// nothing.
func kneeIndex(logDocs []float64, logShare float64) int {
	peak := math.Inf(-1)
	for _, v := range logDocs {
		peak = max(peak, v)
	}
	return slices.IndexFunc(logDocs, func(v float64) bool { return v >= peak+logShare })
}

// Fitted is a curve's Measured points with docs/s of the fit that KneeStability draws around, and Rising with those of
// a rising fit alone: for a plot, and to compare what finds a knee. No peak or knee of a campaign is read off them.
func (c Curve) Fitted(noise Noise) []Point {
	return c.refit(func(docs, weights []float64) []float64 { return curveFit(docs, weights, noise.CV) })
}

// Rising is described at Fitted.
func (c Curve) Rising() []Point {
	return c.refit(func(docs, weights []float64) []float64 { fit, _ := isotonic(docs, weights); return fit })
}

func (c Curve) refit(fit func(docs, weights []float64) []float64) []Point {
	points := slices.DeleteFunc(slices.Clone(c.Points), func(p Point) bool { return p.Verdict != Measured })
	docs, weights := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		docs[i], weights[i] = math.Log(p.DocsPerSecond), float64(max(p.Repeats, 1))
	}
	for i, f := range fit(docs, weights) {
		points[i].DocsPerSecond = math.Exp(f)
	}
	return points
}
