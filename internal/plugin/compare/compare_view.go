package compare

import (
	"fmt"
	"io"
	"strings"

	"github.com/knee-bench/knee/internal/plugin/terminal"
)

// comparisonText prints a comparison as text.
func comparisonText(out io.Writer, c Comparison) error {
	t := terminal.NewTable(out)
	for _, s := range []struct {
		letter string
		view   sideView
	}{{"A", c.A}, {"B", c.B}} {
		rerun := ""
		if s.view.Rerun != "" {
			rerun = ", rerun " + s.view.Rerun
		}
		counts := ""
		if s.view.Unit != "docs/s" {
			counts = ", in " + s.view.Unit
		}
		fmt.Fprintf(t, "%s: %s (%s%s)%s\n", s.letter, s.view.Name, s.view.Campaign, rerun, counts)
	}
	for _, caveat := range c.Caveats {
		fmt.Fprintf(t, "- %s\n", terminal.Printable(caveat))
	}
	t.EndTable()
	if len(c.Cells) > 0 {
		t.WriteRow("VARIANT", "TOPOLOGY", "", "A", "B", "B / A", "INTERVAL", "CONFIDENCE", "P")
	}
	for _, cell := range c.Cells {
		pairRow(t, cell, "knee", cell.Knee)
		pairRow(t, cell, "peak", cell.Peak)
		finalFigures(t, cell)
	}
	for _, cell := range c.Cells {
		differencesText(t, fmt.Sprintf("Differences between A and B in the spec of variant %s on topology %s", cell.Variant, cell.Topology), cell.Spec)
		differencesText(t, fmt.Sprintf("Differences between A and B in the environment of variant %s on topology %s", cell.Variant, cell.Topology), cell.Environment)
	}
	for _, only := range []struct {
		letter string
		cells  []string
	}{{"A", c.OnlyA}, {"B", c.OnlyB}} {
		if len(only.cells) > 0 {
			t.EndTable()
			fmt.Fprintf(t, "Cells only in %s: %s\n", only.letter, strings.Join(only.cells, ", "))
		}
	}
	return t.Print()
}

func pairRow(t *terminal.Table, cell cellPair, what string, p *figurePair) {
	if p == nil {
		t.WriteRow(cell.Variant, cell.Topology, what, "-", "-", "-", "-", "-", "-")
		return
	}
	t.WriteRow(cell.Variant, cell.Topology, what, rateAndClients(p.A.Rate, p.A.Clients), rateAndClients(p.B.Rate, p.B.Clients), fmt.Sprintf("%.4f", p.Ratio), "", "", "")
}

func rateAndClients(docs float64, clients int32) string {
	return fmt.Sprintf("%s at %s", terminal.FormatRounded(docs), terminal.FormatCount(int(clients), "client"))
}

func finalFigures(t *terminal.Table, cell cellPair) {
	f := cell.Final
	if f == nil {
		t.WriteRow(cell.Variant, cell.Topology, "Final", "-", "-", "-", "-", "-", "-")
		return
	}
	of := func(s sample) string {
		text := fmt.Sprintf("%s, n %d", rateAndClients(s.Rate, s.Clients), s.Repetitions)
		if s.Placements > 1 {
			text += fmt.Sprintf(" on %d placements", s.Placements)
		}
		return text
	}
	row := []string{cell.Variant, cell.Topology, "Final", of(f.A), of(f.B), fmt.Sprintf("%.4f", f.Ratio)}
	if f.Low == nil {
		t.WriteRow(append(row, "-", "-", "-")...)
		return
	}
	t.WriteRow(append(row, fmt.Sprintf("[%.4f, %.4f]", *f.Low, *f.High), fmt.Sprintf("%.1f %%", 100**f.Confidence), fmt.Sprintf("%.4g", *f.P))...)
}

func differencesText(t *terminal.Table, title string, list []difference) {
	if len(list) == 0 {
		return
	}
	t.EndTable()
	fmt.Fprintf(t, "%s:\n", title)
	t.WriteRow("  ", "A", "B", "")
	for _, d := range list {
		note := d.Note
		if note == "" && !d.Declared {
			note = "the specs do not declare this difference"
		}
		t.WriteRow("  "+d.What, terminal.OrDash(terminal.Shorten(d.A, 80)), terminal.OrDash(terminal.Shorten(d.B, 80)), note)
	}
}
