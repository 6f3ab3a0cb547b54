package plan

import (
	"math"

	"github.com/knee-bench/knee/internal/record"
)

// Asked is what the records so far ask for, which the spec alone does not say: analysis makes it.
type Asked struct {
	Sweeps map[string][]record.Trial // by the cell's hash: a sweep's trials in order, as far as they are known
	Finals map[string]Finals         // by topology; absent while its sweeps still run
}

// Finals is what a topology's Final phase consists of.
type Finals struct {
	Clients             []int32 // the client counts at which the cells are compared, ascending; empty: there are none
	Repetitions         int32   // of each, on each placement
	TargetDocsPerSecond int64   // rate of the OpenLoop trials; 0: there are none
}

// SweepTrials are the trials of a cell's sweep that is not adaptive: one pass over the client counts after the other,
// upwards and downwards in turn, so that the repeats of a count lie apart in time and no count is always late.
func (p Plan) SweepTrials(cell Cell) []record.Trial {
	if p.Fixed {
		return nil
	}
	out := make([]record.Trial, 0, len(p.Clients)*int(p.SweepRepetitions))
	for pass := int32(1); pass <= p.SweepRepetitions; pass++ {
		for i := range p.Clients {
			if pass%2 == 0 {
				i = len(p.Clients) - 1 - i
			}
			out = append(out, p.SweepTrial(cell, p.Clients[i], pass))
		}
	}
	return out
}

// SweepTrial is the n-th repeat of a client count in a cell's sweep, counted from 1. A point that is measured again by hand
// has trials of its own, so that the records of the earlier ones stay what they are.
func (p Plan) SweepTrial(cell Cell, clients, n int32) record.Trial {
	t := p.trial(cell, record.Sweep, clients, n)
	t.Again = p.Again[Point{cell.Variant(), cell.Topology(), clients}]
	return t
}

// FinalTrials are a cell's Final trials, by placement, then by clients, then by repetition.
func (p Plan) FinalTrials(cell Cell, f Finals) []record.Trial {
	out := make([]record.Trial, 0, int(p.Placements)*len(f.Clients)*int(f.Repetitions))
	for placement := int32(1); placement <= p.Placements; placement++ {
		for _, clients := range f.Clients {
			for r := int32(1); r <= f.Repetitions; r++ {
				out = append(out, p.finalTrial(cell, clients, placement, r))
			}
		}
	}
	return out
}

func (p Plan) finalTrial(cell Cell, clients, placement, repetition int32) record.Trial {
	t := p.trial(cell, record.Final, clients, repetition)
	t.Placement = placementOf(placement)
	return t
}

// OpenLoopTrial is a cell's OpenLoop trial, on the placement that its last Final ran on; false when none is asked.
func (p Plan) OpenLoopTrial(cell Cell, f Finals) (record.Trial, bool) {
	if f.TargetDocsPerSecond == 0 || len(f.Clients) == 0 {
		return record.Trial{}, false
	}
	t := p.trial(cell, record.OpenLoop, f.Clients[0], 1)
	t.TargetDocsPerSecond = f.TargetDocsPerSecond
	t.Placement = placementOf(p.Placements)
	return t, true
}

// placementOf is how a trial names a placement that is counted from 1: the first one is 0, so that trials without
// placements are the same ones.
func placementOf(n int32) int32 {
	if n <= 1 {
		return 0
	}
	return n
}

// OpenLoopTarget is the rate of the OpenLoop trials, given the docs/s of the lowest knee: rounded to three significant
// digits, for people. 0 when there are none.
func (p Plan) OpenLoopTarget(lowestKnee float64) int64 {
	rate := p.OpenLoopPercent / 100 * lowestKnee
	if !(rate > 0) {
		return 0
	}
	unit := math.Pow(10, max(math.Floor(math.Log10(rate))-2, 0))
	return int64(max(math.Round(rate/unit)*unit, 1))
}
