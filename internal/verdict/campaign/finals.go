package campaign

import (
	"cmp"
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
		out[topology] = f
	}
	if !a.hasTwoStages() {
		return out
	}
	first := maps.Clone(out)
	for topology, f := range first {
		f.Repetitions = secondStageRepetitions(p, a, topology, first, l)
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
			lowest = min(lowest, c.Curve.Knee.Rate)
		}
	}
	return lowest
}

// secondStageRepetitions returns the number of repetitions of a topology's Finals. first holds the Finals of the first stage. The number
// is the highest that a comparison with a cell of the topology needs, by the noise of its two cells, and it is fixed when both cells
// have done the first stage. Later repetitions and the width of the interval do not change the number. Otherwise the campaign would
// repeat until the interval is narrow by chance.
func secondStageRepetitions(p plan.Plan, a Assessment, topology string, first map[string]plan.Finals, l *ledger) int32 {
	cells := firstStage(p, first, l)
	pairs := slices.DeleteFunc(slices.Clone(a.Pairs), func(pair Pair) bool {
		return pair.Cell.Topology != topology && pair.Baseline.Topology != topology ||
			len(first[pair.Cell.Topology].Clients) == 0 || len(first[pair.Baseline.Topology].Clients) == 0
	})
	if len(pairs) == 0 { // no pair can be compared here: size for the same cell of another campaign (kubectl knee compare)
		for _, c := range cells {
			if c.Topology == topology {
				pairs = append(pairs, Pair{Cell: CellKey{c.Variant, topology}, Baseline: CellKey{c.Variant, topology}})
			}
		}
	}
	n := p.Repetitions
	for _, pair := range pairs {
		x, y := findCell(cells, pair.Cell.Variant, pair.Cell.Topology), findCell(cells, pair.Baseline.Variant, pair.Baseline.Topology)
		if x == nil || y == nil || !finalsDone(cells, x.Topology) || !finalsDone(cells, y.Topology) {
			continue // before the end of the first stage, which all joined topologies reach in the same block
		}
		sizing := stats.Sizing{
			Noise: noiseOfFinals(cells, x), Baseline: noiseOfFinals(cells, y), TwoStages: true,
			SmallestDifferencePercent: p.SmallestDifferencePercent, Comparisons: a.Comparisons,
		}
		if sizing.Noise.Freedom+sizing.Baseline.Freedom == 0 {
			continue
		}
		for _, at := range clientsCompared(a.Design, pair, *x, *y) {
			sizing.Earlier = earlierLooks(a.Design, *x, *y, at)
			n = max(n, int32(stats.RepetitionsFor(sizing)))
		}
	}
	return min(n, p.MaxRepetitions)
}

// firstStage returns the cells with the Finals of the first stage.
func firstStage(p plan.Plan, first map[string]plan.Finals, l *ledger) []Cell {
	var out []Cell
	for _, cell := range p.Cells {
		c := Cell{Variant: cell.Variant(), Topology: cell.Topology()}
		for _, t := range p.FinalTrials(cell, first[c.Topology]) {
			c.Finals = append(c.Finals, l.outcome(t))
		}
		if len(c.Finals) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// noiseOfFinals returns the noise of a cell's Finals. The other cells of its topology supply what the cell lacks.
func noiseOfFinals(cells []Cell, c *Cell) stats.Noise {
	return noiseOfCell(cells, c, func(cells []Cell) [][]float64 {
		var groups [][]float64
		for _, other := range cells {
			if other.Topology == c.Topology {
				groups = append(groups, groupFinals(other)...)
			}
		}
		return groups
	})
}

// earlierLooks returns the looks at the Finals of two cells at their client counts up to the present look. A campaign had a look when
// it had all repetitions that it required at that time. The records of both cells say this number.
func earlierLooks(d Design, x, y Cell, clients [2]int32) []stats.Look {
	var out []stats.Look
	ends := lookEnds(d, y, clients[1])
	for _, n := range lookEnds(d, x, clients[0]) {
		if slices.Contains(ends, n) {
			out = append(out, stats.Look{
				N: countMeasured(x, clients[0], n.repetitions), M: countMeasured(y, clients[1], n.repetitions), TwoStages: n.twoStages,
			})
		}
	}
	return out
}

// lookEnd is the number of repetitions that a campaign had when its Finals were looked at.
type lookEnd struct {
	repetitions int32
	twoStages   bool // whether spec.final.maxRepetitions was set
}

// lookEnds returns the looks at a cell's Finals, ascending. A number is left out if it was raised before its last repetition had a Job.
// The first of two stages is no look, because its ratio changes nothing. But it is a look if maxRepetitions was set after it: the user
// saw its ratio. Finals whose records do not say the planned number show no look.
func lookEnds(d Design, c Cell, clients int32) []lookEnd {
	records, last := map[int32]*record.Record{}, int32(0)
	for _, o := range c.Finals {
		if o.Trial.Clients == clients && o.Trial.Placement <= 1 {
			last = max(last, o.Trial.Repetition)
			if o.Record != nil {
				records[o.Trial.Repetition] = o.Record
			}
		}
	}
	var out []lookEnd
	for _, r := range records {
		n := r.PlannedRepetitions
		end, measured := records[n]
		if n <= 0 || n > last || measured && end.PlannedRepetitions > n {
			continue
		}
		twoStages := measured && end.MaxRepetitions > 0
		if foreseen := d.hasTwoStages() && n == d.Repetitions && twoStages; !foreseen {
			out = append(out, lookEnd{n, twoStages})
		}
	}
	slices.SortFunc(out, func(a, b lookEnd) int { return cmp.Compare(a.repetitions, b.repetitions) })
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

// LookEnd returns the repetitions of the look with which a Final was measured, and the present limit of spec.final.maxRepetitions if this
// look had two stages, or 0 for one stage.
func (a Assessment) LookEnd(t record.Trial) (repetitions, most int32) {
	c := a.Cell(t.Variant, t.Topology)
	if c == nil {
		return 0, 0
	}
	last := int32(0)
	for _, o := range c.Finals {
		last = max(last, o.Trial.Repetition)
	}
	if a.hasTwoStages() {
		most = a.MaxRepetitions
	}
	for _, n := range lookEnds(a.Design, *c, t.Clients) {
		switch {
		case t.Repetition > n.repetitions || n.repetitions >= last:
		case n.twoStages:
			return n.repetitions, a.MaxRepetitions
		default:
			return n.repetitions, 0
		}
	}
	return last, most
}

// groupRepeats returns groups of docs/s in which values differ only by noise. A group holds the repeats of a sweep point in one
// cell, or the Finals of one cell, client count and placement.
func groupRepeats(cells []Cell) [][]float64 {
	var groups [][]float64
	for _, c := range cells {
		byClients := map[int32][]float64{}
		for _, o := range c.Sweep {
			if o.Measured() {
				byClients[o.Trial.Clients] = append(byClients[o.Trial.Clients], o.Rate())
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
