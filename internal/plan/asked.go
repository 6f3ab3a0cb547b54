package plan

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/record"
)

// Asked holds the trials that depend on records: the spec alone does not determine them. Package verdict/campaign computes it.
type Asked struct {
	Sweeps map[string][]record.Trial // known trials of a cell's sweep, in order, by the cell's hash
	Finals map[string]Finals         // by topology; a topology is absent until its sweeps have ended
}

// Finals describes the Final phase of a topology.
type Finals struct {
	Clients             []int32 // client counts at which the cells are compared, ascending; empty: no Finals
	Repetitions         int32   // repetitions of each client count on each placement
	TargetDocsPerSecond int64   // rate of the OpenLoop trials; 0: no OpenLoop trials

	Without []string // hashes of the cells that have no Finals and no OpenLoop trial, because their sweeps found no knee
}

// includes reports whether a cell has Finals.
func (f Finals) includes(cell Cell) bool {
	return len(f.Clients) > 0 && !slices.Contains(f.Without, cell.Hash)
}

// SweepTrials returns the trials of a cell's sweep that is not adaptive. Each pass covers all client counts. Passes are
// ascending and descending in turn. So the repeats of a client count are separated in time, and no client count is always
// measured late.
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

// SweepTrial returns the n-th repeat of a client count in a cell's sweep, counted from 1. If spec.sweep.rerun names this point, the trial
// contains the token of spec.sweep.rerun. So it differs from the earlier trials of the point, and their records stay.
func (p Plan) SweepTrial(cell Cell, clients, n int32) record.Trial {
	t := p.trial(cell, record.Sweep, clients, n)
	t.RerunToken = p.Reruns[Point{cell.Variant(), cell.Topology(), clients}]
	return t
}

// AnchorTrial returns the trial that repeats a client count of a cell's sweep at the end of the sweep. Its phase keeps it apart from
// the repeats of the point, so no other setting reuses its record.
func (p Plan) AnchorTrial(cell Cell, clients int32) record.Trial {
	return p.trial(cell, record.Anchor, clients, 1)
}

// FinalTrials returns a cell's Final trials, sorted by placement, then by clients, then by repetition.
func (p Plan) FinalTrials(cell Cell, f Finals) []record.Trial {
	if !f.includes(cell) {
		return nil
	}
	out := make([]record.Trial, 0, int(p.Placements)*len(f.Clients)*int(f.Repetitions))
	for placement := record.Placement(1); placement <= record.Placement(p.Placements); placement++ {
		for _, clients := range f.Clients {
			for r := int32(1); r <= f.Repetitions; r++ {
				out = append(out, p.finalTrial(cell, clients, placement, r))
			}
		}
	}
	return out
}

func (p Plan) finalTrial(cell Cell, clients int32, placement record.Placement, repetition int32) record.Trial {
	t := p.trial(cell, record.Final, clients, repetition)
	t.Placement = placement
	return t
}

// OpenLoopTrial returns a cell's OpenLoop trial, on the placement of the cell's last Final. It returns false if the cell has no
// OpenLoop trial.
func (p Plan) OpenLoopTrial(cell Cell, f Finals) (record.Trial, bool) {
	if f.TargetDocsPerSecond == 0 || !f.includes(cell) {
		return record.Trial{}, false
	}
	t := p.trial(cell, record.OpenLoop, f.Clients[0], 1)
	t.TargetDocsPerSecond = f.TargetDocsPerSecond
	t.Placement = record.Placement(p.Placements)
	return t, true
}

// OpenLoopTarget returns the rate of the OpenLoop trials, given the docs/s of the lowest knee. The rate is rounded to three
// significant digits for readability. 0 means no OpenLoop trials.
func (p Plan) OpenLoopTarget(lowestKnee float64) int64 {
	rate := p.OpenLoopPercent / 100 * lowestKnee
	if !(rate > 0) {
		return 0
	}
	unit := math.Pow(10, max(math.Floor(math.Log10(rate))-2, 0))
	return int64(max(math.Round(rate/unit)*unit, 1))
}
