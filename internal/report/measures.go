package report

import (
	"math"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// measure is a figure of one attempt: a row of comparison.csv for each place at which cells are compared.
type measure struct {
	name, unit, help string
	of               func(record.Record) float64 // NaN where it was not measured
}

// measures are the figures that cells are compared by, in the order in which comparison.csv has them.
var measures = []measure{
	{rateMeasure, "docs/s", "accepted documents a second within the window", ofRate},
	{"drained_docs_per_second", "docs/s", "the same until merges have drained", ofIngest(func(i record.Ingest) float64 { return i.DrainedDocsPerSec })},
	{"osb_docs_per_second", "docs/s", "the driver's own figure", ofIngest(func(i record.Ingest) float64 { return i.OSBDocsPerSecond })},
	{"cpu_user_percent", "%", "of all cores, mean over the OpenSearch nodes", ofCPU(func(c record.CPU) float64 { return c.User })},
	{"cpu_sys_percent", "%", "the same", ofCPU(func(c record.CPU) float64 { return c.Sys })},
	{"cpu_busy_percent", "%", "user + sys", ofCPU(record.CPU.Busy)},
	{"cpu_iowait_percent", "%", "the same", ofCPU(func(c record.CPU) float64 { return c.IOWait })},
	{"cpu_steal_percent", "%", "the same", ofCPU(func(c record.CPU) float64 { return c.Steal })},
	{"docs_per_second_per_cpu_percent", "docs/s per %", "efficiency: docs/s for each busy percent; a percent of SMT threads and one of full cores differ", orNaN(analysis.Efficiency)},
	{"cpu_seconds_per_million_documents", "s", "busy core seconds of all OpenSearch nodes", orNaN(analysis.CPUSecondsPerMillion)},
	{"rejections", "requests", "all counters of all nodes", func(r record.Record) float64 { return float64(r.Rejections.Total()) }},
	{"index_bytes", "bytes", "store of the primaries after merges have drained", ofIngest(func(i record.Ingest) float64 { return float64(i.IndexBytes) })},
	{"segments", "", "of the primaries after merges have drained", ofIngest(func(i record.Ingest) float64 { return float64(i.Segments) })},
	{"merge_seconds", "s", "time in merges of the primaries, all threads", ofWork(func(w record.Work) float64 { return w.MergeSeconds })},
	{"latency_p50_ms", "ms", "ingest task; in a closed loop the reciprocal of throughput", ofLatency(func(l record.Latency) float64 { return l.P50 })},
	{"latency_p90_ms", "ms", "the same", ofLatency(func(l record.Latency) float64 { return l.P90 })},
	{"latency_p99_ms", "ms", "the same", ofLatency(func(l record.Latency) float64 { return l.P99 })},
	{"latency_p999_ms", "ms", "the same", ofLatency(func(l record.Latency) float64 { return l.P999 })},
	{"gc_pauses_per_minute", "1/min", "stop-the-world pauses of gc.log within the window, highest node; without it collections over the load", gcRate},
	{"gc_percent_of_time", "%", "time in those, highest node", gcShare},
	{"gc_pause_p50_ms", "ms", "from gc.log, highest node", ofPauses(func(p record.Pauses) float64 { return p.P50 })},
	{"gc_pause_p99_ms", "ms", "from gc.log, highest node", ofPauses(func(p record.Pauses) float64 { return p.P99 })},
	{"gc_pause_max_ms", "ms", "from gc.log, highest node", ofPauses(func(p record.Pauses) float64 { return p.Max })},
	{"gc_pauses_young", "", "from gc.log, all nodes", totalPauses(func(p record.Pauses) float64 { return float64(p.Young) })},
	{"gc_pauses_mixed", "", "from gc.log, all nodes", totalPauses(func(p record.Pauses) float64 { return float64(p.Mixed) })},
	{"gc_pauses_full", "", "from gc.log, all nodes", totalPauses(func(p record.Pauses) float64 { return float64(p.Full) })},
	{"gc_promoted_mib", "MiB", "growth of the old generation over young pauses, all nodes", totalPauses(func(p record.Pauses) float64 { return p.PromotedMiB })},
	{"heap_used_max_bytes", "bytes", "highest node", highest(func(n record.Node) float64 { return nonZero(float64(n.HeapUsedMax)) })},
	{"old_gen_max_bytes", "bytes", "highest node", ofMemory(func(m record.Memory) int64 { return m.OldGenMax })},
	{"resident_max_bytes", "bytes", "highest node", ofMemory(func(m record.Memory) int64 { return m.ResidentMax })},
	{"disk_read_mib_per_second", "MiB/s", "all disks of all OpenSearch nodes", ofDisk(func(d record.Disk) float64 { return d.ReadMiBs })},
	{"disk_write_mib_per_second", "MiB/s", "the same", ofDisk(func(d record.Disk) float64 { return d.WriteMiBs })},
	{"disk_iops", "1/s", "the same", ofDisk(func(d record.Disk) float64 { return d.IOPS })},
	{"network_receive_mib_per_second", "MiB/s", "all OpenSearch nodes", ofNetwork(func(n record.Network) float64 { return n.ReceiveMiBs })},
	{"network_transmit_mib_per_second", "MiB/s", "the same", ofNetwork(func(n record.Network) float64 { return n.TransmitMiBs })},
	{"run_queue", "tasks", "mean running and runnable tasks, highest node", highest(func(n record.Node) float64 {
		if n.CPU == nil {
			return math.NaN()
		}
		return nonZero(n.CPU.RunQueue)
	})},
	{"pressure_io_percent", "%", "PSI some, highest node", ofPressure(func(p record.Pressure) float64 { return p.IO })},
	{"client_utilization", "", "share of client time spent waiting for the server, 0 to 1", func(r record.Record) float64 { return nonZero(r.Loader.UtilizationOfTime) }},
	{"loader_busiest_percent", "%", "the loader's busiest process, of one core", func(r record.Record) float64 { return nonZero(r.Loader.BusiestPercent) }},
	{"docs_per_second_per_node", "docs/s", "over the number of OpenSearch nodes", perNode},
	{"docs_per_second_per_vcpu", "docs/s", "over the logical processors of all nodes; one of an SMT core is not a full core", perVCPU},
	{"payload_mib_per_second", "MiB/s", "the documents accepted, as they were sent, where the driver tells their size", payload},
	{"reported_cpu_percent", "%", "os.cpu.percent by the nodes' own word where no probe runs, of the CPUs that their JVM sees: mean over the nodes", ofReportedCPU(func(c record.ReportedCPU) float64 { return c.Mean })},
}

// rateMeasure is what cells are compared by.
const rateMeasure = "docs_per_second"

// measureIndex finds a measure by its name.
var measureIndex = func() map[string]measure {
	out := map[string]measure{}
	for _, m := range measures {
		out[m.name] = m
	}
	return out
}()

func measureNamed(name string) measure { return measureIndex[name] }

// median is the median over records that have the figure; NaN when none does.
func (m measure) median(records []*record.Record) float64 {
	var values []float64
	for _, r := range records {
		if f := m.of(*r); !math.IsNaN(f) {
			values = append(values, f)
		}
	}
	return analysis.Median(values)
}

// sweepRecords are those that make a cell's point at a client count: none of a point without a figure.
func sweepRecords(in Input, c analysis.Cell, clients int32) []*record.Record {
	outcomes := outcomesAt(in, c, clients)
	point := pointAt(in, c, clients, outcomes)
	if point == nil || !point.Observed() {
		return nil
	}
	var out []*record.Record
	for _, o := range outcomes {
		if o.Record != nil && o.Judgement.Verdict == point.Verdict {
			out = append(out, o.Record)
		}
	}
	return out
}

// finalRecords are those of a cell's Measured Finals at a client count.
func finalRecords(c analysis.Cell, clients int32) []*record.Record {
	var out []*record.Record
	for _, o := range c.Finals {
		if o.Measured() && o.Trial.Clients == clients {
			out = append(out, o.Record)
		}
	}
	return out
}

// nonZero takes 0 as not measured.
func nonZero(f float64) float64 {
	if f == 0 {
		return math.NaN()
	}
	return f
}

func orNaN(of func(record.Record) (float64, bool)) func(record.Record) float64 {
	return func(r record.Record) float64 {
		if f, ok := of(r); ok {
			return f
		}
		return math.NaN()
	}
}

// ofRate is the record's rate. 0 is a measurement only of an index that refused everything, and then not shown.
func ofRate(r record.Record) float64 {
	rate, _ := r.Rate()
	return nonZero(rate)
}

func perNode(r record.Record) float64 {
	all, ok := r.Pool()
	if !ok {
		return math.NaN()
	}
	return ofRate(r) / nonZero(float64(all.Nodes))
}

// perVCPU is over the processors that the nodes' machines have; NaN unless those of every node are known.
func perVCPU(r record.Record) float64 {
	if c, ok := analysis.CPUMean(r); ok && c.Cores > 0 {
		return ofRate(r) / float64(c.Cores)
	}
	return ofRate(r) / nonZero(total(func(n record.Node) float64 { return nonZero(float64(n.Environment.Cores)) })(r))
}

func payload(r record.Record) float64 {
	switch {
	case r.Ingest != nil:
		return nonZero(r.Ingest.PayloadMiBs)
	case r.Load != nil:
		return nonZero(r.Load.MiBs)
	}
	return math.NaN()
}

func ofIngest(of func(record.Ingest) float64) func(record.Record) float64 {
	return func(r record.Record) float64 {
		if r.Ingest == nil {
			return math.NaN()
		}
		return nonZero(of(*r.Ingest))
	}
}

func ofWork(of func(record.Work) float64) func(record.Record) float64 {
	return func(r record.Record) float64 {
		if r.Ingest == nil || r.Ingest.Work == nil {
			return math.NaN()
		}
		return of(*r.Ingest.Work)
	}
}

func ofCPU(of func(record.CPU) float64) func(record.Record) float64 {
	return orNaN(func(r record.Record) (float64, bool) {
		c, ok := analysis.CPUMean(r)
		return of(c), ok
	})
}

func ofLatency(of func(record.Latency) float64) func(record.Record) float64 {
	return func(r record.Record) float64 {
		for _, t := range tasksOf(r) {
			if !t.Search && t.Latency != nil {
				return nonZero(of(*t.Latency))
			}
		}
		return math.NaN()
	}
}

// highest is the highest node's figure.
func highest(of func(record.Node) float64) func(record.Record) float64 {
	return func(r record.Record) float64 {
		most := math.NaN()
		for _, n := range r.Nodes {
			if f := of(n); !math.IsNaN(f) && !(f <= most) {
				most = f
			}
		}
		return most
	}
}

// total sums over the nodes; NaN unless every node has the figure.
func total(of func(record.Node) float64) func(record.Record) float64 {
	return func(r record.Record) float64 {
		if len(r.Nodes) == 0 || !r.NodesKnown() {
			return math.NaN()
		}
		sum := 0.0
		for _, n := range r.Nodes {
			sum += of(n)
		}
		return sum
	}
}

// pooled is a figure over all nodes, also of those that the record had no room for.
func pooled(of func(record.Pooled) float64) func(record.Record) float64 {
	return func(r record.Record) float64 {
		if all, ok := r.Pool(); ok {
			return of(all)
		}
		return math.NaN()
	}
}

func ofPauses(of func(record.Pauses) float64) func(record.Record) float64 {
	return highest(func(n record.Node) float64 {
		if n.GC.Pauses == nil {
			return math.NaN()
		}
		return nonZero(of(*n.GC.Pauses))
	})
}

// ofPressure is the highest node's, of those that the record had no room for too.
func ofPressure(of func(record.Pressure) float64) func(record.Record) float64 {
	return func(r record.Record) float64 {
		switch p := r.Pooled; {
		case p != nil && p.Pressure == nil:
			return math.NaN()
		case p != nil:
			return of(*p.Pressure)
		}
		return highest(func(n record.Node) float64 {
			if n.Pressure == nil {
				return math.NaN()
			}
			return of(*n.Pressure)
		})(r)
	}
}

func ofMemory(of func(record.Memory) int64) func(record.Record) float64 {
	return highest(func(n record.Node) float64 {
		if n.Memory == nil {
			return math.NaN()
		}
		return nonZero(float64(of(*n.Memory)))
	})
}

func ofDisk(of func(record.Disk) float64) func(record.Record) float64 {
	return pooled(func(p record.Pooled) float64 {
		if p.Disk == nil {
			return math.NaN()
		}
		return of(*p.Disk)
	})
}

func ofNetwork(of func(record.Network) float64) func(record.Record) float64 {
	return pooled(func(p record.Pooled) float64 {
		if p.Network == nil {
			return math.NaN()
		}
		return of(*p.Network)
	})
}

// totalPauses sums over the nodes; NaN unless all have a gc.log.
func totalPauses(of func(record.Pauses) float64) func(record.Record) float64 {
	return total(func(n record.Node) float64 {
		if n.GC.Pauses == nil {
			return math.NaN()
		}
		return of(*n.GC.Pauses)
	})
}

// gcSeconds is the time that the GC figures of a node are over: the window of gc.log's, the whole load of _nodes/stats'.
func gcSeconds(r record.Record, n record.Node) float64 {
	switch {
	case !r.GCKnown(n):
		return math.NaN()
	case n.GC.Pauses != nil || r.Load != nil:
		return nonZero(loadSeconds(r))
	case r.Ingest == nil:
		return math.NaN()
	case r.Ingest.WholeDocsPerSec > 0:
		return nonZero(float64(r.Ingest.TotalIndexed) / r.Ingest.WholeDocsPerSec)
	}
	return math.NaN()
}

func gcRate(r record.Record) float64 {
	return highest(func(n record.Node) float64 {
		count := n.GC.Collections
		if n.GC.Pauses != nil {
			count = n.GC.Pauses.Count
		}
		return 60 * float64(count) / gcSeconds(r, n)
	})(r)
}

func gcShare(r record.Record) float64 {
	return highest(func(n record.Node) float64 {
		millis := float64(n.GC.Millis)
		if n.GC.Pauses != nil {
			millis = n.GC.Pauses.Millis
		}
		return millis / 10 / gcSeconds(r, n) // percent: 100/1000
	})(r)
}
