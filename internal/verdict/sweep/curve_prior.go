package sweep

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

const (
	priorCurves    = 2048 // number of random curves that stand for all curves
	posteriorDraws = 512  // number of true curves that are drawn from a posterior

	// Range of the irregularity: the standard deviation of a count's docs/s from its smooth curve. Published sweeps differ from a smooth
	// curve by about 2 %.
	lowestIrregularity, highestIrregularity = 0.0025, 0.04

	// Irregularity far below the peak, as a share of the distance to the peak on logs. There, the shape of a curve tells little about its
	// knee, and no curve of the prior has exactly the measured shape.
	depthIrregularity = 0.1
)

// curvePrior holds random curves on a list of client counts: what is known about docs/s before a measurement. The curves belong to
// several families, so that no family decides the answer. Each curve has its own irregularity, so that points that fit no curve are
// believed.
type curvePrior struct {
	counts     int
	logs       []float64 // log docs/s of each curve, counts values a curve; the level has no meaning
	irregular  []float64 // variance of the irregularity, on logs, like logs
	noise      []float64 // a standard normal value for the noise of each curve
	deviations []float64 // standard normal values for each draw: the deviation of each count, then the level
}

var (
	knownPriors      = map[string]*curvePrior{}
	knownPriorsGuard sync.Mutex
)

// maxKnownPriors limits the number of entries of the cache knownPriors. An entry has 36 KB for each client count.
const maxKnownPriors = 64

// newCurvePrior returns the prior for ascending client counts. It depends only on the arguments, so it is cached.
func newCurvePrior(clients []int32, seed uint64) *curvePrior {
	key := binary.LittleEndian.AppendUint64(nil, seed)
	for _, n := range clients {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	knownPriorsGuard.Lock()
	defer knownPriorsGuard.Unlock()
	if known := knownPriors[string(key)]; known != nil {
		return known
	}
	if len(knownPriors) >= maxKnownPriors {
		clear(knownPriors)
	}
	p := drawCurvePrior(clients, randomShape{rand.New(rand.NewPCG(seed, uint64(len(clients))))})
	knownPriors[string(key)] = p
	return p
}

func drawCurvePrior(clients []int32, r randomShape) *curvePrior {
	p := &curvePrior{counts: len(clients)}
	for i := range priorCurves {
		curve, irregularity := r.curve(clients, i), r.logUniform(lowestIrregularity, highestIrregularity)
		highest := slices.Max(curve)
		for _, v := range curve {
			p.irregular = append(p.irregular, irregularity*irregularity+depthIrregularity*depthIrregularity*(highest-v)*(highest-v))
		}
		p.logs = append(p.logs, curve...)
		p.noise = append(p.noise, r.NormFloat64())
	}
	for range posteriorDraws * (len(clients) + 1) {
		p.deviations = append(p.deviations, r.NormFloat64())
	}
	return p
}

// randomShape draws curves of log docs/s.
type randomShape struct{ *rand.Rand }

func (r randomShape) uniform(low, high float64) float64 { return low + (high-low)*r.Float64() }

func (r randomShape) logUniform(low, high float64) float64 {
	return low * math.Exp(r.Float64()*math.Log(high/low))
}

// curve returns the i-th random curve. Of 16 curves, 6 saturate, 4 follow the Universal Scalability Law, 3 rise in steps and 3 are
// flat. A third of the curves also fall after a mode.
func (r randomShape) curve(clients []int32, i int) []float64 {
	lowest, highest := float64(clients[0]), float64(clients[len(clients)-1])
	var at []float64
	switch i %= 16; {
	case i < 6:
		at = r.saturating(clients, lowest, highest)
	case i < 10:
		return r.scalabilityLaw(clients, lowest, highest) // this law includes its own fall
	case i < 13:
		at = r.steps(clients)
	default:
		at = r.slope(clients, lowest, highest)
	}
	if r.Float64() < 1.0/3 {
		r.addFall(at, clients, lowest, highest)
	}
	return at
}

// saturating returns the soft minimum of a line and a constant, with a corner that may lie outside the range.
func (r randomShape) saturating(clients []int32, lowest, highest float64) (at []float64) {
	corner, sharpness := r.logUniform(lowest/6, 1.2*highest), r.logUniform(0.8, 40)
	for _, n := range clients {
		at = append(at, -math.Log1p(math.Pow(float64(n)/corner, -sharpness))/sharpness)
	}
	return at
}

// scalabilityLaw returns a curve of Gunther's law (see USL). Its peak may lie beyond the range.
func (r randomShape) scalabilityLaw(clients []int32, lowest, highest float64) (at []float64) {
	law, peak := USL{Lambda: 1, Alpha: r.uniform(0, 0.2)}, r.logUniform(lowest, 3*highest)
	law.Beta = (1 - law.Alpha) / (peak * peak)
	for _, n := range clients {
		at = append(at, math.Log(law.At(float64(n))))
	}
	return at
}

// steps returns a curve that rises at some counts and is flat between them.
func (r randomShape) steps(clients []int32) []float64 {
	highestStep, density := r.logUniform(0.02, 0.3), r.uniform(0.15, 0.8)
	at := make([]float64, len(clients))
	for j := 1; j < len(at); j++ {
		at[j] = at[j-1]
		if r.Float64() < density {
			at[j] += highestStep * r.Float64()
		}
	}
	return at
}

// slope returns a curve that changes by at most 3 % over the range.
func (r randomShape) slope(clients []int32, lowest, highest float64) (at []float64) {
	change := r.uniform(-0.03, 0.03)
	for _, n := range clients {
		at = append(at, change*math.Log(float64(n)/lowest)/max(math.Log(highest/lowest), 1e-9))
	}
	return at
}

// addFall makes a curve fall after a mode.
func (r randomShape) addFall(at []float64, clients []int32, lowest, highest float64) {
	mode, power, strength := r.logUniform(lowest, highest), r.logUniform(1, 3), r.logUniform(0.02, 1)
	for j, n := range clients {
		at[j] -= strength * math.Pow(max(0, math.Log(float64(n)/mode)), power)
	}
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
