package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plugin/source"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/doubts"
	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// printSummary shows a summary of a report: the result of each cell and each comparison, and whether the answer is
// conclusive.
func printSummary(out io.Writer, s source.Source, in view.Input) error {
	paint := terminal.NewPainter(out)
	t := terminal.NewTable(out)
	a := in.Assessment
	fmt.Fprintf(t, "%s\n\n%s\n\n", paint("strong", terminal.Printable(s.From)), terminal.Printable(summary.Sentence(in)))
	rates := strings.ToUpper(a.Unit)
	t.WriteRow("VARIANT", "TOPOLOGY", "TRIALS", "KNEE", rates, "STABILITY", "PEAK", rates, "FINALS", rates)
	for _, c := range a.Cells {
		t.WriteRow(append([]string{c.Variant, c.Topology, fmt.Sprintf("%d/%d", c.Done, c.Planned)}, cellFigures(c)...)...)
	}
	t.EndTable()
	if len(a.Ratios) > 0 {
		t.WriteRow("RATIO OF", "CLIENTS", "RATIO", "INTERVAL", "CONFIDENCE", "BOUNDS", "CV %", "P", "VERDICT")
		for _, r := range a.Ratios {
			t.WriteRow(ratioFigures(r, len(a.Topologies()) > 1)...)
		}
		t.EndTable()
	}
	ok, reason, message := doubts.Conclusive(a)
	switch {
	case ok:
		fmt.Fprintf(t, "%s: %s\n", paint("good", "Conclusive"), terminal.Printable(message))
	case reason == v1alpha1.ReasonNotFinished:
		fmt.Fprintf(t, "%s: %s\n", paint("doubt", "Not finished"), terminal.Printable(message))
	default:
		fmt.Fprintf(t, "%s (%s):\n", paint("bad", "Not conclusive"), reason)
		for _, d := range doubts.Doubts(a) {
			fmt.Fprintf(t, "- %s: %s\n", d.Reason, terminal.Printable(terminal.Shorten(d.Message, 1000)))
		}
		fmt.Fprintf(t, "help: %s\n", terminal.ReasonPage(v1alpha1.ConditionConclusive))
	}
	return t.Print()
}

// cellFigures returns the figures of a cell as texts: the knee and its rate, the stability, the peak and its rate, the number
// of measured Finals, and the median rate of the Finals.
func cellFigures(c campaign.Cell) []string {
	point := func(p *sweep.Point) (clients, docs string) {
		if p == nil {
			return "-", "-"
		}
		return terminal.FormatInteger(p.Clients), terminal.FormatRounded(p.Rate)
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
	median := "-" // also if the cell has Finals at several client counts: no single median describes them
	if m := stats.Median(c.FinalRates()); !math.IsNaN(m) {
		median = terminal.FormatRounded(m)
	}
	return []string{knee, kneeDocs, stability, peak, peakDocs, fmt.Sprint(measured), median}
}

func ratioFigures(r campaign.Ratio, topologies bool) []string {
	name, baseline := r.Variant, r.Baseline
	if topologies {
		name, baseline = name+"/"+r.Topology, baseline+"/"+r.BaselineTopology
	}
	clients := terminal.FormatInteger(r.Clients)
	if r.BaselineClients != 0 && r.BaselineClients != r.Clients {
		clients = fmt.Sprintf("%d / %d", r.Clients, r.BaselineClients)
	}
	row, verdict := []string{name + " / " + baseline, clients}, string(r.Verdict)
	if look := summary.LookText(r.Estimate); look != "" {
		verdict = strings.TrimPrefix(verdict+"; "+look, "; ")
	}
	switch {
	case math.IsNaN(r.Ratio):
		return append(row, "none", "-", "-", "-", "-", "-", fmt.Sprintf("%d and %d Measured repetitions", r.N, r.M))
	case !r.HasInterval():
		return append(row, fmt.Sprintf("%.4f", r.Ratio), "-", "-", "-", "-", "-", terminal.OrDash(verdict))
	}
	return append(row, fmt.Sprintf("%.4f", r.Ratio), fmt.Sprintf("[%.4f, %.4f]", r.Low, r.High),
		fmt.Sprintf("%.1f %%", 100*r.Confidence), string(r.Bounds), fmt.Sprintf("%.2f / %.2f", 100*r.CV, 100*r.BaselineCV), fmt.Sprintf("%.4g", r.AdjustedP), verdict)
}
