package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// Look is one look at the data of a comparison: the sizes of the samples in the numerator and in the denominator.
type Look struct {
	N, M      int
	TwoStages bool // whether CompareTwoStages compared the samples
}

// information returns the precision of the ratio's estimate, in units of the noise: 1 / (1/N + 1/M).
func (l Look) information() float64 { return 1 / (1/float64(l.N) + 1/float64(l.M)) }

// CompareLooks is CompareWidened, or CompareTwoStages, for samples of which a part was compared before. All looks together have at most
// the error 1 - confidence. Without an earlier look, the interval has the requested confidence. Otherwise it has lookConfidence. If the
// earlier looks left no error, there is no interval and P is 1. P remains the exact dual of the interval, and AdjustP covers the looks.
func CompareLooks(x, y []float64, earlier []Look, confidence, widening float64, twoStages bool) Estimate {
	compare := CompareWidened
	if twoStages {
		compare = CompareTwoStages
	}
	looks := countedLooks(earlier, Look{len(x), len(y), twoStages}, confidence)
	if len(looks) == 1 {
		return compare(x, y, confidence, widening)
	}
	last, ok := cachedLookConfidence(looks, confidence)
	e := compare(x, y, last, widening)
	e.Looks, e.LookFactor = looks, (1-confidence)/(1-last)
	if !ok {
		e.Low, e.High, e.Confidence, e.Bounds, e.P, e.LookFactor = math.NaN(), math.NaN(), 0, "", 1, 1
	}
	return e
}

// countedLooks returns the earlier looks that spend a part of the error, and the last look. A look at so few values that its interval
// could never exclude 1 spends nothing. A look counts once if the next look has no more values.
func countedLooks(earlier []Look, last Look, confidence float64) []Look {
	var out []Look
	known := 0.0
	for _, l := range earlier {
		if l.N < 1 || l.M < 1 || 2*rankTail(l.N, l.M, 0)/errorShare(l.TwoStages) > 1-confidence+rounding {
			continue
		}
		if now := l.information(); now > known && now < last.information() {
			out, known = append(out, l), now
		}
	}
	return append(out, last)
}

// cachedLookConfidence is lookConfidence. It caches the results, because a campaign is assessed repeatedly and its ratios have the same
// looks. Computing three looks takes 4 ms.
func cachedLookConfidence(looks []Look, confidence float64) (last float64, ok bool) {
	known := knownLooks.Get(fmt.Sprint(looks, confidence), func() lookResult {
		last, ok := lookConfidence(looks, confidence)
		return lookResult{last, ok}
	})
	return known.last, known.ok
}

type lookResult struct {
	last float64
	ok   bool
}

var knownLooks Cache[string, lookResult]

// lookConfidence returns the confidence of the interval of the last of several looks at growing samples. ok is false if the earlier looks
// left no error.
//
// It is a repeated confidence interval (Jennison and Turnbull 1989) with a preset error for each look (Slud and Wei 1982). The first
// look has spent the attained error of its rank interval, for example 2.86 % of 5 % with 4 x 4 values. Each later look may spend half
// of the error that the looks before it left. The error that a look spends is the probability that it is the first look whose interval
// excludes the true ratio, by the joint normal law of the looks (Lan and DeMets 1983). The number and the sizes of the looks may
// depend on the noise, not on the ratio.
func lookConfidence(looks []Look, confidence float64) (last float64, ok bool) {
	total, share := 1-confidence, errorShare(looks[0].TwoStages)
	_, achieved := orderStatistic(looks[0].N, looks[0].M, 1-total*share)
	spent := min((1-achieved)/share, total)
	var b boundaries
	b.add(looks[0].information(), distuv.UnitNormal.Quantile(1-spent/2))
	for _, l := range looks[1:] {
		spend := (total - spent) / 2
		if spend < leastSpend {
			return confidence, false
		}
		z := b.bound(l.information(), spend)
		last = 1 - 2*distuv.UnitNormal.CDF(-z)
		spent += spend
		b.add(l.information(), z)
	}
	return last, true
}

// leastSpend is the smallest error that a look can spend. The integration is not exact enough for less.
const leastSpend = 1e-7

// boundaries holds the law of a normal score that has stayed within the bounds of all looks so far. The score is the standardized
// difference of a look times the square root of its information, so its increments are independent. The density is known at
// the nodes of a quadrature and computed look by look (Armitage, McPherson and Rowe 1969).
type boundaries struct {
	information             float64   // of the last look; 0: no look
	nodes, weights, density []float64 // of the score at the last look
}

// quadratureNodes is enough for a step of the information from 50 to 50.5: the nodes are closer than the deviation of the step.
const quadratureNodes = 200

// exceeds returns the probability that the score stays within all bounds so far and is beyond z at a look with this information.
func (b *boundaries) exceeds(information, z float64) float64 {
	if b.information == 0 {
		return 2 * distuv.UnitNormal.CDF(-z)
	}
	limit, step := z*math.Sqrt(information), math.Sqrt(information-b.information)
	p := 0.0
	for i, s := range b.nodes {
		p += b.weights[i] * b.density[i] * (distuv.UnitNormal.CDF((s-limit)/step) + distuv.UnitNormal.CDF((-limit-s)/step))
	}
	return p
}

// bound returns the bound of a look with this information that the score exceeds first with the probability p.
func (b *boundaries) bound(information, p float64) float64 {
	low, high := 0.0, 10.0
	for range 50 {
		middle := (low + high) / 2
		if b.exceeds(information, middle) > p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// add adds a look with this information and the bound z.
func (b *boundaries) add(information, z float64) {
	limit, step := z*math.Sqrt(information), math.Sqrt(information-b.information)
	next := boundaries{information, make([]float64, quadratureNodes), make([]float64, quadratureNodes), make([]float64, quadratureNodes)}
	quad.Legendre{}.FixedLocations(next.nodes, next.weights, -limit, limit)
	for i, t := range next.nodes {
		if b.information == 0 {
			next.density[i] = distuv.UnitNormal.Prob(t/step) / step
			continue
		}
		for j, s := range b.nodes {
			next.density[i] += b.weights[j] * b.density[j] * distuv.UnitNormal.Prob((t-s)/step) / step
		}
	}
	*b = next
}
