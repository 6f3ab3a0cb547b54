package analysis

import (
	"maps"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Foreseen is what the records ask for together with what the rest of the campaign will ask for as far as it can be
// told: the Finals of a topology whose sweeps still run, at a client count that stands for the shared clients. What an
// adaptive sweep and a second stage will ask for cannot be told.
func (a Assessment) Foreseen(p plan.Plan) plan.Asked {
	out := plan.Asked{Sweeps: a.asked.Sweeps, Finals: maps.Clone(a.asked.Finals)}
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

// count counts trials, in all and of each cell. Finals of a topology whose sweeps still run are counted as if
// its shared clients were known, and an adaptive sweep as if it skipped nothing: what is planned may shrink, what is
// done does not.
func (a *Assessment) count(p plan.Plan, see func(record.Trial) Outcome) {
	foreseen := a.Foreseen(p)
	for group := range p.Groups {
		for _, turn := range p.Turns(group, foreseen) {
			_, known := a.asked.Finals[turn.Block.Topology]
			assumed := turn.Block.Topology != "" && !known
			cell := &a.Cells[turn.Cell]
			for _, t := range turn.Trials {
				cell.Planned++
				if !assumed && see(t).Done {
					cell.Done++
				}
			}
		}
	}
	for i := range a.Cells {
		cell := &a.Cells[i]
		if !cell.SweepDone {
			cell.Planned += max(len(p.Clients)-len(a.asked.Sweeps[cell.Hash]), 0)
		}
		a.Planned += cell.Planned
		a.Done += cell.Done
	}
	a.Finished = a.Planned > 0 && a.Done == a.Planned
}
