package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Repetitions returns the smallest number n of Final repetitions with which each of the given number of comparisons can be
// distinguished from noise: comparisons x 2/C(2n, n) <= Alpha.
func Repetitions(comparisons int) int {
	p := 2.0
	for n := 1; ; n++ {
		p *= float64(n) / float64(2*(2*n-1)) // C(2n, n) = C(2n-2, n-1) x 2(2n-1)/n
		if float64(max(comparisons, 1))*p <= Alpha {
			return n
		}
	}
}

// RepetitionsFor returns the number of repetitions per cell at which half the width of the interval is about half of the smallest
// difference, at the given noise. It returns at least Repetitions. The second stage and plans use this number. With this width,
// about 19 of 20 campaigns give the right verdict. The interval is within the smallest difference if there is no difference. It
// excludes 1 if the true difference is as large as the smallest difference.
func RepetitionsFor(cv, smallestDifferencePercent float64, comparisons int) int {
	least := Repetitions(comparisons)
	half := smallestDifferencePercent / 100 / 2
	if !Positive(cv) || !Positive(half) {
		return least
	}
	const about = 1.015 // tolerance: half the width may be larger by this factor
	const most = 100_000
	confidence := FamilyConfidence(comparisons)
	return least + sort.Search(most-least, func(more int) bool {
		return halfWidth(least+more, confidence)*cv <= half*about
	})
}

// halfWidth returns about the mean of half the width of Compare's interval for n repetitions per cell, on logs and in units of the
// noise. It is Student's interval for two means at the confidence of the order statistics, made a little wider because the
// estimate uses ranks. It agrees with simulations within 2 % for n of at least 4.
func halfWidth(n int, confidence float64) float64 {
	const exact = 40 // for larger n, order statistics have nearly the requested confidence but take much time
	if n <= exact {
		_, confidence = orderStatistic(n, n, confidence)
	}
	const byRanks = 1.013
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(2*n - 2)}
	return byRanks * t.Quantile((1+confidence)/2) * math.Sqrt(2/float64(n))
}
