package analysis

import (
	"math"
	"math/rand/v2"
	"sync"
)

// Noise is the pooled noise of one measurement.
type Noise struct {
	CV      float64 // coefficient of variation of docs/s, 0 to 1, pooled within groups of equal trials on logs
	Freedom int     // degrees of freedom; 0: there are no repeats, and CV is NaN
}

// PooledNoise pools the spread within groups of repeated figures, all positive; groups of one figure tell nothing. The
// standard deviation of logs is the coefficient of variation of the figures, to within 0.1 % of itself at 5 %.
func PooledNoise(groups [][]float64) Noise {
	squares, freedom := 0.0, 0
	for _, group := range groups {
		if len(group) > 1 {
			squares += sumOfSquares(logs(group))
			freedom += len(group) - 1
		}
	}
	if freedom == 0 {
		return Noise{CV: math.NaN()}
	}
	return Noise{CV: math.Sqrt(squares / float64(freedom)), Freedom: freedom}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// sumOfSquares is that of the deviations from the mean.
func sumOfSquares(values []float64) float64 {
	m, sum := mean(values), 0.0
	for _, v := range values {
		sum += (v - m) * (v - m)
	}
	return sum
}

// resamples is how many sweeps KneeStability draws.
const resamples = 2000

// KneeStability is the share of 2,000 seeded resamples of a sweep that give the same knee: each Measured point is the
// median of as many draws as it had repeats, around the curve's fit with the pooled noise, and is read by the same
// literal rule. False without noise, without a knee, or with a single Measured point, whose knee could be no other.
func KneeStability(c Curve, percentOfPeak float64, noise Noise, seed uint64) (share float64, ok bool) {
	var docs, repeats []float64
	var noises [][]float64
	knee := -1
	for _, p := range c.Points {
		if p.Verdict != Measured {
			continue
		}
		if c.Knee != nil && p.Clients == c.Knee.Clients {
			knee = len(docs)
		}
		noises = append(noises, medians(seed, len(docs), max(p.Repeats, 1)))
		docs = append(docs, math.Log(p.DocsPerSecond))
		repeats = append(repeats, float64(max(p.Repeats, 1)))
	}
	if knee < 0 || len(docs) < 2 || noise.Freedom == 0 || math.IsNaN(noise.CV) {
		return 0, false
	}
	if noise.CV == 0 {
		return 1, true // every resample is the sweep itself
	}
	same := sameKnee(curveFit(docs, repeats, noise.CV), noises, noise.CV, math.Log(percentOfPeak/100), knee)
	return float64(same) / resamples, true
}

// sameKnee counts the resamples whose knee, as kneeIndex finds it, is at an index of the fit. It goes over them point
// by point, since memory is read fastest in order.
func sameKnee(fit []float64, noises [][]float64, cv, logShare float64, knee int) int {
	targets := make([]float64, resamples)
	for i := range targets {
		targets[i] = math.Inf(-1)
	}
	for j, noise := range noises {
		for i, z := range noise {
			targets[i] = max(targets[i], fit[j]+cv*z)
		}
	}
	differs := make([]bool, resamples)
	for j := range knee + 1 {
		for i, z := range noises[j] {
			passes := fit[j]+cv*z >= targets[i]+logShare
			differs[i] = differs[i] || passes != (j == knee)
		}
	}
	same := 0
	for _, d := range differs {
		if !d {
			same++
		}
	}
	return same
}

type mediansKey struct {
	seed           uint64
	point, repeats int
}

var (
	knownMedians      = map[mediansKey][]float64{}
	knownMediansGuard sync.Mutex
)

// maxKnownMedians bounds what medians remembers: 16 KiB each, and a campaign has one for each point and its repeats.
const maxKnownMedians = 1024

// medians are, for every resample, the median of a point's repeats in units of the noise. They depend on no figure, so
// that a campaign that is assessed again and again draws them once.
func medians(seed uint64, point, repeats int) []float64 {
	key := mediansKey{seed, point, repeats}
	knownMediansGuard.Lock()
	defer knownMediansGuard.Unlock()
	if known := knownMedians[key]; known != nil {
		return known
	}
	rng := rand.New(rand.NewPCG(seed, uint64(point)<<32|uint64(repeats)))
	out, draws := make([]float64, resamples), make([]float64, repeats)
	for i := range out {
		for j := range draws {
			draws[j] = rng.NormFloat64()
		}
		out[i] = Median(draws)
	}
	if len(knownMedians) >= maxKnownMedians {
		clear(knownMedians)
	}
	knownMedians[key] = out
	return out
}
