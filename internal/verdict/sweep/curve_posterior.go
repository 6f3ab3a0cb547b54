package sweep

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

// countedCurve holds what is known about the client counts that may be the peak or the knee.
type countedCurve struct {
	clients []int32   // ascending
	logs    []float64 // log of the median of docs/s; without meaning if there are no trials
	trials  []int     // number of values in the median; 0: not measured
}

// knee returns the index of the knee by the rule of NewCurve, or -1 if nothing is measured. peak is the index of the peak.
func (c countedCurve) knee(logShare float64) (knee, peak int) {
	knee, peak = -1, -1
	for i, n := range c.trials {
		if n > 0 && (peak < 0 || c.logs[i] > c.logs[peak]) {
			peak = i
		}
	}
	for i, n := range c.trials {
		if n > 0 && knee < 0 && c.logs[i] >= c.logs[peak]+logShare-rounding {
			knee = i
		}
	}
	return knee, peak
}

const (
	posteriorDraws = 1000 // number of true curves that are drawn from a posterior
	posteriorSeed  = 1    // of the random numbers; the same in all campaigns, so that the same figures always give the same result
	noiseQuantiles = 6    // number of values that stand for the distribution of the noise
)

// irregularities are the standard deviations, on logs, by which docs/s of a client count may differ from a curve of bends. They are
// equally probable. Single points of published sweeps differ from their neighbours by about 1 to 2 %, more than noise explains.
var irregularities = []float64{0.001, 0.005, 0.012, 0.025}

// curvePosterior holds draws of the true curve, given the measurements.
type curvePosterior struct {
	counts   int
	logs     []float64 // log docs/s of each draw, counts values a draw
	knees    []int     // index of the knee of each draw
	share    []float64 // of each count: the probability that it is the knee
	variance float64   // mean variance of one trial, on logs
}

// newCurvePosterior draws true curves, given the measurements and the noise of one trial. A true curve is a curve of bends (see
// bendFilter) plus an independent normal deviation of each count, the irregularity. A median of n trials is normal around the truth.
// The noise is itself uncertain: its variance is noise.CV² v / chi-square(v), where v is noise.Freedom (the posterior of a normal
// variance: Gelman et al., Bayesian Data Analysis, 2013, section 3.2). Each combination of a quantile of the noise and an irregularity
// is a model. The models are weighted with their likelihood.
//
// At least one count must be measured, and noise.Freedom must be above 0.
func newCurvePosterior(c countedCurve, noise stats.Noise, logShare float64) curvePosterior {
	g := newLevelGrid(c, noise, logShare)
	var models []*bendFilter
	var weights []float64
	chi := distuv.ChiSquared{K: float64(noise.Freedom)}
	for k := range noiseQuantiles {
		variance := noise.CV * noise.CV * chi.K / chi.Quantile((float64(k)+0.5)/noiseQuantiles)
		for _, deviation := range irregularities {
			f := newBendFilter(g, c, variance, deviation*deviation)
			models, weights = append(models, f), append(weights, f.logLikelihood)
		}
	}
	weights = normalise(weights)
	n := len(c.clients)
	p := curvePosterior{
		counts: n, logs: make([]float64, posteriorDraws*n), knees: make([]int, posteriorDraws),
		share: make([]float64, n),
	}
	rng := rand.New(rand.NewPCG(posteriorSeed, uint64(n)))
	sum, i := weights[0], 0
	for d := range posteriorDraws {
		for sum < (float64(d)+0.5)/posteriorDraws && i < len(weights)-1 { // as many draws of each model as its weight requires
			i++
			sum += weights[i]
		}
		logs := p.draw(d)
		models[i].draw(rng, logs)
		p.knees[d] = kneeIndex(logs, logShare-rounding)
		p.share[p.knees[d]] += 1.0 / posteriorDraws
		p.variance += models[i].variance / posteriorDraws
	}
	return p
}

// draw returns the log docs/s of a draw.
func (p curvePosterior) draw(d int) []float64 { return p.logs[d*p.counts : (d+1)*p.counts] }

// kneeIndex returns the first index whose rate reaches the threshold, or -1 if there are no points. The rates are log docs/s. The
// threshold is the highest rate plus logShare, the log of percentOfPeak/100.
func kneeIndex(logDocs []float64, logShare float64) int {
	peak := math.Inf(-1)
	for _, v := range logDocs {
		peak = max(peak, v)
	}
	return slices.IndexFunc(logDocs, func(v float64) bool { return v >= peak+logShare })
}

// normalise returns the exponentials of log weights, divided by their sum.
func normalise(logs []float64) []float64 {
	highest, total := slices.Max(logs), 0.0
	weights := make([]float64, len(logs))
	for i, l := range logs {
		weights[i] = math.Exp(l - highest)
		total += weights[i]
	}
	for i := range weights {
		weights[i] /= total
	}
	return weights
}
