package sweep

import (
	"math"
	"math/rand/v2"
	"sort"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

// bend is a band of slopes between two neighbouring client counts. A slope is the change of log docs/s divided by the change of the
// log of the clients: 1 is linear scaling. Within a band, all slopes are equally probable.
type bend struct{ low, high float64 }

// bends are the bands of slopes, from the steepest rise to the steepest fall.
var bends = [...]bend{{0.3, 1}, {0.08, 0.3}, {0, 0.08}, {0, 0}, {-0.05, 0}, {-0.2, -0.05}, {-0.6, -0.2}}

// Relative probabilities of the bend after a bend. The same bend has 1. A curve usually saturates and may then fall, so the bends
// after it in the list are more probable than the bends before it.
const (
	nextBend     = 0.8  // of the next bend in the list
	skippedBend  = 0.5  // factor for each bend that is skipped
	previousBend = 0.05 // of each bend before it
)

// anyLevel is the probability of a change to any level, so that no measurement is impossible.
const anyLevel = 1e-6

// bendChances holds the probability of each bend after each bend, and bendScale the divisor that makes the probabilities of a bend
// add up to 1.
var bendChances, bendScale = func() (p [len(bends)][len(bends)]float64, scale [len(bends)]float64) {
	for before := range bends {
		for after := range bends {
			switch {
			case after == before:
				p[before][after] = 1
			case after > before:
				p[before][after] = nextBend * math.Pow(skippedBend, float64(after-before-1))
			default:
				p[before][after] = previousBend
			}
			scale[before] += p[before][after]
		}
		for after := range bends {
			p[before][after] /= scale[before]
		}
	}
	return p, scale
}()

// levelGrid is a grid of log docs/s.
type levelGrid struct {
	lowest float64   // log docs/s of level 0; lower rates count as this rate, because they are far below the threshold
	levels int       // number of levels
	widths []float64 // of each count except the first: change of the log of the clients since the count before, in steps of the grid
}

const (
	gridStep  = 0.003 // distance of the levels, on log docs/s
	gridDepth = 0.45  // least range of the grid below the highest measurement
	gridBelow = 0.3   // least range of the grid below the threshold of the highest measurement
	gridRoom  = 0.06  // range of the grid above the highest measurement, in addition to four standard deviations of the noise
	maxGridCV = 1     // a greater noise does not extend the grid
)

// newLevelGrid returns the grid for a curve. logShare is the log of percentOfPeak/100.
func newLevelGrid(c countedCurve, noise stats.Noise, logShare float64) levelGrid {
	highest := math.Inf(-1)
	for i, n := range c.trials {
		if n > 0 {
			highest = max(highest, c.logs[i])
		}
	}
	depth := max(gridDepth, gridBelow-logShare)
	g := levelGrid{lowest: highest - depth}
	g.levels = int((depth+gridRoom+4*min(noise.CV, maxGridCV))/gridStep) + 1
	for i := range c.clients {
		if i > 0 {
			g.widths = append(g.widths, math.Log(float64(c.clients[i])/float64(c.clients[i-1]))/gridStep)
		}
	}
	return g
}

// origins returns the levels at the count before count i from which a bend leads to a level at count i: from <= level < to. They may
// be outside the grid.
func (g levelGrid) origins(i, level int, b bend) (from, to int) {
	if b.low == b.high {
		return level, level + 1
	}
	steps := func(slope float64) int { return int(math.Round(math.Abs(slope) * g.widths[i-1])) }
	if b.low >= 0 {
		return level - max(steps(b.high), steps(b.low)+1), level - steps(b.low)
	}
	return level + steps(b.high) + 1, level + max(steps(b.low), steps(b.high)+1) + 1
}

// inside limits an index of cumulative probabilities to the range from 0 to g.levels.
func (g levelGrid) inside(level int) int { return min(max(level, 0), g.levels) }

// bendFilter is a hidden Markov model of a sweep: its states are the bend before each client count and the level of log docs/s at the
// count. It is computed by the forward algorithm, and its curves are drawn backwards (Rabiner 1989; Scott 2002).
type bendFilter struct {
	levelGrid
	curve         countedCurve
	variance      float64 // of one trial, on logs
	irregular     float64 // variance of the irregularity, on logs
	logLikelihood float64 // log of the probability density of the measurements
	// cumulative holds, for each count and bend, the probabilities of the levels below each level, given the measurements up to the
	// count.
	cumulative [][len(bends)][]float64
}

func newBendFilter(g levelGrid, c countedCurve, variance, irregular float64) *bendFilter {
	f := &bendFilter{levelGrid: g, curve: c, variance: variance, irregular: irregular}
	size := g.levels + 1
	memory := make([]float64, (len(c.clients)*len(bends)+4)*size)
	part := func() (p []float64) { p, memory = memory[:size], memory[size:]; return p }
	scratch, density := [3][]float64{part(), part(), part()}, part()[:g.levels]
	for i, trials := range c.trials {
		var now [len(bends)][]float64
		for b := range now {
			now[b] = part()
		}
		if i == 0 {
			for b := range now {
				for l := range g.levels {
					now[b][l+1] = 1 / float64(g.levels*len(bends))
				}
			}
		} else {
			f.step(i, now, scratch)
		}
		if trials > 0 {
			f.setDensity(density, i)
			for b := range now {
				for l, d := range density {
					now[b][l+1] *= d
				}
			}
		}
		f.accumulate(now)
	}
	return f
}

// setDensity sets the probability density of the measurement of count i at each level. It is 0 beyond six standard deviations.
func (f *bendFilter) setDensity(density []float64, i int) {
	clear(density)
	y := max(f.curve.logs[i], f.lowest)
	variance := f.variance*medianVariance(f.curve.trials[i]) + f.irregular
	sd := math.Sqrt(variance)
	for l := f.inside(int((y - 6*sd - f.lowest) / gridStep)); l < f.inside(int((y+6*sd-f.lowest)/gridStep)+2); l++ {
		d := f.lowest + float64(l)*gridStep - y
		density[l] = math.Exp(-d*d/(2*variance)) / sd
	}
}

// step sets the probabilities of the states at count i, before its measurement. Entry l+1 belongs to level l.
func (f *bendFilter) step(i int, now [len(bends)][]float64, scratch [3][]float64) {
	before := f.cumulative[i-1]
	fromEarlier, fromLater, mixed := scratch[0], scratch[1], scratch[2] // sums over the bends that are before or after the bend
	clear(fromEarlier)
	clear(fromLater)
	for b := range bends {
		for l, p := range before[b] {
			fromLater[l] += p / bendScale[b]
		}
	}
	for b, band := range bends {
		for l, p := range before[b] {
			p /= bendScale[b]
			fromLater[l] -= p
			mixed[l] = p + fromEarlier[l] + previousBend*fromLater[l]
			fromEarlier[l] = skippedBend*fromEarlier[l] + nextBend*p
		}
		from, to := f.origins(i, 0, band)
		each, jump := (1-anyLevel)/float64(to-from), anyLevel*mixed[f.levels]/float64(f.levels)
		for l := range f.levels {
			now[b][l+1] = each*(mixed[f.inside(l+to)]-mixed[f.inside(l+from)]) + jump
		}
	}
}

// accumulate makes the probabilities of a count add up to 1, sums them over the levels and adds them to the filter.
func (f *bendFilter) accumulate(now [len(bends)][]float64) {
	total := 0.0
	for b := range now {
		for _, p := range now[b] {
			total += p
		}
	}
	f.logLikelihood += math.Log(total)
	for b := range now {
		sum := 0.0
		for l, p := range now[b] {
			sum += p / total
			now[b][l] = sum
		}
	}
	f.cumulative = append(f.cumulative, now)
}

// draw sets logs to the log docs/s of a random true curve.
func (f *bendFilter) draw(rng *rand.Rand, logs []float64) {
	var weights [2 * len(bends)]float64 // of an ordinary change from each bend, then of a change from any level
	last := f.cumulative[len(logs)-1]
	for b := range bends {
		weights[b] = last[b][f.levels]
	}
	b := chooseIndex(rng, weights[:len(bends)])
	level := chooseLevel(rng, last[b], 0, f.levels)
	for i := len(logs) - 1; ; i-- {
		logs[i] = f.drawTruth(rng, i, f.lowest+float64(level)*gridStep)
		if i == 0 {
			return
		}
		before := f.cumulative[i-1]
		from, to := f.origins(i, level, bends[b])
		each := (1 - anyLevel) / float64(to-from)
		from, to = f.inside(from), f.inside(to)
		for a := range bends {
			weights[a] = bendChances[a][b] * each * (before[a][to] - before[a][from])
			weights[len(bends)+a] = bendChances[a][b] * anyLevel / float64(f.levels) * before[a][f.levels]
		}
		b = chooseIndex(rng, weights[:])
		if b >= len(bends) {
			b, from, to = b-len(bends), 0, f.levels
		}
		level = chooseLevel(rng, before[b], from, to)
	}
}

// drawTruth returns random log docs/s of count i, given the level of the curve of bends and the count's own measurement.
func (f *bendFilter) drawTruth(rng *rand.Rand, i int, level float64) float64 {
	z := rng.NormFloat64()
	if f.curve.trials[i] == 0 {
		return level + math.Sqrt(f.irregular)*z
	}
	variance := f.variance * medianVariance(f.curve.trials[i])
	toMedian := f.irregular / (f.irregular + variance)
	return level + toMedian*(max(f.curve.logs[i], f.lowest)-level) + math.Sqrt(toMedian*variance)*z
}

// chooseIndex returns a random index with probabilities that are proportional to the weights. At least one weight must be positive.
func chooseIndex(rng *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u, last := rng.Float64()*sum, 0
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		if last = i; u < w {
			return i
		}
		u -= w
	}
	return last // only if rounding left a rest
}

// chooseLevel returns a random level with from <= level < to, by its cumulative probabilities.
func chooseLevel(rng *rand.Rand, cumulative []float64, from, to int) int {
	u := cumulative[from] + rng.Float64()*(cumulative[to]-cumulative[from])
	return min(from+sort.Search(to-from, func(i int) bool { return cumulative[from+i+1] > u }), to-1)
}
