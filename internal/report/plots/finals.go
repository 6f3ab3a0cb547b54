package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/report/chart"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Forest returns a plot of the ratios with their intervals. It returns nil if the document has no plots or no ratio is known.
func Forest(d *document.Document, in view.Input) *document.ChartFigure {
	const most = 24
	if !d.Plots {
		return nil
	}
	share := view.SmallestDifference(in) / 100
	f := chart.Forest{Title: "ratios of " + view.Unit(in) + " with their intervals", Unit: "times the " + view.Unit(in) + " of the baseline", Band: share}
	var says []string
	for _, r := range in.Assessment.Ratios {
		if math.IsNaN(r.Ratio) {
			continue
		}
		if len(f.Rows) == most {
			break
		}
		times, bounds := summary.RatioText(r)
		value := times + " " + bounds
		if r.HasInterval() {
			value += " " + format.Percent(r.Confidence, 1)
		}
		row := chart.ForestRow{
			Label: summary.RatioCell(in, r) + " / " + summary.RatioBaseline(in, r), Value: strings.TrimSpace(value),
			Series: seriesOf(in, r.Variant), Ratio: r.Ratio, Low: math.NaN(), High: math.NaN(),
		}
		if r.HasInterval() {
			row.Low, row.High = r.Low, r.High
		}
		f.Rows = append(f.Rows, row)
		says = append(says, row.Label+": "+row.Value+", "+summary.RatioVerdict(r)+".")
	}
	if len(f.Rows) == 0 {
		return nil
	}
	f.Desc = format.FirstItems(says, 12)
	caption := "The axis is logarithmic."
	if len(in.Assessment.Ratios) > len(f.Rows) {
		caption += fmt.Sprintf(" The plot shows the first %d of %d ratios; the table has all of them.", len(f.Rows), len(in.Assessment.Ratios))
	}
	keys := []document.Key{{SVG: chart.LineKey(), Text: "1: no difference"}, {SVG: chart.BandKey(), Text: "difference too small to matter: at most " + format.Figure(100*share) + " %"}}
	return &document.ChartFigure{Draw: f.SVG, Title: "Ratio of " + view.Unit(in) + ", with its interval", Keys: keys, Caption: caption}
}

// Finals returns a plot with a mark for each Final repetition of a topology.
func Finals(d *document.Document, in view.Input, topology string) *document.ChartFigure {
	if !d.Plots || d.Detail >= document.PlotsOfKnees {
		return nil
	}
	strip := chart.Strip{Title: view.Unit(in) + " of each Final repetition, " + topology, Unit: view.Unit(in)}
	var says []string
	gated, placements := false, false
	const most = 24
	cells := view.CellsOf(in, topology)
	for _, c := range cells {
		for _, clients := range c.FinalClients() {
			values, planned := view.FinalRates(c, clients)
			row := chart.StripRow{Label: c.Variant, Series: seriesOf(in, c.Variant), Median: stats.Median(values)}
			if view.FixedClients(in) {
				row.Label += fmt.Sprintf("@%d", clients)
			}
			row.Value = finalsText(values, planned)
			for _, o := range c.Finals {
				if o.Trial.Clients != clients || !o.Done || math.IsNaN(o.Rate()) {
					continue
				}
				p := chart.StripPoint{Value: o.Rate(), Line: int(o.Trial.Placement - 1)}
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
	strip.Desc = format.FirstItems(says, 12)
	keys := []document.Key{{SVG: chart.PeakKey(), Text: "bar: median"}}
	if gated {
		keys = append(keys, document.Key{SVG: chart.MarkKey(chart.Gated), Text: "not in the ratio, because a gate failed: " + GatesOfFinals(cells)})
	}
	caption := "Each mark is a repetition."
	if placements {
		caption += " Each line is a placement."
	}
	return &document.ChartFigure{Draw: strip.SVG, Title: "Final repetitions" + titleSuffix(in, topology), Keys: keys, Caption: caption}
}

// finalsText summarizes the Measured Finals in a few words.
func finalsText(values []float64, planned int) string {
	var parts []string
	if len(values) > 0 {
		parts = append(parts, "median "+format.Rounded(stats.Median(values)))
	}
	if cv := view.Variation(values); !math.IsNaN(cv) {
		parts = append(parts, fmt.Sprintf("CV %s %%", format.Fixed(100*cv, 2)))
	}
	if len(values) < planned {
		parts = append(parts, fmt.Sprintf("%d of %d Measured", len(values), planned))
	}
	return strings.Join(parts, ", ")
}

// finalsRange describes the Measured Finals for readers who do not see the plot.
func finalsRange(values []float64, planned int) string {
	if len(values) == 0 {
		return fmt.Sprintf("0 of %d repetitions Measured", planned)
	}
	low, high := view.LowestAndHighest(values)
	return fmt.Sprintf("%s from %s to %s, %s", format.Plural(len(values), "repetition"), format.Rounded(low), format.Rounded(high), finalsText(values, planned))
}

// GatesOfFinals lists the gates that Finals of the cells failed.
func GatesOfFinals(cells []campaign.Cell) string {
	var list []verdict.Failure
	for _, c := range cells {
		for _, o := range c.Finals {
			if o.Done {
				list = append(list, o.Judgement.Failures...)
			}
		}
	}
	return gateNames(list)
}

// Order returns a plot of docs/s against the order of the runs. A value is in percent of the median of its own cell, so a drift is
// visible.
func Order(d *document.Document, in view.Input, topology string) *document.ChartFigure {
	if !d.Plots || d.Detail >= document.PlotsOfKnees {
		return nil
	}
	cells := view.CellsOf(in, topology)
	var starts []int64
	for _, c := range cells {
		for _, o := range c.Finals {
			if o.Done && o.Record != nil {
				starts = append(starts, o.Record.StartTime())
			}
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts) // trials that start at the same time share one position on the axis
	lines := chart.Lines{
		Title: view.Unit(in) + " of the Finals against the order of the runs, " + topology, Unit: "% of the cell's own median",
		XLabel: "runs in the order of their start", Limit: math.NaN(),
	}
	var says []string
	keys := seriesKeys(in, cells)
	if gates := GatesOfFinals(cells); gates != "" {
		keys = append(keys, document.Key{SVG: chart.MarkKey(chart.Gated), Text: "a gate failed: " + gates})
	}
	for _, c := range cells {
		line := chart.Line{Series: seriesOf(in, c.Variant), Target: math.NaN(), NoMarks: d.Detail >= document.FewerRows && len(starts)*len(cells) > manyMarks}
		medians := map[int32]float64{}
		for _, clients := range c.FinalClients() {
			values, _ := view.FinalRates(c, clients)
			medians[clients] = stats.Median(values)
		}
		for _, o := range c.Finals {
			share := 100 * o.Rate() / medians[o.Trial.Clients]
			if !o.Done || o.Record == nil || math.IsNaN(share) {
				continue
			}
			place, _ := slices.BinarySearch(starts, o.Record.StartTime())
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
			says = append(says, fmt.Sprintf("%s: %d runs between %s and %s %% of its median.", c.Variant, len(line.Points), format.Fixed(low, 2), format.Fixed(high, 2)))
		}
	}
	if len(lines.Lines) == 0 || len(starts) < 2 {
		return nil
	}
	lines.Desc = strings.Join(says, " ")
	return &document.ChartFigure{Draw: lines.SVG, Title: "Finals against the order of the runs" + titleSuffix(in, topology), Keys: keys,
		Caption: "A drift over time would show here as the same slope in all cells."}
}
