package main

import (
	"strings"

	"github.com/knee-bench/knee/internal/verdict/stats"
)

const (
	looksCV         = 0.03 // so noisy that a difference of 3 % takes about 35 repetitions
	looksDifference = 3
	mostRepetitions = 50
)

// followUp is what a user does after an answer that is too noisy. It returns the estimate after the last look.
type followUp struct {
	name    string
	measure func(draw func(n int) (x, y []float64)) (e stats.Estimate, falseVerdict bool)
}

// judged reports whether the estimate is an answer: faster, slower or equivalent. need is the number of repetitions for an answer.
func judged(e stats.Estimate, cv float64) (verdict stats.RatioVerdict, need int) {
	return stats.JudgeRatio(e, e.Distinguishable(1), sizingFor(stats.Noise{CV: cv}, stats.Noise{CV: cv}))
}

// sizingFor returns the sizing of the only comparison of a campaign.
func sizingFor(noise, baseline stats.Noise) stats.Sizing {
	return stats.Sizing{Noise: noise, Baseline: baseline, SmallestDifferencePercent: looksDifference, Comparisons: 1}
}

func isFalse(v stats.RatioVerdict) bool { return v == stats.Faster || v == stats.Slower }

var followUps = []followUp{
	{"one look: 4 repetitions", func(draw func(int) (x, y []float64)) (stats.Estimate, bool) {
		x, y := draw(4)
		e := stats.Compare(x, y, 1-stats.Alpha)
		v, _ := judged(e, looksCV)
		return e, isFalse(v)
	}},
	{"spec.final.repetitions raised, up to 4 looks, as if planned", func(draw func(int) (x, y []float64)) (stats.Estimate, bool) {
		return raise(draw, false, func(e stats.Estimate, cv float64) int { _, need := judged(e, cv); return need })
	}},
	{"spec.final.repetitions raised, up to 4 looks, as Knee compares them", func(draw func(int) (x, y []float64)) (stats.Estimate, bool) {
		return raise(draw, true, func(e stats.Estimate, cv float64) int { _, need := judged(e, cv); return need })
	}},
	{"spec.final.repetitions doubled, up to 4 looks, as if planned", func(draw func(int) (x, y []float64)) (stats.Estimate, bool) {
		return raise(draw, false, func(e stats.Estimate, _ float64) int { return 2 * e.N })
	}},
	{"spec.final.repetitions doubled, up to 4 looks, as Knee compares them", func(draw func(int) (x, y []float64)) (stats.Estimate, bool) {
		return raise(draw, true, func(e stats.Estimate, _ float64) int { return 2 * e.N })
	}},
	{"spec.final.maxRepetitions from the start", func(draw func(int) (x, y []float64)) (stats.Estimate, bool) {
		x, y := draw(4)
		e := secondStage(draw, x, y, nil)
		v, _ := judged(e, looksCV)
		return e, isFalse(v)
	}},
	{"spec.final.maxRepetitions set after a first look at 4 repetitions", stageAfterLook(4)},
	{"spec.final.maxRepetitions set after a first look at 8 repetitions", stageAfterLook(8)},
	{"a new spec.rerun with the repetitions that the answer needs", func(draw func(int) (x, y []float64)) (stats.Estimate, bool) {
		x, y := draw(4)
		e := stats.Compare(x, y, 1-stats.Alpha)
		v, need := judged(e, stats.PooledNoise([][]float64{x, y}).CV)
		if v == stats.TooNoisy {
			x, y = draw(min(need, mostRepetitions))
			e = stats.Compare(x, y, 1-stats.Alpha)
			v, _ = judged(e, looksCV)
		}
		return e, isFalse(v)
	}},
}

// stageAfterLook looks at n repetitions. If the answer is too noisy, it adds a second stage.
func stageAfterLook(n int) func(draw func(n int) (x, y []float64)) (stats.Estimate, bool) {
	return func(draw func(n int) (x, y []float64)) (stats.Estimate, bool) {
		x, y := draw(n)
		e := stats.Compare(x, y, 1-stats.Alpha)
		if v, _ := judged(e, looksCV); v == stats.TooNoisy {
			e = secondStage(draw, x, y, []stats.Look{{N: len(x), M: len(y)}})
		}
		v, _ := judged(e, looksCV)
		return e, isFalse(v)
	}
}

// raise measures 4 repetitions and looks at the answer. While the answer is too noisy, it raises the number of repetitions to next, up to 4
// looks. If corrected is set, it uses the interval that Knee states for a later look.
func raise(draw func(n int) (x, y []float64), corrected bool, next func(e stats.Estimate, cv float64) int) (stats.Estimate, bool) {
	x, y := draw(4)
	var earlier []stats.Look
	for look := 1; ; look++ {
		e := stats.CompareLooks(x, y, earlier, 1-stats.Alpha, 1, false)
		cv := stats.PooledNoise([][]float64{x, y}).CV
		v, _ := judged(e, cv)
		if v != stats.TooNoisy || look == 4 || len(x) >= mostRepetitions {
			return e, isFalse(v)
		}
		if corrected {
			earlier = append(earlier, stats.Look{N: len(x), M: len(y)})
		}
		moreX, moreY := draw(min(next(e, cv), mostRepetitions) - len(x))
		x, y = append(x, moreX...), append(y, moreY...)
	}
}

// secondStage adds to the first stage the repetitions that the noise of its two cells requires. earlier holds the looks at the first
// stage, if maxRepetitions was set later.
func secondStage(draw func(n int) (x, y []float64), x, y []float64, earlier []stats.Look) stats.Estimate {
	own, baseline := stats.PooledNoise([][]float64{x}), stats.PooledNoise([][]float64{y})
	sizing := sizingFor(own.ShrinkTowards(baseline), baseline.ShrinkTowards(own))
	sizing.TwoStages, sizing.Earlier = true, earlier
	moreX, moreY := draw(min(max(stats.RepetitionsFor(sizing), len(x)), mostRepetitions) - len(x))
	return stats.CompareLooks(append(x, moreX...), append(y, moreY...), earlier, 1-stats.Alpha, 1, true)
}

// falseVerdicts measures how many campaigns without a difference end without the verdict faster or slower.
func falseVerdicts(rounds int, seed uint64) []coverage {
	var out []coverage
	for _, f := range followUps {
		rng := newRand(seed, f.name)
		draw := func(n int) (x, y []float64) {
			return scaled(1, independent(looksCV)(rng, n)), scaled(1, independent(looksCV)(rng, n))
		}
		right := 0
		for range rounds {
			if _, wrong := f.measure(draw); !wrong {
				right++
			}
		}
		c := atLeast("no false verdict, CV 3 %: "+f.name, 1-stats.Alpha, right, rounds)
		if strings.HasSuffix(f.name, "as if planned") {
			c = c.mustBeBelow(95)
		}
		out = append(out, c)
	}
	return out
}
