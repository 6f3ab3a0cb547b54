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

// earlierLooks returns the looks at the Finals of two cells at their client counts before the present look. A campaign had a look when
// it had all repetitions that it required at that time. The records of both cells say this number. The first of two stages is
// no look, because its ratio changes nothing.
func earlierLooks(d Design, x, y Cell, clients [2]int32) []stats.Look {
	var out []stats.Look
	ends := lookEnds(y, clients[1])
	for _, n := range lookEnds(x, clients[0]) {
		if firstStage := d.MaxRepetitions > d.Repetitions && n == d.Repetitions; slices.Contains(ends, n) && !firstStage {
			out = append(out, stats.Look{N: countMeasured(x, clients[0], n), M: countMeasured(y, clients[1], n)})
		}
	}
	return out
}

// lookEnds returns the planned repetitions of the earlier looks at a cell's Finals, ascending. A number is left out if it was raised before
// its last repetition had a Job. Finals whose records do not say the planned number show no look.
func lookEnds(c Cell, clients int32) []int32 {
	planned, last := map[int32]int32{}, int32(0)
	for _, o := range c.Finals {
		if o.Trial.Clients == clients && o.Trial.Placement <= 1 {
			last = max(last, o.Trial.Repetition)
			if o.Record != nil {
				planned[o.Trial.Repetition] = o.Record.PlannedRepetitions
			}
		}
	}
	var out []int32
	for _, n := range slices.Sorted(maps.Values(planned)) {
		if n > 0 && n < last && planned[n] <= n {
			out = append(out, n)
		}
	}
	return slices.Compact(out)
}

// countMeasured counts the Measured Finals of the first n repetitions.
func countMeasured(c Cell, clients, n int32) int {
	count := 0
	for _, o := range c.Finals {
		if o.Trial.Clients == clients && o.Trial.Repetition <= n && o.Measured() {
			count++
		}
	}
	return count
}

// LookEnd returns the planned repetitions of the look with which a Final was measured, or the number of the cell's repetitions for the
// present look.
func (a Assessment) LookEnd(t record.Trial) int32 {
	c := a.Cell(t.Variant, t.Topology)
	if c == nil {
		return 0
	}
	for _, n := range lookEnds(*c, t.Clients) {
		if firstStage := a.MaxRepetitions > a.Repetitions && n == a.Repetitions; t.Repetition <= n && !firstStage {
			return n
		}
	}
	last := int32(0)
	for _, o := range c.Finals {
		last = max(last, o.Trial.Repetition)
	}
	return last
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
