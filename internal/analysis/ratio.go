package analysis

import (
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/aclements/go-moremath/stats"
)

// Alpha is the error level of a campaign's whole set of comparisons.
const Alpha = 0.05

// Estimate compares two samples of docs/s.
type Estimate struct {
	N, M       int     // values in the numerator's and in the denominator's sample
	Ratio      float64 // Hodges-Lehmann estimate on logs; NaN when a sample is empty
	Low, High  float64 // exact interval; NaN when there is none
	Confidence float64 // of the interval, 0 to 1: what it has, which may be more or less than was asked for; 0: none
	P          float64 // two-sided Mann-Whitney p, exact up to 25 values a sample; NaN when a sample is empty
	MinP       float64 // the smallest p that samples of these sizes can have
}

// HasInterval tells whether both samples have repetitions, without which there is no interval.
func (e Estimate) HasInterval() bool { return e.Confidence > 0 }

// Compare estimates the ratio of x to y, all values positive, with an interval of at least the asked confidence
// where the samples allow it, and else the widest interval that they do allow.
//
// The ratio is the median of all pairwise ratios x_i/y_j, taken on logs (Hodges and Lehmann 1963); the interval
// lies between order statistics of the ratios (Moses; Hollander and Wolfe, Nonparametric Statistical Methods, 4.2-4.3).
func Compare(x, y []float64, confidence float64) Estimate {
	nan := math.NaN()
	e := Estimate{N: len(x), M: len(y), Ratio: nan, Low: nan, High: nan, P: nan, MinP: 1}
	if e.N == 0 || e.M == 0 {
		return e
	}
	shifts := pairwise(logs(x), logs(y))
	e.Ratio = math.Exp(Median(shifts))
	if e.N == 1 && e.M == 1 {
		e.Ratio = x[0] / y[0] // to the last bit, which logs round
	}
	e.P = mannWhitney(x, y)
	null := stats.UDist{N1: e.N, N2: e.M}
	e.MinP = min(1, 2*null.CDF(0))
	if e.N < 2 || e.M < 2 {
		return e // one value says nothing of its own spread
	}
	k, achieved := orderStatistic(null, confidence)
	e.Low, e.High, e.Confidence = math.Exp(shifts[k-1]), math.Exp(shifts[len(shifts)-k]), achieved
	return e
}

// orderStatistic finds the k of the interval from the k-th smallest to the k-th largest pairwise difference that
// is the narrowest with at least the asked confidence, and the confidence that it has; k is 1, the widest
// interval, when even that has less.
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

// orderStatistics remembers what orderStatistic found: at 50 repetitions the distribution costs 15 ms, and a
// campaign's ratios, assessed again and again, all have the same few keys.
var orderStatistics sync.Map

// mannWhitney is the two-sided p of the hypothesis that x and y come from one population: twice the smaller tail. With
// ties and samples of two sizes U is not symmetric, so that each tail is asked for by itself (moremath's
// LocationDiffers doubles the tail of the smaller U, which is another one then, and can be empty).
//
// It is exact up to 50 values a sample, with ties up to 25 (stats.MannWhitneyExactLimit, MannWhitneyTiesExactLimit);
// above, it is the normal approximation with corrections for ties and continuity.
func mannWhitney(x, y []float64) float64 {
	less, err := stats.MannWhitneyUTest(x, y, stats.LocationLess)
	if err != nil {
		return 1 // all values are equal: nothing speaks against one population
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

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}

// Holm adjusts the p values of a set of comparisons (Holm 1979): each may be held against the error level of the
// whole set. NaN stays, and is not counted as a comparison.
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
