package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/report"
)

// summary shows a report in short: what was found, of each cell and each comparison, and whether to trust it.
func summary(out io.Writer, s source, in report.Input) error {
	paint := painter(out)
	t := newTable(out)
	a := in.Assessment
	fmt.Fprintf(t, "%s\n\n%s\n\n", paint("strong", printable(s.from)), printable(report.Sentence(in)))
	rates := strings.ToUpper(a.Unit)
	t.row("VARIANT", "TOPOLOGY", "TRIALS", "KNEE", rates, "STABILITY", "PEAK", rates, "FINALS", rates)
	for _, c := range a.Cells {
		t.row(append([]string{c.Variant, c.Topology, fmt.Sprintf("%d/%d", c.Done, c.Planned)}, cellFigures(c)...)...)
	}
	t.blank()
	if len(a.Ratios) > 0 {
		t.row("RATIO OF", "CLIENTS", "RATIO", "INTERVAL", "CONFIDENCE", "P", "VERDICT")
		for _, r := range a.Ratios {
			t.row(ratioFigures(r, len(a.Topologies()) > 1)...)
		}
		t.blank()
	}
	ok, reason, message := a.Conclusive()
	switch {
	case ok:
		fmt.Fprintf(t, "%s: %s\n", paint("good", "Conclusive"), printable(message))
	case reason == v1alpha1.ReasonNotFinished:
		fmt.Fprintf(t, "%s: %s\n", paint("doubt", "Not finished"), printable(message))
	default:
		fmt.Fprintf(t, "%s (%s):\n", paint("bad", "Not conclusive"), reason)
		for _, d := range a.Doubts() {
			fmt.Fprintf(t, "- %s: %s\n", d.Reason, printable(shorten(d.Message, 1000)))
		}
	}
	return t.flush()
}

// cellFigures are the knee and its rate, stability, the peak and its rate, the Finals and their median rate.
func cellFigures(c analysis.Cell) []string {
	point := func(p *analysis.Point) (clients, docs string) {
		if p == nil {
			return "-", "-"
		}
		return integer(p.Clients), whole(p.DocsPerSecond)
	}
	knee, kneeDocs := point(c.Curve.Knee)
	peak, peakDocs := point(c.Curve.Peak)
	stability := "-"
	if !math.IsNaN(c.Stability) {
		stability = fmt.Sprintf("%.0f %%", 100*c.Stability)
	}
	measured := 0
	for _, o := range c.Finals {
		if o.Measured() {
			measured++
		}
	}
	median := "-" // also where Finals at several client counts have no figure in common
	if m := analysis.Median(c.FinalDocsPerSecond()); !math.IsNaN(m) {
		median = whole(m)
	}
	return []string{knee, kneeDocs, stability, peak, peakDocs, fmt.Sprint(measured), median}
}

func ratioFigures(r analysis.Ratio, topologies bool) []string {
	name, baseline := r.Variant, r.Baseline
	if topologies {
		name, baseline = name+"/"+r.Topology, baseline+"/"+r.BaselineTopology
	}
	clients := integer(r.Clients)
	if r.BaselineClients != 0 && r.BaselineClients != r.Clients {
		clients = fmt.Sprintf("%d / %d", r.Clients, r.BaselineClients)
	}
	row := []string{name + " / " + baseline, clients}
	switch {
	case math.IsNaN(r.Ratio):
		return append(row, "none", "-", "-", "-", fmt.Sprintf("%d and %d Measured", r.N, r.M))
	case !r.HasInterval():
		return append(row, fmt.Sprintf("%.4f", r.Ratio), "-", "-", "-", "-")
	}
	return append(row, fmt.Sprintf("%.4f", r.Ratio), fmt.Sprintf("[%.4f, %.4f]", r.Low, r.High),
		fmt.Sprintf("%.1f %%", 100*r.Confidence), fmt.Sprintf("%.4g", r.AdjustedP), string(r.Verdict))
}
