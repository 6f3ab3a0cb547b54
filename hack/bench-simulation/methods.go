package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

// interval is a confidence interval of the difference of two samples of logs.
type interval struct{ low, high, stated float64 }

func (i interval) holds() bool { return i.low <= math.Log(truth) && math.Log(truth) <= i.high }

// method is a way to compute an interval from two samples of docs/s.
type method struct {
	name string
	of   func(x, y []float64, confidence float64) interval
}

const (
	kneesMethod = "Knee: hull of rank and Welch"
	permutation = "studentised permutation" // slow, so that it is simulated less often, and only for small samples
)

var methods = []method{
	{"rank", rankInterval},
	{"Welch", welchInterval},
	{"Welch, rank's confidence", func(x, y []float64, confidence float64) interval {
		return welchInterval(x, y, rankInterval(x, y, confidence).stated)
	}},
	{kneesMethod, hullInterval},
	{"pretest", pretestInterval},
	{permutation, permutationInterval},
}

func rankInterval(x, y []float64, confidence float64) interval {
	e := stats.CompareRanks(x, y, confidence)
	return interval{math.Log(e.Low), math.Log(e.High), e.Confidence}
}

func welchInterval(x, y []float64, confidence float64) interval {
	difference, err, freedom := welch(logs(x), logs(y))
	half := err * distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile((1+confidence)/2)
	return interval{difference - half, difference + half, confidence}
}

// welch returns the difference of the means, its standard error and the degrees of freedom (Welch 1947).
func welch(x, y []float64) (difference, err, freedom float64) {
	n, m := float64(len(x)), float64(len(y))
	a, b := stats.SumOfSquares(x)/(n-1)/n, stats.SumOfSquares(y)/(m-1)/m
	return stats.Mean(x) - stats.Mean(y), math.Sqrt(a + b), (a + b) * (a + b) / (a*a/(n-1) + b*b/(m-1))
}

// hullInterval is Knee's interval: the smallest interval that contains the rank interval and Welch's interval.
func hullInterval(x, y []float64, confidence float64) interval {
	e := stats.Compare(x, y, confidence)
	return interval{math.Log(e.Low), math.Log(e.High), e.Confidence}
}

// pretestInterval is Welch's interval if an F test at 5 % finds different noise, and otherwise the rank interval.
func pretestInterval(x, y []float64, confidence float64) interval {
	a, b := logs(x), logs(y)
	n, m := float64(len(a)-1), float64(len(b)-1)
	f := distuv.F{D1: n, D2: m}
	if tail := f.CDF(stats.SumOfSquares(a) / n / (stats.SumOfSquares(b) / m)); 2*min(tail, 1-tail) <= 0.05 {
		return welchInterval(x, y, confidence)
	}
	return rankInterval(x, y, confidence)
}

// permutationInterval inverts the permutation test of Welch's statistic (Janssen 1997). It tries every division of the values into
// two samples, and bisects between the middle and a shift that is far away.
func permutationInterval(x, y []float64, confidence float64) interval {
	a, b := logs(x), logs(y)
	divisions := divisionsOf(len(a), len(b))
	most := int(math.Floor((1 - confidence) * float64(len(divisions))))
	most -= most % 2 // a division and its mirror image have equal statistics for equal sizes
	stated := 1 - float64(most)/float64(len(divisions))
	middle, err, _ := welch(a, b)
	bound := func(sign float64) float64 {
		inside, outside := middle, middle+sign*50*err
		for range 25 {
			if at := (inside + outside) / 2; accepts(a, b, at, divisions, most) {
				inside = at
			} else {
				outside = at
			}
		}
		return outside
	}
	return interval{bound(-1), bound(1), stated}
}

// accepts reports whether the permutation test at most/len(divisions) accepts a shift.
func accepts(a, b []float64, shift float64, divisions [][]int, most int) bool {
	all := slices.Clone(b)
	for _, v := range a {
		all = append(all, v-shift)
	}
	statistic := func(inA []int) float64 {
		var sum, square [2]float64
		n := [2]float64{float64(len(b)), float64(len(a))}
		for i, v := range all {
			sum[inA[i]] += v
			square[inA[i]] += v * v
		}
		variance := 0.0
		for s := range 2 {
			variance += max(square[s]-sum[s]*sum[s]/n[s], 0) / (n[s] - 1) / n[s]
		}
		d := sum[1]/n[1] - sum[0]/n[0]
		return d * d / variance
	}
	observed := make([]int, len(all))
	for i := range a {
		observed[len(b)+i] = 1
	}
	limit, asMuch := statistic(observed)*(1-1e-9), 0
	for _, d := range divisions {
		if statistic(d) >= limit {
			asMuch++
		}
	}
	return asMuch > most
}

// divisionsOf returns all divisions of n + m values into two samples. An entry is 1 if the value belongs to the sample of n values.
func divisionsOf(n, m int) [][]int {
	var out [][]int
	for set := range 1 << (n + m) {
		d, size := make([]int, n+m), 0
		for i := range d {
			d[i] = set >> i & 1
			size += d[i]
		}
		if size == n {
			out = append(out, d)
		}
	}
	return out
}

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}
