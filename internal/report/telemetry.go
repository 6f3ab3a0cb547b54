package report

import (
	"fmt"
	"slices"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// telemetry is what the machines did while the cells were compared.
func telemetry(d *document, in Input) {
	if !fillsIndex(in) && !nodesKnown(in) {
		return // a program's load on what Knee does not see: its metrics tell of that
	}
	d.section("CPU and iowait")
	d.para("Means over the OpenSearch nodes and the load window, in percent of all cores, for each client count. iowait is a mean too: the gate looks at the highest node.")
	var charts []*plotted
	for _, topology := range in.Assessment.Topologies() {
		charts = append(charts, cpuChart(d, in, topology), iowaitChart(d, in, topology))
	}
	d.charts(charts...)
	cpuRanges(d, in)

	d.section("Garbage collection and memory")
	d.para("%s. Pauses are those of gc.log within the window, of the node with the most (their kinds and what they promoted: of all nodes); without gc.log they are the collections that _nodes/stats tells of over the whole load.", wherever(in))
	memory := []column2{
		{"pauses a minute", "gc_pauses_per_minute", 1, 1}, {"% of time", "gc_percent_of_time", 2, 1}, {"p50 ms", "gc_pause_p50_ms", 1, 1},
		{"p99 ms", "gc_pause_p99_ms", 1, 1}, {"max ms", "gc_pause_max_ms", 1, 1}, {"young", "gc_pauses_young", 0, 1},
		{"mixed", "gc_pauses_mixed", 0, 1}, {"full", "gc_pauses_full", 0, 1}, {"promoted MiB", "gc_promoted_mib", 0, 1},
		{"heap max GiB", "heap_used_max_bytes", 2, 1 << 30}, {"old gen max GiB", "old_gen_max_bytes", 2, 1 << 30},
		{"resident max GiB", "resident_max_bytes", 2, 1 << 30},
	}
	telemetryTable(d, in, memory)

	title := "Disk, network and index"
	if !fillsIndex(in) {
		title = "Disk and network"
	}
	d.section(title)
	d.para("%s. All disks of all OpenSearch nodes together, and the network of their pods.", wherever(in))
	telemetryTable(d, in, []column2{
		{"read MiB/s", "disk_read_mib_per_second", 1, 1}, {"write MiB/s", "disk_write_mib_per_second", 1, 1}, {"IOPS", "disk_iops", 0, 1},
		{"PSI io %", "pressure_io_percent", 1, 1}, {"received MiB/s", "network_receive_mib_per_second", 1, 1},
		{"sent MiB/s", "network_transmit_mib_per_second", 1, 1}, {"index GiB", "index_bytes", 2, 1 << 30}, {"segments", "segments", 0, 1},
		{"merge s", "merge_seconds", 0, 1},
	})
	var bounds []string
	for _, b := range in.Assessment.DiskBound {
		bounds = append(bounds, fmt.Sprintf("**DiskBound**: %s, %s, %d clients: %s", cellName(in, b.Variant, b.Topology), b.Where, b.Clients, line(b.Message)))
	}
	for _, b := range in.Assessment.CPULimited {
		bounds = append(bounds, fmt.Sprintf("**CPUThrottled**: %s, %s, %d clients: %s", cellName(in, b.Variant, b.Topology), b.Where, b.Clients, line(b.Message)))
	}
	for _, b := range in.Assessment.ClientBound {
		bounds = append(bounds, fmt.Sprintf("**ClientBound**: %s, %s, %d clients: %s", cellName(in, b.Variant, b.Topology), b.Where, b.Clients, line(b.Message)))
	}
	d.list(bounds)
}

// column2 is a measure as a column of a table.
type column2 struct {
	title, measure string
	decimals       int
	unit           float64 // how much of the measure's unit is one of the column's
}

// telemetryTable has a row a cell and client count at which it is compared.
func telemetryTable(d *document, in Input, columns []column2) {
	titles := []string{"cell", "clients"}
	columns = slices.DeleteFunc(columns, func(c column2) bool { return !fillsIndex(in) && slices.Contains(ofIndex, c.measure) })
	for _, c := range columns {
		titles = append(titles, c.title)
	}
	t := d.table(titles...)
	for _, c := range in.Assessment.Cells {
		for _, at := range comparedAt(in, c) {
			row := []string{cellName(in, c.Variant, c.Topology), integer(at.clients)}
			for _, column := range columns {
				row = append(row, fixed(measureNamed(column.measure).median(at.records)/column.unit, column.decimals))
			}
			t.row(row...)
		}
	}
}

// at is a client count of a cell with the records that its figures are medians of.
type at struct {
	clients int32
	records []*record.Record
}

// comparedAt is where a cell's telemetry is shown: at the client counts of its Finals, else at its knee.
func comparedAt(in Input, c analysis.Cell) []at {
	var out []at
	for _, clients := range c.FinalClients() {
		if records := finalRecords(c, clients); len(records) > 0 {
			out = append(out, at{clients, records})
		}
	}
	if knee := c.Curve.Knee; len(out) == 0 && knee != nil {
		out = append(out, at{knee.Clients, sweepRecords(in, c, knee.Clients)})
	}
	return out
}

func wherever(in Input) string {
	if in.Plan.Repetitions > 0 {
		return "Medians over the Measured Final repetitions, or at the knee of a cell that has none yet"
	}
	return "At the knee"
}
