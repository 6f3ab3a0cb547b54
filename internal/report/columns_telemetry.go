package report

import (
	"math"
	"strconv"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// telemetryColumns follow the first ones.
var telemetryColumns = []column{
	{"placement", "of a Final or a Warmup, 1-based: the set of nodes and volumes", func(a attempt) string { return placement(a.record.Trial) }},
	{"target_docs_per_second", "rate of an OpenLoop trial", func(a attempt) string { return knownInt(a.record.Trial.TargetDocsPerSecond) }},
	{"steady_seconds", "length of the steady part of a timed load; empty when none was found, and of a full corpus", ingest(func(in record.Ingest) string { return known(in.SteadySeconds) })},
	{"cv_percent", "coefficient of variation of docs/s within the window, over means of 5 s", ingest(func(in record.Ingest) string { return known(in.CVPercent) })},
	{"segments", "of the primaries, after merges have drained", ingest(func(in record.Ingest) string { return knownInt(in.Segments) })},
	{"merges", "of the primaries, from the load's start until merges had drained", work(func(w record.Work) string { return strconv.FormatInt(w.Merges, 10) })},
	{"merge_seconds", "the same, time in merges", work(func(w record.Work) string { return figure(w.MergeSeconds) })},
	{"merged_mib", "the same", work(func(w record.Work) string { return figure(w.MergedMiB) })},
	{"merge_throttle_seconds", "indexing held back by merges", work(func(w record.Work) string { return figure(w.ThrottleSeconds) })},
	{"refresh_seconds", "of the primaries", work(func(w record.Work) string { return figure(w.RefreshSeconds) })},
	{"flush_seconds", "of the primaries", work(func(w record.Work) string { return figure(w.FlushSeconds) })},
	{"cpu_idle_percent", "as cpu_user_percent", cpu(func(c record.CPU) float64 { return c.Idle })},
	{"run_queue", "mean running and runnable tasks, highest node", measured("run_queue")},
	{"cpu_throttled_percent", "share of the CPU quota's periods that were throttled, highest node; empty without a quota", formatted(highest(func(n record.Node) float64 {
		if n.Throttled == nil {
			return math.NaN()
		}
		return *n.Throttled
	}))},
	{"disk_busiest_percent", "time in which the busiest disk had work, highest node; says little of an NVMe", formatted(highest(func(n record.Node) float64 {
		if n.Disk == nil {
			return math.NaN()
		}
		return nonZero(n.Disk.BusiestPercent)
	}))},
	{"network_receive_mib_per_second", "of the pods of all OpenSearch nodes", measured("network_receive_mib_per_second")},
	{"network_transmit_mib_per_second", "the same", measured("network_transmit_mib_per_second")},
	{"old_gen_max_bytes", "of the heap's old generation, highest node", measured("old_gen_max_bytes")},
	{"resident_max_bytes", "of OpenSearch's process, highest node", measured("resident_max_bytes")},
	{"survivor_max_bytes", "of the heap's survivor space, highest node", formatted(ofMemory(func(m record.Memory) int64 { return m.SurvivorMax }))},
	{"direct_max_bytes", "direct buffers, highest node", formatted(ofMemory(func(m record.Memory) int64 { return m.DirectMax }))},
	{"write_pool_threads", "highest node", pool(func(p record.Pool) int64 { return p.Threads })},
	{"write_pool_active_max", "highest node", pool(func(p record.Pool) int64 { return p.ActiveMax })},
	{"write_pool_queue_max", "highest node", pool(func(p record.Pool) int64 { return p.QueueMax })},
	{"gc_pauses", "stop-the-world pauses of gc.log within the window, all nodes; empty without gc.log", formatted(totalPauses(func(p record.Pauses) float64 { return float64(p.Count) }))},
	{"gc_pauses_young", "of those", measured("gc_pauses_young")},
	{"gc_pauses_mixed", "of those", measured("gc_pauses_mixed")},
	{"gc_pauses_full", "of those", measured("gc_pauses_full")},
	{"gc_pause_millis", "their total, all nodes", formatted(totalPauses(func(p record.Pauses) float64 { return p.Millis }))},
	{"gc_pause_p50_ms", "highest node", measured("gc_pause_p50_ms")},
	{"gc_pause_p99_ms", "highest node", measured("gc_pause_p99_ms")},
	{"gc_pause_max_ms", "highest node", measured("gc_pause_max_ms")},
	{"gc_survivor_mib", "mean survivor space after a pause, highest node", formatted(ofPauses(func(p record.Pauses) float64 { return p.SurvivorMiB }))},
	{"gc_promoted_mib", "growth of the old generation over the young pauses, all nodes", measured("gc_promoted_mib")},
	{"latency_p999_ms", "ingest task, by the driver", measured("latency_p999_ms")},
	{"service_time_p50_ms", "ingest task, by the driver", serviceTime(func(l record.Latency) float64 { return l.P50 })},
	{"service_time_p90_ms", "ingest task, by the driver", serviceTime(func(l record.Latency) float64 { return l.P90 })},
	{"service_time_p99_ms", "ingest task, by the driver", serviceTime(func(l record.Latency) float64 { return l.P99 })},
	{"target_throughput", "of the ingest task, in its own unit; empty: a closed loop", ingestTask(func(t record.Task) string { return known(t.Target) })},
	{"loader_memory_bytes", "highest resident memory of the driver's processes", func(a attempt) string { return knownInt(a.record.Loader.MemoryBytes) }},
	{"loader_cores", "logical processors of the loader's node", func(a attempt) string { return knownInt(int64(a.record.Loader.Cores)) }},
	{"smt", "threads a core", environment(func(e record.Environment) string { return knownInt(int64(e.SMT)) })},
	{"disk", "model and size of the disks", environment(func(e record.Environment) string { return e.Disk })},
	{"image", "digest of OpenSearch's image", environment(func(e record.Environment) string { return e.Image })},
}

// inputColumns are what `kubectl knee analyze` reads under these names, so that results.csv may be given to it.
var inputColumns = []column{
	{"status", "ok, gated or failed: the verdict in the words of `kubectl knee analyze`", status},
	{"iowait_percent", "the highest node's, as the gate sees it", formatted(highest(func(n record.Node) float64 {
		if n.CPU == nil {
			return math.NaN()
		}
		return n.CPU.IOWait
	}))},
	{"cpu_system_percent", "the same as cpu_sys_percent", cpu(func(c record.CPU) float64 { return c.Sys })},
}

// ownColumns are what Knee itself costs.
var ownColumns = []column{
	{"probe_percent", "CPU that Knee's probe itself took, of one core, highest node; empty when not known", formatted(highest(func(n record.Node) float64 { return nonZero(n.Probe) }))},
}

// clusterColumns are rates for each machine, and the documents' bytes.
var clusterColumns = []column{
	{"opensearch_nodes", "how many there were; empty when not all are known", func(a attempt) string {
		if all, ok := a.record.Pool(); ok {
			return strconv.Itoa(all.Nodes)
		}
		return ""
	}},
	{"docs_per_second_per_node", "docs_per_second over the number of OpenSearch nodes", validly(measured("docs_per_second_per_node"))},
	{"docs_per_second_per_vcpu", "docs_per_second over the logical processors of all OpenSearch nodes; one of an SMT core is not a full core", validly(measured("docs_per_second_per_vcpu"))},
	{"payload_mib_per_second", "the documents accepted, as they were sent, within the window; empty where the driver does not tell their size", validly(measured("payload_mib_per_second"))},
}

// machineColumns tell how the CPU varied, and what else is known of the machines.
var machineColumns = []column{
	{"cpu_busy_min_percent", "user + sys of all cores: the lowest mean over 10 s within the window, of the node with the lowest; empty where the window is too short or the nodes were not seen", formatted(ofCPURange(func(r record.Range) float64 { return r.Min }))},
	{"cpu_busy_max_percent", "the same, the highest mean of the node with the highest", formatted(ofCPURange(func(r record.Range) float64 { return r.Max }))},
	{"cpu_busy_range_seconds", "length of those means: 10 s by Knee's probe", formatted(ofCPURange(func(r record.Range) float64 { return r.Seconds }))},
	{"hypervisor", "what the nodes run on; none: on hardware", environment(func(e record.Environment) string { return e.Hypervisor })},
	{"node_os", "distribution that built the nodes' kernel, as /proc/version says", environment(func(e record.Environment) string { return e.NodeOS })},
	{"image_os", "operating system that OpenSearch sees: in a container that of its image", environment(func(e record.Environment) string { return e.ImageOS })},
	{"swap", "size of the nodes' swap areas, or none", environment(func(e record.Environment) string { return e.Swap })},
	{"measured_again", "token by which spec.sweep.rerun asked for this trial: the point was measured again by hand; empty else", func(a attempt) string { return a.record.Trial.Again }},
	{"max_processes", "RLIMIT_NPROC of OpenSearch's process", environment(func(e record.Environment) string { return limitText(e.MaxProcesses) })},
}

// validly gives a figure of valid measurements alone.
func validly(of func(attempt) string) func(attempt) string {
	return func(a attempt) string {
		if a.judgement.Verdict == analysis.Errored {
			return ""
		}
		return of(a)
	}
}

func status(a attempt) string {
	switch a.judgement.Verdict {
	case analysis.Measured:
		return "ok"
	case analysis.Gated:
		return "gated"
	}
	return "failed"
}

// placement is empty where the trial has none: 0 of a Final stands for the first.
func placement(t record.Trial) string {
	if t.Phase == record.Sweep || t.Phase == record.OpenLoop {
		return knownInt(int64(t.Placement))
	}
	return integer(max(t.Placement, 1))
}

func formatted(of func(record.Record) float64) func(attempt) string {
	return func(a attempt) string { return figure(of(a.record)) }
}

// measured is a figure that comparison.csv has too.
func measured(name string) func(attempt) string {
	return func(a attempt) string { return figure(measureNamed(name).of(a.record)) }
}

func work(of func(record.Work) string) func(attempt) string {
	return ingest(func(in record.Ingest) string {
		if in.Work == nil {
			return ""
		}
		return of(*in.Work)
	})
}

func pool(of func(record.Pool) int64) func(attempt) string {
	return formatted(highest(func(n record.Node) float64 {
		if n.WritePool == nil {
			return math.NaN()
		}
		return float64(of(*n.WritePool))
	}))
}

func serviceTime(of func(record.Latency) float64) func(attempt) string {
	return ingestTask(func(t record.Task) string {
		if t.ServiceTime == nil {
			return ""
		}
		return known(of(*t.ServiceTime))
	})
}
