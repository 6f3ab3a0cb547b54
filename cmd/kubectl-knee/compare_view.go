package main

import (
	"fmt"
	"io"
	"strings"
)

// comparisonText shows a comparison to a person.
func comparisonText(out io.Writer, c comparison) error {
	t := newTable(out)
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
		fmt.Fprintf(t, "- %s\n", printable(caveat))
	}
	t.blank()
	if len(c.Cells) > 0 {
		t.row("VARIANT", "TOPOLOGY", "", "A", "B", "B / A", "INTERVAL", "CONFIDENCE", "P")
	}
	for _, cell := range c.Cells {
		pairRow(t, cell, "knee", cell.Knee)
		pairRow(t, cell, "peak", cell.Peak)
		finalFigures(t, cell)
	}
	for _, cell := range c.Cells {
		differencesText(t, fmt.Sprintf("What the campaigns ask for differently of %s on %s", cell.Variant, cell.Topology), cell.Spec)
		differencesText(t, fmt.Sprintf("What the nodes of %s on %s say differently", cell.Variant, cell.Topology), cell.Environment)
	}
	for _, only := range []struct {
		letter string
		cells  []string
	}{{"A", c.OnlyA}, {"B", c.OnlyB}} {
		if len(only.cells) > 0 {
			t.blank()
			fmt.Fprintf(t, "Only in %s: %s\n", only.letter, strings.Join(only.cells, ", "))
		}
	}
	return t.flush()
}

func pairRow(t *table, cell cellPair, what string, p *figurePair) {
	if p == nil {
		t.row(cell.Variant, cell.Topology, what, "-", "-", "-", "-", "-", "-")
		return
	}
	t.row(cell.Variant, cell.Topology, what, docsAt(p.A.DocsPerSecond, p.A.Clients), docsAt(p.B.DocsPerSecond, p.B.Clients), fmt.Sprintf("%.4f", p.Ratio), "", "", "")
}

func docsAt(docs float64, clients int32) string { return fmt.Sprintf("%s at %d", whole(docs), clients) }

func finalFigures(t *table, cell cellPair) {
	f := cell.Final
	if f == nil {
		t.row(cell.Variant, cell.Topology, "Final", "-", "-", "-", "-", "-", "-")
		return
	}
	of := func(s sample) string {
		text := fmt.Sprintf("%s, n %d", docsAt(s.DocsPerSecond, s.Clients), s.Repetitions)
		if s.Placements > 1 {
			text += fmt.Sprintf(" on %d placements", s.Placements)
		}
		return text
	}
	row := []string{cell.Variant, cell.Topology, "Final", of(f.A), of(f.B), fmt.Sprintf("%.4f", f.Ratio)}
	if f.Low == nil {
		t.row(append(row, "-", "-", "-")...)
		return
	}
	t.row(append(row, fmt.Sprintf("[%.4f, %.4f]", *f.Low, *f.High), fmt.Sprintf("%.1f %%", 100**f.Confidence), fmt.Sprintf("%.4g", *f.P))...)
}

func differencesText(t *table, title string, list []difference) {
	if len(list) == 0 {
		return
	}
	t.blank()
	fmt.Fprintf(t, "%s:\n", title)
	t.row("  ", "A", "B", "")
	for _, d := range list {
		note := d.Note
		if note == "" && !d.Declared {
			note = "not asked for"
		}
		t.row("  "+d.What, dash(shorten(d.A, 80)), dash(shorten(d.B, 80)), note)
	}
}
