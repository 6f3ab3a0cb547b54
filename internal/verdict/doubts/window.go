package doubts

import (
	"fmt"
	"math"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// notSteady finds loads whose docs/s covers the whole load, although the campaign requires the steady part.
func notSteady(a campaign.Assessment) []Doubt {
	var cells []string
	loads := campaign.TellingLoads(a.Cells, a.Outcomes)
	for _, c := range a.Cells {
		count, note := 0, ""
		for _, l := range loads {
			if l.Cell.Hash != c.Hash || l.Outcome.Record.Ingest == nil || l.Outcome.Record.Ingest.Window != record.WindowWhole || l.Outcome.Record.Ingest.WindowNote == "" {
				continue
			}
			count++
			if note == "" {
				note = fmt.Sprintf("%s: %s", l.Where, verdict.Clip(l.Outcome.Record.Ingest.WindowNote, 80))
			}
		}
		switch {
		case count == 1:
			cells = append(cells, fmt.Sprintf("%s (%s)", a.CellName(c.Variant, c.Topology), note))
		case count > 1:
			cells = append(cells, fmt.Sprintf("%s (%s; number of other trials with this problem: %d)", a.CellName(c.Variant, c.Topology), note, count-1))
		}
	}
	return append(doubtAbout(v1alpha1.ReasonNotSteady, cells,
		"no steady part of the load was found in these cells, so docs/s covers the whole load: %s; make the load longer, or set spec.workload.measure to Whole"),
		otherStretches(a)...)
}

// maxStretch is the largest accepted difference between the shares of the corpus that the windows of two compared cells covered,
// in percentage points. The limit is necessary because the rate changes with the size of the index.
const maxStretch = 2.0

// otherStretches finds ratios of full-corpus loads whose windows covered different shares of the corpus. The shares can differ
// because a window ends when the first client ends.
func otherStretches(a campaign.Assessment) []Doubt {
	var ratios []string
	for _, r := range a.Ratios {
		low, high := math.Inf(1), math.Inf(-1)
		for _, side := range []struct {
			cell    *campaign.Cell
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
			ratios = append(ratios, fmt.Sprintf("%s (%.1f %% to %.1f %%)", a.RatioName(r), low, high))
		}
	}
	return doubtAbout(v1alpha1.ReasonNotSteady, ratios,
		"the trials of these comparisons measured different shares of the corpus, because a measurement ends when the first client finishes: %s; try client counts that divide the corpus evenly, or set spec.workload.measure to Whole")
}
