package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/report/chart"
)

// forestChart is the ratios with their intervals.
func forestChart(d *document, in Input) *plotted {
	const most = 24
	if !d.plots {
		return nil
	}
	share := smallestDifference(in) / 100
	f := chart.Forest{Title: "ratios of " + unit(in) + " with their intervals", Unit: "times the " + unit(in) + " of the baseline", Band: share}
	var says []string
	for _, r := range in.Assessment.Ratios {
		if math.IsNaN(r.Ratio) {
			continue
		}
		if len(f.Rows) == most {
			break
		}
		times, bounds := ratioText(r)
		value := times + " " + bounds
		if r.HasInterval() {
			value += " " + percent(r.Confidence, 1)
		}
		row := chart.ForestRow{
			Label: ratioCell(in, r) + " / " + ratioBaseline(in, r), Value: strings.TrimSpace(value),
			Series: seriesOf(in, r.Variant), Ratio: r.Ratio, Low: math.NaN(), High: math.NaN(),
		}
		if r.HasInterval() {
			row.Low, row.High = r.Low, r.High
		}
		f.Rows = append(f.Rows, row)
		says = append(says, row.Label+": "+row.Value+", "+ratioVerdict(r)+".")
	}
	if len(f.Rows) == 0 {
		return nil
	}
	f.Desc = listed(says, 12)
	caption := "The axis is logarithmic."
	if len(in.Assessment.Ratios) > len(f.Rows) {
		caption += fmt.Sprintf(" The first %d of %d; the table holds all.", len(f.Rows), len(in.Assessment.Ratios))
	}
	keys := []key{{chart.LineKey(), "1: no difference"}, {chart.BandKey(), "smaller than matters: within " + figure(100*share) + " %"}}
	return &plotted{draw: f.SVG, title: "Ratio of " + unit(in) + ", with its interval", keys: keys, caption: caption}
}

// dotsChart is every Final repetition as a mark.
func dotsChart(d *document, in Input, topology string) *plotted {
	if !d.plots || d.detail >= plotsOfKnees {
		return nil
	}
	strip := chart.Strip{Title: unit(in) + " of each Final repetition, " + topology, Unit: unit(in)}
	var says []string
	gated, placements := false, false
	const most = 24
	cells := cellsOf(in, topology)
	for _, c := range cells {
		for _, clients := range c.FinalClients() {
			values, planned := docsAt(c, clients)
			row := chart.StripRow{Label: c.Variant, Series: seriesOf(in, c.Variant), Median: analysis.Median(values)}
			if fixedClients(in) {
				row.Label += fmt.Sprintf("@%d", clients)
			}
			row.Value = finalsText(values, planned)
			for _, o := range c.Finals {
				if o.Trial.Clients != clients || !o.Done || math.IsNaN(o.DocsPerSecond()) {
					continue
				}
				p := chart.StripPoint{Value: o.DocsPerSecond(), Line: int(max(o.Trial.Placement, 1) - 1)}
				if !o.Measured() {
					p.Mark, gated = chart.Gated, true
				}
				placements = placements || p.Line > 0
				row.Points = append(row.Points, p)
			}
			says = append(says, row.Label+": "+finalsRange(values, planned)+".")
			if len(row.Points) > 0 && len(strip.Rows) < most {
				strip.Rows = append(strip.Rows, row)
			}
		}
	}
	if len(strip.Rows) == 0 {
		return nil
	}
	strip.Desc = listed(says, 12)
	keys := []key{{chart.PeakKey(), "bar: median"}}
	if gated {
		keys = append(keys, key{chart.MarkKey(chart.Gated), "a gate failed, not in the ratio: " + gatesOfFinals(cells)})
	}
	caption := "A mark a repetition."
	if placements {
		caption += " A line a placement."
	}
	return &plotted{draw: strip.SVG, title: "Final repetitions" + of(in, topology), keys: keys, caption: caption}
}

// finalsText is what Measured Finals come to, of those that were planned.
func finalsText(values []float64, planned int) string {
	var parts []string
	if len(values) > 0 {
		parts = append(parts, "median "+rounded(analysis.Median(values)))
	}
	if cv := variation(values); !math.IsNaN(cv) {
		parts = append(parts, fmt.Sprintf("CV %s %%", fixed(100*cv, 2)))
	}
	if len(values) < planned {
		parts = append(parts, fmt.Sprintf("%d of %d Measured", len(values), planned))
	}
	return strings.Join(parts, ", ")
}

// finalsRange is the same for those who do not see the plot.
func finalsRange(values []float64, planned int) string {
	if len(values) == 0 {
		return fmt.Sprintf("0 of %d repetitions Measured", planned)
	}
	low, high := ends(values)
	return fmt.Sprintf("%s from %s to %s, %s", plural(len(values), "repetition"), rounded(low), rounded(high), finalsText(values, planned))
}

// gatesOfFinals names the gates that the cells' Finals failed.
func gatesOfFinals(cells []analysis.Cell) string {
	var list []analysis.Failure
	for _, c := range cells {
		for _, o := range c.Finals {
			if o.Done {
				list = append(list, o.Judgement.Failures...)
			}
		}
	}
	return gateNames(list)
}

// orderChart is docs/s against the order of the runs, each cell against its own median, so that a drift is seen.
func orderChart(d *document, in Input, topology string) *plotted {
	if !d.plots || d.detail >= plotsOfKnees {
		return nil
	}
	cells := cellsOf(in, topology)
	var starts []int64
	for _, c := range cells {
		for _, o := range c.Finals {
			if o.Done && o.Record != nil {
				starts = append(starts, o.Record.StartedAt)
			}
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts) // cells that start together have one place
	lines := chart.Lines{
		Title: unit(in) + " of the Finals against the order of the runs, " + topology, Unit: "% of the cell's own median",
		XLabel: "order of the start", Limit: math.NaN(),
	}
	var says []string
	keys := seriesKeys(in, cells)
	if gates := gatesOfFinals(cells); gates != "" {
		keys = append(keys, key{chart.MarkKey(chart.Gated), "a gate failed: " + gates})
	}
	for _, c := range cells {
		line := chart.Line{Series: seriesOf(in, c.Variant), Target: math.NaN(), NoMarks: d.detail >= fewerRows && len(starts)*len(cells) > manyMarks}
		medians := map[int32]float64{}
		for _, clients := range c.FinalClients() {
			values, _ := docsAt(c, clients)
			medians[clients] = analysis.Median(values)
		}
		for _, o := range c.Finals {
			share := 100 * o.DocsPerSecond() / medians[o.Trial.Clients]
			if !o.Done || o.Record == nil || math.IsNaN(share) {
				continue
			}
			place, _ := slices.BinarySearch(starts, o.Record.StartedAt)
			p := chart.Point{X: float64(place + 1), Y: share}
			if !o.Measured() {
				p.Mark = chart.Gated
			}
			line.Points = append(line.Points, p)
		}
		slices.SortStableFunc(line.Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
		if len(line.Points) > 0 {
			lines.Lines = append(lines.Lines, line)
			low, high := math.Inf(1), math.Inf(-1)
			for _, p := range line.Points {
				low, high = math.Min(low, p.Y), math.Max(high, p.Y)
			}
			says = append(says, fmt.Sprintf("%s: %d runs between %s and %s %% of its median.", c.Variant, len(line.Points), fixed(low, 2), fixed(high, 2)))
		}
	}
	if len(lines.Lines) == 0 || len(starts) < 2 {
		return nil
	}
	lines.Desc = strings.Join(says, " ")
	return &plotted{draw: lines.SVG, title: "Against the order of the runs" + of(in, topology), keys: keys,
		caption: "A slope in time would be seen here, in all cells alike."}
}
