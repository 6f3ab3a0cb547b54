package sweep

import (
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// resamples is the number of sweeps that KneeStability simulates.
const resamples = 2000

// KneeStability returns the share of 2,000 seeded resamples of a sweep that give the same knee. In a resample, each Measured point
// is the median of as many random draws as the point has repeats. The draws are around the curve's fit, with the noise of the cell.
// The noise is itself uncertain, so each resample draws its variance: noise.CV² times v / chi-square(v), where v is noise.Freedom
// (the posterior of a normal variance: Gelman et al., Bayesian Data Analysis, 2013, section 3.2). The knee of a resample is found as
// in a sweep. The function returns false if the noise is unknown or there is no knee. It also
// returns false for a single Measured point, which has only one possible knee.
func KneeStability(c Curve, percentOfPeak float64, noise stats.Noise, seed uint64) (share float64, ok bool) {
	var docs, repeats []float64
	var noises [][]float64
	knee := -1
	for _, p := range c.Points {
		if p.Verdict != verdict.Measured {
			continue
		}
		if c.Knee != nil && p.Clients == c.Knee.Clients {
			knee = len(docs)
		}
		noises = append(noises, repeatMedians(seed, len(docs), max(p.Repeats, 1)))
		docs = append(docs, math.Log(p.DocsPerSecond))
		repeats = append(repeats, float64(max(p.Repeats, 1)))
	}
	if knee < 0 || len(docs) < 2 || noise.Freedom == 0 || math.IsNaN(noise.CV) {
		return 0, false
	}
	if noise.CV == 0 {
		return 1, true // without noise, every resample is equal
	}
	same := countSameKnee(curveFit(docs, repeats, noise.CV), noises, drawCVs(seed, noise), math.Log(percentOfPeak/100), knee)
	return float64(same) / resamples, true
}

// countSameKnee counts the resamples whose knee (see kneeIndex) is at the given index. It processes the resamples point by point,
// because memory is read fastest in order.
func countSameKnee(fit []float64, noises [][]float64, cvs []float64, logShare float64, knee int) int {
	targets := make([]float64, resamples)
	for i := range targets {
		targets[i] = math.Inf(-1)
	}
	for j, noise := range noises {
		for i, z := range noise {
			targets[i] = max(targets[i], fit[j]+cvs[i]*z)
		}
	}
	differs := make([]bool, resamples)
	for j := range knee + 1 {
		for i, z := range noises[j] {
			passes := fit[j]+cvs[i]*z >= targets[i]+logShare
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

// drawCVs returns a coefficient of variation for each resample, from the posterior of the noise.
func drawCVs(seed uint64, noise stats.Noise) []float64 {
	draws := distuv.ChiSquared{K: float64(noise.Freedom), Src: rand.NewPCG(seed, uint64(noise.Freedom))}
	out := make([]float64, resamples)
	for i := range out {
		out[i] = noise.CV * math.Sqrt(draws.K/draws.Rand())
	}
	return out
}

type mediansKey struct {
	seed           uint64
	point, repeats int
}

var (
	knownMedians      = map[mediansKey][]float64{}
	knownMediansGuard sync.Mutex
)

// maxKnownMedians limits the number of entries of the cache knownMedians. An entry has 16 KB. A campaign has one entry for each
// combination of point and number of repeats.
const maxKnownMedians = 1024

// repeatMedians returns a median for each resample: the median of as many draws of standard normal noise as the point has repeats.
// The medians depend only on the arguments, not on measurements. So they are cached, and repeated assessments of a campaign reuse
// them.
func repeatMedians(seed uint64, point, repeats int) []float64 {
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
		out[i] = stats.Median(draws)
	}
	if len(knownMedians) >= maxKnownMedians {
		clear(knownMedians)
	}
	knownMedians[key] = out
	return out
}
