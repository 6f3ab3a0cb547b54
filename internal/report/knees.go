package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/analysis"
)

// knees is a table for each topology: a row a figure, a column a variant, and a column for each variant's ratio to
// the baseline.
func knees(d *document, in Input) {
	if fixedClients(in) {
		return
	}
	d.section("Knees")
	text := "Read off the sweeps: the ratios here say nothing of noise, and a peak is the highest of noisy points (for the comparison see Final)."
	if fillsIndex(in) || nodesKnown(in) {
		text += " Efficiency is " + unit(in) + " for each busy percent (user + sys) of the machine's logical processors. A busy percent of SMT " +
			"threads and one of full cores are not the same thing"
		if fillsIndex(in) {
			text += "; CPU seconds per million documents count busy processors"
		}
		text += "."
	}
	d.para("%s", text)
	for _, topology := range in.Assessment.Topologies() {
		d.part(topology)
		cells := cellsOf(in, topology)
		titles := []string{""}
		for _, c := range cells {
			titles = append(titles, c.Variant)
		}
		compared := comparedWith(in, cells)
		for _, i := range compared {
			titles = append(titles, cells[i].Variant+" / "+in.Spec.Baseline)
		}
		t := d.table(titles...)
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
			d.para("Shared clients: %s.", shared.Why)
		}
	}
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
		{"peak (capacity), " + unit(in), 0, true, func(c analysis.Cell) float64 { return point(c.Curve.Peak, docs) }},
		{"peak, clients", 0, false, func(c analysis.Cell) float64 { return point(c.Curve.Peak, clients) }},
		{"highest observed at all, " + unit(in), 0, false, func(c analysis.Cell) float64 { return point(c.Curve.Highest, docs) }},
		{"**knee, clients**", 0, false, func(c analysis.Cell) float64 { return point(c.Curve.Knee, clients) }},
		{"knee, stability %", 0, false, func(c analysis.Cell) float64 { return 100 * stability(in, c) }},
	}
	out = append(out, figuresAt(in, "at the knee", func(c analysis.Cell) int32 { return clientsOf(c.Curve.Knee) })...)
	if shared := in.Assessment.Shared[topology].Clients; shared > 0 {
		out = append(out, figuresAt(in, fmt.Sprintf("at %d clients", shared), func(analysis.Cell) int32 { return shared })...)
	}
	if !fillsIndex(in) {
		return out
	}
	return append(out, kneeFigure{"rejections over the sweep", 0, false, func(c analysis.Cell) float64 { return sweepRejections(in, c) }})
}

// stability is the knee's, 0 to 1; NaN where there is no knee or nothing tells of the noise.
func stability(in Input, c analysis.Cell) float64 {
	if c.Curve.Knee == nil || !c.SweepDone || in.Assessment.Noise.Freedom == 0 {
		return math.NaN()
	}
	return c.Stability
}

// clientsOf is a point's client count; 0 of none.
func clientsOf(p *analysis.Point) int32 {
	if p == nil {
		return 0
	}
	return p.Clients
}

// figuresAt are the figures of the sweep at a client count of each cell.
func figuresAt(in Input, where string, at func(analysis.Cell) int32) []kneeFigure {
	of := func(name string) func(analysis.Cell) float64 {
		return func(c analysis.Cell) float64 { return measureNamed(name).median(sweepRecords(in, c, at(c))) }
	}
	out := []kneeFigure{
		{unit(in) + " " + where, 0, true, of("docs_per_second")},
		{"CPU user " + where + ", %", 1, true, of("cpu_user_percent")},
		{"CPU sys " + where + ", %", 1, true, of("cpu_sys_percent")},
		{"CPU user+sys " + where + ", %", 1, true, of("cpu_busy_percent")},
		{"iowait " + where + ", %", 1, true, of("cpu_iowait_percent")},
		{"efficiency " + where + ", " + unit(in) + " per busy CPU %", 1, true, of("docs_per_second_per_cpu_percent")},
	}
	reported := of("reported_cpu_percent")
	if slices.ContainsFunc(in.Assessment.Cells, func(c analysis.Cell) bool { return !math.IsNaN(reported(c)) }) {
		out = append(out, kneeFigure{"CPU as the nodes report it " + where + ", %", 1, true, reported})
	}
	switch {
	case !fillsIndex(in) && !nodesKnown(in):
		return out[:1]
	case !fillsIndex(in):
		return out
	}
	return append(out,
		kneeFigure{"CPU seconds per million documents " + where, 2, true, of("cpu_seconds_per_million_documents")},
		kneeFigure{"index size " + where + ", GiB", 2, true, func(c analysis.Cell) float64 { return of("index_bytes")(c) / (1 << 30) }},
	)
}

// sweepRejections counts those of the attempts that count; NaN when none measured a load.
func sweepRejections(in Input, c analysis.Cell) float64 {
	total := math.NaN()
	for _, clients := range in.Plan.Clients {
		for _, o := range outcomesAt(in, c, clients) {
			if o.Record == nil || o.Record.Ingest == nil {
				continue
			}
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
