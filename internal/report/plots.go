package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/report/chart"
)

// seriesOf is the place of a variant among the campaign's: its colour and its mark in every plot.
func seriesOf(in Input, variant string) int {
	for i, v := range in.Spec.Variants {
		if string(v.Name) == variant {
			return i
		}
	}
	return 0
}

// seriesKeys explain the variants' lines.
func seriesKeys(in Input, cells []analysis.Cell) []key {
	var out []key
	for _, c := range cells {
		out = append(out, key{chart.SeriesKey(seriesOf(in, c.Variant)), c.Variant})
	}
	return out
}

// manyMarks is how many marks of ordinary points make a plot too large.
const manyMarks = 120

// kneeCharts are the curves of docs/s against clients, a plot a topology.
func kneeCharts(d *document, in Input) []*plotted {
	if !d.plots {
		return nil
	}
	var out []*plotted
	for _, topology := range in.Assessment.Topologies() {
		out = append(out, kneeChart(d, in, topology))
	}
	return out
}

func kneeChart(d *document, in Input, topology string) *plotted {
	cells := cellsOf(in, topology)
	lines := chart.Lines{Title: unit(in) + " against clients, " + topology, Unit: unit(in), XLabel: "clients", LogX: true, Limit: math.NaN()}
	keys := seriesKeys(in, cells)
	seen := map[string]bool{}
	var notes, says []string
	for _, c := range cells {
		line := chart.Line{Series: seriesOf(in, c.Variant), Target: math.NaN(), NoMarks: d.manyMarks(in, topology)}
		if c.Curve.Peak != nil {
			line.Target = c.Curve.Target
			seen["target"], seen["peak"] = true, true
		}
		for _, p := range sweepPoints(in, c) {
			point, note := kneePoint(in, c, p, len(cells))
			if point == nil {
				continue
			}
			line.Points = append(line.Points, *point)
			seen[p.verdict] = true
			seen["knee"] = seen["knee"] || p.knee
			if note != "" {
				notes = append(notes, note)
			}
			if n := len(line.Points); n > 1 && point.Mark == chart.Gated && line.Points[n-2].Mark == chart.Gated {
				line.Points[n-1].Label = "" // the gate is named at the first of them, and in the caption
			}
		}
		if len(line.Points) > 0 {
			lines.Lines = append(lines.Lines, line)
		}
		says = append(says, curveText(in, c))
	}
	if len(lines.Lines) == 0 {
		return nil
	}
	for _, k := range []struct {
		name string
		key  key
	}{
		{"knee", key{chart.KneeKey(), "knee"}}, {"peak", key{chart.PeakKey(), "peak"}},
		{"target", key{chart.DotKey(), figure(in.Plan.PercentOfPeak) + " % of the peak"}},
		{string(analysis.Gated), key{chart.MarkKey(chart.Gated), "a gate failed"}},
		{string(analysis.Errored), key{chart.MarkKey(chart.Failed), "failed, no figure"}},
		{skipped, key{chart.MarkKey(chart.Skipped), "skipped by the adaptive sweep"}},
	} {
		if seen[k.name] {
			keys = append(keys, k.key)
		}
	}
	lines.Desc = strings.Join(says, " ")
	return &plotted{draw: lines.SVG, title: unit(in) + " against clients" + of(in, topology), keys: keys, caption: listed(notes, 6)}
}

// of names a topology where there are several.
func of(in Input, topology string) string {
	if len(in.Assessment.Topologies()) > 1 {
		return ", " + topology
	}
	return ""
}

// manyMarks tells whether a topology's plots show the telling points alone.
func (d *document) manyMarks(in Input, topology string) bool {
	return d.detail >= fewerRows && len(cellsOf(in, topology))*len(in.Plan.Clients) > manyMarks
}

// kneePoint is a client count as a knee curve shows it, with a note on one that failed; nil while it is pending.
func kneePoint(in Input, c analysis.Cell, p sweepPoint, cells int) (*chart.Point, string) {
	out := chart.Point{X: float64(p.clients), Y: p.value, Knee: p.knee, Peak: p.peak}
	name := fmt.Sprintf("%s@%d", cellName(in, c.Variant, c.Topology), p.clients)
	const few = 4 // cells whose labels do not run into each other
	switch p.verdict {
	case pending:
		return nil, ""
	case skipped:
		out.Mark = chart.Skipped
		return &out, ""
	case string(analysis.Errored):
		out.Mark = chart.Failed
		return &out, name + " failed: " + cut(p.failures, 160)
	case string(analysis.Gated):
		out.Mark = chart.Gated
		if cells <= few && len(p.attempts) > 0 {
			out.Label = gateNames(p.attempts[0].judgement.Failures)
		}
		return &out, name + " gated: " + cut(p.failures, 160)
	}
	if p.knee && cells <= few {
		out.Label = fmt.Sprintf("knee %d", p.clients)
		if share := stability(in, c); !math.IsNaN(share) {
			out.Label += fmt.Sprintf(" (%s)", percent(share, 0))
		}
	}
	return &out, ""
}

// gateNames are the gates that failed.
func gateNames(list []analysis.Failure) string {
	var out []string
	for _, f := range list {
		if f.Gate != "" && !slices.Contains(out, f.Gate) {
			out = append(out, f.Gate)
		}
	}
	return strings.Join(out, ", ")
}

// curveText says what a cell's curve shows, to those who do not see it.
func curveText(in Input, c analysis.Cell) string {
	s := cellName(in, c.Variant, c.Topology) + ":"
	if c.Curve.Knee != nil {
		s += fmt.Sprintf(" knee at %d clients with %s %s", c.Curve.Knee.Clients, rounded(c.Curve.Knee.DocsPerSecond), unit(in))
		if share := stability(in, c); !math.IsNaN(share) {
			s += fmt.Sprintf(", stable in %s of resamples", percent(share, 0))
		}
		s += fmt.Sprintf("; peak %s at %d.", rounded(c.Curve.Peak.DocsPerSecond), c.Curve.Peak.Clients)
	}
	var points []string
	for _, p := range sweepPoints(in, c) {
		switch {
		case p.observed && p.verdict == string(analysis.Gated):
			points = append(points, fmt.Sprintf("%d: %s (gated: %s)", p.clients, rounded(p.value), cut(p.failures, 60)))
		case p.observed:
			points = append(points, fmt.Sprintf("%d: %s", p.clients, rounded(p.value)))
		case p.verdict == string(analysis.Errored):
			points = append(points, fmt.Sprintf("%d: failed", p.clients))
		case p.verdict == skipped:
			points = append(points, fmt.Sprintf("%d: skipped", p.clients))
		}
	}
	const most = 12
	if len(points) > 0 {
		s += " " + unit(in) + " by clients: " + listed(points, most) + "."
	}
	return s
}
