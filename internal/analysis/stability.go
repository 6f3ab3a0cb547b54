package analysis

// Noise is the pooled noise of one measurement.
type Noise struct {
	CV      float64 // coefficient of variation of docs/s, 0 to 1, pooled within groups of equal trials on logs
	Freedom int     // degrees of freedom; 0: there are no repeats, and CV is NaN
}

// PooledNoise pools the spread within groups of repeated figures; groups of one figure tell nothing.
func PooledNoise(groups [][]float64) Noise { return Noise{} }

// KneeStability is the share of 2,000 seeded resamples of a sweep that give the same knee, drawn around an isotonic
// fit of its Measured points with the pooled noise; false without noise or knee.
func KneeStability(c Curve, percentOfPeak float64, noise Noise, seed uint64) (share float64, ok bool) {
	return 0, false
}
