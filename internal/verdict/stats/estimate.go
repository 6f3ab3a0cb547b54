// Package stats contains the statistics of Knee: intervals, corrections for several comparisons, noise and isotonic regression.
// docs/concepts.md explains the statistics. The package does not depend on records.
package stats

import "math"

// Alpha is the error level of all comparisons of a campaign together.
const Alpha = 0.05

// rounding is the tolerance of comparisons of probabilities.
const rounding = 1e-12

// FamilyConfidence returns the confidence of each interval of a family of comparisons, so that all intervals together hold with
// confidence 1 - Alpha. It is valid for every dependence between the comparisons (Bonferroni; Dunn 1961).
func FamilyConfidence(comparisons int) float64 { return 1 - Alpha/float64(max(comparisons, 1)) }

// AdjustP returns the p value of a comparison that can be compared with Alpha if it belongs to a family of comparisons: m times p, at
// most 1. An interval with FamilyConfidence excludes 1 exactly if the adjusted p is at most Alpha. NaN stays NaN.
func AdjustP(p float64, comparisons int) float64 {
	return math.Min(1, float64(max(comparisons, 1))*p)
}

// Estimate is the result of comparing two samples of docs/s.
type Estimate struct {
	N, M           int     // sizes of the samples in the numerator and in the denominator
	Ratio          float64 // Hodges-Lehmann estimate on logs; NaN if a sample is empty
	Low, High      float64 // confidence interval; NaN if there is none
	Confidence     float64 // confidence of the interval, 0 to 1: the requested confidence, or less if the samples are too small; 0: no interval
	P              float64 // two-sided p: at most 1 - confidence if an interval of this confidence excludes 1; NaN if a sample is empty
	MinP           float64 // smallest p that is possible with these sample sizes
	CV, BaselineCV float64 // noise within each sample: the standard deviation of logs; NaN for a single value
	Bounds         Bounds  // method that gives the interval's bounds; empty without an interval
	Widening       float64 // factor by which the interval is wider than for independent repetitions; 1: not wider
	Looks          []Look  // the looks at the data up to this estimate, if there are several: see CompareLooks; nil: one look
	LookFactor     float64 // factor of AdjustP for several looks; 0 or 1: one look
}

// Bounds is the method that gives the bounds of an interval.
type Bounds string

// Values of Bounds.
const (
	RankBounds  Bounds = "rank"       // both bounds come from the rank interval
	WelchBounds Bounds = "Welch"      // both bounds come from Welch's interval
	MixedBounds Bounds = "rank/Welch" // one bound comes from each interval
)

// HasInterval reports whether the ratio has a confidence interval. An interval requires at least two values in each sample.
func (e Estimate) HasInterval() bool { return e.Confidence > 0 }

// Distinguishable reports whether the ratio of a family of comparisons can be distinguished from 1.
func (e Estimate) Distinguishable(comparisons int) bool {
	return e.HasInterval() && e.AdjustP(comparisons) <= Alpha
}

// AdjustP returns P adjusted for a family of comparisons and for the earlier looks at the data.
func (e Estimate) AdjustP(comparisons int) float64 {
	return AdjustP(e.P*max(e.LookFactor, 1), comparisons)
}

// TooFew reports whether the samples are so small that even the largest difference could not be distinguished in a family of
// comparisons.
func (e Estimate) TooFew(comparisons int) bool {
	return AdjustP(e.MinP*max(e.LookFactor, 1), comparisons) > Alpha
}

// Compare estimates the ratio of x to y. All values must be positive. The interval is the smallest interval that contains the rank
// interval (CompareRanks) and Welch's interval on logs (Welch 1947), both with the requested confidence. If the samples are too small
// for this confidence, both have the highest confidence that the rank interval can have.
//
// The rank interval is exact for noise of every shape if both samples have the same noise, but covers too little if their noise
// differs (90.8 % instead of 97.1 % for four values with a CV of 0.5 % and four with 5 %). Welch's interval covers for normal noise of
// every size, but too little for some samples of different sizes. Together they cover at least what they state, except for at most 0.5
// percentage points, in every condition with independent noise that make bench-coverage simulates, if both samples have at least four
// values. With two or three values in the noisier sample they cover up to 4 percentage points less than they state.
//
// P is the exact dual of the interval. The ratio remains the estimate of Hodges and Lehmann, which the interval always contains.
func Compare(x, y []float64, confidence float64) Estimate { return CompareWidened(x, y, confidence, 1) }

// CompareWidened is Compare for repetitions that depend on each other. Both bounds of the interval are farther from the ratio by the
// factor widening on logs.
func CompareWidened(x, y []float64, confidence, widening float64) Estimate {
	e, shifts := compareRanks(x, y, confidence)
	e.Widening = widening
	e.CV, e.BaselineCV = PooledNoise([][]float64{x}).CV, PooledNoise([][]float64{y}).CV
	if !e.HasInterval() {
		return e
	}
	e.Confidence = min(e.Confidence, confidence)
	w := newWelch(toLogs(x), toLogs(y))
	low, high := w.interval(e.Confidence)
	ratio := math.Log(e.Ratio)
	lower, higher := math.Exp(low), math.Exp(high)
	switch {
	case lower >= e.Low && higher <= e.High:
		e.Bounds = RankBounds
	case lower <= e.Low && higher >= e.High:
		e.Bounds = WelchBounds
	default:
		e.Bounds = MixedBounds
	}
	e.Low, e.High = min(e.Low, lower), max(e.High, higher)
	if widening > 1 {
		e.Low, e.High = e.Ratio*math.Pow(e.Low/e.Ratio, widening), e.Ratio*math.Pow(e.High/e.Ratio, widening)
	}
	none := ratio - ratio/widening // the wider interval excludes 0 exactly if the interval without widening excludes this difference
	e.P = rankTails(e.N, e.M, shifts, none).both(w.tails(none)).p()
	return e
}

// CompareRanks estimates the ratio of x to y by ranks alone. All values must be positive. The interval has at least the requested
// confidence if the samples are large enough. Otherwise it is the widest possible interval. Confidence is its exact confidence if both
// samples have the same noise.
//
// The ratio is the median of all pairwise ratios x_i/y_j, computed on logs (Hodges and Lehmann 1963). The bounds of the interval
// are order statistics of these ratios (Moses; Hollander and Wolfe, Nonparametric Statistical Methods, 4.2-4.3), and P is their
// exact dual.
func CompareRanks(x, y []float64, confidence float64) Estimate {
	e, _ := compareRanks(x, y, confidence)
	return e
}

// compareRanks also returns all differences of the logs in ascending order.
func compareRanks(x, y []float64, confidence float64) (e Estimate, shifts []float64) {
	nan := math.NaN()
	e = Estimate{N: len(x), M: len(y), Ratio: nan, Low: nan, High: nan, P: nan, MinP: 1, CV: nan, BaselineCV: nan, Widening: 1}
	if e.N == 0 || e.M == 0 {
		return e, nil
	}
	shifts = pairwise(toLogs(x), toLogs(y))
	e.Ratio = math.Exp(Median(shifts))
	if e.N == 1 && e.M == 1 {
		e.Ratio = x[0] / y[0] // exact to the last bit; logs would round
	}
	e.P = rankTails(e.N, e.M, shifts, 0).p()
	e.MinP = min(1, 2*rankTail(e.N, e.M, 0))
	if e.N < 2 || e.M < 2 {
		return e, shifts // the spread of a single value is unknown
	}
	k, achieved := orderStatistic(e.N, e.M, confidence)
	e.Low, e.High, e.Confidence, e.Bounds = math.Exp(shifts[k-1]), math.Exp(shifts[len(shifts)-k]), achieved, RankBounds
	return e, shifts
}

// CompareMeans applies Compare to the geometric means of placements. Each inner slice holds the repetitions of one placement. It
// leaves out a placement without repetitions.
func CompareMeans(x, y [][]float64, confidence float64) Estimate {
	return Compare(GeometricMeans(x), GeometricMeans(y), confidence)
}

// GeometricMeans returns the geometric mean of each group. It leaves out empty groups.
func GeometricMeans(groups [][]float64) []float64 {
	var out []float64
	for _, g := range groups {
		if len(g) > 0 {
			out = append(out, math.Exp(Mean(toLogs(g))))
		}
	}
	return out
}

// CompareTwoStages is CompareWidened for samples whose size was determined by the noise of a first stage. If the first stage has little
// noise by chance, there are few repetitions, and the first stage is a large part of them. A rank interval over all repetitions
// would then contain the true ratio up to 1.3 percentage points less often than its confidence states (make bench-coverage).
// Therefore the interval is computed with four fifths of the error, but reported with the requested confidence. P and MinP are larger by the
// same factor, so that P and the interval agree.
func CompareTwoStages(x, y []float64, confidence, widening float64) Estimate {
	e := CompareWidened(x, y, 1-(1-confidence)*twoStageError, widening)
	e.P, e.MinP = math.Min(1, e.P/twoStageError), math.Min(1, e.MinP/twoStageError)
	if !e.HasInterval() {
		return e
	}
	e.Confidence = min(1-(1-e.Confidence)/twoStageError, confidence)
	return e
}

// twoStageError is the share of the error with which CompareTwoStages computes the interval.
const twoStageError = 4.0 / 5

// errorShare returns the share of the error with which an interval is computed.
func errorShare(twoStages bool) float64 {
	if twoStages {
		return twoStageError
	}
	return 1
}
