package analysis

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// sweeping is one cell's sweep as far as it is known.
type sweeping struct {
	cell   plan.Cell
	trials []record.Trial // in order: those done, and those that are asked for by now
	points []Point        // of the trials that are done
	done   bool
}

// ask adds a trial and its point, and says whether the trial is done.
func (s *sweeping) ask(t record.Trial, see func(record.Trial) Outcome) bool {
	o := see(t)
	s.trials = append(s.trials, t)
	if o.Done {
		s.points = append(s.points, o.point())
	}
	return o.Done
}

// repeats counts the points of a client count.
func (s *sweeping) repeats(clients int32) int32 {
	n := int32(0)
	for _, p := range s.points {
		if p.Clients == clients {
			n++
		}
	}
	return n
}

// sweeps finds out what each cell's sweep has shown, what it asks for next, and the shared clients.
func (a *Assessment) sweeps(p plan.Plan, see func(record.Trial) Outcome) {
	of := map[string][]*sweeping{} // by topology
	var all []*sweeping
	for _, cell := range p.Cells {
		s := &sweeping{cell: cell, done: true}
		if p.Adaptive {
			s.adapt(p, see)
		} else {
			for _, t := range p.SweepTrials(cell) {
				s.done = s.ask(t, see) && s.done
			}
		}
		all = append(all, s)
		if !slices.Contains(a.topologies, cell.Topology()) {
			a.topologies = append(a.topologies, cell.Topology())
		}
		of[cell.Topology()] = append(of[cell.Topology()], s)
	}
	if p.Adaptive {
		for _, topology := range a.topologies {
			agree(p, of[topology], see)
		}
	}
	for _, s := range all {
		a.asked.Sweeps[s.cell.Hash] = s.trials
		a.Cells = append(a.Cells, a.cellOf(p, s))
	}
	if !p.Fixed {
		a.share()
	}
}

func (a *Assessment) cellOf(p plan.Plan, s *sweeping) Cell {
	c := Cell{
		Variant: s.cell.Variant(), Topology: s.cell.Topology(), Hash: s.cell.Hash, SweepDone: s.done,
		Curve: NewCurve(s.points, p.PercentOfPeak), Stability: math.NaN(),
	}
	for _, t := range s.trials {
		a.Measured = a.Measured || a.Outcomes[t].Measured()
	}
	if s.done && p.Adaptive {
		for _, clients := range p.Clients {
			if s.repeats(clients) == 0 {
				c.Skipped = append(c.Skipped, clients)
			}
		}
	}
	return c
}

// adapt goes over an adaptive sweep from its beginning: the points so far ask for the next trial, until one is met
// that is not done. It keeps no memory: the same records ask for the same trials in the same order.
func (s *sweeping) adapt(p plan.Plan, see func(record.Trial) Outcome) {
	for {
		next, done := AdaptiveNext(p.Clients, s.points, p.PercentOfPeak)
		if done {
			return
		}
		if !s.ask(p.SweepTrial(s.cell, next, s.repeats(next)+1), see) {
			s.done = false
			return
		}
	}
}

// agree lets adaptive sweeps measure what the shared clients need. Each sweep settles its own knee, and the counts that
// one skipped may be those that another passes at: from the highest of the knees on, each count that no cell has been
// seen to fail is measured in all of them, up to the first that passes in every one. A point that comes to be measured
// may raise its cell's peak, and so the search begins anew after each.
func agree(p plan.Plan, cells []*sweeping, see func(record.Trial) Outcome) {
	if slices.ContainsFunc(cells, func(s *sweeping) bool { return !s.done }) {
		return
	}
	for {
		missing := lacking(p, cells)
		if len(missing) == 0 {
			return
		}
		for _, m := range missing {
			m.cell.done = m.cell.ask(p.SweepTrial(m.cell.cell, m.clients, 1), see) && m.cell.done
		}
		if slices.ContainsFunc(cells, func(s *sweeping) bool { return !s.done }) {
			return
		}
	}
}

// lack is a client count that a cell has not measured.
type lack struct {
	cell    *sweeping
	clients int32
}

// lacking are the points without which it cannot be told whether the first count that may pass in every cell does.
func lacking(p plan.Plan, cells []*sweeping) []lack {
	var curves []Curve
	from := int32(0)
	for _, s := range cells {
		c := NewCurve(s.points, p.PercentOfPeak)
		if c.Knee == nil {
			return nil // no count can pass in every cell
		}
		curves = append(curves, c)
		from = max(from, c.Knee.Clients)
	}
	for _, clients := range p.Clients {
		if clients < from {
			continue
		}
		var missing []lack
		failed := false
		for i, c := range curves {
			if c.At(clients) == nil {
				missing = append(missing, lack{cells[i], clients})
			} else if !slices.Contains(c.Passing, clients) {
				failed = true
			}
		}
		if !failed {
			return missing // none: it passes in every cell
		}
	}
	return nil
}

// share finds the shared clients of every topology whose sweeps are done.
func (a *Assessment) share() {
	for _, topology := range a.topologies {
		var curves []Curve
		done := true
		for _, c := range a.Cells {
			if c.Topology == topology {
				curves = append(curves, c.Curve)
				done = done && c.SweepDone
			}
		}
		if done {
			a.Shared[topology] = SharedClients(curves)
		}
	}
}

// stabilities says of each knee how sure it is.
func (a *Assessment) stabilities(p plan.Plan) {
	for i := range a.Cells {
		c := &a.Cells[i]
		if !c.SweepDone {
			continue
		}
		if share, ok := KneeStability(c.Curve, p.PercentOfPeak, a.Noise, p.Seed); ok {
			c.Stability = share
		}
	}
}
