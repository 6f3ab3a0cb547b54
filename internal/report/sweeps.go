package report

import (
	"fmt"

	"github.com/knee-bench/knee/internal/analysis"
)

// sweeps is a table for each cell's sweep, or in a Fixed campaign for its client counts.
func sweeps(d *document, in Input) {
	title := "Sweeps"
	if fixedClients(in) {
		title = "Client counts"
	}
	d.section(title)
	if d.detail >= noSweeps {
		d.para("Too large for this report: a file tune_results_VARIANT_TOPOLOGY.csv for each cell holds every client count.")
		return
	}
	const mostOpen = 4 // tables that a reader takes in
	for _, c := range in.Assessment.Cells {
		d.foldable(c.Variant+" on "+c.Topology, len(in.Assessment.Cells) > mostOpen)
		if c.Curve.Peak != nil {
			d.para("Peak %s %s; a client count passes at %s %s (%s %% of it).",
				rounded(c.Curve.Peak.DocsPerSecond), unit(in), fixed(c.Curve.Target, 2), unit(in), figure(in.Plan.PercentOfPeak))
		}
		t := d.table("clients", unit(in), "% of peak", "CPU user %", "sys %", "iowait %", "p50 ms", "p90 ms", "p99 ms", "rejections", "what ")
		for _, p := range sweepPoints(in, c) {
			docs := ""
			if p.observed {
				docs = rounded(p.value)
			}
			t.flagged(p.verdict, integer(p.clients), docs, p.share,
				oneDecimal(p.column("cpu_user_percent")), oneDecimal(p.column("cpu_sys_percent")), oneDecimal(p.column("cpu_iowait_percent")),
				oneDecimal(p.column("latency_p50_ms")), oneDecimal(p.column("latency_p90_ms")), oneDecimal(p.column("latency_p99_ms")),
				p.column("rejections"), p.what())
		}
		leaveOut(t, in)
		for _, note := range curveNotes(c, unit(in)) {
			d.para("%s", note)
		}
		for _, note := range replacedNotes(in, c) {
			d.para("%s", note)
		}
		if note := usl(c.Curve); note != "" {
			d.para("%s", note)
		}
	}
}

// usl describes a curve by the Universal Scalability Law: a diagnostic of its shape, which decides nothing.
func usl(c analysis.Curve) string {
	var clients, docs []float64
	for _, p := range c.Points {
		if p.Verdict == analysis.Measured {
			clients, docs = append(clients, float64(p.Clients)), append(docs, p.DocsPerSecond)
		}
	}
	const tells = 0.8 // R² below which the law says nothing of this curve, as of a sweep that began beyond its knee
	law, err := analysis.FitUSL(clients, docs)
	if err != nil || law.RSquared < tells {
		return ""
	}
	peak := "no peak (coherency is 0)"
	if law.Beta > 0 {
		peak = fmt.Sprintf("a peak at %s clients", fixed(law.PeakClients, 1))
		if law.PeakIsBeyond {
			peak += ", extrapolated"
		}
	}
	return fmt.Sprintf("Diagnostic only, from which nothing is read off: the Universal Scalability Law fits with contention %s and coherency %s, which gives %s (R² %s).",
		trimmed(law.Alpha, 6), trimmed(law.Beta, 6), peak, fixed(law.RSquared, 3))
}

// leaveOut takes from a table of runs what its load or its machines cannot have.
func leaveOut(t *table, in Input) {
	if !fillsIndex(in) {
		t.without("rejections")
		if !nodesKnown(in) {
			t.without("CPU user %", "CPU user+sys %", "sys %", "iowait %")
		}
	}
}

// curveNotes say what a curve leaves open.
func curveNotes(cell analysis.Cell, unit string) []string {
	var out []string
	c := cell.Curve
	if c.PeakGated {
		out = append(out, fmt.Sprintf("The highest %s observed at all, %s at %d clients, failed a gate and is not the peak.",
			unit, rounded(c.Highest.DocsPerSecond), c.Highest.Clients))
	}
	if c.PeakAtRangeEdge {
		out = append(out, fmt.Sprintf("The peak is at the highest client count observed (%d): more clients may give more %s.", c.Peak.Clients, unit))
	}
	if c.KneeAtRangeEdge {
		out = append(out, fmt.Sprintf("The knee is the lowest client count observed (%d): fewer clients may do as well.", c.Knee.Clients))
	}
	if len(cell.Skipped) > 0 {
		out = append(out, fmt.Sprintf("The adaptive sweep did not measure %s: those counts cannot be the knee.", integers(cell.Skipped)))
	}
	return out
}

// oneDecimal shortens a figure that results.csv prints with more.
func oneDecimal(s string) string {
	var f float64
	if _, err := fmt.Sscanf(s, "%g", &f); err != nil {
		return ""
	}
	return fixed(f, 1)
}
