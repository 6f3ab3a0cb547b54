package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/offline"
)

// analysisTable shows a result to a person.
func analysisTable(out io.Writer, r offline.Result, o offline.Options) error {
	t := newTable(out)
	if slices.ContainsFunc(r.Cells, func(c offline.Cell) bool { return len(c.Points) > 0 }) {
		sweepTables(t, r, o)
	}
	ratiosTable(t, r)
	return t.flush()
}

func sweepTables(t *table, r offline.Result, o offline.Options) {
	t.row("VARIANT", "TOPOLOGY", "KNEE", "DOCS/S", "% OF PEAK", "STABILITY", "PEAK", "DOCS/S", "OBSERVED PEAK")
	for _, c := range r.Cells {
		knee := []string{"none", "", "", ""}
		if k := c.Knee; k != nil {
			knee = []string{integer(k.Clients), whole(k.DocsPerSecond), fmt.Sprintf("%.1f", k.PercentOfPeak), percentOrDash(k.StabilityPercent)}
		}
		t.row(append(append([]string{c.Variant, dash(c.Topology)}, knee...), peakText(c.Peak, 2)[0], peakText(c.Peak, 2)[1], observed(c))...)
	}
	t.blank()
	fmt.Fprintln(t, sharedText(r))
	t.blank()
	pointsTable(t, r, o)
	if len(r.Ratios) > 0 {
		t.blank()
	}
}

func peakText(p *offline.Peak, n int) []string {
	if p == nil {
		return append([]string{"none"}, make([]string, n-1)...)
	}
	return []string{integer(p.Clients), whole(p.DocsPerSecond)}
}

// observed tells of a peak that a gate took away.
func observed(c offline.Cell) string {
	if c.ObservedPeak == nil || c.Peak != nil && *c.Peak == *c.ObservedPeak {
		return ""
	}
	return fmt.Sprintf("%s at %d clients, gated", whole(c.ObservedPeak.DocsPerSecond), c.ObservedPeak.Clients)
}

func sharedText(r offline.Result) string {
	one := func(clients *int32, fallback bool) string {
		switch {
		case clients == nil:
			return "none: no client count was Measured in every cell"
		case fallback:
			return fmt.Sprintf("%d, which does not pass in every cell: the best there is", *clients)
		}
		return fmt.Sprint(*clients)
	}
	if len(r.Topologies) == 0 {
		return "shared clients: " + one(r.SharedClients, r.SharedFallback)
	}
	var lines []string
	for _, t := range r.Topologies {
		lines = append(lines, fmt.Sprintf("shared clients of %s: %s", dash(t.Topology), one(t.SharedClients, t.SharedFallback)))
	}
	return strings.Join(lines, "\n")
}

func pointsTable(t *table, r offline.Result, o offline.Options) {
	t.row("VARIANT", "TOPOLOGY", "CLIENTS", "DOCS/S", "VERDICT", fmt.Sprintf("%g %% OF PEAK", o.PercentOfPeak), "REASON")
	for _, c := range r.Cells {
		for _, p := range c.Points {
			docs, passes := "-", "no"
			if p.DocsPerSecond != nil {
				docs = whole(*p.DocsPerSecond)
			}
			if p.Passes {
				passes = "yes"
			}
			t.row(c.Variant, dash(c.Topology), integer(p.Clients), docs, p.Verdict, passes, p.Reason)
		}
	}
}

func ratiosTable(t *table, r offline.Result) {
	if len(r.Ratios) == 0 {
		return
	}
	t.row("RATIO OF", "TOPOLOGY", "AT", "RATIO", "INTERVAL", "CONFIDENCE", "P", "VERDICT")
	for _, ratio := range r.Ratios {
		at := ratio.At
		if ratio.Clients > 0 {
			at = fmt.Sprintf("%s, %d clients", at, ratio.Clients)
		}
		cells := []string{ratio.Variant + " / " + ratio.Baseline, dash(ratio.Topology), at, fmt.Sprintf("%.4f", ratio.Ratio)}
		if ratio.Low == nil {
			t.row(append(cells, "-", "-", "-", "-")...)
			continue
		}
		verdict := "-"
		if ratio.Verdict != nil {
			verdict = *ratio.Verdict
		}
		t.row(append(cells, fmt.Sprintf("[%.4f, %.4f]", *ratio.Low, *ratio.High), fmt.Sprintf("%.1f %%", 100**ratio.Confidence),
			fmt.Sprintf("%.4g", *ratio.P), verdict)...)
	}
}
