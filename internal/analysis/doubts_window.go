package analysis

import (
	"fmt"
	"math"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// notSteady finds loads whose docs/s is of the whole load though the campaign asks for the steady part alone.
func (a Assessment) notSteady() []Doubt {
	var cells []string
	loads := tellingLoads(a.Cells, a.Outcomes)
	for _, c := range a.Cells {
		count, note := 0, ""
		for _, l := range loads {
			if l.cell.Hash != c.Hash || l.outcome.Record.Ingest == nil || l.outcome.Record.Ingest.Window != record.WindowWhole || l.outcome.Record.Ingest.WindowNote == "" {
				continue
			}
			count++
			if note == "" {
				note = fmt.Sprintf("%s: %s", l.where, clip(l.outcome.Record.Ingest.WindowNote, 80))
			}
		}
		switch {
		case count == 1:
			cells = append(cells, fmt.Sprintf("%s (%s)", a.cellName(c), note))
		case count > 1:
			cells = append(cells, fmt.Sprintf("%s (%s; %d more)", a.cellName(c), note, count-1))
		}
	}
	return append(each(v1alpha1.ReasonNotSteady, cells,
		"no window was found where one is asked for, so that docs/s is of the whole load, in %s: let the load go on for longer, or set spec.workload.measure to Whole"),
		a.otherStretches()...)
}

// maxStretch is by how much the shares of the corpus that docs/s is taken over may differ between the loads compared,
// in points of percent: the rate changes with the size of the index.
const maxStretch = 2.0

// otherStretches finds ratios of loads of a full corpus that were not measured between the same two document counts:
// a window ends early when the first client does.
func (a Assessment) otherStretches() []Doubt {
	var ratios []string
	for _, r := range a.Ratios {
		low, high := math.Inf(1), math.Inf(-1)
		for _, side := range []struct {
			cell    *Cell
			clients int32
		}{{a.Cell(r.Variant, r.Topology), r.Clients}, {a.Cell(r.Baseline, r.BaselineTopology), r.BaselineClients}} {
			for _, o := range side.cell.Finals {
				if !o.Measured() || o.Trial.Clients != side.clients {
					continue
				}
				if in := o.Record.Ingest; in != nil && in.Window == record.WindowCorpus && in.Corpus > 0 {
					percent := 100 * float64(in.Documents) / float64(in.Corpus)
					low, high = min(low, percent), max(high, percent)
				}
			}
		}
		if high-low > maxStretch {
			ratios = append(ratios, fmt.Sprintf("%s (%.1f %% to %.1f %%)", a.ratioName(r), low, high))
		}
	}
	return each(v1alpha1.ReasonNotSteady, ratios,
		"docs/s is over other shares of the corpus in some trials than in others, for a window ends when the first client does, in %s: try client counts that share the corpus evenly, or set spec.workload.measure to Whole")
}
