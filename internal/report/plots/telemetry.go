package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/knee-bench/knee/internal/report/chart"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict"
)

// plottedCurve is a figure that a plot shows against the client count.
type plottedCurve struct {
	measure, word string
	dashed        bool
}

// measureChart returns a plot of one or two figures of a topology's sweeps against the client count. It returns nil if no point
// has such a figure.
func measureChart(d *document.Document, in view.Input, topology, title, unit string, limit float64, limitWord string, curves ...plottedCurve) *document.ChartFigure {
	if !d.Plots || d.Detail >= document.PlotsOfKnees {
		return nil
	}
	cells := view.CellsOf(in, topology)
	lines := chart.Lines{Title: title + " against clients, " + topology, Unit: unit, XLabel: "clients", LogX: true, Limit: limit, FromZero: true}
	var says []string
	gated := false
	for _, curve := range curves {
		for _, c := range cells {
			line := chart.Line{Series: seriesOf(in, c.Variant), Target: math.NaN(), Dashed: curve.dashed, NoMarks: curve.dashed || hidesMarks(d, in, topology)}
			var points []string
			for _, p := range view.SweepPoints(in, c) {
				if !p.Observed {
					continue
				}
				y := view.MedianOf(in, curve.measure, view.SweepRecords(in, c, p.Clients))
				if math.IsNaN(y) {
					continue
				}
				point := chart.Point{X: float64(p.Clients), Y: y}
				if p.Verdict == string(verdict.Gated) {
					point.Mark, gated = chart.Gated, true
				}
				line.Points = append(line.Points, point)
				points = append(points, fmt.Sprintf("%d: %s", p.Clients, format.Fixed(y, 1)))
			}
			if len(line.Points) > 0 {
				lines.Lines = append(lines.Lines, line)
				const most = 12
				says = append(says, strings.TrimSpace(c.Variant+" "+curve.word)+" by clients: "+format.FirstItems(points, most)+".")
			}
		}
	}
	if len(lines.Lines) == 0 {
		return nil
	}
	lines.Desc = strings.Join(says, " ")
	keys := seriesKeys(in, cells)
	if len(curves) > 1 {
		keys = append(keys, document.Key{SVG: chart.LineKey(), Text: curves[0].word}, document.Key{SVG: chart.DashKey(), Text: curves[1].word})
	}
	if !math.IsNaN(limit) {
		word := limitWord + " " + format.Figure(limit)
		if !lines.ShowsLimit() {
			word += ", far above"
		}
		keys = append(keys, document.Key{SVG: chart.LimitKey(), Text: word})
	}
	if gated {
		keys = append(keys, document.Key{SVG: chart.MarkKey(chart.Gated), Text: "a gate failed: " + gatesThatFailed(in, topology)})
	}
	return &document.ChartFigure{Draw: lines.SVG, Title: title + titleSuffix(in, topology), Keys: keys}
}

// gatesThatFailed lists the gates that points of a topology's sweeps failed.
func gatesThatFailed(in view.Input, topology string) string {
	var list []verdict.Failure
	for _, c := range view.CellsOf(in, topology) {
		for _, p := range view.SweepPoints(in, c) {
			for _, a := range p.Attempts {
				list = append(list, a.Judgement.Failures...)
			}
		}
	}
	return gateNames(list)
}

// CPU returns a plot of the user and sys CPU of the nodes in the sweeps of a topology.
func CPU(d *document.Document, in view.Input, topology string) *document.ChartFigure {
	return measureChart(d, in, topology, "CPU", "% of all cores", in.Spec.Gates.MaxCPUPercent.Float(math.NaN()), "gate maxCPUPercent",
		plottedCurve{"cpu_user_percent", "user", false}, plottedCurve{"cpu_sys_percent", "sys", true})
}

// Iowait returns a plot of the iowait of the nodes in the sweeps of a topology.
func Iowait(d *document.Document, in view.Input, topology string) *document.ChartFigure {
	return measureChart(d, in, topology, "iowait", "% of all cores", in.Spec.Gates.MaxIOWaitPercent.Float(math.NaN()), "gate maxIOWaitPercent",
		plottedCurve{"cpu_iowait_percent", "iowait", false})
}

// Latency returns plots of the latency of the ingest task in the sweeps, one plot per topology. A task without a target throughput
// runs in a closed loop.
func Latency(d *document.Document, in view.Input) []*document.ChartFigure {
	var out []*document.ChartFigure
	for _, topology := range in.Assessment.Topologies() {
		title, caption := "Ingest latency, closed loop", "Closed loop: latency is the reciprocal of throughput. It is not independent evidence."
		if !view.FillsIndex(in) {
			title = "Request latency, closed loop"
		}
		if hasTarget(in, topology) {
			title, caption = "Ingest latency, at a target throughput", "Latency is counted from the time when a request was due."
		}
		p := measureChart(d, in, topology, title, "ms", math.NaN(), "",
			plottedCurve{"latency_p99_ms", "p99", false}, plottedCurve{"latency_p50_ms", "p50", true})
		if p != nil {
			p.Caption = caption
		}
		out = append(out, p)
	}
	return out
}

// hasTarget reports whether an ingest task of a topology's sweeps had a target throughput.
func hasTarget(in view.Input, topology string) bool {
	for _, c := range view.CellsOf(in, topology) {
		for _, p := range view.SweepPoints(in, c) {
			for _, r := range view.SweepRecords(in, c, p.Clients) {
				for _, t := range r.Tasks {
					if !t.Search && t.Target > 0 {
						return true
					}
				}
			}
		}
	}
	return false
}
