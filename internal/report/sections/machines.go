package sections

import (
	"math"
	"strconv"

	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
)

// perMachine writes the rate of each cell per node and per logical processor. It writes nothing if all cells have one node and the
// same number of processors.
func perMachine(d *document.Document, in view.Input) {
	type row struct {
		cell         string
		clients      int32
		gated        bool
		nodes, cores float64
		rate         float64
	}
	var rows []row
	for _, c := range in.Assessment.Cells {
		for _, at := range shownAt(in, c) {
			first := at.records[0]
			all, known := first.Pool()
			r := row{cell: view.CellName(in, c.Variant, c.Topology), clients: at.clients, nodes: math.NaN(), rate: view.MedianOf(in, figures.RateName, at.records)}
			r.gated = len(view.FinalRecords(c, at.clients)) == 0 && view.FixedClients(in)
			if known {
				r.nodes = float64(all.Nodes)
			}
			r.cores = math.NaN()
			if cores, ok := figures.Cores(first); ok {
				r.cores = cores
			}
			rows = append(rows, r)
		}
	}
	apart := false
	for _, r := range rows {
		// An unknown number is NaN. A comparison with NaN is false, so unknown numbers do not count as a difference.
		apart = apart || r.nodes > 1 || r.nodes < rows[0].nodes || r.cores < rows[0].cores || r.cores > rows[0].cores
	}
	if !apart {
		return
	}
	d.Section("Per node and per vCPU")
	d.Para("The rate is divided by the number of OpenSearch nodes, and by the number of logical processors (vCPU) of all these nodes. A vCPU of an SMT core is not a full " +
		"core: the section Environment shows the threads per core.")
	t := d.Table("cell", "clients", view.Unit(in), "nodes", view.Unit(in)+" per node", "vCPU", view.Unit(in)+" per vCPU")
	for _, r := range rows {
		rate, flag := format.Rounded(r.rate), ""
		if r.gated {
			rate, flag = rate+" (gated)", "Gated"
		}
		t.Flagged(flag, r.cell, strconv.Itoa(int(r.clients)), rate, format.Fixed(r.nodes, 0), format.Rounded(r.rate/r.nodes), format.Fixed(r.cores, 0), format.Rounded(r.rate/r.cores))
	}
}
