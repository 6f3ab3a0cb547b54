// Package stats contains the statistics of Knee: intervals, corrections for several comparisons, noise and isotonic regression.
// docs/concepts.md explains the statistics. The package does not depend on records.
package stats

import (
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// Alpha is the error level of all comparisons of a campaign together.
const Alpha = 0.05

// Estimate is the result of comparing two samples of docs/s.
type Estimate struct {
	N, M       int     // sizes of the samples in the numerator and in the denominator
	Ratio      float64 // Hodges-Lehmann estimate on logs; NaN if a sample is empty
	Low, High  float64 // exact confidence interval; NaN if there is none
	Confidence float64 // confidence of the interval, 0 to 1; may differ from the requested confidence; 0: no interval
	P          float64 // two-sided Mann-Whitney p, exact up to 50 values per sample, with ties up to 25; NaN if a sample is empty
	MinP       float64 // smallest p that is possible with these sample sizes
}

// HasInterval reports whether the ratio has a confidence interval. An interval requires at least two values in each sample.
func (e Estimate) HasInterval() bool { return e.Confidence > 0 }

// Compare estimates the ratio of x to y. All values must be positive. The interval has at least the requested confidence if the
// samples are large enough. Otherwise it is the widest possible interval.
//
// The ratio is the median of all pairwise ratios x_i/y_j, computed on logs (Hodges and Lehmann 1963). The bounds of the interval
// are order statistics of these ratios (Moses; Hollander and Wolfe, Nonparametric Statistical Methods, 4.2-4.3).
func Compare(x, y []float64, confidence float64) Estimate {
	nan := math.NaN()
	e := Estimate{N: len(x), M: len(y), Ratio: nan, Low: nan, High: nan, P: nan, MinP: 1}
	if e.N == 0 || e.M == 0 {
		return e
	}
	shifts := pairwise(toLogs(x), toLogs(y))
	e.Ratio = math.Exp(Median(shifts))
	if e.N == 1 && e.M == 1 {
		e.Ratio = x[0] / y[0] // exact to the last bit; logs would round
	}
	e.P = mannWhitney(x, y)
	null := stats.UDist{N1: e.N, N2: e.M}
	e.MinP = min(1, 2*null.CDF(0))
	if e.N < 2 || e.M < 2 {
		return e // the spread of a single value is unknown
	}
	k, achieved := orderStatistic(null, confidence)
	e.Low, e.High, e.Confidence = math.Exp(shifts[k-1]), math.Exp(shifts[len(shifts)-k]), achieved
	return e
}

// orderStatistic chooses the interval that goes from the k-th smallest to the k-th largest pairwise difference. It returns k and
// the confidence of this interval. It chooses the narrowest interval with at least the requested confidence. If even the widest
// interval has less confidence, k is 1.
func orderStatistic(null stats.UDist, confidence float64) (k int, achieved float64) {
	key := orderKey{null.N1, null.N2, confidence}
	if known, ok := orderStatistics.Load(key); ok {
		o := known.(order)
		return o.k, o.achieved
	}
	of := func(k int) float64 { return 1 - 2*null.CDF(float64(k-1)) }
	const rounding = 1e-12
	first := sort.Search(null.N1*null.N2/2, func(i int) bool { return of(i+1) < confidence-rounding })
	k = max(first, 1)
	achieved = of(k)
	orderStatistics.Store(key, order{k, achieved})
	return k, achieved
}

type (
	orderKey struct {
		n, m       int
		confidence float64
	}
	order struct {
		k        int
		achieved float64
	}
)

// orderStatistics caches the results of orderStatistic. Computing the distribution for 50 repetitions takes 15 ms. A campaign is
// assessed repeatedly, and its ratios have only a few different keys.
var orderStatistics sync.Map

// mannWhitney returns the two-sided p value of the hypothesis that x and y come from one population. It is twice the smaller tail.
// With ties and different sample sizes, the distribution of U is not symmetric, so each tail is computed separately.
// (LocationDiffers of moremath doubles the tail of the smaller U, which may then be the wrong tail, or empty.)
//
// p is exact up to 50 values per sample, and with ties up to 25 (stats.MannWhitneyExactLimit, MannWhitneyTiesExactLimit). For
// larger samples it is the normal approximation with corrections for ties and continuity.
func mannWhitney(x, y []float64) float64 {
	less, err := stats.MannWhitneyUTest(x, y, stats.LocationLess)
	if err != nil {
		return 1 // all values are equal: there is no evidence against one population
	}
	greater, err := stats.MannWhitneyUTest(y, x, stats.LocationLess)
	if err != nil {
		return 1
	}
	return min(1, 2*min(less.P, greater.P))
}

// pairwise lists all differences x_i - y_j in ascending order.
func pairwise(x, y []float64) []float64 {
	out := make([]float64, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			out = append(out, a-b)
		}
	}
	slices.Sort(out)
	return out
}

// Holm adjusts the p values of a set of comparisons (Holm 1979). Each adjusted p can be compared with the error level of the whole
// set. NaN stays NaN and does not count as a comparison.
func Holm(p []float64) []float64 {
	order := make([]int, 0, len(p))
	out := slices.Clone(p)
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	running := 0.0
	for rank, i := range order {
		running = max(running, min(1, float64(len(order)-rank)*p[i]))
		out[i] = running
	}
	return out
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

// CompareTwoStages is Compare for samples whose size was determined by the noise of a first stage. If the first stage has little
// noise by chance, there are few repetitions, and the first stage is a large part of them. An interval over all repetitions would
// then contain the true ratio up to 1.3 percentage points less often than its confidence states (make bench-coverage). Therefore
// the interval is computed with four fifths of the error, but reported with the requested confidence.
func CompareTwoStages(x, y []float64, confidence float64) Estimate {
	e := Compare(x, y, 1-(1-confidence)*4/5)
	e.Confidence = min(e.Confidence, confidence)
	return e
}
