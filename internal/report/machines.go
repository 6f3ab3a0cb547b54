package report

import (
	"math"
	"strconv"
)

// perMachine has the rate of each cell for a node and for a logical processor, where the cells differ in either.
func perMachine(d *document, in Input) {
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
			r := row{cell: cellName(in, c.Variant, c.Topology), clients: at.clients, nodes: math.NaN(), rate: measureNamed(rateMeasure).median(at.records)}
			r.gated = len(finalRecords(c, at.clients)) == 0 && fixedClients(in)
			if known {
				r.nodes = float64(all.Nodes)
			}
			r.cores = math.Round(ofRate(*first) / perVCPU(*first))
			rows = append(rows, r)
		}
	}
	apart := false
	for _, r := range rows {
		// A comparison with what is not known (NaN) is false.
		apart = apart || r.nodes > 1 || r.nodes < rows[0].nodes || r.cores < rows[0].cores || r.cores > rows[0].cores
	}
	if !apart {
		return
	}
	d.section("Per node and per vCPU")
	d.para("The rate over the number of OpenSearch nodes, and over the logical processors (vCPU) of all of them. A vCPU of an SMT core is not a full " +
		"core: threads a core are under Environment.")
	t := d.table("cell", "clients", unit(in), "nodes", unit(in)+" per node", "vCPU", unit(in)+" per vCPU")
	for _, r := range rows {
		rate, flag := rounded(r.rate), ""
		if r.gated {
			rate, flag = rate+" (gated)", "Gated"
		}
		t.flagged(flag, r.cell, strconv.Itoa(int(r.clients)), rate, fixed(r.nodes, 0), rounded(r.rate/r.nodes), fixed(r.cores, 0), rounded(r.rate/r.cores))
	}
}
