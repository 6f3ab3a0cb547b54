package sweep

import (
	"math"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

// measuredCounts holds what is known about the client counts that may be a peak or a knee.
type measuredCounts struct {
	clients []int32   // ascending
	logs    []float64 // log of the median of docs/s; without meaning if there are no trials
	trials  []int     // number of values in the median; 0: not measured
}

// knee returns the index of the knee by the rule of NewCurve, or -1 if nothing is measured. peak is the index of the peak.
func (m measuredCounts) knee(logShare float64) (knee, peak int) {
	knee, peak = -1, -1
	for i, n := range m.trials {
		if n > 0 && (peak < 0 || m.logs[i] > m.logs[peak]) {
			peak = i
		}
	}
	for i, n := range m.trials {
		if n > 0 && knee < 0 && m.logs[i] >= m.logs[peak]+logShare-rounding {
			knee = i
		}
	}
	return knee, peak
}

// curvePosterior holds draws of the true curve, given the measurements.
type curvePosterior struct {
	counts   int
	logs     []float64 // log docs/s of each draw, counts values a draw
	knees    []int     // index of the knee of each draw
	share    []float64 // of each count: the share of the draws that have the knee there, which is its probability
	variance float64   // mean variance of one trial, on logs
}

// newCurvePosterior draws true curves, given the measurements and the noise of one trial. A true curve is a curve of the prior at any
// level, plus independent normal deviations (the irregularity). A median of n trials is normal around the truth. The noise is
// itself uncertain: each curve of the prior has its own variance, noise.CV² v / chi-square(v), where v is noise.Freedom (the
// posterior of a normal variance: Gelman et al., Bayesian Data Analysis, 2013, section 3.2). The posterior is computed by
// sampling-importance-resampling (Rubin 1988): the curves of the prior are weighted with their likelihood and resampled.
//
// At least one count must be measured, and noise.Freedom must be above 0.
func newCurvePosterior(m measuredCounts, noise stats.Noise, logShare float64, seed uint64) curvePosterior {
	prior := newCurvePrior(m.clients, seed)
	medians := make([]float64, len(m.trials)) // variance of each median, for a noise of 1
	for j, n := range m.trials {
		if n > 0 {
			medians[j] = medianVariance(n)
		}
	}
	fits := make([]curveFitness, priorCurves)
	weights := make([]float64, priorCurves)
	for i := range fits {
		fits[i] = prior.fitness(i, m, medians, noise)
		weights[i] = fits[i].logWeight
	}
	weights = normalise(weights)
	p := curvePosterior{
		counts: prior.counts, logs: make([]float64, posteriorDraws*prior.counts),
		knees: make([]int, posteriorDraws), share: make([]float64, prior.counts),
	}
	sum, i := weights[0], 0
	for d := range posteriorDraws {
		for sum < (float64(d)+0.5)/posteriorDraws && i < priorCurves-1 { // systematic resampling
			i++
			sum += weights[i]
		}
		logs := p.logs[d*p.counts : (d+1)*p.counts]
		prior.drawTruth(logs, i, d, m, medians, fits[i])
		p.knees[d] = kneeIndex(logs, logShare-rounding)
		p.share[p.knees[d]] += 1.0 / posteriorDraws
		p.variance += fits[i].variance / posteriorDraws
	}
	return p
}

// curveFitness tells how well a curve of the prior explains the measurements.
type curveFitness struct {
	logWeight float64 // log of the likelihood, with the level integrated out
	level     float64 // posterior mean of the level
	precision float64 // posterior precision of the level
	variance  float64 // variance of one trial
}

func (p *curvePrior) fitness(i int, m measuredCounts, medians []float64, noise stats.Noise) curveFitness {
	curve, irregular := p.logs[i*p.counts:(i+1)*p.counts], p.irregular[i*p.counts:(i+1)*p.counts]
	f := curveFitness{variance: noise.CV * noise.CV * inverseChiSquare(float64(noise.Freedom), p.noise[i])}
	sum, squares, logs, product := 0.0, 0.0, 0.0, 1.0
	for j, v := range medians {
		if v == 0 {
			continue
		}
		w, r := 1/(f.variance*v+irregular[j]), m.logs[j]-curve[j]
		f.precision += w
		sum += w * r
		squares += w * r * r
		if product *= w; product > 1e200 || product < 1e-200 {
			logs, product = logs+math.Log(product), 1
		}
	}
	f.level = sum / f.precision
	f.logWeight = (logs + math.Log(product) - math.Log(f.precision) - squares + sum*f.level) / 2
	return f
}

// drawTruth sets logs to a true curve around the i-th curve of the prior. d selects the random numbers.
func (p *curvePrior) drawTruth(logs []float64, i, d int, m measuredCounts, medians []float64, f curveFitness) {
	curve, irregular := p.logs[i*p.counts:(i+1)*p.counts], p.irregular[i*p.counts:(i+1)*p.counts]
	z := p.deviations[d*(p.counts+1) : (d+1)*(p.counts+1)]
	level := f.level + z[p.counts]/math.Sqrt(f.precision)
	for j, v := range medians {
		expected := level + curve[j]
		if v == 0 {
			logs[j] = expected + math.Sqrt(irregular[j])*z[j]
			continue
		}
		v *= f.variance
		toMedian := irregular[j] / (irregular[j] + v)
		logs[j] = expected + toMedian*(m.logs[j]-expected) + math.Sqrt(toMedian*v)*z[j]
	}
}

// inverseChiSquare returns v / chi-square(v) at the quantile of a standard normal value (Wilson and Hilferty 1931). The result is at
// most 1000.
func inverseChiSquare(v, z float64) float64 {
	a := 2 / (9 * v)
	root := max(1-a+z*math.Sqrt(a), 0.1)
	return 1 / (root * root * root)
}
