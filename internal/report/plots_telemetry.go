package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/report/chart"
)

// curveOf is a figure of each client count that a plot shows.
type curveOf struct {
	measure, word string
	dashed        bool
}

// measureChart draws figures of the points against the client count; nil when no point has any.
func measureChart(d *document, in Input, topology, title, unit string, limit float64, limitWord string, curves ...curveOf) *plotted {
	if !d.plots || d.detail >= plotsOfKnees {
		return nil
	}
	cells := cellsOf(in, topology)
	lines := chart.Lines{Title: title + " against clients, " + topology, Unit: unit, XLabel: "clients", LogX: true, Limit: limit, FromZero: true}
	var says []string
	gated := false
	for _, curve := range curves {
		m := measureNamed(curve.measure)
		for _, c := range cells {
			line := chart.Line{Series: seriesOf(in, c.Variant), Target: math.NaN(), Dashed: curve.dashed, NoMarks: curve.dashed || d.manyMarks(in, topology)}
			var points []string
			for _, p := range sweepPoints(in, c) {
				if !p.observed {
					continue
				}
				y := m.median(sweepRecords(in, c, p.clients))
				if math.IsNaN(y) {
					continue
				}
				point := chart.Point{X: float64(p.clients), Y: y}
				if p.verdict == string(analysis.Gated) {
					point.Mark, gated = chart.Gated, true
				}
				line.Points = append(line.Points, point)
				points = append(points, fmt.Sprintf("%d: %s", p.clients, fixed(y, 1)))
			}
			if len(line.Points) > 0 {
				lines.Lines = append(lines.Lines, line)
				const most = 12
				says = append(says, strings.TrimSpace(c.Variant+" "+curve.word)+" by clients: "+listed(points, most)+".")
			}
		}
	}
	if len(lines.Lines) == 0 {
		return nil
	}
	lines.Desc = strings.Join(says, " ")
	keys := seriesKeys(in, cells)
	if len(curves) > 1 {
		keys = append(keys, key{chart.LineKey(), curves[0].word}, key{chart.DashKey(), curves[1].word})
	}
	if !math.IsNaN(limit) {
		word := limitWord + " " + figure(limit)
		if !lines.ShowsLimit() {
			word += ", far above"
		}
		keys = append(keys, key{chart.LimitKey(), word})
	}
	if gated {
		keys = append(keys, key{chart.MarkKey(chart.Gated), "a gate failed: " + gatesThatFailed(in, topology)})
	}
	return &plotted{draw: lines.SVG, title: title + of(in, topology), keys: keys}
}

// gatesThatFailed names the gates that a topology's points failed.
func gatesThatFailed(in Input, topology string) string {
	var list []analysis.Failure
	for _, c := range cellsOf(in, topology) {
		for _, p := range sweepPoints(in, c) {
			for _, a := range p.attempts {
				list = append(list, a.judgement.Failures...)
			}
		}
	}
	return gateNames(list)
}

func cpuChart(d *document, in Input, topology string) *plotted {
	return measureChart(d, in, topology, "CPU", "% of all cores", in.Spec.Gates.MaxCPUPercent.Float(math.NaN()), "gate maxCPUPercent",
		curveOf{"cpu_user_percent", "user", false}, curveOf{"cpu_sys_percent", "sys", true})
}

func iowaitChart(d *document, in Input, topology string) *plotted {
	return measureChart(d, in, topology, "iowait", "% of all cores", in.Spec.Gates.MaxIOWaitPercent.Float(math.NaN()), "gate maxIOWaitPercent",
		curveOf{"cpu_iowait_percent", "iowait", false})
}

// latencyCharts are the ingest task's latency in the sweeps, whose loop is closed unless the task has a target.
func latencyCharts(d *document, in Input) []*plotted {
	var out []*plotted
	for _, topology := range in.Assessment.Topologies() {
		title, caption := "Ingest latency, closed loop", "Closed loop: the reciprocal of throughput, no evidence of its own."
		if !fillsIndex(in) {
			title = "Request latency, closed loop"
		}
		if hasTarget(in, topology) {
			title, caption = "Ingest latency, at a target throughput", "Counted from when a request was due."
		}
		p := measureChart(d, in, topology, title, "ms", math.NaN(), "",
			curveOf{"latency_p99_ms", "p99", false}, curveOf{"latency_p50_ms", "p50", true})
		if p != nil {
			p.caption = caption
		}
		out = append(out, p)
	}
	return out
}

// hasTarget tells whether an ingest task of a topology's sweeps had a target throughput.
func hasTarget(in Input, topology string) bool {
	for _, c := range cellsOf(in, topology) {
		for _, p := range sweepPoints(in, c) {
			for _, r := range sweepRecords(in, c, p.clients) {
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
