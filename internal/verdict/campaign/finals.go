package campaign

import (
	"maps"
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// askFinals returns the Finals that each topology requires. It leaves out a topology whose sweeps are not done.
func askFinals(p plan.Plan, a Assessment, l *ledger) map[string]plan.Finals {
	out := map[string]plan.Finals{}
	for _, topology := range a.topologies {
		f := plan.Finals{Repetitions: p.Repetitions}
		if p.Fixed {
			f.Clients = p.Clients
		} else {
			shared, known := a.Shared[topology]
			if !known {
				continue
			}
			if shared.Clients > 0 {
				f.Clients = []int32{shared.Clients}
				f.TargetDocsPerSecond = p.OpenLoopTarget(lowestKnee(a.Cells, topology))
			}
			for _, c := range a.Cells {
				if a.IsLeftOut(CellKey{c.Variant, c.Topology}) && c.Topology == topology {
					f.Without = append(f.Without, c.Hash)
				}
			}
		}
		if p.MaxRepetitions > p.Repetitions {
			f.Repetitions = secondStageRepetitions(p, topology, f, a.Comparisons, l)
		}
		out[topology] = f
	}
	return out
}

// finalsOf returns the outcomes of a cell's Finals and the outcome of its OpenLoop trial. openLoop is nil if there is no such
// trial.
func finalsOf(p plan.Plan, cell plan.Cell, f plan.Finals, l *ledger) (finals []Outcome, openLoop *Outcome) {
	for _, t := range p.FinalTrials(cell, f) {
		finals = append(finals, l.outcome(t))
	}
	if t, asked := p.OpenLoopTrial(cell, f); asked {
		o := l.outcome(t)
		openLoop = &o
	}
	return finals, openLoop
}

// lowestKnee returns the lowest docs/s at the knees of a topology's cells. At least one cell must have a knee.
func lowestKnee(cells []Cell, topology string) float64 {
	lowest := math.Inf(1)
	for _, c := range cells {
		if c.Topology == topology && c.Curve.Knee != nil {
			lowest = min(lowest, c.Curve.Knee.DocsPerSecond)
		}
	}
	return lowest
}

// secondStageRepetitions returns the number of repetitions of a topology's Finals. The pooled noise of the first stage determines
// the number when all Finals of the first stage are done. Later repetitions and the width of the interval do not change the
// number. Otherwise the campaign would repeat until the interval is narrow by chance.
func secondStageRepetitions(p plan.Plan, topology string, first plan.Finals, comparisons int, l *ledger) int32 {
	var groups [][]float64
	for _, cell := range p.Cells {
		if cell.Topology() != topology {
			continue
		}
		byClients := map[int32][]float64{}
		for _, t := range p.FinalTrials(cell, first) {
			o := l.outcome(t)
			if !o.Done {
				return p.Repetitions
			}
			if o.Measured() {
				byClients[t.Clients] = append(byClients[t.Clients], o.DocsPerSecond())
			}
		}
		for _, clients := range first.Clients {
			groups = append(groups, byClients[clients])
		}
	}
	noise := stats.PooledNoise(groups)
	if noise.Freedom == 0 {
		return p.Repetitions
	}
	n := max(stats.RepetitionsFor(noise.CV, p.SmallestDifferencePercent, comparisons), stats.RepetitionsInTwoStages(comparisons))
	return int32(min(max(n, int(p.Repetitions)), int(p.MaxRepetitions)))
}

// groupRepeats returns groups of docs/s in which values differ only by noise. A group holds the repeats of a sweep point in one
// cell, or the Finals of one cell, client count and placement.
func groupRepeats(cells []Cell) [][]float64 {
	var groups [][]float64
	for _, c := range cells {
		byClients := map[int32][]float64{}
		for _, o := range c.Sweep {
			if o.Measured() {
				byClients[o.Trial.Clients] = append(byClients[o.Trial.Clients], o.DocsPerSecond())
			}
		}
		for _, clients := range slices.Sorted(maps.Keys(byClients)) {
			groups = append(groups, byClients[clients])
		}
		groups = append(groups, groupFinals(c)...)
	}
	return groups
}

// groupFinals returns docs/s of a cell's Finals, by client count and placement.
func groupFinals(c Cell) [][]float64 {
	var groups [][]float64
	for _, clients := range c.FinalClients() {
		groups = append(groups, c.FinalsAt(clients)...)
	}
	return groups
}

// validRecordsByCell returns the records of the Sweep and Final trials that are Measured or Gated, for each cell of the plan.
func validRecordsByCell(p plan.Plan, outcomes map[record.Trial]Outcome) [][]record.Record {
	out := make([][]record.Record, len(p.Cells))
	for i, c := range p.Cells {
		out[i] = ValidRecords(c.Hash, outcomes)
	}
	return out
}

// ValidRecords returns the records of a cell's Sweep and Final trials that are Measured or Gated.
func ValidRecords(hash string, outcomes map[record.Trial]Outcome) []record.Record {
	var out []record.Record
	for t, o := range outcomes {
		if t.Cell == hash && (t.Phase == record.Sweep || t.Phase == record.Final) && o.hasFigure() {
			out = append(out, *o.Record)
		}
	}
	return out
}
