package campaign

import (
	"cmp"
	"slices"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// AssessAttempts assesses attempts without a plan, for example the rows of a file. It expects no further trials. The cells of the
// result have the given order. It does not compute ratios: see CompareCells.
func AssessAttempts(d Design, cells []CellKey, attempts []Judged) Assessment {
	l := newLedger(rules{}, attempts)
	trials := map[CellKey][]record.Trial{}
	for t := range l.attempts {
		key := CellKey{t.Variant, t.Topology}
		trials[key] = append(trials[key], t)
	}
	d.topologies = nil
	for _, key := range cells {
		if !slices.Contains(d.topologies, key.Topology) {
			d.topologies = append(d.topologies, key.Topology)
		}
	}
	a := Assessment{Design: d, Outcomes: l.outcomes}
	for _, key := range cells {
		a.Cells = append(a.Cells, l.measuredCell(d, key, trials[key]))
	}
	addSkipped(d, a.Cells)
	a.Shared, a.LeftOut = shareClients(d, cellsWithSweep(a.Cells))
	a.Noise = stats.PooledNoise(groupRepeats(a.Cells))
	judgeCurves(d, a.Cells)
	return a
}

// addSkipped sets the client counts that an adaptive sweep skipped: counts of the design, or that the sweep of another cell measured.
func addSkipped(d Design, cells []Cell) {
	all := slices.Clone(d.Clients)
	for _, c := range cells {
		for _, o := range c.Sweep {
			all = append(all, o.Trial.Clients)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i := range cells {
		c := &cells[i]
		for _, n := range all {
			if len(c.Sweep) > 0 && c.Curve.At(n) == nil {
				c.Skipped = append(c.Skipped, n)
			}
		}
	}
}

// measuredCell returns a cell that consists of the given trials. All trials count as done.
func (l *ledger) measuredCell(d Design, key CellKey, trials []record.Trial) Cell {
	slices.SortFunc(trials, func(a, b record.Trial) int {
		return cmp.Or(cmp.Compare(a.Placement, b.Placement), cmp.Compare(a.Clients, b.Clients), cmp.Compare(a.Repetition, b.Repetition))
	})
	c := Cell{Variant: key.Variant, Topology: key.Topology, SweepDone: true}
	var points []sweep.Point
	for _, t := range trials {
		o := l.outcome(t)
		o.Done, o.Failed = true, o.Judgement.Verdict == verdict.Errored // there will be no further attempt at this trial
		l.outcomes[t] = o
		switch t.Phase {
		case record.Sweep:
			c.Sweep, points = append(c.Sweep, o), append(points, o.point())
		case record.Final:
			c.Finals = append(c.Finals, o)
		}
	}
	c.Curve = sweep.NewCurve(points, d.PercentOfPeak)
	return c
}

func cellsWithSweep(cells []Cell) []Cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return len(c.Sweep) == 0 })
}
