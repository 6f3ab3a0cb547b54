package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// comparisonRow is one row; NaN and 0 counts are not written.
type comparisonRow struct {
	pair
	at, figure, unit       string
	clients, other         int32
	value, baselineValue   float64
	ratio, low, high, sure float64
	runs, baselineRuns     int
	p, adjusted            float64
	verdict                string
}

// pair is two cells that are compared; base is nil where nothing is.
type pair struct{ cell, base *analysis.Cell }

// comparisonCSV is the header and the rows.
func comparisonCSV(in Input) []string {
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

// pairs are each variant against the baseline on each topology, then the named comparisons; of a campaign that
// compares nothing, each cell by itself.
func pairs(in Input) []pair {
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
		// One that is there already is not there twice.
		if named := (pair{cell, base}); cell != nil && base != nil && !slices.Contains(out, named) {
			out = append(out, named)
		}
	}
	return out
}

func (p pair) rows(in Input) []comparisonRow {
	var out []comparisonRow
	if !fixedClients(in) {
		out = append(out, p.sweepRows(in)...)
	}
	out = append(out, p.finalRows(in)...)
	out = append(out, p.openLoopRows(in)...)
	out = append(out, p.taskRows(in)...)
	return append(out, p.costRows(in)...)
}

// both gives a figure of the cell and of the baseline, NaN where there is none.
func (p pair) both(of func(*analysis.Cell) float64) (value, base float64) {
	base = math.NaN()
	if p.base != nil {
		base = of(p.base)
	}
	return of(p.cell), base
}

func (p pair) row(at, figure, unit string, clients func(*analysis.Cell) int32, of func(*analysis.Cell) float64) comparisonRow {
	nan := math.NaN()
	r := comparisonRow{
		pair: p, at: at, figure: figure, unit: unit, clients: clients(p.cell),
		low: nan, high: nan, sure: nan, p: nan, adjusted: nan,
	}
	if p.base != nil {
		r.other = clients(p.base)
	}
	r.value, r.baselineValue = p.both(of)
	r.ratio = r.value / r.baselineValue
	return r
}

// sweepRows are the figures at the peaks, the knees and the shared clients.
func (p pair) sweepRows(in Input) []comparisonRow {
	none := func(*analysis.Cell) int32 { return 0 }
	rejections := p.row("sweep", "rejections", "requests", none, func(c *analysis.Cell) float64 { return sweepRejections(in, *c) })
	highest := p.row("sweep", named(in, "highest_docs_per_second"), unit(in),
		func(c *analysis.Cell) int32 { return clientsOf(c.Curve.Highest) }, func(c *analysis.Cell) float64 {
			if c.Curve.Highest == nil {
				return math.NaN()
			}
			return c.Curve.Highest.DocsPerSecond
		})
	knee := func(c *analysis.Cell) int32 { return clientsOf(c.Curve.Knee) }
	clients := p.row("knee", "clients", "", knee, func(c *analysis.Cell) float64 { return nonZero(float64(knee(c))) })
	stable := p.row("knee", "knee_stability", "", knee, func(c *analysis.Cell) float64 { return stability(in, *c) })
	stable.ratio = math.NaN()
	out := []comparisonRow{rejections, highest, clients, stable}
	if !fillsIndex(in) {
		out = out[1:]
	}
	for _, place := range []struct {
		at      string
		clients func(*analysis.Cell) int32
	}{
		{"peak", func(c *analysis.Cell) int32 { return clientsOf(c.Curve.Peak) }},
		{"knee", knee},
		{"shared", func(c *analysis.Cell) int32 { return in.Assessment.Shared[c.Topology].Clients }},
	} {
		out = append(out, p.measureRows(in, place.at, place.clients, func(c *analysis.Cell) []*record.Record {
			if n := place.clients(c); n > 0 {
				return sweepRecords(in, *c, n)
			}
			return nil
		})...)
	}
	return out
}

// measureRows has a row for each figure that either cell has.
func (p pair) measureRows(in Input, at string, clients func(*analysis.Cell) int32, records func(*analysis.Cell) []*record.Record) []comparisonRow {
	var out []comparisonRow
	of, base := records(p.cell), []*record.Record(nil)
	if p.base != nil {
		base = records(p.base)
	}
	for _, m := range measuresOf(in) {
		r := p.row(at, m.name, m.unit, clients, func(c *analysis.Cell) float64 {
			if c == p.base {
				return m.median(base)
			}
			return m.median(of)
		})
		if !math.IsNaN(r.value) || !math.IsNaN(r.baselineValue) {
			r.runs, r.baselineRuns = len(of), len(base)
			out = append(out, r)
		}
	}
	return out
}

// finalRows are the figures of the Measured Finals, at each client count; docs/s with the ratio and its interval.
func (p pair) finalRows(in Input) []comparisonRow {
	var out []comparisonRow
	for _, clients := range p.cell.FinalClients() {
		other := clients
		if p.base != nil && !fixedClients(in) {
			other = in.Assessment.Shared[p.base.Topology].Clients
		}
		at := func(c *analysis.Cell) int32 {
			if c == p.base {
				return other
			}
			return clients
		}
		rows := p.measureRows(in, "final", at, func(c *analysis.Cell) []*record.Record { return finalRecords(*c, at(c)) })
		for i := range rows {
			if rows[i].figure != named(in, rateMeasure) {
				continue
			}
			rows[i].ratio = math.NaN() // only the estimate, once it is made
			for _, r := range in.Assessment.Ratios {
				if p.is(r.Variant, r.Topology, r.Baseline, baselineTopology(r)) && r.Clients == clients {
					rows[i].estimate(r.Estimate, r.AdjustedP)
					rows[i].verdict = string(r.Verdict)
				}
			}
		}
		out = append(out, rows...)
		for _, s := range seenApart(in) {
			if r := s.ratio; p.is(r.Variant, r.Topology, r.Baseline, baselineTopology(r)) && r.Clients == clients {
				row := p.row("observed", named(in, rateMeasure), unit(in), at, func(*analysis.Cell) float64 { return math.NaN() })
				row.value, row.baselineValue, row.ratio = s.value, s.base, s.value/s.base
				out = append(out, row)
			}
		}
	}
	return out
}

// is tells whether a pair is of those cells.
func (p pair) is(variant, topology, baseline, baselineTopology string) bool {
	if baselineTopology == "" {
		baselineTopology = topology
	}
	return p.base != nil && p.cell.Variant == variant && p.cell.Topology == topology &&
		p.base.Variant == baseline && p.base.Topology == baselineTopology
}

func (r *comparisonRow) estimate(e analysis.Estimate, adjusted float64) {
	r.ratio, r.p, r.adjusted = e.Ratio, e.P, adjusted
	r.runs, r.baselineRuns = e.N, e.M
	if e.HasInterval() {
		r.low, r.high, r.sure = e.Low, e.High, e.Confidence
	}
}

// openLoopRows are the latencies of the loads at a fixed rate.
func (p pair) openLoopRows(in Input) []comparisonRow {
	measuredOne := func(c *analysis.Cell) bool { return c != nil && c.OpenLoop != nil && c.OpenLoop.Measured() }
	if !measuredOne(p.cell) && !measuredOne(p.base) {
		return nil
	}
	rows := p.measureRows(in, "open loop", func(c *analysis.Cell) int32 {
		if !measuredOne(c) {
			return 0
		}
		return c.OpenLoop.Trial.Clients
	}, func(c *analysis.Cell) []*record.Record {
		if !measuredOne(c) {
			return nil
		}
		return []*record.Record{c.OpenLoop.Record}
	})
	// The rate was set: what it costs and how long it takes are the figures.
	return slices.DeleteFunc(rows, func(r comparisonRow) bool { return strings.Contains(r.figure, "docs_per_second") })
}

// taskRows are the ratios of tasks.
func (p pair) taskRows(in Input) []comparisonRow {
	var out []comparisonRow
	for _, t := range in.Assessment.Tasks {
		if !p.is(t.Variant, t.Topology, t.Baseline, t.BaselineTopology) {
			continue
		}
		at := "final"
		if t.OpenLoop {
			at = "open loop"
		}
		r := p.estimated(at, t.Task+": "+t.Figure, "", t.Clients, t.BaselineClients)
		r.estimate(t.Estimate, t.AdjustedP)
		out = append(out, r)
	}
	return out
}

// estimated is a row whose ratio is an estimate, and no quotient of its values.
func (p pair) estimated(at, figure, unit string, clients, other int32) comparisonRow {
	r := p.row(at, figure, unit, func(*analysis.Cell) int32 { return clients }, func(*analysis.Cell) float64 { return math.NaN() })
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
		r.cell.Topology, r.cell.Variant, baseline, topology, r.at, knownInt(int64(r.clients)), knownInt(int64(r.other)), r.figure, r.unit,
		figure(r.value), figure(r.baselineValue), trimmed(r.ratio, digits), trimmed(r.low, digits), trimmed(r.high, digits), trimmed(r.sure, digits),
		knownInt(int64(r.runs)), knownInt(int64(r.baselineRuns)), trimmed(r.p, digits), trimmed(r.adjusted, digits), r.verdict,
	})
}
