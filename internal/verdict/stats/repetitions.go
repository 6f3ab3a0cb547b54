package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Repetitions returns the smallest number n of Final repetitions with which each of the given number of comparisons can be
// distinguished from noise: comparisons x 2/C(2n, n) <= Alpha.
func Repetitions(comparisons int) int { return leastRepetitions(comparisons, 1) }

// RepetitionsInTwoStages is Repetitions for samples that CompareTwoStages compares.
func RepetitionsInTwoStages(comparisons int) int {
	return leastRepetitions(comparisons, twoStageError)
}

func leastRepetitions(comparisons int, share float64) int {
	p := 2 / share
	for n := 1; ; n++ {
		p *= float64(n) / float64(2*(2*n-1)) // C(2n, n) = C(2n-2, n-1) x 2(2n-1)/n
		if float64(max(comparisons, 1))*p <= Alpha {
			return n
		}
	}
}

// RepetitionsFor returns the number of repetitions per cell with which a comparison gets the right verdict in about 19 of 20 campaigns,
// at the given noise: the interval is within the smallest difference if there is no difference, and it excludes 1 if the true
// difference is as large as the smallest difference. It returns at least Repetitions. The second stage and plans use this number.
func RepetitionsFor(cv, smallestDifferencePercent float64, comparisons int) int {
	least := Repetitions(comparisons)
	difference := math.Log1p(smallestDifferencePercent / 100)
	if !Positive(cv) || !Positive(difference) {
		return least
	}
	const most = 100_000
	confidence := FamilyConfidence(comparisons)
	enough := func(n int) bool { return isEnough(n, difference/cv, confidence) }
	for n := least; n <= exactHalfWidth; n++ { // the width does not fall with every step: the confidence of order statistics jumps
		if enough(n) {
			return n
		}
	}
	least = max(least, exactHalfWidth)
	return least + sort.Search(most-least, func(more int) bool { return enough(least + more) })
}

// isEnough reports whether the interval of n repetitions per cell around an estimate of 0 stays within the difference in 95 % of the
// cases. The distance of its farther bound from 0 is the sum of the error of the estimate and of half the width, which varies with the
// noise that 2n - 2 degrees of freedom show. The difference is on logs and in units of the noise.
func isEnough(n int, difference, confidence float64) bool {
	half := halfWidth(n, confidence)
	spread := math.Sqrt(2/float64(n) + half*half/float64(4*n-4))
	return half+distuv.UnitNormal.Quantile(1-Alpha/2)*spread <= difference
}

// exactHalfWidth is the highest number of repetitions for which halfWidth uses the confidence of order statistics. For larger numbers,
// they have nearly the requested confidence but take much time.
const exactHalfWidth = 25

// halfWidth returns about the mean of half the width of Compare's interval for n repetitions per cell, on logs and in units of the
// noise. It is Student's interval for two means at the confidence of the order statistics, made a little wider because the
// interval contains two intervals. It agrees with simulations within 2.5 % for n of at least 4.
func halfWidth(n int, confidence float64) float64 {
	if n <= exactHalfWidth {
		_, confidence = orderStatistic(n, n, confidence)
	}
	const wider = 1.045
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(2*n - 2)}
	return wider * t.Quantile((1+confidence)/2) * math.Sqrt(2/float64(n))
}
