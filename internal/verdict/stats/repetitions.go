package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Repetitions returns the smallest number n of Final repetitions with which each of the given number of comparisons can be
// distinguished from noise: comparisons x 2/C(2n, n) <= Alpha.
func Repetitions(comparisons int) int { return leastRepetitions(comparisons, errorShare(false)) }

// RepetitionsInTwoStages is Repetitions for samples that CompareTwoStages compares.
func RepetitionsInTwoStages(comparisons int) int {
	return leastRepetitions(comparisons, errorShare(true))
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

// Sizing describes a comparison of two cells whose number of repetitions is wanted.
type Sizing struct {
	Noise, Baseline           Noise // of the two cells; a CV of NaN is unknown, so like the other cell's; Freedom 0: the CV is known exactly
	SmallestDifferencePercent float64
	Comparisons               int    // number of comparisons of the campaign
	TwoStages                 bool   // whether CompareTwoStages compares the repetitions
	Earlier                   []Look // looks at fewer repetitions of the same cells
}

// RepetitionsFor returns the number of repetitions per cell with which a comparison gets the right verdict in about 19 of 20 campaigns,
// at the given noise: the interval is within the smallest difference if there is no difference, and it excludes 1 if the true
// difference is as large as the smallest difference. It is the number for the interval that CompareLooks computes. It returns at least
// the number that can distinguish a difference, and at most 100,000. The second stage and plans use this number.
func RepetitionsFor(s Sizing) int {
	least := leastRepetitions(s.Comparisons, errorShare(s.TwoStages))
	difference := math.Log1p(s.SmallestDifferencePercent / 100)
	cv, spread, certain := s.noise()
	const most = 100_000
	if _, left := s.confidence(most); !left || !Positive(cv) || !Positive(difference) {
		return least // without an error that is left, more repetitions give no interval
	}
	margin := studentQuantile(certain, 1-Alpha/2)
	enough := func(n int) bool {
		confidence, ok := s.confidence(n)
		return ok && isEnough(n, spread, margin, difference/cv, confidence)
	}
	for n := least; n <= exactHalfWidth; n++ { // the width does not fall with every step: the confidence of order statistics jumps
		if enough(n) {
			return n
		}
	}
	least = max(least, exactHalfWidth)
	return least + sort.Search(most-least, func(more int) bool { return enough(least + more) })
}

// noise returns the root of the mean square of the two noises. spread tells how unequal they are: 1 if they are equal, 2 if one is 0.
// So n repetitions per cell have 2(n-1)/spread degrees of freedom. freedom is the number of degrees of freedom with which the noise is
// known (both: Satterthwaite 1946), and infinite if it is known exactly.
func (s Sizing) noise() (cv, spread, freedom float64) {
	x, y := s.Noise, s.Baseline
	if math.IsNaN(x.CV) {
		x = y
	}
	if math.IsNaN(y.CV) {
		y = x
	}
	a, b := x.CV*x.CV, y.CV*y.CV
	unknown := 0.0
	if x.Freedom > 0 {
		unknown += a * a / float64(x.Freedom)
	}
	if y.Freedom > 0 {
		unknown += b * b / float64(y.Freedom)
	}
	squares := (a + b) * (a + b)
	return math.Sqrt((a + b) / 2), 2 * (a*a + b*b) / squares, squares / unknown
}

// confidence returns the confidence with which the interval of n repetitions per cell is computed. ok is false if the earlier looks left
// no error.
func (s Sizing) confidence(n int) (confidence float64, ok bool) {
	stated := FamilyConfidence(s.Comparisons)
	if looks := countedLooks(s.Earlier, Look{N: n, M: n}, stated); len(looks) > 1 {
		if stated, ok = cachedLookConfidence(looks, stated); !ok {
			return stated, false
		}
	}
	return 1 - (1-stated)*errorShare(s.TwoStages), true
}

// isEnough reports whether the interval of n repetitions per cell around an estimate of 0 stays within the difference in 95 % of the
// cases. The distance of its farther bound from 0 is the sum of the error of the estimate and of half the width, which varies with the
// noise that the degrees of freedom show. The difference is on logs and in units of the noise. margin is the quantile for the 95 %: of
// the normal law if the noise is known, or of Student's t with the degrees of freedom of its estimate (Stein 1945).
func isEnough(n int, spread, margin, difference, confidence float64) bool {
	half, freedom, ok := halfWidth(n, spread, confidence)
	deviation := math.Sqrt(2/float64(n) + half*half/(2*freedom))
	return ok && half+margin*deviation <= difference
}

// studentQuantile returns a quantile of Student's t. Infinite degrees of freedom give the normal law.
func studentQuantile(freedom, p float64) float64 {
	if math.IsInf(freedom, 1) {
		return distuv.UnitNormal.Quantile(p)
	}
	return distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(p)
}

// exactHalfWidth is the highest number of repetitions for which halfWidth uses the confidence of order statistics. For larger numbers,
// they have nearly the requested confidence but take much time.
const exactHalfWidth = 25

// halfWidth returns about the mean of half the width of Compare's interval for n repetitions per cell, on logs and in units of the
// noise, and its degrees of freedom. It is the larger of two intervals of Student's t: Welch's, and one at the confidence of the order
// statistics. It is made a little wider because Compare's interval contains two intervals that agree the less the more the noises
// differ. It agrees with simulations within 2.5 % for n of at least 4 and equal noise, and within 5 % for at least 8 and one noise 5
// times the other. ok is false if n repetitions cannot have this confidence.
func halfWidth(n int, spread, confidence float64) (half, freedom float64, ok bool) {
	achieved := confidence
	if n <= exactHalfWidth {
		_, achieved = orderStatistic(n, n, confidence)
	}
	both := float64(2*n - 2)
	freedom = both / spread
	wider := 1.06 + 0.055*(spread-1)
	meanNoise := 1 - 1/(4*freedom) // the mean of a standard deviation, in units of the true one
	half = wider * meanNoise * max(studentQuantile(freedom, (1+confidence)/2), studentQuantile(both, (1+achieved)/2)) * math.Sqrt(2/float64(n))
	return half, freedom, achieved >= confidence-rounding
}
