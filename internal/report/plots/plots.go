// Package plots makes the plots of a report.
package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/report/chart"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// seriesOf returns the index of a variant. The index defines the colour and the mark of the variant in every plot.
func seriesOf(in view.Input, variant string) int {
	for i, v := range in.Spec.Variants {
		if string(v.Name) == variant {
			return i
		}
	}
	return 0
}

// seriesKeys returns the legend entries of the variants.
func seriesKeys(in view.Input, cells []campaign.Cell) []document.Key {
	var out []document.Key
	for _, c := range cells {
		out = append(out, document.Key{SVG: chart.SeriesKey(seriesOf(in, c.Variant)), Text: c.Variant})
	}
	return out
}

// manyMarks is the highest number of marks in a plot. Above this number, the report of a large campaign leaves out ordinary marks.
const manyMarks = 120

// Knees returns the plots of docs/s against the client count, one plot per topology.
func Knees(d *document.Document, in view.Input) []*document.ChartFigure {
	if !d.Plots {
		return nil
	}
	var out []*document.ChartFigure
	for _, topology := range in.Assessment.Topologies() {
		out = append(out, kneeChart(d, in, topology))
	}
	return out
}

func kneeChart(d *document.Document, in view.Input, topology string) *document.ChartFigure {
	cells := view.CellsOf(in, topology)
	lines := chart.Lines{Title: view.Unit(in) + " against clients, " + topology, Unit: view.Unit(in), XLabel: "clients", LogX: true, Limit: math.NaN()}
	keys := seriesKeys(in, cells)
	seen := map[string]bool{}
	var notes, says []string
	for _, c := range cells {
		line := chart.Line{Series: seriesOf(in, c.Variant), Target: math.NaN(), NoMarks: hidesMarks(d, in, topology)}
		if c.Curve.Peak != nil {
			line.Target = c.Curve.Target
			seen["target"], seen["peak"] = true, true
		}
		for _, p := range view.SweepPoints(in, c) {
			point, note := kneePoint(in, c, p, len(cells))
			if point == nil {
				continue
			}
			line.Points = append(line.Points, *point)
			seen[p.Verdict] = true
			seen["knee"] = seen["knee"] || p.Knee
			if note != "" {
				notes = append(notes, note)
			}
			if n := len(line.Points); n > 1 && point.Mark == chart.Gated && line.Points[n-2].Mark == chart.Gated {
				line.Points[n-1].Label = "" // the gate is already named at the first point and in the caption
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
		key  document.Key
	}{
		{"knee", document.Key{SVG: chart.KneeKey(), Text: "knee"}}, {"peak", document.Key{SVG: chart.PeakKey(), Text: "peak"}},
		{"target", document.Key{SVG: chart.DotKey(), Text: format.Figure(in.Plan.PercentOfPeak) + " % of the peak"}},
		{string(verdict.Gated), document.Key{SVG: chart.MarkKey(chart.Gated), Text: "a gate failed"}},
		{string(verdict.Errored), document.Key{SVG: chart.MarkKey(chart.Failed), Text: "failed, no figure"}},
		{view.Skipped, document.Key{SVG: chart.MarkKey(chart.Skipped), Text: "not measured (skipped by the adaptive sweep)"}},
	} {
		if seen[k.name] {
			keys = append(keys, k.key)
		}
	}
	lines.Desc = strings.Join(says, " ")
	return &document.ChartFigure{Draw: lines.SVG, Title: view.Unit(in) + " against clients" + titleSuffix(in, topology), Keys: keys, Caption: format.FirstItems(notes, 6)}
}

// titleSuffix returns the name of a topology for a title. It returns an empty text if the campaign has only one topology.
func titleSuffix(in view.Input, topology string) string {
	if len(in.Assessment.Topologies()) > 1 {
		return ", " + topology
	}
	return ""
}

// hidesMarks reports whether the plots of a topology leave out the marks of ordinary points.
func hidesMarks(d *document.Document, in view.Input, topology string) bool {
	return d.Detail >= document.FewerRows && len(view.CellsOf(in, topology))*len(in.Plan.Clients) > manyMarks
}

// kneePoint returns the point of a client count in a knee plot, and a note if the trial failed or was gated. The point is nil
// while the client count is pending.
func kneePoint(in view.Input, c campaign.Cell, p view.SweepPoint, cells int) (*chart.Point, string) {
	out := chart.Point{X: float64(p.Clients), Y: p.Value, Knee: p.Knee, Peak: p.Peak}
	name := fmt.Sprintf("%s@%d", view.CellName(in, c.Variant, c.Topology), p.Clients)
	const few = 4 // highest number of cells whose labels do not overlap
	switch p.Verdict {
	case view.Pending:
		return nil, ""
	case view.Skipped:
		out.Mark = chart.Skipped
		return &out, ""
	case string(verdict.Errored):
		out.Mark = chart.Failed
		return &out, name + " failed: " + format.Shorten(p.Failures, 160)
	case string(verdict.Gated):
		out.Mark = chart.Gated
		if cells <= few && len(p.Attempts) > 0 {
			out.Label = gateNames(p.Attempts[0].Judgement.Failures)
		}
		return &out, name + " gated: " + format.Shorten(p.Failures, 160)
	}
	if p.Knee && cells <= few {
		out.Label = fmt.Sprintf("knee %d", p.Clients)
		if share := view.Stability(in, c); !math.IsNaN(share) {
			out.Label += fmt.Sprintf(" (%s)", format.Percent(share, 0))
		}
	}
	return &out, ""
}

// gateNames lists the names of the gates in a list of failures, without duplicates.
func gateNames(list []verdict.Failure) string {
	var out []string
	for _, f := range list {
		if f.Gate != "" && !slices.Contains(out, f.Gate) {
			out = append(out, f.Gate)
		}
	}
	return strings.Join(out, ", ")
}

// curveText describes the curve of a cell for readers who do not see the plot.
func curveText(in view.Input, c campaign.Cell) string {
	s := view.CellName(in, c.Variant, c.Topology) + ":"
	if c.Curve.Knee != nil {
		s += fmt.Sprintf(" knee at %d clients with %s %s", c.Curve.Knee.Clients, format.Rounded(c.Curve.Knee.Rate), view.Unit(in))
		if share := view.Stability(in, c); !math.IsNaN(share) {
			s += fmt.Sprintf(" (stability %s)", format.Percent(share, 0))
		}
		s += fmt.Sprintf("; peak %s at %d.", format.Rounded(c.Curve.Peak.Rate), c.Curve.Peak.Clients)
	}
	var points []string
	for _, p := range view.SweepPoints(in, c) {
		switch {
		case p.Observed && p.Verdict == string(verdict.Gated):
			points = append(points, fmt.Sprintf("%d: %s (gated: %s)", p.Clients, format.Rounded(p.Value), format.Shorten(p.Failures, 60)))
		case p.Observed:
			points = append(points, fmt.Sprintf("%d: %s", p.Clients, format.Rounded(p.Value)))
		case p.Verdict == string(verdict.Errored):
			points = append(points, fmt.Sprintf("%d: failed", p.Clients))
		case p.Verdict == view.Skipped:
			points = append(points, fmt.Sprintf("%d: skipped", p.Clients))
		}
	}
	const most = 12
	if len(points) > 0 {
		s += " " + view.Unit(in) + " by clients: " + format.FirstItems(points, most) + "."
	}
	return s
}
