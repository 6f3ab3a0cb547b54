package analysis

import (
	"slices"

	"github.com/google/cel-go/cel"

	"github.com/knee-bench/knee/internal/record"
)

// The fields of what gates.expressions see of a record. docs/gates.md has the same tables; a test keeps them in step.

func init() { // the kinds name each other
	trialKind.fields = slices.Concat(trialFields, ofCluster(clusterFields), ofIngest(slices.Concat(ingestFields, workFields)))
	loadKind.fields = loadFields
	nodeKind.fields = slices.Concat(machineFields, processFields)
	taskKind.fields = taskFields
	loaderKind.fields = loaderFields
}

// always, some and over make fields of what is always known, of figures that are never 0 when measured, and of parts
// that may be absent as a whole.

func always[T any](name string, typ *cel.Type, doc string, of func(v *view) T) viewField {
	return viewField{name, doc, typ, func(v *view) any { return of(v) }}
}

func some[T comparable](name string, typ *cel.Type, doc string, of func(v *view) T) viewField {
	return viewField{name, doc, typ, func(v *view) any {
		var zero T
		if got := of(v); got != zero {
			return got
		}
		return nil
	}}
}

func over[P, T any](name string, typ *cel.Type, doc string, part func(v *view) *P, of func(p *P) T) viewField {
	return viewField{name, doc, typ, func(v *view) any {
		if p := part(v); p != nil {
			return of(p)
		}
		return nil
	}}
}

// ofIngest makes fields absent of a load that fills no index.
func ofIngest(fields []viewField) []viewField {
	return where(func(v *view) bool { return v.record.Ingest != nil }, fields)
}

// ofCluster makes fields absent of a load beside which nobody looked at an OpenSearch.
func ofCluster(fields []viewField) []viewField {
	return where(func(v *view) bool { return clusterSeen(*v.record) }, fields)
}

func where(known func(v *view) bool, fields []viewField) []viewField {
	for i, f := range fields {
		fields[i].get = func(v *view) any {
			if !known(v) {
				return nil
			}
			return f.get(v)
		}
	}
	return fields
}

var trialFields = []viewField{
	always("variant", cel.StringType, "the variant's name", func(v *view) string { return v.record.Trial.Variant }),
	always("topology", cel.StringType, "the topology's name", func(v *view) string { return v.record.Trial.Topology }),
	always("phase", cel.StringType, "Sweep, Final or OpenLoop", func(v *view) string { return string(v.record.Trial.Phase) }),
	always("clients", cel.IntType, "the client count", func(v *view) int64 { return int64(v.record.Trial.Clients) }),
	always("repetition", cel.IntType, "from 1", func(v *view) int64 { return int64(v.record.Trial.Repetition) }),
	{"nodes", "one an OpenSearch node", cel.ListType(cel.ObjectType("Node")), func(v *view) any {
		if len(v.record.Nodes) == 0 { // or what is asked of all nodes would hold
			return nil
		}
		return nodeViews(v)
	}},
	{"tasks", "the driver's tasks, ingest first; absent when some had no room in the record", cel.ListType(cel.ObjectType("Task")), taskViews},
	always("loader", cel.ObjectType("Loader"), "what made the load", func(v *view) *view {
		return &view{kind: loaderKind, record: v.record}
	}),
	{"load", "a load that fills no index (the drivers stream and command); absent of any other", cel.ObjectType("Load"), func(v *view) any {
		if v.record.Load == nil {
			return nil
		}
		return &view{kind: loadKind, record: v.record}
	}},
	{"errorRate", "the highest share of failed requests of any ingest task, or of failed operations of a load that fills no index, 0 to 1", cel.DoubleType, func(v *view) any {
		if rate, known := ingestErrorRate(*v.record); known {
			return rate
		}
		return nil
	}},
}

var clusterFields = []viewField{
	always("rejections", cel.IntType, "refused requests, over every counter of every node", func(v *view) int64 { return v.record.Rejections.Total() }),
	always("writePoolRejections", cel.IntType, "of them, by the write thread pools", func(v *view) int64 { return v.record.Rejections.WritePool }),
	always("indexingPressureRejections", cel.IntType, "of them, by indexing pressure", func(v *view) int64 { return v.record.Rejections.IndexingPressure }),
	{"admissionControlRejections", "of them, by admission control; absent where a node's statistics have none (OpenSearch before 2.12)", cel.IntType, func(v *view) any {
		if v.record.Rejections.NoAdmissionControl {
			return nil
		}
		return v.record.Rejections.AdmissionControl
	}},
	over("segmentReplicationRejections", cel.IntType, "of them, by the backpressure of segment replication", func(v *view) *int64 { return v.record.Rejections.SegmentReplication }, func(n *int64) int64 { return *n }),
	over("remoteStoreRejections", cel.IntType, "of them, by the backpressure of the remote store", func(v *view) *int64 { return v.record.Rejections.RemoteStore }, func(n *int64) int64 { return *n }),
	always("circuitBreakerTrips", cel.IntType, "of them, by circuit breakers", func(v *view) int64 { return v.record.Rejections.CircuitBreakers }),
	always("settleSeconds", cel.DoubleType, "the wait for rest before the load", func(v *view) float64 { return v.record.Settle.Seconds }),
	always("settled", cel.BoolType, "the cluster was at rest before the load", func(v *view) bool { return v.record.Settle.Note == "" }),
}

var ingestFields = []viewField{
	always("docsPerSecond", cel.DoubleType, "accepted docs/s within the load window", func(v *view) float64 { return v.record.Ingest.DocsPerSecond }),
	some("wholeDocsPerSecond", cel.DoubleType, "from the first to the last accepted document", func(v *view) float64 { return v.record.Ingest.WholeDocsPerSec }),
	some("drainedDocsPerSecond", cel.DoubleType, "the same, until merges had drained", func(v *view) float64 { return v.record.Ingest.DrainedDocsPerSec }),
	some("driverDocsPerSecond", cel.DoubleType, "the driver's own figure", func(v *view) float64 { return v.record.Ingest.OSBDocsPerSecond }),
	always("windowSeconds", cel.DoubleType, "length of the load window", func(v *view) float64 { return v.record.Ingest.Seconds }),
	always("window", cel.StringType, "Whole, Steady or Corpus", func(v *view) string { return v.record.Ingest.Window }),
	{"steadySeconds", "length of the steady part of a timed load, 0 when none was found; absent for a full corpus", cel.DoubleType, func(v *view) any {
		if v.record.Ingest.Corpus > 0 {
			return nil
		}
		return v.record.Ingest.SteadySeconds
	}},
	some("cvPercent", cel.DoubleType, "coefficient of variation of docs/s within the window, over means of 5 s", func(v *view) float64 { return v.record.Ingest.CVPercent }),
	always("documents", cel.IntType, "accepted within the window", func(v *view) int64 { return v.record.Ingest.Documents }),
	always("totalDocuments", cel.IntType, "accepted over the whole load", func(v *view) int64 { return v.record.Ingest.TotalIndexed }),
	some("bulkSize", cel.IntType, "documents a bulk request", func(v *view) int64 { return v.record.Ingest.BulkSize }),
	some("indexBytes", cel.IntType, "the primaries' store after merges", func(v *view) int64 { return v.record.Ingest.IndexBytes }),
	some("segments", cel.IntType, "of the primaries, after merges", func(v *view) int64 { return v.record.Ingest.Segments }),
}

func work(v *view) *record.Work { return v.record.Ingest.Work }

var workFields = []viewField{
	over("mergedMiB", cel.DoubleType, "MiB that merges wrote", work, func(w *record.Work) float64 { return w.MergedMiB }),
	over("mergeSeconds", cel.DoubleType, "time of merges, over all shards", work, func(w *record.Work) float64 { return w.MergeSeconds }),
	over("mergeThrottleSeconds", cel.DoubleType, "indexing held back by merges", work, func(w *record.Work) float64 { return w.ThrottleSeconds }),
	over("refreshSeconds", cel.DoubleType, "time of refreshes, over all shards", work, func(w *record.Work) float64 { return w.RefreshSeconds }),
	over("flushSeconds", cel.DoubleType, "time of flushes, over all shards", work, func(w *record.Work) float64 { return w.FlushSeconds }),
}

func cpu(v *view) *record.CPU                 { return v.node.CPU }
func cpuRange(v *view) *record.Range          { return v.node.CPURange }
func reportedCPU(v *view) *record.ReportedCPU { return v.node.ReportedCPU }
func pressure(v *view) *record.Pressure       { return v.node.Pressure }
func disk(v *view) *record.Disk               { return v.node.Disk }
func network(v *view) *record.Network         { return v.node.Network }

var machineFields = []viewField{
	always("name", cel.StringType, "OpenSearch's name of the node", func(v *view) string { return v.node.Name }),
	some("host", cel.StringType, "the Kubernetes node", func(v *view) string { return v.node.Environment.Host }),
	some("architecture", cel.StringType, "amd64 or arm64", func(v *view) string { return v.node.Environment.Arch }),
	some("cpuModel", cel.StringType, "as the machine says", func(v *view) string { return v.node.Environment.CPUModel }),
	over("cores", cel.IntType, "logical processors of the machine", cpu, func(c *record.CPU) int64 { return int64(c.Cores) }),
	over("cpuUserPercent", cel.DoubleType, "user + nice, of all cores", cpu, func(c *record.CPU) float64 { return c.User }),
	over("cpuSysPercent", cel.DoubleType, "system + interrupts, of all cores", cpu, func(c *record.CPU) float64 { return c.Sys }),
	over("cpuPercent", cel.DoubleType, "user + sys", cpu, func(c *record.CPU) float64 { return c.Busy() }),
	over("cpuMinPercent", cel.DoubleType, "user + sys: the lowest mean over 10 s within the window", cpuRange, func(r *record.Range) float64 { return r.Min }),
	over("cpuMaxPercent", cel.DoubleType, "the same, the highest", cpuRange, func(r *record.Range) float64 { return r.Max }),
	over("reportedCPUPercent", cel.DoubleType, "CPU by the node's own word, where no probe runs: mean of the readings", reportedCPU, func(c *record.ReportedCPU) float64 { return c.Mean }),
	over("reportedCPUMinPercent", cel.DoubleType, "the same, lowest reading", reportedCPU, func(c *record.ReportedCPU) float64 { return c.Min }),
	over("reportedCPUMaxPercent", cel.DoubleType, "the same, highest reading", reportedCPU, func(c *record.ReportedCPU) float64 { return c.Max }),
	over("ioWaitPercent", cel.DoubleType, "iowait, of all cores", cpu, func(c *record.CPU) float64 { return c.IOWait }),
	over("stealPercent", cel.DoubleType, "taken by the hypervisor, of all cores", cpu, func(c *record.CPU) float64 { return c.Steal }),
	over("idlePercent", cel.DoubleType, "idle, of all cores", cpu, func(c *record.CPU) float64 { return c.Idle }),
	{"runQueue", "mean number of running and runnable tasks", cel.DoubleType, func(v *view) any {
		if v.node.CPU == nil || v.node.CPU.RunQueue == 0 {
			return nil
		}
		return v.node.CPU.RunQueue
	}},
	over("cpuPressurePercent", cel.DoubleType, "PSI some: time in which a task waited for a CPU", pressure, func(p *record.Pressure) float64 { return p.CPU }),
	over("memoryPressurePercent", cel.DoubleType, "PSI some, memory", pressure, func(p *record.Pressure) float64 { return p.Memory }),
	over("ioPressurePercent", cel.DoubleType, "PSI some, io", pressure, func(p *record.Pressure) float64 { return p.IO }),
	{"throttledPercent", "share of the CPU quota's periods that were throttled; absent without a quota, too", cel.DoubleType, func(v *view) any {
		if v.node.Throttled == nil {
			return nil
		}
		return *v.node.Throttled
	}},
	over("diskReadMiBs", cel.DoubleType, "MiB/s, all disks", disk, func(d *record.Disk) float64 { return d.ReadMiBs }),
	over("diskWriteMiBs", cel.DoubleType, "MiB/s, all disks", disk, func(d *record.Disk) float64 { return d.WriteMiBs }),
	over("diskIOPS", cel.DoubleType, "reads and writes a second, all disks", disk, func(d *record.Disk) float64 { return d.IOPS }),
	over("networkReceiveMiBs", cel.DoubleType, "MiB/s, of OpenSearch's pod", network, func(n *record.Network) float64 { return n.ReceiveMiBs }),
	over("networkTransmitMiBs", cel.DoubleType, "MiB/s, of OpenSearch's pod", network, func(n *record.Network) float64 { return n.TransmitMiBs }),
}

// gc is nil when the record had no room for it, which leaves zeros.
func gc(v *view) *record.GC {
	if !v.record.GCKnown(*v.node) {
		return nil
	}
	return &v.node.GC
}

func pauses(v *view) *record.Pauses  { return v.node.GC.Pauses }
func writePool(v *view) *record.Pool { return v.node.WritePool }

func memory(v *view) record.Memory {
	if v.node.Memory == nil {
		return record.Memory{}
	}
	return *v.node.Memory
}

var processFields = []viewField{
	some("heapUsedMaxBytes", cel.IntType, "highest heap in use", func(v *view) int64 { return v.node.HeapUsedMax }),
	some("heapBytes", cel.IntType, "the heap's limit", func(v *view) int64 { return v.node.Environment.HeapBytes }),
	some("oldGenMaxBytes", cel.IntType, "highest old generation", func(v *view) int64 { return memory(v).OldGenMax }),
	some("survivorMaxBytes", cel.IntType, "highest survivor space", func(v *view) int64 { return memory(v).SurvivorMax }),
	some("residentMaxBytes", cel.IntType, "highest resident memory of OpenSearch's process", func(v *view) int64 { return memory(v).ResidentMax }),
	some("directMaxBytes", cel.IntType, "highest direct buffers", func(v *view) int64 { return memory(v).DirectMax }),
	over("gcCollections", cel.IntType, "over the whole load, by _nodes/stats", gc, func(g *record.GC) int64 { return g.Collections }),
	over("gcMillis", cel.IntType, "the same, ms", gc, func(g *record.GC) int64 { return g.Millis }),
	over("gcPauses", cel.IntType, "pauses by gc.log, within the window", pauses, func(p *record.Pauses) int64 { return p.Count }),
	over("gcFullPauses", cel.IntType, "of them, full collections", pauses, func(p *record.Pauses) int64 { return p.Full }),
	over("gcPauseMillis", cel.DoubleType, "their total, ms", pauses, func(p *record.Pauses) float64 { return p.Millis }),
	over("gcPauseP50Millis", cel.DoubleType, "ms", pauses, func(p *record.Pauses) float64 { return p.P50 }),
	over("gcPauseP99Millis", cel.DoubleType, "ms", pauses, func(p *record.Pauses) float64 { return p.P99 }),
	over("gcPauseMaxMillis", cel.DoubleType, "ms", pauses, func(p *record.Pauses) float64 { return p.Max }),
	over("writePoolActiveMax", cel.IntType, "highest number of busy write threads", writePool, func(p *record.Pool) int64 { return p.ActiveMax }),
	over("writePoolQueueMax", cel.IntType, "longest queue of the write pool", writePool, func(p *record.Pool) int64 { return p.QueueMax }),
}

// serviceTime and latency are percentiles of a task; of a closed loop latency is the service time, and absent here.
func serviceTime(v *view) record.Latency {
	if v.task.ServiceTime == nil {
		return record.Latency{}
	}
	return *v.task.ServiceTime
}

func latency(v *view) record.Latency {
	if v.task.Latency == nil || v.task.Target == 0 {
		return record.Latency{}
	}
	return *v.task.Latency
}

var taskFields = []viewField{
	always("name", cel.StringType, "the task's name", func(v *view) string { return v.task.Name }),
	always("search", cel.BoolType, "a search task; else one of ingest", func(v *view) bool { return v.task.Search }),
	always("errorRate", cel.DoubleType, "share of requests that failed, 0 to 1", func(v *view) float64 { return v.task.ErrorRate }),
	some("throughput", cel.DoubleType, "mean, in unit", func(v *view) float64 { return v.task.Throughput }),
	some("unit", cel.StringType, "docs/s, ops/s", func(v *view) string { return v.task.Unit }),
	some("target", cel.DoubleType, "the target throughput, in unit", func(v *view) float64 { return v.task.Target }),
	some("mean", cel.DoubleType, "service time, ms", func(v *view) float64 { return serviceTime(v).Mean }),
	some("p50", cel.DoubleType, "service time, ms", func(v *view) float64 { return serviceTime(v).P50 }),
	some("p90", cel.DoubleType, "service time, ms", func(v *view) float64 { return serviceTime(v).P90 }),
	some("p99", cel.DoubleType, "service time, ms", func(v *view) float64 { return serviceTime(v).P99 }),
	some("p999", cel.DoubleType, "service time, ms", func(v *view) float64 { return serviceTime(v).P999 }),
	some("max", cel.DoubleType, "service time, ms", func(v *view) float64 { return serviceTime(v).Max }),
	some("latencyP50", cel.DoubleType, "latency at a target throughput, ms", func(v *view) float64 { return latency(v).P50 }),
	some("latencyP90", cel.DoubleType, "latency at a target throughput, ms", func(v *view) float64 { return latency(v).P90 }),
	some("latencyP99", cel.DoubleType, "latency at a target throughput, ms", func(v *view) float64 { return latency(v).P99 }),
	some("latencyP999", cel.DoubleType, "latency at a target throughput, ms", func(v *view) float64 { return latency(v).P999 }),
}

var loaderFields = []viewField{
	some("host", cel.StringType, "the Kubernetes node", func(v *view) string { return v.record.Loader.Host }),
	some("cores", cel.IntType, "logical processors of its machine", func(v *view) int64 { return int64(v.record.Loader.Cores) }),
	some("cpuCores", cel.DoubleType, "mean CPU of the driver's processes, in cores", func(v *view) float64 { return v.record.Loader.CPUCores }),
	some("busiestPercent", cel.DoubleType, "the busiest process, of one core", func(v *view) float64 { return v.record.Loader.BusiestPercent }),
	some("busiestProcess", cel.StringType, "its name", func(v *view) string { return v.record.Loader.BusiestProcess }),
	some("clientUtilization", cel.DoubleType, "share of the clients' time spent waiting for the server, 0 to 1", func(v *view) float64 { return v.record.Loader.UtilizationOfTime }),
	some("memoryBytes", cel.IntType, "highest resident memory of the driver's processes", func(v *view) int64 { return v.record.Loader.MemoryBytes }),
}
