package campaign

import (
	"maps"
	"slices"

	"github.com/knee-bench/knee/internal/plan"
)

// Progress counts the trials of a campaign without Warmups.
type Progress struct {
	Done     int
	Planned  int  // includes the Finals from the start
	Finished bool // whether every trial is done
	Measured bool // whether any Sweep or Final trial is Measured
}

// Close makes the trials that are done the only planned trials, so that the campaign is finished. It is for a campaign that an earlier
// version of Knee finished, and for which this version would plan more trials.
func (a *Assessment) Close() {
	for i := range a.Cells {
		a.Cells[i].Planned = a.Cells[i].Done
	}
	a.Planned, a.Finished = a.Done, true
}

// Foreseen returns the trials that the records require and the trials that the rest of the campaign is expected to require. The
// expected trials are the Finals of topologies whose sweeps are not done. Their shared client count is unknown, so these Finals
// have the first client count. Foreseen cannot predict further trials of an adaptive sweep or of a second stage.
func (a Assessment) Foreseen(p plan.Plan) plan.Asked {
	out := plan.Asked{Sweeps: a.Asked.Sweeps, Finals: maps.Clone(a.Asked.Finals)}
	for _, topology := range a.topologies {
		if _, known := out.Finals[topology]; known {
			continue
		}
		f := plan.Finals{Clients: p.Clients[:1], Repetitions: p.Repetitions}
		if p.OpenLoopPercent > 0 {
			f.TargetDocsPerSecond = 1
		}
		out.Finals[topology] = f
	}
	return out
}

// countTrials counts the trials of the campaign and sets the counts of each cell. For a topology whose sweeps are not done, it
// counts the Finals that are expected. An adaptive sweep counts as if it skipped no client count. So the planned number may become
// smaller, but the done number does not.
func countTrials(p plan.Plan, a Assessment, l *ledger) Progress {
	foreseen := a.Foreseen(p)
	for group := range p.Groups {
		for _, turn := range p.Turns(group, foreseen) {
			_, known := a.Asked.Finals[turn.Block.Topology]
			assumed := turn.Block.Topology != "" && !known
			cell := &a.Cells[turn.Cell]
			for _, t := range turn.Trials {
				cell.Planned++
				if !assumed && l.outcome(t).Done {
					cell.Done++
				}
			}
		}
	}
	var out Progress
	for i := range a.Cells {
		cell := &a.Cells[i]
		if !cell.SweepDone {
			cell.Planned += max(len(p.Clients)-len(cell.Sweep), 0)
			if p.Adaptive && p.Anchor && cell.Anchor == nil {
				cell.Planned++
			}
		}
		out.Planned += cell.Planned
		out.Done += cell.Done
		out.Measured = out.Measured || slices.ContainsFunc(cell.Sweep, Outcome.Measured) || slices.ContainsFunc(cell.Finals, Outcome.Measured)
	}
	out.Finished = out.Planned > 0 && out.Done == out.Planned
	return out
}
