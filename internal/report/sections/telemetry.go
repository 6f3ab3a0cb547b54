package sections

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/plots"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// telemetry writes the figures of the machines at the client counts at which the cells are compared.
func telemetry(d *document.Document, in view.Input) {
	if !view.FillsIndex(in) && !view.NodesKnown(in) {
		return // Knee does not observe the system under test
	}
	d.Section("CPU and iowait")
	d.Para("The figures are in percent of all cores, for each client count. They are means over all OpenSearch nodes and over the load window, which is the time over which %s is measured. The gate maxIOWaitPercent uses the OpenSearch node with the highest iowait, not the mean of the nodes.", view.Unit(in))
	var charts []*document.ChartFigure
	for _, topology := range in.Assessment.Topologies() {
		charts = append(charts, plots.CPU(d, in, topology), plots.Iowait(d, in, topology))
	}
	d.Charts(charts...)
	cpuRanges(d, in)

	d.Section("Garbage collection and memory")
	d.Para("%s. The figures of pauses come from gc.log within the load window, for the node with the highest value. The kinds of pauses and the promoted size are sums over all nodes. Without gc.log, pauses are the collections in _nodes/stats over the whole load.", telemetryScope(in))
	memory := []telemetryColumn{
		{"pauses a minute", "gc_pauses_per_minute", 1, 1}, {"% of time", "gc_percent_of_time", 2, 1}, {"p50 ms", "gc_pause_p50_ms", 1, 1},
		{"p99 ms", "gc_pause_p99_ms", 1, 1}, {"max ms", "gc_pause_max_ms", 1, 1}, {"young", "gc_pauses_young", 0, 1},
		{"mixed", "gc_pauses_mixed", 0, 1}, {"full", "gc_pauses_full", 0, 1}, {"promoted MiB", "gc_promoted_mib", 0, 1},
		{"heap max GiB", "heap_used_max_bytes", 2, 1 << 30}, {"old gen max GiB", "old_gen_max_bytes", 2, 1 << 30},
		{"resident max GiB", "resident_max_bytes", 2, 1 << 30},
	}
	telemetryTable(d, in, memory)

	title := "Disk, network and index"
	if !view.FillsIndex(in) {
		title = "Disk and network"
	}
	d.Section(title)
	d.Para("%s. The disk figures cover all disks of all OpenSearch nodes. The network figures cover the pods of OpenSearch.", telemetryScope(in))
	telemetryTable(d, in, []telemetryColumn{
		{"read MiB/s", "disk_read_mib_per_second", 1, 1}, {"write MiB/s", "disk_write_mib_per_second", 1, 1}, {"IOPS", "disk_iops", 0, 1},
		{"PSI io %", "pressure_io_percent", 1, 1}, {"received MiB/s", "network_receive_mib_per_second", 1, 1},
		{"sent MiB/s", "network_transmit_mib_per_second", 1, 1}, {"index GiB", "index_bytes", 2, 1 << 30}, {"segments", "segments", 0, 1},
		{"merge s", "merge_seconds", 0, 1},
	})
	var bounds []string
	for _, b := range in.Assessment.DiskBound {
		bounds = append(bounds, fmt.Sprintf("**DiskBound**: cell %s, %s, %d clients: %s", view.CellName(in, b.Variant, b.Topology), b.Where, b.Clients, format.OneLine(b.Message)))
	}
	for _, b := range in.Assessment.CPULimited {
		bounds = append(bounds, fmt.Sprintf("**CPUThrottled**: cell %s, %s, %d clients: %s", view.CellName(in, b.Variant, b.Topology), b.Where, b.Clients, format.OneLine(b.Message)))
	}
	for _, b := range in.Assessment.ClientBound {
		bounds = append(bounds, fmt.Sprintf("**ClientBound**: cell %s, %s, %d clients: %s", view.CellName(in, b.Variant, b.Topology), b.Where, b.Clients, format.OneLine(b.Message)))
	}
	d.List(bounds)
}

// telemetryColumn is a column of a table with one figure.
type telemetryColumn struct {
	title, measure string
	decimals       int
	unit           float64 // size of the column's unit, in the unit of the figure
}

// telemetryTable writes a row for each client count at which a cell is compared.
func telemetryTable(d *document.Document, in view.Input, columns []telemetryColumn) {
	titles := []string{"cell", "clients"}
	columns = slices.DeleteFunc(columns, func(c telemetryColumn) bool {
		_, ok := figures.Named(view.LoadsOf(in), view.Named(in, c.measure))
		return !ok
	})
	for _, c := range columns {
		titles = append(titles, c.title)
	}
	t := d.Table(titles...)
	for _, c := range in.Assessment.Cells {
		for _, at := range comparedAt(in, c) {
			row := []string{view.CellName(in, c.Variant, c.Topology), format.IntText(at.clients)}
			for _, column := range columns {
				row = append(row, format.Fixed(view.MedianOf(in, column.measure, at.records)/column.unit, column.decimals))
			}
			t.Row(row...)
		}
	}
}

// comparedPoint is a client count of a cell. The figures shown are medians over its records.
type comparedPoint struct {
	clients int32
	records []*record.Record
}

// comparedAt returns the client counts at which a cell's telemetry is shown, with their records. These are the client counts of
// its Measured Finals. If there are none, it returns the knee.
func comparedAt(in view.Input, c campaign.Cell) []comparedPoint {
	var out []comparedPoint
	for _, clients := range c.FinalClients() {
		if records := view.FinalRecords(c, clients); len(records) > 0 {
			out = append(out, comparedPoint{clients, records})
		}
	}
	if knee := c.Curve.Knee; len(out) == 0 && knee != nil {
		out = append(out, comparedPoint{knee.Clients, view.SweepRecords(in, c, knee.Clients)})
	}
	return out
}

func telemetryScope(in view.Input) string {
	if view.FixedClients(in) { // such a campaign has no knee
		return "The figures are medians over the Measured Final repetitions"
	}
	if in.Plan.Repetitions > 0 {
		return "The figures are medians over the Measured Final repetitions. For a cell without Measured Finals, they are medians at the knee"
	}
	return "The figures are medians at the knee"
}

// nodeCPU is the CPU of one OpenSearch node over the records at a client count.
type nodeCPU struct {
	name  string
	means []float64 // user + sys, one value per record
	whole record.Range
}

// nodeCPUs returns the CPU of all nodes whose range is known, sorted by name. The range of a node covers all records.
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

// cpuRanges writes a row for each OpenSearch node at each client count at which the cells are compared.
func cpuRanges(d *document.Document, in view.Input) {
	type row struct {
		cell    string
		clients int32
		nodeCPU
	}
	var rows []row
	for _, c := range in.Assessment.Cells {
		for _, at := range comparedAt(in, c) {
			for _, n := range nodeCPUs(at.records) {
				rows = append(rows, row{view.CellName(in, c.Variant, c.Topology), at.clients, n})
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	d.Para("CPU user+sys of each OpenSearch node, in percent of all its cores. The mean is over the load window (the median of the repetitions). " +
		"The lowest and the highest value are means over short intervals, in all repetitions. The last column shows the length of these intervals in seconds.")
	t := d.Table("cell", "clients", "node ", "mean %", "lowest %", "highest %", "over s")
	const most = 200
	for _, r := range rows[:min(len(rows), most)] {
		t.Row(r.cell, format.IntText(r.clients), r.name, format.Fixed(stats.Median(r.means), 1), format.Fixed(r.whole.Min, 1), format.Fixed(r.whole.Max, 1), format.Fixed(r.whole.Seconds, 0))
	}
	if len(rows) > most {
		d.Para("%d more rows are not shown; their figures are in the records.", len(rows)-most)
	}
}
