package sections

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/plots"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// answerSection writes the most important results: the ratios, and a row for each cell.
func answerSection(d *document.Document, in view.Input) {
	d.Section("Answer")
	ratios(d, in)
	cellTable(d, in)
	charts := append(plots.Knees(d, in), plots.Forest(d, in))
	for _, topology := range in.Assessment.Topologies() {
		charts = append(charts, plots.Finals(d, in, topology))
	}
	d.Charts(charts...)
}

func ratios(d *document.Document, in view.Input) {
	if len(in.Assessment.Ratios) == 0 {
		return
	}
	t := d.Table("ratio", "topology ", "clients", "times", "interval", "confidence", "bounds ", "runs", "CV %", "p", "p adjusted", "what ")
	for _, r := range in.Assessment.Ratios {
		bounds, sure := "", ""
		if r.HasInterval() {
			bounds, sure = format.Interval(r.Low, r.High), format.Percent(r.Confidence, 1)
		}
		runs := fmt.Sprintf("%d, %d", r.N, r.M)
		if r.Placements > 1 {
			runs += " placements"
		}
		clients := format.IntText(r.Clients)
		if other := view.BaselineClients(r); other != r.Clients {
			clients += ", " + format.IntText(other)
		}
		t.Row(r.Variant+" / "+r.Baseline, view.RatioTopology(r), clients, format.Strong(format.Fixed(r.Ratio, 3)), bounds, sure,
			string(r.Bounds), runs, noiseText(r), format.Trimmed(r.P, 4), format.Trimmed(r.AdjustedP, 4), summary.RatioVerdict(r))
	}
	d.Para("The column \"times\" shows the ratio of %s in the Final phase: the median of all pairwise ratios (Hodges-Lehmann estimate on logarithms). Its interval is "+
		"the smallest interval that contains the rank interval (Mann-Whitney) and Welch's interval on logarithms. The rank interval is exact if both "+
		"cells have the same noise. Welch's interval also covers cells whose noise differs. The column \"bounds\" says which of the two "+
		"methods gives the bounds. The column \"CV\" shows the noise of each cell. The two-sided p agrees with the interval. The column "+
		"\"p adjusted\" shows p times the number of comparisons (Bonferroni).", view.Unit(in))
	for _, r := range in.Assessment.Ratios {
		if r.Widening > 1 {
			d.Para("The repetitions of %s depend on the repetition before. Therefore the interval is %s times as wide as that of independent "+
				"repetitions: find what lasts from one repetition to the next, such as merges, page cache or a throttled volume.",
				in.Assessment.RatioName(r), format.Fixed(r.Widening, 2))
		}
	}
	if slices.ContainsFunc(in.Assessment.Ratios, func(r campaign.Ratio) bool { return len(r.Looks) > 0 }) {
		d.Para("Repetitions were added after a ratio was known, so the data was compared more than once. The confidence of a later look is " +
			"higher and its p adjusted is larger, so that all looks together find a difference that does not exist in at most 5 %% of the campaigns.")
	}
	observedTable(d, in)
}

// noiseText returns the noise of the two cells of a ratio, in percent.
func noiseText(r campaign.Ratio) string {
	return format.Fixed(100*r.CV, 2) + ", " + format.Fixed(100*r.BaselineCV, 2)
}

// cellTable writes a row for each cell. In a Fixed campaign, it writes a row for each client count of each cell.
func cellTable(d *document.Document, in view.Input) {
	if view.FixedClients(in) {
		fixedCellTable(d, in)
		return
	}
	t := d.Table("cell", "knee, clients", "stability %", view.Unit(in)+" at the knee", "peak, clients", "peak "+view.Unit(in), "shared clients",
		"Final "+view.Unit(in), "Measured", "CV %", "CPU s per million docs", "not Measured ")
	for _, c := range in.Assessment.Cells {
		knee, peak := c.Curve.Knee, c.Curve.Peak
		row := []string{"**" + view.CellName(in, c.Variant, c.Topology) + "**", "", "", "", "", "", "", "", "", "", "", format.Shorten(notMeasuredCounts(in, c), 200)}
		if knee != nil && c.SweepDone {
			row[1], row[2], row[3] = "**"+format.IntText(knee.Clients)+"**", format.Fixed(100*view.Stability(in, c), 0), format.Rounded(knee.Rate)
			row[10] = format.Fixed(view.MedianOf(in, "cpu_seconds_per_million_documents", view.SweepRecords(in, c, knee.Clients)), 2)
		}
		if peak != nil {
			row[4], row[5] = format.IntText(peak.Clients), format.Rounded(peak.Rate)
		}
		leftOut := in.Assessment.IsLeftOut(campaign.CellKey{Variant: c.Variant, Topology: c.Topology})
		if shared := in.Assessment.Shared[c.Topology].Clients; shared > 0 && !leftOut {
			row[6] = format.IntText(shared)
		}
		if values := c.FinalRates(); len(c.Finals) > 0 {
			row[7], row[8], row[9] = format.Rounded(stats.Median(values)), fmt.Sprintf("%d of %d", len(values), len(c.Finals)), format.Fixed(100*view.Variation(values), 2)
		}
		t.Row(row...)
	}
	if !view.FillsIndex(in) {
		t.RemoveColumns("CPU s per million docs")
	}
	if noise := in.Assessment.Noise; noise.Freedom > 0 {
		d.Para("Stability is the probability that the knee of the true curve is at this client count, computed from the sweep and the noise of the "+
			"cell. Pooled over all cells, the noise has a coefficient of variation of %s %% (%d degrees of freedom).", format.Fixed(100*noise.CV, 2), noise.Freedom)
	} else {
		d.Para("The stability of the knee is unknown, because no point was measured more than once. To measure the noise, set spec.sweep.repetitions to 2 or more.")
	}
}

func fixedCellTable(d *document.Document, in view.Input) {
	t := d.Table("cell", "clients", "Final "+view.Unit(in), "Measured", "lowest", "highest", "CV %", "CPU user+sys %", "CPU s per million docs", "rejections", "not Measured ")
	for _, c := range in.Assessment.Cells {
		for _, p := range view.SweepPoints(in, c) {
			values, planned := view.FinalRates(c, p.Clients)
			low, high := view.LowestAndHighest(values)
			why := ""
			if p.Verdict != string(verdict.Measured) {
				why = "**" + p.Verdict + "** " + p.Failures
			}
			docs := format.Rounded(stats.Median(values))
			if len(values) == 0 && p.Observed {
				docs = format.Rounded(p.Value) + " (gated)"
			}
			records := view.SweepRecords(in, c, p.Clients)
			t.Flagged(p.Verdict, "**"+view.CellName(in, c.Variant, c.Topology)+"**", format.IntText(p.Clients), docs,
				fmt.Sprintf("%d of %d", len(values), planned), format.Rounded(low), format.Rounded(high), format.Fixed(100*view.Variation(values), 2),
				format.Fixed(view.MedianOf(in, "cpu_busy_percent", records), 1),
				format.Fixed(view.MedianOf(in, "cpu_seconds_per_million_documents", records), 2),
				format.Figure(view.MedianOf(in, "rejections", records)), why)
		}
	}
	removeUnmeasuredColumns(t, in)
	if !view.FillsIndex(in) {
		t.RemoveColumns("CPU s per million docs")
	}
	d.Para("The campaign does not search for a knee (spec.sweep.mode is Fixed). Knee measures every client count in every repetition, and compares the cells at each client count.")
}

// notMeasuredCounts lists the client counts of a sweep that were Gated, Errored or skipped.
func notMeasuredCounts(in view.Input, c campaign.Cell) string {
	var parts []string
	for _, verdict := range []string{string(verdict.Gated), string(verdict.Errored), view.Skipped} {
		var counts []int32
		for _, p := range view.SweepPoints(in, c) {
			if p.Verdict == verdict {
				counts = append(counts, p.Clients)
			}
		}
		const most = 8
		switch {
		case len(counts) > most:
			parts = append(parts, fmt.Sprintf("**%s**: %d counts", verdict, len(counts)))
		case len(counts) > 0:
			parts = append(parts, fmt.Sprintf("**%s**: %s", verdict, format.IntList(counts)))
		}
	}
	return strings.Join(parts, "; ")
}

// observedTable writes a row for each comparison that has no ratio because of a failed gate.
func observedTable(d *document.Document, in view.Input) {
	apart := view.ObservedRatios(in)
	if len(apart) == 0 {
		return
	}
	t := d.Table("observed, despite gates", "topology ", "clients", view.Unit(in), "baseline's "+view.Unit(in), "quotient", "gated ")
	for _, s := range apart {
		r := s.Ratio
		gated := ""
		for _, side := range view.RatioSides(in, r) {
			if values, _ := view.FinalRates(side.Cell, side.Clients); len(values) > 0 {
				continue
			}
			if gated != "" {
				gated += ", "
			}
			gated += "**" + view.CellName(in, side.Cell.Variant, side.Cell.Topology) + "** (" + plots.GatesOfFinals([]campaign.Cell{side.Cell}) + ")"
		}
		t.Flagged(string(verdict.Gated), r.Variant+" / "+r.Baseline, view.RatioTopology(r), format.IntText(r.Clients), format.Rounded(s.Value), format.Rounded(s.Base),
			format.Fixed(s.Value/s.Base, 3), gated)
	}
	d.Para("Each quotient divides the observed median of the variant by the observed median of the baseline. In the cells of the column \"gated\", every Final failed a gate, so a quotient is not a valid comparison.")
}
