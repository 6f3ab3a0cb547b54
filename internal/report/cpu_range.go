package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// ofCPURange reads the range over all OpenSearch nodes; NaN unless every node's is known.
func ofCPURange(of func(record.Range) float64) func(record.Record) float64 {
	return pooled(func(p record.Pooled) float64 {
		if p.CPURange == nil {
			return math.NaN()
		}
		return of(*p.CPURange)
	})
}

// nodeCPU is the CPU of one OpenSearch node over the records at a client count.
type nodeCPU struct {
	name  string
	means []float64 // user + sys, of each record
	whole record.Range
}

// nodeCPUs lists the nodes whose range is known, by name. A range reaches from the lowest to the highest of all records.
func nodeCPUs(records []*record.Record) []nodeCPU {
	var out []nodeCPU
	for _, r := range records {
		for _, n := range r.Nodes {
			if n.CPU == nil || n.CPURange == nil {
				continue
			}
			i := slices.IndexFunc(out, func(o nodeCPU) bool { return o.name == n.Name })
			if i < 0 {
				i = len(out)
				out = append(out, nodeCPU{name: n.Name, whole: *n.CPURange})
			}
			node := &out[i]
			node.means = append(node.means, n.CPU.Busy())
			node.whole.Min, node.whole.Max = min(node.whole.Min, n.CPURange.Min), max(node.whole.Max, n.CPURange.Max)
			node.whole.Seconds = max(node.whole.Seconds, n.CPURange.Seconds)
		}
	}
	slices.SortStableFunc(out, func(a, b nodeCPU) int { return cmp.Compare(a.name, b.name) })
	return out
}

// cpuRanges has a row for each OpenSearch node at each client count at which the cells are compared.
func cpuRanges(d *document, in Input) {
	type row struct {
		cell    string
		clients int32
		nodeCPU
	}
	var rows []row
	for _, c := range in.Assessment.Cells {
		for _, at := range comparedAt(in, c) {
			for _, n := range nodeCPUs(at.records) {
				rows = append(rows, row{cellName(in, c.Variant, c.Topology), at.clients, n})
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	d.para("CPU user+sys of each OpenSearch node, in percent of all its cores. The mean is over the load window (of repetitions: their median); " +
		"the lowest and the highest are means over the seconds of the last column, of all repetitions.")
	t := d.table("cell", "clients", "node ", "mean %", "lowest %", "highest %", "over s")
	const most = 200
	for _, r := range rows[:min(len(rows), most)] {
		t.row(r.cell, integer(r.clients), r.name, fixed(analysis.Median(r.means), 1), fixed(r.whole.Min, 1), fixed(r.whole.Max, 1), fixed(r.whole.Seconds, 0))
	}
	if len(rows) > most {
		d.para("%d more are in the records.", len(rows)-most)
	}
}
