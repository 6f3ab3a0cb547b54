package csv

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// comparisonRow is a row of comparison.csv. NaN, and a count of 0, are written as an empty text.
type comparisonRow struct {
	pair
	at, figure, unit       string
	clients, other         int32
	value, baselineValue   float64
	ratio, low, high, sure float64
	runs, baselineRuns     int
	p, adjusted            float64
	verdict                string
	cv, baselineCV         float64 // percent
	bounds                 stats.Bounds
	widening               float64
}

// pair holds a cell and the cell that it is compared with. base is nil if the cell is not compared.
type pair struct{ cell, base *campaign.Cell }

// Comparison returns the header and the rows of comparison.csv.
func Comparison(in view.Input) []string {
	header := make([]string, len(comparisonColumns))
	for i, c := range comparisonColumns {
		header[i] = c.name
	}
	out := []string{csvLine(header)}
	for _, p := range pairs(in) {
		for _, r := range p.rows(in) {
			out = append(out, r.line())
		}
	}
	return out
}

// pairs returns each variant with the baseline on each topology, then the named comparisons. A cell without a baseline on its
// topology is in a pair without base.
func pairs(in view.Input) []pair {
	var out []pair
	for i := range in.Assessment.Cells {
		c := &in.Assessment.Cells[i]
		base := in.Assessment.Cell(in.Spec.Baseline, c.Topology)
		switch {
		case base == nil:
			out = append(out, pair{cell: c})
		case base.Variant != c.Variant:
			out = append(out, pair{c, base})
		}
	}
	for _, c := range in.Spec.Comparisons {
		cell := in.Assessment.Cell(string(c.Cell.Variant), string(c.Cell.Topology))
		base := in.Assessment.Cell(string(c.Baseline.Variant), string(c.Baseline.Topology))
		// A named comparison can repeat a comparison with the baseline.
		if named := (pair{cell, base}); cell != nil && base != nil && !slices.Contains(out, named) {
			out = append(out, named)
		}
	}
	return out
}

func (p pair) rows(in view.Input) []comparisonRow {
	var out []comparisonRow
	if !view.FixedClients(in) {
		out = append(out, p.sweepRows(in)...)
	}
	out = append(out, p.finalRows(in)...)
	out = append(out, p.openLoopRows(in)...)
	out = append(out, p.taskRows(in)...)
	return append(out, p.costRows(in)...)
}

// values returns a figure of both cells of the pair. If the pair has no baseline cell, base is NaN.
func (p pair) values(of func(*campaign.Cell) float64) (value, base float64) {
	base = math.NaN()
	if p.base != nil {
		base = of(p.base)
	}
	return of(p.cell), base
}

func (p pair) row(at, figure, unit string, clients func(*campaign.Cell) int32, of func(*campaign.Cell) float64) comparisonRow {
	nan := math.NaN()
	r := comparisonRow{
		pair: p, at: at, figure: figure, unit: unit, clients: clients(p.cell),
		low: nan, high: nan, sure: nan, p: nan, adjusted: nan, cv: nan, baselineCV: nan, widening: nan,
	}
	if p.base != nil {
		r.other = clients(p.base)
	}
	r.value, r.baselineValue = p.values(of)
	r.ratio = r.value / r.baselineValue
	return r
}

// sweepRows returns the rows of the sweep: the figures at the peaks, the knees and the shared client count.
func (p pair) sweepRows(in view.Input) []comparisonRow {
	none := func(*campaign.Cell) int32 { return 0 }
	rejections := p.row("sweep", "rejections", "requests", none, func(c *campaign.Cell) float64 { return view.SweepRejections(in, *c) })
	highest := p.row("sweep", view.Named(in, "highest_docs_per_second"), view.Unit(in),
		func(c *campaign.Cell) int32 { return view.ClientsOf(c.Curve.Highest) }, func(c *campaign.Cell) float64 {
			if c.Curve.Highest == nil {
				return math.NaN()
			}
			return c.Curve.Highest.Rate
		})
	knee := func(c *campaign.Cell) int32 { return view.ClientsOf(c.Curve.Knee) }
	clients := p.row("knee", "clients", "", knee, func(c *campaign.Cell) float64 { return format.NonZero(float64(knee(c))) })
	stable := p.row("knee", "knee_stability", "", knee, func(c *campaign.Cell) float64 { return view.Stability(in, *c) })
	stable.ratio = math.NaN()
	out := []comparisonRow{rejections, highest, clients, stable}
	if !view.FillsIndex(in) {
		out = out[1:]
	}
	for _, place := range []struct {
		at      string
		clients func(*campaign.Cell) int32
	}{
		{"peak", func(c *campaign.Cell) int32 { return view.ClientsOf(c.Curve.Peak) }},
		{"knee", knee},
		{"shared", func(c *campaign.Cell) int32 { return in.Assessment.Shared[c.Topology].Clients }},
	} {
		out = append(out, p.measureRows(in, place.at, place.clients, func(c *campaign.Cell) []*record.Record {
			if n := place.clients(c); n > 0 {
				return view.SweepRecords(in, *c, n)
			}
			return nil
		})...)
	}
	return out
}

// measureRows returns a row for each figure that is known for at least one of the two cells.
func (p pair) measureRows(in view.Input, at string, clients func(*campaign.Cell) int32, records func(*campaign.Cell) []*record.Record) []comparisonRow {
	var out []comparisonRow
	of, base := records(p.cell), []*record.Record(nil)
	if p.base != nil {
		base = records(p.base)
	}
	for _, f := range view.ComparedFigures(in) {
		r := p.row(at, f.Name, view.UnitOf(in, f), clients, func(c *campaign.Cell) float64 {
			if c == p.base {
				return view.Median(f, base)
			}
			return view.Median(f, of)
		})
		if !math.IsNaN(r.value) || !math.IsNaN(r.baselineValue) {
			r.runs, r.baselineRuns = len(of), len(base)
			out = append(out, r)
		}
	}
	return out
}

// finalRows returns the figures of the Measured Finals at each client count. The row of the rate has the ratio and its interval.
func (p pair) finalRows(in view.Input) []comparisonRow {
	var out []comparisonRow
	for _, clients := range p.cell.FinalClients() {
		other := clients
		if p.base != nil && !view.FixedClients(in) {
			other = in.Assessment.Shared[p.base.Topology].Clients
		}
		at := func(c *campaign.Cell) int32 {
			if c == p.base {
				return other
			}
			return clients
		}
		rows := p.measureRows(in, "final", at, func(c *campaign.Cell) []*record.Record { return view.FinalRecords(*c, at(c)) })
		for i := range rows {
			if rows[i].figure != view.Named(in, figures.RateName) {
				continue
			}
			rows[i].ratio = math.NaN() // the row has either the estimated ratio or no ratio
			for _, r := range in.Assessment.Ratios {
				if p.isOf(r.Variant, r.Topology, r.Baseline, view.BaselineTopology(r)) && r.Clients == clients {
					rows[i].estimate(r.Estimate, r.AdjustedP)
					rows[i].verdict = string(r.Verdict)
				}
			}
		}
		out = append(out, rows...)
		for _, s := range view.ObservedRatios(in) {
			if r := s.Ratio; p.isOf(r.Variant, r.Topology, r.Baseline, view.BaselineTopology(r)) && r.Clients == clients {
				row := p.row("observed", view.Named(in, figures.RateName), view.Unit(in), at, func(*campaign.Cell) float64 { return math.NaN() })
				row.value, row.baselineValue, row.ratio = s.Value, s.Base, s.Value/s.Base
				out = append(out, row)
			}
		}
	}
	return out
}

// isOf reports whether the pair consists of the given cells. An empty baselineTopology means the same topology.
func (p pair) isOf(variant, topology, baseline, baselineTopology string) bool {
	if baselineTopology == "" {
		baselineTopology = topology
	}
	return p.base != nil && p.cell.Variant == variant && p.cell.Topology == topology &&
		p.base.Variant == baseline && p.base.Topology == baselineTopology
}

func (r *comparisonRow) estimate(e stats.Estimate, adjusted float64) {
	r.ratio, r.p, r.adjusted = e.Ratio, e.P, adjusted
	r.runs, r.baselineRuns = e.N, e.M
	r.cv, r.baselineCV = 100*e.CV, 100*e.BaselineCV
	if e.HasInterval() {
		r.low, r.high, r.sure, r.bounds, r.widening = e.Low, e.High, e.Confidence, e.Bounds, e.Widening
	}
}

// openLoopRows returns the latencies of the open loops: loads at a fixed rate.
func (p pair) openLoopRows(in view.Input) []comparisonRow {
	measuredOne := func(c *campaign.Cell) bool { return c != nil && c.OpenLoop != nil && c.OpenLoop.Measured() }
	if !measuredOne(p.cell) && !measuredOne(p.base) {
		return nil
	}
	rows := p.measureRows(in, "open loop", func(c *campaign.Cell) int32 {
		if !measuredOne(c) {
			return 0
		}
		return c.OpenLoop.Trial.Clients
	}, func(c *campaign.Cell) []*record.Record {
		if !measuredOne(c) {
			return nil
		}
		return []*record.Record{c.OpenLoop.Record}
	})
	// The rate of an open loop is set by the campaign, so it is not a result.
	return slices.DeleteFunc(rows, func(r comparisonRow) bool { return strings.Contains(r.figure, "docs_per_second") })
}

// taskRows returns rows with the ratios of tasks.
func (p pair) taskRows(in view.Input) []comparisonRow {
	var out []comparisonRow
	for _, t := range in.Assessment.Tasks {
		if !p.isOf(t.Variant, t.Topology, t.Baseline, t.BaselineTopology) {
			continue
		}
		at := "final"
		if t.OpenLoop {
			at = "open loop"
		}
		r := p.estimateRow(at, t.Task+": "+t.Figure, "", t.Clients, t.BaselineClients)
		r.estimate(t.Estimate, t.AdjustedP)
		out = append(out, r)
	}
	return out
}

// estimateRow returns a row without values and without a ratio. The caller sets the ratio, because it is an estimate and not the
// quotient of two values.
func (p pair) estimateRow(at, figure, unit string, clients, other int32) comparisonRow {
	r := p.row(at, figure, unit, func(*campaign.Cell) int32 { return clients }, func(*campaign.Cell) float64 { return math.NaN() })
	r.other = cmp.Or(other, clients)
	return r
}

func (r comparisonRow) line() string {
	baseline, topology := "", ""
	if r.base != nil {
		baseline, topology = r.base.Variant, r.base.Topology
	}
	const digits = 6
	return csvLine([]string{
		r.cell.Topology, r.cell.Variant, baseline, topology, r.at, format.IntOrEmpty(int64(r.clients)), format.IntOrEmpty(int64(r.other)), r.figure, r.unit,
		format.Figure(r.value), format.Figure(r.baselineValue), format.Trimmed(r.ratio, digits), format.Trimmed(r.low, digits), format.Trimmed(r.high, digits), format.Trimmed(r.sure, digits),
		format.IntOrEmpty(int64(r.runs)), format.IntOrEmpty(int64(r.baselineRuns)), format.Trimmed(r.p, digits), format.Trimmed(r.adjusted, digits), r.verdict,
		format.Trimmed(r.cv, 3), format.Trimmed(r.baselineCV, 3), string(r.bounds), format.Trimmed(r.widening, 3),
	})
}
