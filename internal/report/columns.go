package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// column is one of results.csv.
type column struct {
	name, help string
	value      func(attempt) string
}

// resultColumns are the columns of results.csv, in order: new ones come last, so that a place keeps its meaning.
var resultColumns = slices.Concat(firstColumns, telemetryColumns, inputColumns, ownColumns, clusterColumns, machineColumns, counterColumns, reportedColumns)

var firstColumns = []column{
	{"variant", "variant of the cell", func(a attempt) string { return a.record.Trial.Variant }},
	{"topology", "topology of the cell", func(a attempt) string { return a.record.Trial.Topology }},
	{"phase", "Warmup (figures discarded), Sweep, Final or OpenLoop", func(a attempt) string { return string(a.record.Trial.Phase) }},
	{"clients", "client count", func(a attempt) string { return integer(a.record.Trial.Clients) }},
	{"repetition", "1-based; a Warmup's counts the cell's Warmups", func(a attempt) string { return integer(a.record.Trial.Repetition) }},
	{"attempt", "1-based", func(a attempt) string { return integer(a.record.Trial.Attempt) }},
	{"verdict", "Measured, Gated (valid, failed a gate) or Errored (no valid measurement)", func(a attempt) string { return string(a.judgement.Verdict) }},
	{"failures", "what the attempt failed by, and gates that were not evaluable", func(a attempt) string { return failures(a.judgement.Notes(), 1000) }},
	{"docs_per_second", "accepted documents a second within the window: Knee's figure; empty when Errored", rateOf},
	{"whole_docs_per_second", "the same from the first to the last accepted document", valid(func(in record.Ingest) string { return figure(in.WholeDocsPerSec) })},
	{"drained_docs_per_second", "the same until merges have drained; empty when they did not in time", valid(func(in record.Ingest) string { return known(in.DrainedDocsPerSec) })},
	{"osb_docs_per_second", "the driver's own mean throughput, for comparison", valid(func(in record.Ingest) string { return known(in.OSBDocsPerSecond) })},
	{"window", "Whole, Steady or Corpus", ingest(func(in record.Ingest) string { return in.Window })},
	{"window_note", "why the window is not the one asked for", ingest(func(in record.Ingest) string { return in.WindowNote })},
	{"window_start", "RFC 3339, UTC", func(a attempt) string { from, _ := windowOf(a.record); return timestamp(from) }},
	{"window_end", "RFC 3339, UTC", func(a attempt) string { _, to := windowOf(a.record); return timestamp(to) }},
	{"seconds", "length of the window", func(a attempt) string { return known(loadSeconds(a.record)) }},
	{"documents", "accepted within the window, by primaries", ingest(func(in record.Ingest) string { return countedDocuments(in, in.Documents) })},
	{"total_indexed", "accepted over the whole load, by primaries", ingest(func(in record.Ingest) string { return countedDocuments(in, in.TotalIndexed) })},
	{"index_failed", "documents that OpenSearch failed to index", ingest(func(in record.Ingest) string { return strconv.FormatInt(in.IndexFailed, 10) })},
	{"count", "documents in the index after the load", ingest(func(in record.Ingest) string { return countedDocuments(in, in.Count) })},
	{"corpus", "documents that the driver was to send; empty for a timed load", ingest(func(in record.Ingest) string { return knownInt(in.Corpus) })},
	{"bulk_size", "documents a bulk request", ingest(func(in record.Ingest) string { return knownInt(in.BulkSize) })},
	{"index_bytes", "store of the primaries after merges have drained", ingest(func(in record.Ingest) string { return knownInt(in.IndexBytes) })},
	{"error_rate", "share of the ingest task's requests that failed, 0 to 1, by the driver", errorRate},
	{"rejections", "refused requests, all counters of all nodes", ingested(func(r record.Record) string { return strconv.FormatInt(r.Rejections.Total(), 10) })},
	{"rejections_write_pool", "thread_pool.write.rejected", ingested(func(r record.Record) string { return strconv.FormatInt(r.Rejections.WritePool, 10) })},
	{"rejections_indexing_pressure", "indexing_pressure.memory.total.*_rejections", ingested(func(r record.Record) string { return strconv.FormatInt(r.Rejections.IndexingPressure, 10) })},
	{"rejections_shard_pressure", "shard_indexing_pressure", ingested(func(r record.Record) string { return strconv.FormatInt(r.Rejections.ShardPressure, 10) })},
	{"rejections_admission_control", "admission_control; empty where a node's statistics have none", ingested(admissionRejections)},
	{"rejections_circuit_breakers", "breakers.*.tripped: refused for want of heap", ingested(func(r record.Record) string { return strconv.FormatInt(r.Rejections.CircuitBreakers, 10) })},
	{"cpu_user_percent", "of all cores, mean over the OpenSearch nodes and the window; user + nice", cpu(func(c record.CPU) float64 { return c.User })},
	{"cpu_sys_percent", "the same; system + irq + softirq", cpu(func(c record.CPU) float64 { return c.Sys })},
	{"cpu_iowait_percent", "the same; the gate looks at the highest node", cpu(func(c record.CPU) float64 { return c.IOWait })},
	{"cpu_steal_percent", "the same", cpu(func(c record.CPU) float64 { return c.Steal })},
	{"cpu_cores", "logical processors of all OpenSearch nodes", cpu(func(c record.CPU) float64 { return float64(c.Cores) })},
	{"pressure_cpu_percent", "PSI some, highest node", pressure(func(p record.Pressure) float64 { return p.CPU })},
	{"pressure_memory_percent", "PSI some, highest node", pressure(func(p record.Pressure) float64 { return p.Memory })},
	{"pressure_io_percent", "PSI some, highest node", pressure(func(p record.Pressure) float64 { return p.IO })},
	{"disk_read_mib_per_second", "all disks of all OpenSearch nodes, mean over the window", disk(func(d record.Disk) float64 { return d.ReadMiBs })},
	{"disk_write_mib_per_second", "the same", disk(func(d record.Disk) float64 { return d.WriteMiBs })},
	{"disk_iops", "reads and writes completed a second, all disks of all OpenSearch nodes", disk(func(d record.Disk) float64 { return d.IOPS })},
	{"docs_per_second_per_cpu_percent", "efficiency: docs/s for each busy percent (user + sys); a percent of SMT threads and one of full cores differ", efficiency},
	{"cpu_seconds_per_million_documents", "busy core seconds of all OpenSearch nodes", cpuSeconds},
	{"loader_cpu_cores", "mean CPU of the driver's processes", func(a attempt) string { return known(a.record.Loader.CPUCores) }},
	{"loader_busiest_percent", "the busiest process, of one core; near 100 the loader is the limit", func(a attempt) string { return known(a.record.Loader.BusiestPercent) }},
	{"loader_busiest_process", "", func(a attempt) string { return a.record.Loader.BusiestProcess }},
	{"client_utilization", "share of client time spent waiting for the server; below 0.9 the trial is client-bound", func(a attempt) string { return known(a.record.Loader.UtilizationOfTime) }},
	{"latency_p50_ms", "ingest task, by the driver", latency(func(l record.Latency) float64 { return l.P50 })},
	{"latency_p90_ms", "ingest task, by the driver", latency(func(l record.Latency) float64 { return l.P90 })},
	{"latency_p99_ms", "ingest task, by the driver", latency(func(l record.Latency) float64 { return l.P99 })},
	{"latency_max_ms", "ingest task, by the driver", latency(func(l record.Latency) float64 { return l.Max })},
	{"gc_collections", "all collectors of all OpenSearch nodes", collections(func(g record.GC) int64 { return g.Collections })},
	{"gc_millis", "all collectors of all OpenSearch nodes", collections(func(g record.GC) int64 { return g.Millis })},
	{"heap_used_max_bytes", "highest node", nodes(func(ns []record.Node) string {
		most := int64(0)
		for _, n := range ns {
			most = max(most, n.HeapUsedMax)
		}
		return knownInt(most)
	})},
	{"settle_seconds", "wait for the cluster to come to rest before the load", loaded(func(r record.Record) string { return figure(r.Settle.Seconds) })},
	{"settle_note", "what was still restless at the deadline", func(a attempt) string { return a.record.Settle.Note }},
	{"started_at", "of the attempt; RFC 3339, UTC, by the loader's clock", func(a attempt) string { return timestamp(a.record.StartedAt) }},
	{"finished_at", "of the attempt", func(a attempt) string { return timestamp(a.record.FinishedAt) }},
	{"hosts", "Kubernetes nodes of the OpenSearch nodes", environment(func(e record.Environment) string { return e.Host })},
	{"loader_host", "Kubernetes node of the loader", func(a attempt) string { return a.record.Loader.Host }},
	{"driver", "program that made the load, and its version", func(a attempt) string {
		return strings.TrimSpace(a.record.Driver.Name + " " + a.record.Driver.Version)
	}},
	{"driver_exit_code", "", func(a attempt) string { return strconv.Itoa(a.record.Driver.ExitCode) }},
	{"osb_run_id", "opensearch-benchmark's own id of the run", func(a attempt) string { return a.record.Driver.RunID }},
	{"opensearch", "version and build, as the nodes say", environment(func(e record.Environment) string { return e.OpenSearch })},
	{"jvm", "as the nodes say", environment(func(e record.Environment) string { return e.JVM })},
	{"cpu_model", "as the nodes say", environment(func(e record.Environment) string { return e.CPUModel })},
	{"kernel", "as the nodes say", environment(func(e record.Environment) string { return e.Kernel })},
	{"primaries", "read back from the index", ingest(func(in record.Ingest) string { return integer(in.Primaries) })},
	{"replicas", "read back from the index", ingest(func(in record.Ingest) string { return integer(in.Replicas) })},
	{"refresh_interval", "read back from the index", ingest(func(in record.Ingest) string { return in.RefreshInterval })},
	{"settings_digest", "of the effective settings and mapping of the index", ingest(func(in record.Ingest) string { return in.SettingsDigest })},
	{"cell", "identity of the cell", func(a attempt) string { return a.record.Trial.Cell }},
	{"dropped", "what did not fit the record", func(a attempt) string { return strings.Join(a.record.Dropped, " ") }},
	{"artifacts", "folder of the raw files", func(a attempt) string { return a.record.Artifacts }},
}

// columnNamed gives a column's value.
func columnNamed(name string) func(attempt) string { return columnIndex[name] }

var columnIndex = func() map[string]func(attempt) string {
	out := map[string]func(attempt) string{}
	for _, c := range resultColumns {
		out[c.name] = c.value
	}
	return out
}()

func integer(n int32) string { return strconv.Itoa(int(n)) }

func failures(list []analysis.Failure, most int) string {
	messages := make([]string, len(list))
	for i, f := range list {
		messages[i] = f.Message
		if f.Reason != "" {
			messages[i] = f.Reason + ": " + f.Message
		}
	}
	return cut(line(strings.Join(messages, "; ")), most)
}

func rateOf(a attempt) string {
	rate, unit := a.record.Rate()
	if unit == "" || a.judgement.Verdict == analysis.Errored {
		return ""
	}
	return figure(rate)
}

// errorRate is of requests, or of the operations of a load that fills no index, where both are counted.
func errorRate(a attempt) string {
	if l := a.record.Load; l != nil {
		rate, known := l.ErrorRate()
		if !known {
			return ""
		}
		return trimmed(rate, 6)
	}
	return ingestTask(func(t record.Task) string { return trimmed(t.ErrorRate, 6) })(a)
}

// countedDocuments are a number of documents, of which there are none only where nothing was indexed.
func countedDocuments(in record.Ingest, n int64) string {
	if n == 0 && in.DocsPerSecond > 0 {
		return "" // of a source that tells the rate alone
	}
	return strconv.FormatInt(n, 10)
}

// windowOf is when the measured load began and ended, Unix ms; 0 when there was none.
func windowOf(r record.Record) (from, to int64) {
	switch {
	case r.Ingest != nil:
		return r.Ingest.From, r.Ingest.To
	case r.Load != nil:
		return r.Load.From, r.Load.To
	}
	return 0, 0
}

// loaded gives a figure of records that measured a load of any kind.
func loaded(of func(record.Record) string) func(attempt) string {
	return func(a attempt) string {
		if a.record.Ingest == nil && a.record.Load == nil {
			return ""
		}
		return of(a.record)
	}
}

// ingested gives a figure of records that filled an index.
func ingested(of func(record.Record) string) func(attempt) string {
	return func(a attempt) string {
		if a.record.Ingest == nil {
			return ""
		}
		return of(a.record)
	}
}

func ingest(of func(record.Ingest) string) func(attempt) string {
	return ingested(func(r record.Record) string { return of(*r.Ingest) })
}

// valid gives a figure of valid measurements alone.
func valid(of func(record.Ingest) string) func(attempt) string {
	return func(a attempt) string {
		if a.judgement.Verdict == analysis.Errored {
			return ""
		}
		return ingest(of)(a)
	}
}

func ingestTask(of func(record.Task) string) func(attempt) string {
	return func(a attempt) string {
		for _, t := range tasksOf(a.record) {
			if !t.Search {
				return of(t)
			}
		}
		return ""
	}
}

func latency(of func(record.Latency) float64) func(attempt) string {
	return ingestTask(func(t record.Task) string {
		if t.Latency == nil {
			return ""
		}
		return known(of(*t.Latency))
	})
}

func cpu(of func(record.CPU) float64) func(attempt) string {
	return func(a attempt) string {
		mean, ok := analysis.CPUMean(a.record)
		if !ok {
			return ""
		}
		return figure(of(mean))
	}
}

func efficiency(a attempt) string {
	if f, ok := analysis.Efficiency(a.record); ok && a.judgement.Verdict != analysis.Errored {
		return figure(f)
	}
	return ""
}

func cpuSeconds(a attempt) string {
	if f, ok := analysis.CPUSecondsPerMillion(a.record); ok && a.judgement.Verdict != analysis.Errored {
		return figure(f)
	}
	return ""
}

func pressure(of func(record.Pressure) float64) func(attempt) string {
	return formatted(ofPressure(of))
}

// disk sums over the nodes; empty unless every node's disks were seen.
func disk(of func(record.Disk) float64) func(attempt) string { return formatted(ofDisk(of)) }

func nodes(of func([]record.Node) string) func(attempt) string {
	return func(a attempt) string {
		if len(a.record.Nodes) == 0 {
			return ""
		}
		return of(a.record.Nodes)
	}
}

// collections sums over the nodes; empty where the record had no room for them.
func collections(of func(record.GC) int64) func(attempt) string {
	return func(a attempt) string {
		all, ok := a.record.Pool()
		if !ok || all.GC == nil {
			return ""
		}
		return strconv.FormatInt(of(*all.GC), 10)
	}
}

func environment(of func(record.Environment) string) func(attempt) string {
	return func(a attempt) string { return distinct([]record.Record{a.record}, of) }
}
