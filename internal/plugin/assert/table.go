package assert

import (
	"fmt"
	"io"

	"github.com/knee-bench/knee/internal/plugin/terminal"
)

// colours are the colours of the results on a terminal.
var colours = map[Result]string{Passed: "good", Inconclusive: "doubt", NotMeasured: "bad", Regression: "bad"}

// limitText describes the largest allowed regression.
func limitText(r Report) string {
	return fmt.Sprintf("largest allowed regression %s %%: a ratio of at least %s", format(r.MaxRegressionPercent), format(r.LowestRatio))
}

// figures returns the figures of a comparison as texts: the clients, the ratio, its interval and its confidence.
func figures(c Comparison) []string {
	clients, ratio, interval, confidence := "-", "-", "-", "-"
	if c.Clients > 0 {
		clients = terminal.FormatInteger(c.Clients)
	}
	if c.Ratio != nil {
		ratio = fmt.Sprintf("%.4f", *c.Ratio)
	}
	if c.Low != nil && c.High != nil {
		interval = fmt.Sprintf("[%.4f, %.4f]", *c.Low, *c.High)
	}
	if c.ConfidencePercent != nil {
		confidence = format(*c.ConfidencePercent) + " %"
	}
	return []string{clients, ratio, interval, confidence}
}

// printTable prints a report for a person.
func printTable(out io.Writer, r Report) error {
	paint := terminal.NewPainter(out)
	t := terminal.NewTable(out)
	fmt.Fprintf(t, "%s: %s\n\n", paint("strong", r.Namespace+"/"+r.Campaign), limitText(r))
	t.WriteRow("RATIO OF", "TOPOLOGY", "CLIENTS", "RATIO", "INTERVAL", "CONFIDENCE", "RESULT")
	for _, c := range r.Comparisons {
		row := append([]string{c.Variant + " / " + c.Baseline, c.Topology}, figures(c)...)
		t.WriteRow(append(row, string(c.Result))...)
	}
	t.EndTable()
	for _, c := range r.Comparisons {
		fmt.Fprintf(t, "- %s: %s: %s\n", terminal.Printable(c.name()), paint(colours[c.Result], string(c.Result)), c.Why)
	}
	if r.Doubt != nil {
		fmt.Fprintf(t, "\n%s (%s): %s\nhelp: %s\n", paint("doubt", "Not conclusive"), terminal.Printable(r.Doubt.Reason),
			terminal.Printable(r.Doubt.Message), terminal.ReasonPage(r.Doubt.Reason))
	}
	return t.Print()
}
