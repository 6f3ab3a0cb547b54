package report

import (
	"math"

	"github.com/knee-bench/knee/internal/analysis"
)

// seen is what two cells showed at their client counts, gates aside.
type seen struct {
	ratio       analysis.Ratio
	value, base float64
}

// seenApart are the ratios that there are not since every Final of a cell failed a gate, with the medians that both cells
// showed all the same.
func seenApart(in Input) []seen {
	var out []seen
	for _, r := range in.Assessment.Ratios {
		if !math.IsNaN(r.Ratio) {
			continue
		}
		value, base := observedAt(in, r.Variant, r.Topology, r.Clients), observedAt(in, r.Baseline, baselineTopology(r), baselineClients(r))
		if !math.IsNaN(value) && !math.IsNaN(base) {
			out = append(out, seen{r, value, base})
		}
	}
	return out
}

// observedAt is the median rate of a cell's Finals at a client count: of the Measured ones, else of the Gated ones.
func observedAt(in Input, variant, topology string, clients int32) float64 {
	c := in.Assessment.Cell(variant, topology)
	if c == nil {
		return math.NaN()
	}
	if values, _ := docsAt(*c, clients); len(values) > 0 {
		return analysis.Median(values)
	}
	var gated []float64
	for _, o := range c.Finals {
		if f := o.DocsPerSecond(); o.Trial.Clients == clients && o.Done && !math.IsNaN(f) {
			gated = append(gated, f)
		}
	}
	return analysis.Median(gated)
}

// observed is a row for each comparison that gates leave without a ratio.
func observed(d *document, in Input) {
	apart := seenApart(in)
	if len(apart) == 0 {
		return
	}
	t := d.table("observed, gates aside", "topology ", "clients", unit(in), "baseline's "+unit(in), "quotient", "gated ")
	for _, s := range apart {
		r := s.ratio
		gated := ""
		for _, side := range sidesOf(in, r) {
			if values, _ := docsAt(side.cell, side.clients); len(values) > 0 {
				continue
			}
			if gated != "" {
				gated += ", "
			}
			gated += "**" + cellName(in, side.cell.Variant, side.cell.Topology) + "** (" + gatesOfFinals([]analysis.Cell{side.cell}) + ")"
		}
		t.flagged(string(analysis.Gated), r.Variant+" / "+r.Baseline, ratioTopology(r), integer(r.Clients), rounded(s.value), rounded(s.base),
			fixed(s.value/s.base, 3), gated)
	}
	d.para("Quotients of medians, where every Final of a cell failed a gate: what was seen, but no comparison of cells that were well.")
}
