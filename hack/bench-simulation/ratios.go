package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

const (
	truth     = 1.46
	noiseCV   = 0.015 // coefficient of variation of a repetition
	machineSD = 0.015 // standard deviation between machines
)

// coverage is the result for one way to compare two cells, in percent.
type coverage struct {
	Name       string  `json:"name"`
	Stated     float64 `json:"statedPercent"`
	Found      float64 `json:"foundPercent"`
	Bound      float64 `json:"boundPercent"`
	HalfWidth  float64 `json:"halfWidthPercent,omitempty"` // mean half-width, relative to the true ratio
	Expected   string  `json:"expected"`
	AsExpected bool    `json:"asExpected"`
}

// design describes how two cells are measured and compared.
type design struct {
	placements, repetitions int
	machines                float64 // standard deviation between machines, relative
	means                   bool    // compare the means of the placements
}

func (d design) compare(rng *rand.Rand, confidence float64) stats.Estimate {
	x, y := d.measure(rng, truth), d.measure(rng, 1)
	if d.means {
		return stats.CompareMeans(x, y, confidence)
	}
	return stats.Compare(x[0], y[0], confidence)
}

// measure returns simulated repetitions: one list of docs/s for each placement. docs is the true docs/s.
func (d design) measure(rng *rand.Rand, docs float64) [][]float64 {
	out := make([][]float64, d.placements)
	for i := range out {
		machine := docs * math.Exp(d.machines*rng.NormFloat64())
		out[i] = repetitions(rng, machine, d.repetitions)
	}
	return out
}

func repetitions(rng *rand.Rand, docs float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = docs * math.Exp(noiseCV*rng.NormFloat64())
	}
	return out
}

func holds(e stats.Estimate) bool { return e.Low <= truth && truth <= e.High }

func coverages(rounds int, seed uint64) []coverage {
	var out []coverage
	for _, n := range []int{2, 3, 4, 5, 8, 19} {
		out = append(out, simulateDesign(fmt.Sprintf("n = %d, one machine each, machines alike", n), design{1, n, 0, false}, rounds, seed).mustHoldAtLeast())
	}
	out = append(out,
		simulateDesign("n = 4, one machine each, machines differ", design{1, 4, machineSD, false}, rounds, seed).mustBeNear(77, 2),
		simulateDesign("n = 19, one machine each, machines differ", design{1, 19, machineSD, false}, rounds, seed).mustBeBelow(77),
	)
	for _, d := range []design{{2, 4, machineSD, true}, {4, 1, machineSD, true}, {4, 4, machineSD, true}, {5, 2, machineSD, true}, {8, 2, machineSD, true}} {
		name := fmt.Sprintf("%d placements of %d, machines differ", d.placements, d.repetitions)
		out = append(out, simulateDesign(name, d, rounds, seed).mustHoldAtLeast())
	}
	out = append(append(out, falseVerdicts(rounds/4, seed)...), dependences(rounds/8, seed)...)
	return append(out, twoStages(false, rounds, seed).mustBeBelow(95), twoStages(true, rounds, seed).mustHoldAtLeast(), together(rounds, seed), falseAlarms(rounds, seed))
}

func simulateDesign(name string, d design, rounds int, seed uint64) coverage {
	return simulate(name, rounds, seed, func(rng *rand.Rand) stats.Estimate { return d.compare(rng, 1-stats.Alpha) })
}

// simulate compares the confidence that intervals state with the share of intervals that contain the true ratio. The
// stated confidence may differ between rounds.
func simulate(name string, rounds int, seed uint64, compare func(*rand.Rand) stats.Estimate) coverage {
	rng := newRand(seed, name)
	hits, stated, width := 0, 0.0, 0.0
	for range rounds {
		e := compare(rng)
		stated += e.Confidence
		width += (e.High - e.Low) / 2 / truth
		if holds(e) {
			hits++
		}
	}
	p := stated / float64(rounds)
	return coverage{
		Name: name, Stated: 100 * p, Found: 100 * float64(hits) / float64(rounds),
		Bound: 300 * standardError(p, rounds), HalfWidth: 100 * width / float64(rounds),
	}
}

func (c coverage) mustHoldAtLeast() coverage {
	c.Expected, c.AsExpected = "at least, within the bound", c.Found >= c.Stated-c.Bound
	return c
}

func (c coverage) mustBeNear(percent, tolerance float64) coverage {
	c.Expected = fmt.Sprintf("about %g", percent)
	c.AsExpected = math.Abs(c.Found-percent) <= tolerance
	return c
}

func (c coverage) mustBeBelow(percent float64) coverage {
	c.Expected, c.AsExpected = fmt.Sprintf("fewer than %g", percent), c.Found < percent
	return c
}

// twoStages simulates 4 repetitions and then as many more as their noise requires. If corrected is set, it uses the
// interval that Knee states. Otherwise it uses a rank interval that ignores that the first stage decided the number of
// repetitions.
func twoStages(corrected bool, rounds int, seed uint64) coverage {
	const first, smallest, most = 4, 3, 50
	name, compare := "two stages, rank interval as if planned", stats.CompareRanks
	if corrected {
		name, compare = "two stages, as Knee compares them", func(x, y []float64, confidence float64) stats.Estimate {
			return stats.CompareTwoStages(x, y, confidence, 1)
		}
	}
	return simulate(name+": 4, then what 3 % take", rounds, seed, func(rng *rand.Rand) stats.Estimate {
		x, y := repetitions(rng, truth, first), repetitions(rng, 1, first)
		sizing := sizingFor(stats.PooledNoise([][]float64{x}), stats.PooledNoise([][]float64{y}))
		sizing.SmallestDifferencePercent, sizing.TwoStages = smallest, true
		more := min(max(stats.RepetitionsFor(sizing), first), most) - first
		x, y = append(x, repetitions(rng, truth, more)...), append(y, repetitions(rng, 1, more)...)
		return compare(x, y, 1-stats.Alpha)
	})
}

const comparisons = 3

// family simulates a campaign that compares several variants with one baseline. Each variant has the same true ratio to
// the baseline, given by truth.
func family(rng *rand.Rand, truth float64) []stats.Estimate {
	const n = 5
	base := repetitions(rng, 1, n)
	out := make([]stats.Estimate, comparisons)
	for i := range out {
		out[i] = stats.Compare(repetitions(rng, truth, n), base, stats.FamilyConfidence(comparisons))
	}
	return out
}

// together measures in how many campaigns all intervals contain the true ratio. The share of these campaigns must be at
// least 1 - Alpha.
func together(rounds int, seed uint64) coverage {
	rng := rand.New(rand.NewPCG(seed, 1))
	all := 0
	for range rounds {
		some := false
		for _, e := range family(rng, truth) {
			some = some || !holds(e)
		}
		if !some {
			all++
		}
	}
	return atLeast("all of 3 intervals at once, n = 5", 1-stats.Alpha, all, rounds)
}

// falseAlarms simulates campaigns without a true difference. It measures in how many of them no comparison is distinguishable. The
// share of these campaigns must be at least 1 - Alpha.
func falseAlarms(rounds int, seed uint64) coverage {
	rng := rand.New(rand.NewPCG(seed, 2))
	none := 0
	for range rounds {
		some := false
		for _, e := range family(rng, 1) {
			some = some || e.Distinguishable(comparisons)
		}
		if !some {
			none++
		}
	}
	return atLeast("no false alarm among 3 comparisons, n = 5", 1-stats.Alpha, none, rounds)
}

func atLeast(name string, p float64, hits, rounds int) coverage {
	c := coverage{Name: name, Stated: 100 * p, Found: 100 * float64(hits) / float64(rounds), Bound: 300 * standardError(p, rounds)}
	return c.mustHoldAtLeast()
}
