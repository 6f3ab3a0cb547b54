package analysis

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// FinalClients are the client counts of the cell's Finals, ascending: the shared clients, or, without a sweep, all.
func (c Cell) FinalClients() []int32 {
	var out []int32
	for _, o := range c.Finals {
		if !slices.Contains(out, o.Trial.Clients) {
			out = append(out, o.Trial.Clients)
		}
	}
	slices.Sort(out)
	return out
}

// FinalDocsPerSecond lists docs/s of the Measured Final repetitions at the shared clients; nothing when there are
// Finals at several client counts, whose figures are not repeats of each other: see FinalsAt.
func (c Cell) FinalDocsPerSecond() []float64 {
	clients := c.FinalClients()
	if len(clients) != 1 {
		return nil
	}
	return slices.Concat(c.FinalsAt(clients[0])...)
}

// FinalsAt lists docs/s of the Measured Final repetitions at a client count, by placement. A placement without any is
// left out.
func (c Cell) FinalsAt(clients int32) [][]float64 {
	var out [][]float64
	for _, placement := range finalsAt(c, clients) {
		var docs []float64
		for _, r := range placement {
			rate, _ := r.Rate()
			docs = append(docs, rate)
		}
		out = append(out, docs)
	}
	return out
}

// finalsAt are the records of the Measured Finals at a client count, by placement.
func finalsAt(c Cell, clients int32) [][]record.Record {
	var out [][]record.Record
	last := int32(-1)
	for _, o := range c.Finals {
		if o.Trial.Clients != clients || !o.Measured() {
			continue
		}
		if o.Trial.Placement != last {
			last = o.Trial.Placement
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], *o.Record)
	}
	return out
}

// finals finds out what each topology's Final phase asks for, and what it has shown.
func (a *Assessment) finals(p plan.Plan, see func(record.Trial) Outcome) {
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
				f.TargetDocsPerSecond = p.OpenLoopTarget(a.lowestKnee(topology))
			}
		}
		if p.MaxRepetitions > p.Repetitions {
			f.Repetitions = a.secondStage(p, topology, f, see)
		}
		a.asked.Finals[topology] = f
	}
	for i, cell := range p.Cells {
		f := a.asked.Finals[cell.Topology()]
		for _, t := range p.FinalTrials(cell, f) {
			o := see(t)
			a.Cells[i].Finals = append(a.Cells[i].Finals, o)
			a.Measured = a.Measured || o.Measured()
		}
		if t, asked := p.OpenLoopTrial(cell, f); asked {
			o := see(t)
			a.Cells[i].OpenLoop = &o
		}
	}
}

// lowestKnee is the lowest docs/s at a knee among a topology's cells; 0 when one has none.
func (a *Assessment) lowestKnee(topology string) float64 {
	lowest := math.Inf(1)
	for _, c := range a.Cells {
		switch {
		case c.Topology != topology:
		case c.Curve.Knee == nil:
			return 0
		default:
			lowest = min(lowest, c.Curve.Knee.DocsPerSecond)
		}
	}
	return lowest
}

// secondStage is how many repetitions a topology gets: once every Final of the first stage is done, their pooled
// noise fixes it. Later repetitions have no say, and the interval's width never has: else the repetitions would go on
// until chance made it narrow.
func (a *Assessment) secondStage(p plan.Plan, topology string, first plan.Finals, see func(record.Trial) Outcome) int32 {
	var groups [][]float64
	for _, cell := range p.Cells {
		if cell.Topology() != topology {
			continue
		}
		byClients := map[int32][]float64{}
		for _, t := range p.FinalTrials(cell, first) {
			o := see(t)
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
	noise := PooledNoise(groups)
	if noise.Freedom == 0 {
		return p.Repetitions
	}
	n := RepetitionsFor(noise.CV, p.SmallestDifferencePercent, a.comparisons())
	return int32(min(max(n, int(p.Repetitions)), int(p.MaxRepetitions)))
}

// repeats are groups of docs/s that differ by noise alone: repeats of a sweep's point in one cell, and Finals of one
// cell, client count and placement.
func (a *Assessment) repeats(p plan.Plan) [][]float64 {
	var groups [][]float64
	for i, cell := range p.Cells {
		byClients := map[int32][]float64{}
		for _, t := range a.asked.Sweeps[cell.Hash] {
			if o := a.Outcomes[t]; o.Measured() {
				byClients[t.Clients] = append(byClients[t.Clients], o.DocsPerSecond())
			}
		}
		for _, clients := range p.Clients {
			if figures := byClients[clients]; len(figures) > 0 {
				groups = append(groups, figures)
			}
		}
		for _, clients := range a.Cells[i].FinalClients() {
			groups = append(groups, a.Cells[i].FinalsAt(clients)...)
		}
	}
	return groups
}

// cellsWithFinals are the cells of the topologies whose Finals are done.
func (a *Assessment) cellsWithFinals() []Cell {
	var out []Cell
	for _, c := range a.Cells {
		if a.finalsDone(c.Topology) {
			out = append(out, c)
		}
	}
	return out
}

func (a *Assessment) finalsDone(topology string) bool {
	some := false
	for _, c := range a.Cells {
		if c.Topology != topology {
			continue
		}
		for _, o := range c.Finals {
			some = true
			if !o.Done {
				return false
			}
		}
	}
	return some
}
