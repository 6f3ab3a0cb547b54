package sections

import (
	"fmt"
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// knees writes a table for each topology. The table has a row for each figure, a column for each variant, and a column for each
// variant's ratio to the baseline.
func knees(d *document.Document, in view.Input) {
	if view.FixedClients(in) {
		return
	}
	d.Section("Knees")
	text := "These figures come from the sweeps, and their ratios have no interval. A peak is the highest of several noisy points, so it tends to be too high. To compare variants, use the section Final."
	if view.FillsIndex(in) || view.NodesKnown(in) {
		text += " Efficiency is " + view.Unit(in) + " divided by the machine's CPU utilization in percent (user + sys; 100 % means that all logical processors are busy). Do not use " +
			"efficiency to compare machines with SMT and machines without SMT"
		if view.FillsIndex(in) {
			text += ", and do not use CPU seconds per million documents for this: both count busy logical processors, not cores"
		}
		text += "."
	}
	d.Para("%s", text)
	for _, topology := range in.Assessment.Topologies() {
		d.Part(topology)
		cells := view.CellsOf(in, topology)
		titles := []string{""}
		for _, c := range cells {
			titles = append(titles, c.Variant)
		}
		compared := comparedWith(in, cells)
		for _, i := range compared {
			titles = append(titles, cells[i].Variant+" / "+in.Spec.Baseline)
		}
		t := d.Table(titles...)
		for _, f := range kneeFigures(in, topology) {
			values := make([]float64, len(cells))
			row := []string{f.name}
			for i, c := range cells {
				values[i] = f.of(c)
				row = append(row, format.Fixed(values[i], f.decimals))
			}
			for _, i := range compared {
				ratio := ""
				if f.ratio {
					ratio = format.Fixed(values[i]/values[baselineOf(in, cells)], 3)
				}
				row = append(row, ratio)
			}
			t.Row(row...)
		}
		if shared, known := in.Assessment.Shared[topology]; known {
			d.Para("Shared clients: %s.", shared.Why)
		}
	}
}

// kneeFigure is a row of the table of knees. The function in its field of returns NaN if the figure is unknown.
type kneeFigure struct {
	name     string
	decimals int
	ratio    bool
	of       func(campaign.Cell) float64
}

func kneeFigures(in view.Input, topology string) []kneeFigure {
	point := func(p *sweep.Point, of func(sweep.Point) float64) float64 {
		if p == nil {
			return math.NaN()
		}
		return of(*p)
	}
	docs := func(p sweep.Point) float64 { return p.Rate }
	clients := func(p sweep.Point) float64 { return float64(p.Clients) }
	out := []kneeFigure{
		{"peak (capacity), " + view.Unit(in), 0, true, func(c campaign.Cell) float64 { return point(c.Curve.Peak, docs) }},
		{"peak, clients", 0, false, func(c campaign.Cell) float64 { return point(c.Curve.Peak, clients) }},
		{"highest observed (Measured or Gated), " + view.Unit(in), 0, false, func(c campaign.Cell) float64 { return point(c.Curve.Highest, docs) }},
		{"**knee, clients**", 0, false, func(c campaign.Cell) float64 { return point(c.Curve.Knee, clients) }},
		{"knee, stability %", 0, false, func(c campaign.Cell) float64 { return 100 * view.Stability(in, c) }},
	}
	out = append(out, figuresAt(in, "at the knee", func(c campaign.Cell) int32 { return view.ClientsOf(c.Curve.Knee) })...)
	if shared := in.Assessment.Shared[topology].Clients; shared > 0 {
		out = append(out, figuresAt(in, fmt.Sprintf("at %d clients", shared), func(campaign.Cell) int32 { return shared })...)
	}
	if !view.FillsIndex(in) {
		return out
	}
	return append(out, kneeFigure{"rejections over the sweep", 0, false, func(c campaign.Cell) float64 { return view.SweepRejections(in, c) }})
}

// figuresAt returns the figures of the sweep at one client count per cell. The function at returns this client count.
func figuresAt(in view.Input, where string, at func(campaign.Cell) int32) []kneeFigure {
	of := func(name string) func(campaign.Cell) float64 {
		return func(c campaign.Cell) float64 { return view.MedianOf(in, name, view.SweepRecords(in, c, at(c))) }
	}
	out := []kneeFigure{
		{view.Unit(in) + " " + where, 0, true, of("docs_per_second")},
		{"CPU user " + where + ", %", 1, true, of("cpu_user_percent")},
		{"CPU sys " + where + ", %", 1, true, of("cpu_sys_percent")},
		{"CPU user+sys " + where + ", %", 1, true, of("cpu_busy_percent")},
		{"iowait " + where + ", %", 1, true, of("cpu_iowait_percent")},
		{"efficiency " + where + ", " + view.Unit(in) + " per busy CPU %", 1, true, of("docs_per_second_per_cpu_percent")},
	}
	reported := of("reported_cpu_percent")
	if slices.ContainsFunc(in.Assessment.Cells, func(c campaign.Cell) bool { return !math.IsNaN(reported(c)) }) {
		out = append(out, kneeFigure{"CPU reported by the nodes " + where + ", %", 1, true, reported})
	}
	switch {
	case !view.FillsIndex(in) && !view.NodesKnown(in):
		return out[:1]
	case !view.FillsIndex(in):
		return out
	}
	return append(out,
		kneeFigure{"CPU seconds per million documents " + where, 2, true, of("cpu_seconds_per_million_documents")},
		kneeFigure{"index size " + where + ", GiB", 2, true, func(c campaign.Cell) float64 { return of("index_bytes")(c) / (1 << 30) }},
	)
}

// baselineOf returns the index of the baseline among the cells of a topology. It returns -1 if the topology has no baseline.
func baselineOf(in view.Input, cells []campaign.Cell) int {
	return slices.IndexFunc(cells, func(c campaign.Cell) bool { return c.Variant == in.Spec.Baseline })
}

// comparedWith returns the indices of the cells that are compared with the baseline.
func comparedWith(in view.Input, cells []campaign.Cell) []int {
	base := baselineOf(in, cells)
	var out []int
	for i := range cells {
		if base >= 0 && i != base {
			out = append(out, i)
		}
	}
	return out
}
