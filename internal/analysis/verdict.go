package analysis

import (
	"math"
	"sort"

	"github.com/aclements/go-moremath/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

// RatioVerdict says what a ratio with its interval comes to.
type RatioVerdict string

// The verdicts of a ratio.
const (
	Faster     RatioVerdict = "faster"     // the interval lies above 1, and the difference can be told from noise
	Slower     RatioVerdict = "slower"     // the same below 1
	Equivalent RatioVerdict = "equivalent" // the interval lies within 1 -+ smallestDifferencePercent
	TooNoisy   RatioVerdict = "too noisy"  // none of these; Need tells about how many repetitions it takes
	NoVerdict  RatioVerdict = ""           // no interval
)

// JudgeRatio gives an estimate its verdict. A difference that can be told from noise may be equivalent as well, when
// it is smaller than what matters: then equivalent stands. An interval that has less confidence than all comparisons
// together need shows no equivalence, however narrow. need is about how many repetitions a cell would take for
// smallestDifferencePercent to be told, 0 unless too noisy; noise is that of the values compared.
func JudgeRatio(e Estimate, distinguishable bool, smallestDifferencePercent float64, noise Noise, comparisons int) (verdict RatioVerdict, need int) {
	const rounding = 1e-12
	d := smallestDifferencePercent / 100
	sure := e.Confidence >= 1-Alpha/float64(max(comparisons, 1))-rounding
	switch {
	case !e.HasInterval():
		return NoVerdict, 0
	case sure && e.Low >= (1-d)*(1-rounding) && e.High <= (1+d)*(1+rounding): // the bounds come through logs
		return Equivalent, 0
	case distinguishable && e.Low > 1:
		return Faster, 0
	case distinguishable && e.High < 1:
		return Slower, 0
	}
	// As many as there are did not do, whatever the noise says.
	return TooNoisy, max(RepetitionsFor(noise.CV, smallestDifferencePercent, comparisons), min(e.N, e.M)+1)
}

// RepetitionsFor is the number of repetitions a cell with which the interval's half-width is about half of the
// smallest difference at the given noise, at least what Repetitions asks for; for the second stage and for plans.
// With half of it, an interval lies within the smallest difference where there is none, and off 1 where there is one
// as large, in about 19 of 20 campaigns each.
func RepetitionsFor(cv, smallestDifferencePercent float64, comparisons int) int {
	least := Repetitions(comparisons)
	half := smallestDifferencePercent / 100 / 2
	if !positive(cv) || !positive(half) {
		return least
	}
	const about = 1.015 // a half-width larger by this counts as half of the difference
	const most = 100_000
	confidence := 1 - Alpha/float64(max(comparisons, 1))
	return least + sort.Search(most-least, func(more int) bool {
		return halfWidth(least+more, confidence)*cv <= half*about
	})
}

// halfWidth is about the mean half-width of Compare's interval for n against n repetitions, on logs and in units of
// the noise: Student's interval of two means at the confidence that the order statistics have, a little wider since
// the estimate is by ranks. Within 2 % of simulation for any n from 4.
func halfWidth(n int, confidence float64) float64 {
	const exact = 40 // above, the order statistics have nearly the confidence asked for, and cost much
	if n <= exact {
		_, confidence = orderStatistic(stats.UDist{N1: n, N2: n}, confidence)
	}
	const byRanks = 1.013
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(2*n - 2)}
	return byRanks * t.Quantile((1+confidence)/2) * math.Sqrt(2/float64(n))
}

// CompareMeans is Compare on the geometric means of placements: each inner slice holds the repetitions of one. A
// placement without any is left out.
func CompareMeans(x, y [][]float64, confidence float64) Estimate {
	return Compare(geometricMeans(x), geometricMeans(y), confidence)
}

func geometricMeans(groups [][]float64) []float64 {
	var out []float64
	for _, g := range groups {
		if len(g) > 0 {
			out = append(out, math.Exp(mean(logs(g))))
		}
	}
	return out
}

// CompareTwoStages is Compare of repetitions whose number the noise of a first stage fixed. A first stage that happened
// to be quiet asks for few repetitions, and stays among them, so that an interval of all of them holds up to 1.3 points
// less often than it says (make bench-coverage). It is therefore taken at four fifths of the error, and says what was
// asked for.
func CompareTwoStages(x, y []float64, confidence float64) Estimate {
	e := Compare(x, y, 1-(1-confidence)*4/5)
	e.Confidence = min(e.Confidence, confidence)
	return e
}
