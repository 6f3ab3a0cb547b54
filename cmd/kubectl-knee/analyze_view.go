package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/offline"
	"github.com/knee-bench/knee/internal/plugin/terminal"
)

// analysisTable prints a result as a table.
func analysisTable(out io.Writer, r offline.Result, o offline.Options) error {
	t := terminal.NewTable(out)
	if slices.ContainsFunc(r.Cells, func(c offline.Cell) bool { return len(c.Points) > 0 }) {
		sweepTables(t, r, o)
	}
	ratiosTable(t, r)
	return t.Print()
}

func sweepTables(t *terminal.Table, r offline.Result, o offline.Options) {
	t.WriteRow("VARIANT", "TOPOLOGY", "KNEE", "DOCS/S", "% OF PEAK", "STABILITY", "PEAK", "DOCS/S", "OBSERVED PEAK")
	for _, c := range r.Cells {
		knee := []string{"none", "", "", ""}
		if k := c.Knee; k != nil {
			knee = []string{terminal.FormatInteger(k.Clients), terminal.FormatRounded(k.DocsPerSecond), fmt.Sprintf("%.1f", k.PercentOfPeak), terminal.PercentOrDash(k.StabilityPercent)}
		}
		t.WriteRow(append(append([]string{c.Variant, terminal.OrDash(c.Topology)}, knee...), peakText(c.Peak, 2)[0], peakText(c.Peak, 2)[1], describeGatedPeak(c))...)
	}
	t.EndTable()
	fmt.Fprintln(t, sharedText(r))
	t.EndTable()
	pointsTable(t, r, o)
	if len(r.Ratios) > 0 {
		t.EndTable()
	}
}

func peakText(p *offline.Peak, n int) []string {
	if p == nil {
		return append([]string{"none"}, make([]string, n-1)...)
	}
	return []string{terminal.FormatInteger(p.Clients), terminal.FormatRounded(p.DocsPerSecond)}
}

// describeGatedPeak describes the highest point of a sweep if a gate excludes this point. Otherwise it returns an empty text.
func describeGatedPeak(c offline.Cell) string {
	if c.ObservedPeak == nil || c.Peak != nil && *c.Peak == *c.ObservedPeak {
		return ""
	}
	return fmt.Sprintf("%s at %d clients, gated", terminal.FormatRounded(c.ObservedPeak.DocsPerSecond), c.ObservedPeak.Clients)
}

func sharedText(r offline.Result) string {
	one := func(clients *int32, fallback bool) string {
		switch {
		case clients == nil:
			return "none: no client count was Measured in every cell"
		case fallback:
			return fmt.Sprintf("%d: no client count passes in every cell; this is the best of the counts that are Measured in every cell", *clients)
		}
		return fmt.Sprint(*clients)
	}
	var lines []string
	for _, c := range r.LeftOut {
		lines = append(lines, fmt.Sprintf("left out, because it has no knee: %s on %s", c.Variant, terminal.OrDash(c.Topology)))
	}
	if len(r.Topologies) == 0 {
		return strings.Join(append(lines, "shared clients: "+one(r.SharedClients, r.SharedFallback)), "\n")
	}
	for _, t := range r.Topologies {
		lines = append(lines, fmt.Sprintf("shared clients of %s: %s", terminal.OrDash(t.Topology), one(t.SharedClients, t.SharedFallback)))
	}
	return strings.Join(lines, "\n")
}

func pointsTable(t *terminal.Table, r offline.Result, o offline.Options) {
	t.WriteRow("VARIANT", "TOPOLOGY", "CLIENTS", "DOCS/S", "VERDICT", fmt.Sprintf("%g %% OF PEAK", o.PercentOfPeak), "REASON")
	for _, c := range r.Cells {
		for _, p := range c.Points {
			docs, passes := "-", "no"
			if p.DocsPerSecond != nil {
				docs = terminal.FormatRounded(*p.DocsPerSecond)
			}
			if p.Passes {
				passes = "yes"
			}
			t.WriteRow(c.Variant, terminal.OrDash(c.Topology), terminal.FormatInteger(p.Clients), docs, p.Verdict, passes, p.Reason)
		}
	}
}

func ratiosTable(t *terminal.Table, r offline.Result) {
	if len(r.Ratios) == 0 {
		return
	}
	t.WriteRow("RATIO OF", "TOPOLOGY", "AT", "RATIO", "INTERVAL", "CONFIDENCE", "P", "VERDICT")
	for _, ratio := range r.Ratios {
		at := ratio.At
		if ratio.Clients > 0 {
			at = fmt.Sprintf("%s, %d clients", at, ratio.Clients)
		}
		cells := []string{ratio.Variant + " / " + ratio.Baseline, terminal.OrDash(ratio.Topology), at, fmt.Sprintf("%.4f", ratio.Ratio)}
		if ratio.Low == nil {
			t.WriteRow(append(cells, "-", "-", "-", "-")...)
			continue
		}
		verdict := "-"
		if ratio.Verdict != nil {
			verdict = *ratio.Verdict
		}
		if n := len(ratio.Looks); n > 0 {
			verdict += fmt.Sprintf(" (look %d)", n)
		}
		t.WriteRow(append(cells, fmt.Sprintf("[%.4f, %.4f]", *ratio.Low, *ratio.High), fmt.Sprintf("%.1f %%", 100**ratio.Confidence),
			fmt.Sprintf("%.4g", *ratio.P), verdict)...)
	}
}
