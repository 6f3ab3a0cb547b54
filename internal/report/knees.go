package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// knees writes a table for each topology: a row a figure, a column a variant, and a column for each variant's
// ratio to the baseline.
func knees(b *strings.Builder, in Input) {
	b.WriteString("\n## Knees\n\n" +
		"Read off the sweeps, where each client count was measured once: the ratios here say nothing of noise (for that see Final).\n")
	for _, topology := range in.Assessment.Topologies() {
		fmt.Fprintf(b, "\n### %s\n\n", topology)
		cells := cellsOf(in, topology)
		titles := []string{""}
		for _, c := range cells {
			titles = append(titles, c.Variant)
		}
		compared := comparedWith(in, cells)
		for _, i := range compared {
			titles = append(titles, cells[i].Variant+" / "+in.Spec.Baseline)
		}
		t := newTable(b, titles...)
		for _, f := range kneeFigures(in, topology) {
			values := make([]float64, len(cells))
			row := []string{f.name}
			for i, c := range cells {
				values[i] = f.of(c)
				row = append(row, fixed(values[i], f.decimals))
			}
			for _, i := range compared {
				ratio := ""
				if f.ratio {
					ratio = fixed(values[i]/values[baselineOf(in, cells)], 3)
				}
				row = append(row, ratio)
			}
			t.row(row...)
		}
		if shared, known := in.Assessment.Shared[topology]; known {
			fmt.Fprintf(b, "\nShared clients: %s.\n", shared.Why)
		}
	}
	b.WriteString("\nEfficiency is docs/s for each busy percent (user + sys) of the machine's logical processors. A busy percent of SMT " +
		"threads and one of full cores are not the same thing; CPU seconds per million documents count busy processors.\n")
}

// kneeFigure is a row of the table of knees; a figure that is not there is NaN.
type kneeFigure struct {
	name     string
	decimals int
	ratio    bool
	of       func(analysis.Cell) float64
}

func kneeFigures(in Input, topology string) []kneeFigure {
	point := func(p *analysis.Point, of func(analysis.Point) float64) float64 {
		if p == nil {
			return math.NaN()
		}
		return of(*p)
	}
	docs := func(p analysis.Point) float64 { return p.DocsPerSecond }
	clients := func(p analysis.Point) float64 { return float64(p.Clients) }
	out := []kneeFigure{
		{"peak (capacity), docs/s", 0, true, func(c analysis.Cell) float64 { return point(c.Curve.Peak, docs) }},
		{"peak, clients", 0, false, func(c analysis.Cell) float64 { return point(c.Curve.Peak, clients) }},
		{"highest observed at all, docs/s", 0, false, func(c analysis.Cell) float64 { return point(c.Curve.Highest, docs) }},
		{"**knee, clients**", 0, false, func(c analysis.Cell) float64 { return point(c.Curve.Knee, clients) }},
	}
	out = append(out, figuresAt(in, "at the knee", func(c analysis.Cell) *analysis.Point { return c.Curve.Knee })...)
	if shared := in.Assessment.Shared[topology].Clients; shared > 0 {
		out = append(out, figuresAt(in, fmt.Sprintf("at %d clients", shared), func(c analysis.Cell) *analysis.Point { return c.Curve.At(shared) })...)
	}
	return append(out, kneeFigure{"rejections over the sweep", 0, false, func(c analysis.Cell) float64 { return sweepRejections(in, c) }})
}

// figuresAt are the figures of the sweep's record at a point of each cell.
func figuresAt(in Input, where string, at func(analysis.Cell) *analysis.Point) []kneeFigure {
	of := func(get func(record.Record) (float64, bool)) func(analysis.Cell) float64 {
		return func(c analysis.Cell) float64 {
			p := at(c)
			if p == nil || !p.Observed() {
				return math.NaN()
			}
			if o, found := sweepOutcome(in, c, p.Clients); found && o.Record != nil {
				if f, ok := get(*o.Record); ok {
					return f
				}
			}
			return math.NaN()
		}
	}
	mean := func(get func(record.CPU) float64) func(record.Record) (float64, bool) {
		return func(r record.Record) (float64, bool) {
			c, ok := analysis.CPUMean(r)
			return get(c), ok
		}
	}
	return []kneeFigure{
		{"docs/s " + where, 0, true, func(c analysis.Cell) float64 {
			if p := at(c); p != nil {
				return p.DocsPerSecond
			}
			return math.NaN()
		}},
		{"CPU user+sys " + where + ", %", 1, true, of(mean(record.CPU.Busy))},
		{"iowait " + where + ", %", 1, true, of(mean(func(c record.CPU) float64 { return c.IOWait }))},
		{"efficiency " + where + ", docs/s per busy CPU %", 1, true, of(analysis.Efficiency)},
		{"CPU seconds per million documents " + where, 2, true, of(analysis.CPUSecondsPerMillion)},
	}
}

// sweepRejections counts those of the attempts that count; NaN when none measured a load.
func sweepRejections(in Input, c analysis.Cell) float64 {
	total := math.NaN()
	for _, clients := range in.Plan.Clients {
		if o, found := sweepOutcome(in, c, clients); found && o.Record != nil && o.Record.Ingest != nil {
			if math.IsNaN(total) {
				total = 0
			}
			total += float64(o.Record.Rejections.Total())
		}
	}
	return total
}

func cellsOf(in Input, topology string) []analysis.Cell {
	return slices.DeleteFunc(slices.Clone(in.Assessment.Cells), func(c analysis.Cell) bool { return c.Topology != topology })
}

// baselineOf is the baseline's place among a topology's cells, or -1.
func baselineOf(in Input, cells []analysis.Cell) int {
	return slices.IndexFunc(cells, func(c analysis.Cell) bool { return c.Variant == in.Spec.Baseline })
}

// comparedWith are the places of the cells that are compared with the baseline.
func comparedWith(in Input, cells []analysis.Cell) []int {
	base := baselineOf(in, cells)
	var out []int
	for i := range cells {
		if base >= 0 && i != base {
			out = append(out, i)
		}
	}
	return out
}
