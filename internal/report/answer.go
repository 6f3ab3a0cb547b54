package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
)

// answer is what a reader looks for first: the ratios, and a row a cell.
func answer(d *document, in Input) {
	d.section("Answer")
	ratios(d, in)
	summary(d, in)
	plots := append(kneeCharts(d, in), forestChart(d, in))
	for _, topology := range in.Assessment.Topologies() {
		plots = append(plots, dotsChart(d, in, topology))
	}
	d.charts(plots...)
}

func ratios(d *document, in Input) {
	if len(in.Assessment.Ratios) == 0 {
		return
	}
	t := d.table("ratio", "topology ", "clients", "times", "interval", "confidence", "runs", "p", "p adjusted", "what ")
	for _, r := range in.Assessment.Ratios {
		bounds, sure := "", ""
		if r.HasInterval() {
			bounds, sure = interval(r.Low, r.High), percent(r.Confidence, 1)
		}
		runs := fmt.Sprintf("%d, %d", r.N, r.M)
		if r.Placements > 1 {
			runs += " placements"
		}
		clients := integer(r.Clients)
		if other := baselineClients(r); other != r.Clients {
			clients += ", " + integer(other)
		}
		t.row(r.Variant+" / "+r.Baseline, ratioTopology(r), clients, strong(fixed(r.Ratio, 3)), bounds, sure,
			runs, trimmed(r.P, 4), trimmed(r.AdjustedP, 4), ratioVerdict(r))
	}
	d.para("Ratio of %s in the Final phase: the Hodges-Lehmann estimate on logs (the median of all pairwise ratios), its exact "+
		"interval with the confidence that it has, and the two-sided exact Mann-Whitney p, adjusted for the number of comparisons (Holm).", unit(in))
	observed(d, in)
}

// baselineTopology is where a ratio's denominator was measured.
func baselineTopology(r analysis.Ratio) string {
	if r.BaselineTopology != "" {
		return r.BaselineTopology
	}
	return r.Topology
}

func baselineClients(r analysis.Ratio) int32 {
	if r.BaselineClients > 0 {
		return r.BaselineClients
	}
	return r.Clients
}

func ratioTopology(r analysis.Ratio) string {
	if other := baselineTopology(r); other != r.Topology {
		return r.Topology + " / " + other
	}
	return r.Topology
}

// summary has a row a cell, or in a Fixed campaign a row a cell and client count.
func summary(d *document, in Input) {
	if fixedClients(in) {
		fixedSummary(d, in)
		return
	}
	t := d.table("cell", "knee, clients", "stability %", unit(in)+" at the knee", "peak, clients", "peak "+unit(in), "shared clients",
		"Final "+unit(in), "Measured", "CV %", "CPU s per million docs", "not Measured ")
	for _, c := range in.Assessment.Cells {
		knee, peak := c.Curve.Knee, c.Curve.Peak
		row := []string{"**" + cellName(in, c.Variant, c.Topology) + "**", "", "", "", "", "", "", "", "", "", "", cut(notMeasuredCounts(in, c), 200)}
		if knee != nil && c.SweepDone {
			row[1], row[2], row[3] = "**"+integer(knee.Clients)+"**", fixed(100*stability(in, c), 0), rounded(knee.DocsPerSecond)
			row[10] = fixed(measureNamed("cpu_seconds_per_million_documents").median(sweepRecords(in, c, knee.Clients)), 2)
		}
		if peak != nil {
			row[4], row[5] = integer(peak.Clients), rounded(peak.DocsPerSecond)
		}
		if shared := in.Assessment.Shared[c.Topology].Clients; shared > 0 {
			row[6] = integer(shared)
		}
		if values := c.FinalDocsPerSecond(); len(c.Finals) > 0 {
			row[7], row[8], row[9] = rounded(analysis.Median(values)), fmt.Sprintf("%d of %d", len(values), len(c.Finals)), fixed(100*variation(values), 2)
		}
		t.row(row...)
	}
	if !fillsIndex(in) {
		t.without("CPU s per million docs")
	}
	if noise := in.Assessment.Noise; noise.Freedom > 0 {
		d.para("Stability is the share of 2,000 seeded resamples of the sweep that give the same knee, drawn around an isotonic fit with the pooled "+
			"noise: a coefficient of variation of %s %% (%d degrees of freedom).", fixed(100*noise.CV, 2), noise.Freedom)
	} else {
		d.para("The knee's stability is not known: nothing was measured more than once, so that nothing tells of the noise.")
	}
}

func fixedSummary(d *document, in Input) {
	t := d.table("cell", "clients", "Final "+unit(in), "Measured", "lowest", "highest", "CV %", "CPU user+sys %", "CPU s per million docs", "rejections", "not Measured ")
	for _, c := range in.Assessment.Cells {
		for _, p := range sweepPoints(in, c) {
			values, planned := docsAt(c, p.clients)
			low, high := ends(values)
			why := ""
			if p.verdict != string(analysis.Measured) {
				why = "**" + p.verdict + "** " + p.failures
			}
			figures := rounded(analysis.Median(values))
			if len(values) == 0 && p.observed {
				figures = rounded(p.value) + " (gated)"
			}
			records := sweepRecords(in, c, p.clients)
			t.flagged(p.verdict, "**"+cellName(in, c.Variant, c.Topology)+"**", integer(p.clients), figures,
				fmt.Sprintf("%d of %d", len(values), planned), rounded(low), rounded(high), fixed(100*variation(values), 2),
				fixed(measureNamed("cpu_busy_percent").median(records), 1),
				fixed(measureNamed("cpu_seconds_per_million_documents").median(records), 2),
				figure(measureNamed("rejections").median(records)), why)
		}
	}
	leaveOut(t, in)
	if !fillsIndex(in) {
		t.without("CPU s per million docs")
	}
	d.para("The campaign looks for no knee (spec.sweep.mode Fixed): every client count is measured in every repetition, and the cells are compared at each.")
}

// docsAt are the docs/s of a cell's Measured Finals at a client count, and how many Finals there are.
func docsAt(c analysis.Cell, clients int32) (values []float64, planned int) {
	for _, o := range c.Finals {
		if o.Trial.Clients != clients {
			continue
		}
		planned++
		if o.Measured() {
			values = append(values, o.DocsPerSecond())
		}
	}
	return values, planned
}

// notMeasuredCounts are the client counts of a sweep that gave no figure that counts.
func notMeasuredCounts(in Input, c analysis.Cell) string {
	var parts []string
	for _, verdict := range []string{string(analysis.Gated), string(analysis.Errored), skipped} {
		var counts []int32
		for _, p := range sweepPoints(in, c) {
			if p.verdict == verdict {
				counts = append(counts, p.clients)
			}
		}
		const most = 8
		switch {
		case len(counts) > most:
			parts = append(parts, fmt.Sprintf("**%s**: %d counts", verdict, len(counts)))
		case len(counts) > 0:
			parts = append(parts, fmt.Sprintf("**%s**: %s", verdict, integers(counts)))
		}
	}
	return strings.Join(parts, "; ")
}

// variation is the coefficient of variation, with n-1; NaN of fewer than two values.
func variation(values []float64) float64 {
	if len(values) < 2 {
		return math.NaN()
	}
	mean, square := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	return math.Sqrt(square/float64(len(values)-1)) / mean
}
