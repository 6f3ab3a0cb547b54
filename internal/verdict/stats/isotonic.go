package stats

import (
	"slices"
)

// pool is a sequence of neighbouring points that have the same value in a monotone fit: their weighted mean.
type pool struct {
	sum    float64 // sum of weight x value
	weight float64
	count  int
}

func (p pool) mean() float64 { return p.sum / p.weight }

// poolAdjacent fits a non-decreasing sequence to values by weighted least squares. It uses the pool-adjacent-violators algorithm
// (Ayer et al. 1955; Barlow et al., Statistical Inference under Order Restrictions, 1972). misfits[i] is the weighted sum of
// squares of a fit to only the first i values.
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

// Isotonic returns the non-decreasing fit of values and the misfit of the fit.
func Isotonic(values, weights []float64) (fit []float64, misfit float64) {
	pools, misfits := poolAdjacent(values, weights)
	fit = make([]float64, 0, len(values))
	for _, p := range pools {
		for range p.count {
			fit = append(fit, p.mean())
		}
	}
	return fit, misfits[len(values)]
}

// Unimodal returns the fit of values that rises up to a mode and falls after it, and the misfit of the fit. The mode is the point
// at which a rising fit before it and a falling fit after it have the smallest misfit (Frisén 1986; by prefixes, Stout 2008). If
// several points have the same misfit, the mode is the last of these points.
func Unimodal(values, weights []float64) (fit []float64, misfit float64) {
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
	fit, _ = Isotonic(values[:mode], weights[:mode])
	fall, _ := Isotonic(backValues[:n-mode], backWeights[:n-mode])
	slices.Reverse(fall)
	return append(fit, fall...), misfit
}
