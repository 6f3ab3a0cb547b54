package sweep

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

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

const posteriorDraws = 1000

// bend is a band of slopes between two client counts: the change of log docs/s divided by the change of the log of the clients.
type bend struct{ low, high float64 }

// bends are the bands of slopes, from the steepest rise to the steepest fall.
var bends = []bend{{0.3, 1}, {0.08, 0.3}, {0, 0.08}, {0, 0}, {-0.05, 0}, {-0.2, -0.05}, {-0.6, -0.2}}

const maxBends = 7

var bendForward, bendGeo, bendBack = env("FWD", 0.8), env("GEO", 0.4), env("BACK", 0.08)

var bendScale [maxBends]float64

// nextBend holds the probability of each bend after each bend.
var nextBend = func() (p [maxBends][maxBends]float64) {
	for b := range maxBends {
		sum := 0.0
		for a := range maxBends {
			switch {
			case a == b:
				p[b][a] = 1
			case a > b:
				p[b][a] = bendForward * math.Pow(bendGeo, float64(a-b-1))
			default:
				p[b][a] = bendBack
			}
			sum += p[b][a]
		}
		bendScale[b] = 1 / sum
		for a := range maxBends {
			p[b][a] /= sum
		}
	}
	return
}()

func env(name string, def float64) float64 {
	if v, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return v
	}
	return def
}

// irregularities are standard deviations of a count's docs/s from the curve, with their probabilities.
var irregularities = []struct{ deviation, share float64 }{{0.001, env("I1", 0.25)}, {0.005, env("I2", 0.25)}, {0.012, env("I3", 0.25)}, {0.025, env("I4", 0.25)}}

const (
	noiseSteps = 6     // number of quantiles that stand for the noise
	gridStep   = 0.003 // of log docs/s
	gridDepth  = 0.45  // of the grid below the highest docs/s; counts below it cannot be the knee
)

// newCurvePosterior draws true curves ...
func newCurvePosterior(m measuredCounts, noise stats.Noise, logShare float64, seed uint64) curvePosterior {
	g := newGrid(m, noise)
	var models []*filter
	var weights []float64
	chi := distuv.ChiSquared{K: float64(noise.Freedom)}
	for k := range noiseSteps {
		variance := noise.CV * noise.CV * chi.K / chi.Quantile((float64(k)+0.5)/noiseSteps)
		for _, irregular := range irregularities {
			f := g.filter(m, variance, irregular.deviation*irregular.deviation)
			models = append(models, f)
			weights = append(weights, f.logLikelihood+math.Log(irregular.share))
		}
	}
	weights = normalise(weights)
	p := curvePosterior{
		counts: len(m.clients), logs: make([]float64, posteriorDraws*len(m.clients)),
		knees: make([]int, posteriorDraws), share: make([]float64, len(m.clients)),
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	sum, i := weights[0], 0
	for d := range posteriorDraws {
		for sum < (float64(d)+0.5)/posteriorDraws && i < len(weights)-1 { // systematic resampling
			i++
			sum += weights[i]
		}
		logs := p.logs[d*p.counts : (d+1)*p.counts]
		models[i].draw(rng, logs)
		p.knees[d] = kneeIndex(logs, logShare-rounding)
		p.share[p.knees[d]] += 1.0 / posteriorDraws
		p.variance += models[i].variance / posteriorDraws
	}
	return p
}

// grid is a grid of log docs/s.
type grid struct {
	low   float64
	size  int
	width []float64 // of each count but the first: change of the clients on logs, in steps of the grid
}

func newGrid(m measuredCounts, noise stats.Noise) grid {
	high := math.Inf(-1)
	for i, n := range m.trials {
		if n > 0 {
			high = max(high, m.logs[i])
		}
	}
	above := 0.06 + 4*noise.CV
	g := grid{low: high - gridDepth}
	g.size = int((gridDepth + above) / gridStep)
	for i := 1; i < len(m.clients); i++ {
		g.width = append(g.width, math.Log(float64(m.clients[i])/float64(m.clients[i-1]))/gridStep)
	}
	return g
}

// filter holds the forward probabilities of a hidden Markov model: of each count, bend and level, given the measurements up to the
// count.
type filter struct {
	grid
	m             measuredCounts
	variance      float64 // of one trial
	irregular     float64 // variance
	cumulative    [][maxBends][]float64
	logLikelihood float64
}

func (g grid) filter(m measuredCounts, variance, irregular float64) *filter {
	f := &filter{grid: g, m: m, variance: variance, irregular: irregular}
	emission := make([]float64, g.size)
	var scratch [3][]float64
	for k := range scratch {
		scratch[k] = make([]float64, g.size+1)
	}
	slab := make([]float64, len(m.clients)*maxBends*(g.size+1))
	for i := range m.clients {
		var now [maxBends][]float64
		for s := range now {
			now[s], slab = slab[:g.size+1], slab[g.size+1:]
			if i == 0 {
				for l := range g.size {
					now[s][l+1] = 1 / float64(g.size*maxBends)
				}
			}
		}
		if i > 0 {
			f.step(i, &now, &scratch)
		}
		if m.trials[i] > 0 {
			g.emission(emission, m.logs[i], variance*medianVariance(m.trials[i])+irregular)
			for s := range now {
				for l, e := range emission {
					now[s][l+1] *= e
				}
			}
		}
		total := 0.0
		for s := range now {
			for _, v := range now[s] {
				total += v
			}
		}
		f.logLikelihood += math.Log(total)
		for s := range now {
			sum := 0.0
			for l, v := range now[s] {
				sum += v / total
				now[s][l] = sum
			}
		}
		f.cumulative = append(f.cumulative, now)
	}
	return f
}

// emission sets the probability density of a measurement at each level of the grid.
func (g grid) emission(out []float64, y, variance float64) {
	y = max(y, g.low)
	clear(out)
	sd := math.Sqrt(variance)
	first := max(int((y-6*sd-g.low)/gridStep), 0)
	for l := first; l < min(int((y+6*sd-g.low)/gridStep)+2, len(out)); l++ {
		d := g.low + float64(l)*gridStep - y
		out[l] = math.Exp(-d*d/(2*variance)) / sd
	}
}

// window returns the levels at count i-1 from which a bend leads to level l at count i: from <= level < to.
func (g grid) window(i, l int, b bend) (from, to int) {
	if b.low == b.high {
		return l, l + 1
	}
	w := g.width[i-1]
	if b.low >= 0 {
		lo, hi := int(math.Round(b.low*w)), int(math.Round(b.high*w))
		hi = max(hi, lo+1)
		return l - hi, l - lo
	}
	lo, hi := int(math.Round(-b.high*w)), int(math.Round(-b.low*w))
	hi = max(hi, lo+1)
	return l + lo + 1, l + hi + 1
}

func (f *filter) step(i int, now *[maxBends][]float64, scratch *[3][]float64) {
	before := f.cumulative[i-1]
	later, sum, mixed := scratch[0], scratch[1], scratch[2]
	clear(later)
	clear(sum)
	for b := range bends {
		s := bendScale[b]
		for l, v := range before[b] {
			sum[l] += s * v
		}
	}
	for s, b := range bends {
		own := before[s]
		scale, from0 := bendScale[s], bendBack
		for l, v := range own {
			v *= scale
			sum[l] -= v
			mixed[l] = v + later[l] + from0*sum[l]
			later[l] = bendGeo*later[l] + bendForward*v
		}
		from, to := f.window(i, 0, b)
		w := 1 / float64(to-from)
		out := now[s][1:]
		for l := range out {
			out[l] = w * (mixed[min(max(l+to, 0), f.size)] - mixed[min(max(l+from, 0), f.size)])
		}
	}
}

// draw sets logs to a true curve.
func (f *filter) draw(rng *rand.Rand, logs []float64) {
	last := len(logs) - 1
	var weights [maxBends]float64
	c := f.cumulative[last]
	for s := range bends {
		weights[s] = c[s][f.size]
	}
	s := choose(rng, weights[:])
	l := chooseLevel(rng, c[s], 0, f.size)
	for i := last; ; i-- {
		logs[i] = f.truth(rng, i, f.low+float64(l)*gridStep)
		if i == 0 {
			return
		}
		c := f.cumulative[i-1]
		from, to := f.window(i, l, bends[s])
		from, to = min(max(from, 0), f.size), min(max(to, 0), f.size)
		for b := range bends {
			weights[b] = nextBend[b][s] * (c[b][to] - c[b][from])
		}
		s = choose(rng, weights[:])
		l = chooseLevel(rng, c[s], from, to)
	}
}

// truth draws docs/s of a count with the given level of the curve.
func (f *filter) truth(rng *rand.Rand, i int, level float64) float64 {
	z := rng.NormFloat64()
	if f.m.trials[i] == 0 {
		return level + math.Sqrt(f.irregular)*z
	}
	v := f.variance * medianVariance(f.m.trials[i])
	toMedian := f.irregular / (f.irregular + v)
	return level + toMedian*(max(f.m.logs[i], f.low)-level) + math.Sqrt(toMedian*v)*z
}

func choose(rng *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u := rng.Float64() * sum
	for i, w := range weights {
		if u < w {
			return i
		}
		u -= w
	}
	for i := len(weights) - 1; ; i-- {
		if weights[i] > 0 || i == 0 {
			return i
		}
	}
}

// chooseLevel returns a level from low to high - 1 with the given cumulative probabilities.
func chooseLevel(rng *rand.Rand, cumulative []float64, low, high int) int {
	u := cumulative[low] + rng.Float64()*(cumulative[high]-cumulative[low])
	return min(low+sort.Search(high-low-1, func(i int) bool { return cumulative[low+i+1] > u }), high-1)
}

// normalise returns the exponentials of log weights, divided by their sum.
func normalise(logs []float64) []float64 {
	highest, total := slices.Max(logs), 0.0
	weights := make([]float64, len(logs))
	for i, l := range logs {
		if l > highest-30 {
			weights[i] = math.Exp(l - highest)
		}
		total += weights[i]
	}
	for i := range weights {
		weights[i] /= total
	}
	return weights
}
