package campaign

import (
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// cellSweep is the current state of a cell's sweep.
type cellSweep struct {
	cell   plan.Cell
	trials []record.Trial // in order: the trials that are done, then the trials that the points so far require
	points []sweep.Point  // points of the trials that are done
	done   bool

	anchored bool // the Anchor trial is done, or the sweep has none
}

// add adds a trial to the sweep, and its point if the trial is done. It reports whether the trial is done.
func (s *cellSweep) add(t record.Trial, l *ledger) bool {
	o := l.outcome(t)
	s.trials = append(s.trials, t)
	if o.Done {
		s.points = append(s.points, o.point())
	}
	return o.Done
}

// countPoints returns the number of points at a client count.
func (s *cellSweep) countPoints(clients int32) int32 {
	n := int32(0)
	for _, p := range s.points {
		if p.Clients == clients {
			n++
		}
	}
	return n
}

// followSweeps returns the sweep of each cell in the order of the plan. A sweep includes the trials that it requires next.
func followSweeps(p plan.Plan, topologies []string, l *ledger) []*cellSweep {
	var all []*cellSweep
	byTopology := map[string][]*cellSweep{}
	for _, cell := range p.Cells {
		s := &cellSweep{cell: cell, done: true, anchored: true}
		if p.Adaptive {
			s.adapt(p, l)
		} else {
			for _, t := range p.SweepTrials(cell) {
				s.done = s.add(t, l) && s.done
			}
			s.addAnchor(p, l)
		}
		all = append(all, s)
		byTopology[cell.Topology()] = append(byTopology[cell.Topology()], s)
	}
	if p.Adaptive {
		for _, topology := range topologies {
			completeForSharing(p, byTopology[topology], l)
		}
	}
	return all
}

// sweepTrials returns the trials of each sweep. The key is the hash of the cell.
func sweepTrials(sweeps []*cellSweep) map[string][]record.Trial {
	out := map[string][]record.Trial{}
	for _, s := range sweeps {
		out[s.cell.Hash] = s.trials
	}
	return out
}

// cellsOf returns the cells with the results of their sweeps and without Finals.
func cellsOf(p plan.Plan, sweeps []*cellSweep, l *ledger) []Cell {
	var out []Cell
	for _, s := range sweeps {
		c := Cell{
			Variant: s.cell.Variant(), Topology: s.cell.Topology(), Hash: s.cell.Hash, SweepDone: s.done,
			Curve: sweep.NewCurve(s.points, p.PercentOfPeak),
		}
		for _, t := range s.trials {
			if o := l.outcome(t); t.Phase == record.Anchor {
				c.Anchor = &o
			} else {
				c.Sweep = append(c.Sweep, o)
			}
		}
		if s.done && p.Adaptive {
			for _, clients := range p.Clients {
				if s.countPoints(clients) == 0 {
					c.Skipped = append(c.Skipped, clients)
				}
			}
		}
		out = append(out, c)
	}
	return out
}

// adapt replays an adaptive sweep from the beginning. The points so far determine the next trial. It stops at a trial that is not
// done. It keeps no state, so the same records always require the same trials in the same order.
func (s *cellSweep) adapt(p plan.Plan, l *ledger) {
	for {
		next, done := sweep.AdaptiveNext(p.Clients, s.points, p.PercentOfPeak)
		if done {
			s.addAnchor(p, l)
			return
		}
		if !s.add(p.SweepTrial(s.cell, next, s.countPoints(next)+1), l) {
			s.done = false
			return
		}
	}
}

// addAnchor adds the Anchor trial to a sweep whose other trials are known. It repeats the first client count that is Measured or may
// become Measured. There is no Anchor trial if the sweep ends with this count anyway. The sweep can be done although its Anchor trial
// is not: no knee depends on the anchor. So an anchor that is added to a finished campaign starts only itself.
func (s *cellSweep) addAnchor(p plan.Plan, l *ledger) {
	usable := func(t record.Trial) bool { o := l.outcome(t); return !o.Done || o.Measured() }
	i := slices.IndexFunc(s.trials, usable)
	if !p.Anchor || i < 0 || s.trials[i].Clients == s.trials[len(s.trials)-1].Clients {
		return
	}
	t := p.AnchorTrial(s.cell, s.trials[i].Clients)
	s.anchored = l.outcome(t).Done
	s.trials = append(s.trials, t)
}

// completeForSharing adds points to the adaptive sweeps of a topology until the shared client count is known. Each sweep
// determines only its own knee, so it may have skipped a count at which another sweep passes. The search starts at the highest
// knee. Each count that did not fail in any cell is measured in all cells, up to the first count that passes in every cell. If
// there is none, the counts between the lowest and the highest knee are measured in all cells. A new
// point may raise the peak of its cell, so the search starts again after each round. The new trials run after the anchors.
func completeForSharing(p plan.Plan, sweeps []*cellSweep, l *ledger) {
	if slices.ContainsFunc(sweeps, func(s *cellSweep) bool { return !s.done }) {
		return
	}
	// A trial of another cell would release the nodes of a cell before its anchor has run.
	anchored := !slices.ContainsFunc(sweeps, func(s *cellSweep) bool { return !s.anchored })
	for {
		missing := missingPoints(p, sweeps)
		if len(missing) == 0 {
			return
		}
		for _, m := range missing {
			t := p.SweepTrial(m.sweep.cell, m.clients, 1)
			if !anchored && !l.outcome(t).Done {
				m.sweep.done = false // the trial becomes known when all anchors are done
				continue
			}
			m.sweep.done = m.sweep.add(t, l) && m.sweep.done
		}
		if slices.ContainsFunc(sweeps, func(s *cellSweep) bool { return !s.done }) {
			return
		}
	}
}

// missingPoint is a client count that a sweep has not measured.
type missingPoint struct {
	sweep   *cellSweep
	clients int32
}

// missingPoints returns the missing points at the lowest client count that may pass in every cell that has a knee. These points
// decide whether the count passes in each of these cells.
func missingPoints(p plan.Plan, sweeps []*cellSweep) []missingPoint {
	var curves []sweep.Curve
	for _, s := range sweeps {
		curves = append(curves, sweep.NewCurve(s.points, p.PercentOfPeak))
	}
	var missing []missingPoint
	clients, cells := MissingForSharing(p.Clients, curves)
	for _, i := range cells {
		missing = append(missing, missingPoint{sweeps[i], clients})
	}
	return missing
}

// MissingForSharing returns a client count that decides the shared client count, and the indices of the curves that have no point
// there. It is the lowest count that may pass in every cell. If no count may, it is the lowest incomplete count between the knees: the
// best compromise lies there (see sweep.SharedClients). It returns no indices if the shared client count is known. Curves without a
// knee are left out: see shareClients.
func MissingForSharing(clients []int32, curves []sweep.Curve) (int32, []int) {
	lowest, highest := int32(math.MaxInt32), int32(0)
	for _, c := range curves {
		if c.Knee != nil {
			lowest, highest = min(lowest, c.Knee.Clients), max(highest, c.Knee.Clients)
		}
	}
	missingAt := func(count int32) (missing []int, failed bool) {
		for i, c := range curves {
			switch {
			case c.Knee == nil:
			case c.At(count) == nil:
				missing = append(missing, i)
			case !slices.Contains(c.Passing, count):
				failed = true
			}
		}
		return missing, failed
	}
	for _, count := range clients {
		if missing, failed := missingAt(count); count >= highest && !failed {
			return count, missing
		}
	}
	for _, count := range clients {
		if missing, _ := missingAt(count); len(missing) > 0 && count >= lowest && count <= highest {
			return count, missing
		}
	}
	return 0, nil
}

// shareClients returns the shared client count of every topology whose sweeps are done. It also returns the cells that are left
// out: they have no knee, and the shared client count and the comparisons do not depend on them. If the other cells of the topology
// have nothing to compare, no cell is left out, and no client count passes in every cell.
func shareClients(d Design, cells []Cell) (shared map[string]sweep.Shared, leftOut []CellKey) {
	shared = map[string]sweep.Shared{}
	if d.Fixed {
		return shared, nil
	}
	for _, topology := range d.topologies {
		all := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return c.Topology != topology })
		if slices.ContainsFunc(all, func(c Cell) bool { return !c.SweepDone }) {
			continue
		}
		found := slices.DeleteFunc(slices.Clone(all), func(c Cell) bool { return c.Curve.Knee == nil })
		if len(found) == len(all) || !areCompared(d.Pairs, found) {
			shared[topology] = sweep.SharedClients(curvesOf(all))
			continue
		}
		s := sweep.SharedClients(curvesOf(found))
		var names []string
		for _, c := range all {
			if c.Curve.Knee == nil {
				leftOut, names = append(leftOut, CellKey{c.Variant, topology}), append(names, c.Variant)
			}
		}
		s.Why += "; cells without a knee are left out: " + strings.Join(names, ", ")
		shared[topology] = s
	}
	return shared, leftOut
}

// areCompared reports whether there is something to compare: several cells, or a cell that a comparison connects with another
// topology. Several cells count even if no comparison connects them, because another baseline would.
func areCompared(pairs []Pair, cells []Cell) bool {
	return len(cells) > 1 || len(cells) == 1 && slices.ContainsFunc(pairs, func(p Pair) bool {
		cell := CellKey{cells[0].Variant, cells[0].Topology}
		return p.Cell.Topology != p.Baseline.Topology && (p.Cell == cell || p.Baseline == cell)
	})
}

func curvesOf(cells []Cell) []sweep.Curve {
	var out []sweep.Curve
	for _, c := range cells {
		out = append(out, c.Curve)
	}
	return out
}

// IsLeftOut reports whether a cell is in LeftOut.
func (a Assessment) IsLeftOut(cell CellKey) bool { return slices.Contains(a.LeftOut, cell) }

// judgeCurves sets what depends on the noise: the stability of each cell's knee, the drift of its sweep, and whether its peak is at
// the edge of the range.
// The stability is NaN if the noise is unknown or the sweep is not done.
func judgeCurves(d Design, cells []Cell) {
	for i := range cells {
		c := &cells[i]
		noise := noiseOfCell(cells, c, groupRepeats)
		c.Curve.CheckPeakAtEdge(noise)
		c.Stability = math.NaN()
		if !c.SweepDone {
			continue
		}
		c.Drift = driftOf(cells, i)
		if share, ok := sweep.KneeStability(c.Curve, c.Skipped, d.PercentOfPeak, noise); ok {
			c.Stability = share
		}
	}
}

// noiseOfCell returns the noise of the values of a cell that groups returns, for example of its own repeats and Finals. It takes the
// noise of the other cells into account if the cell has too few values.
func noiseOfCell(cells []Cell, c *Cell, groups func([]Cell) [][]float64) stats.Noise {
	var others []Cell
	for i := range cells {
		if &cells[i] != c {
			others = append(others, cells[i])
		}
	}
	return stats.PooledNoise(groups([]Cell{*c})).ShrinkTowards(stats.PooledNoise(groups(others)))
}

// driftOf returns the drift of a cell's sweep, or nil if its sweep does not show it. The Finals only contribute their noise: Trends
// examines their own drift.
func driftOf(cells []Cell, i int) *sweep.Drift {
	c := cells[i]
	outcomes := c.Sweep
	if c.Anchor != nil {
		outcomes = append(slices.Clone(outcomes), *c.Anchor)
	}
	var points []sweep.TimedPoint
	for _, o := range outcomes {
		if o.Measured() {
			points = append(points, sweep.TimedPoint{Clients: o.Trial.Clients, Rate: o.Rate(), StartedAt: o.Record.StartTime()})
		}
	}
	others := slices.Concat(cells[:i], cells[i+1:])
	return sweep.FindDrift(points, groupFinals(c), stats.PooledNoise(groupRepeats(others)))
}
