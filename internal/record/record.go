// Package record is the versioned record of one attempt of a trial: what the agent measured inside the cluster,
// and all that the controller, the analysis and the reports ever know of it. A record holds raw figures and
// facts, never a judgement: verdicts are made from records when they are read.
package record

// Version is the version of the record's JSON. A reader refuses a version that it does not know.
const Version = 1

// Phase is the part of a campaign that a trial belongs to.
type Phase string

// The phases. The figures of a Warmup trial are discarded; an OpenLoop trial's load has a fixed rate, so that only
// its latency tells something.
const (
	Warmup   Phase = "Warmup"
	Sweep    Phase = "Sweep"
	Final    Phase = "Final"
	OpenLoop Phase = "OpenLoop"
)

// Trial identifies one attempt of a trial. Two attempts that differ in any field are different measurements.
type Trial struct {
	Campaign   string `json:"campaign"`   // UID of the campaign
	Cell       string `json:"cell"`       // hash of the cell's identity
	Variant    string `json:"variant"`    // for people
	Topology   string `json:"topology"`   // for people
	Phase      Phase  `json:"phase"`      // Warmup, Sweep, Final or OpenLoop
	Clients    int32  `json:"clients"`    // client count
	Repetition int32  `json:"repetition"` // 1-based, within the placement; of a Warmup, the ordinal within its cell
	Attempt    int32  `json:"attempt"`    // 1-based

	Placement           int32 `json:"placement,omitempty"`           // of a Final or a Warmup, 1-based; 0 stands for the first
	TargetDocsPerSecond int64 `json:"targetDocsPerSecond,omitempty"` // of an OpenLoop trial: the rate of the load

	Again string `json:"again,omitempty"` // token by which spec.sweep.rerun asked for this trial instead of an earlier one
}

// Record is what one attempt measured. Times are Unix milliseconds of the loader's clock; durations are seconds;
// CPU is in percent of all cores of the node unless a field says otherwise; latencies are milliseconds.
type Record struct {
	Version    int        `json:"version"`
	Trial      Trial      `json:"trial"`
	StartedAt  int64      `json:"startedAt"`
	FinishedAt int64      `json:"finishedAt"`
	Driver     Driver     `json:"driver,omitzero"`
	Sources    Sources    `json:"sources,omitzero"` // what the attempt took from outside the campaign's spec
	Settle     Settle     `json:"settle,omitzero"`
	Ingest     *Ingest    `json:"ingest,omitempty"`    // absent when no load was measured, or the load fills no index
	Load       *Load      `json:"load,omitempty"`      // a load that fills no index; absent when none was measured
	Rejections Rejections `json:"rejections,omitzero"` // deltas over the load, summed over all nodes
	Nodes      []Node     `json:"nodes,omitempty"`     // one an OpenSearch node, ordered by name; NodesKnown tells whether all are here
	Pooled     *Pooled    `json:"pooled,omitempty"`    // over all nodes, where there was no room for each
	Loader     Loader     `json:"loader,omitzero"`     //
	Tasks      []Task     `json:"tasks,omitempty"`     // the driver's own figures, ingest first

	ClientCheck *ClientCheck `json:"clientCheck,omitempty"` // the load once more, by Knee's own loader; absent when it was not asked for

	Error     *Error   `json:"error,omitempty"`     // what kept the attempt from a valid measurement
	Dropped   []string `json:"dropped,omitempty"`   // what did not fit and was left out, in the order of leaving
	Artifacts string   `json:"artifacts,omitempty"` // folder of the raw files, when one is kept
}

// Driver is the program that made the load.
type Driver struct {
	Name     string `json:"name"`              // osb, bulk, stream or command
	Version  string `json:"version,omitempty"` // as the program itself says
	ExitCode int    `json:"exitCode"`          //
	RunID    string `json:"runID,omitempty"`   // OSB's test-run id
}

// Sources identify what an attempt took from outside the campaign's spec and could have changed there. Digests are those of
// package content. A record that was made before Knee noted them has none.
type Sources struct {
	IndexBody string `json:"indexBody,omitempty"` // digest of the index body of spec.workload.index.bodyFrom
	ISMPolicy string `json:"ismPolicy,omitempty"` // digest of the policy of the topology's ismPolicyFrom
	Files     string `json:"files,omitempty"`     // digest of the workload's or dataset's files: a ConfigMap's, an image's or a volume's
	Commit    string `json:"commit,omitempty"`    // git commit of the workload's repository
}

// Settle is the wait for the cluster to come to rest before the load.
type Settle struct {
	Seconds float64 `json:"seconds"`
	Note    string  `json:"note,omitempty"` // what was still restless when the deadline came; empty when at rest

	WaitSeconds float64 `json:"waitSeconds,omitempty"` // how long nothing was sent after that, as the campaign asked for; 0: it did not ask
}

// Ingest is the indexing load as the cluster counted it.
type Ingest struct {
	From              int64   `json:"from"`                       // start of the measured window, Unix ms
	To                int64   `json:"to"`                         // end of the measured window, Unix ms
	Seconds           float64 `json:"seconds"`                    // length of the window
	Window            string  `json:"window"`                     // Whole, Steady or Corpus: see the Window constants
	WindowNote        string  `json:"windowNote,omitempty"`       // why Whole stands where Measure asked for a window, or what kept a Corpus window from 95 %
	Documents         int64   `json:"documents"`                  // accepted within the window, by primaries
	DocsPerSecond     float64 `json:"docsPerSecond"`              // accepted docs/s within the window: Knee's figure
	WholeDocsPerSec   float64 `json:"wholeDocsPerSecond"`         // from the first to the last accepted document
	DrainedDocsPerSec float64 `json:"drainedDocsPerSecond"`       // the same, until merges have drained; 0 when they did not in time
	OSBDocsPerSecond  float64 `json:"osbDocsPerSecond,omitempty"` // the driver's own mean throughput
	TotalIndexed      int64   `json:"totalIndexed"`               // change of primaries.indexing.index_total over the whole load
	IndexFailed       int64   `json:"indexFailed,omitempty"`      // change of primaries.indexing.index_failed
	Count             int64   `json:"count"`                      // _count after the refresh
	Corpus            int64   `json:"corpus,omitempty"`           // documents that the driver was to send; 0 for a timed load
	SteadySeconds     float64 `json:"steadySeconds,omitempty"`    // length of the steady part of a timed load; 0: none was found, or a full corpus
	CVPercent         float64 `json:"cvPercent,omitempty"`        // coefficient of variation of docs/s within the window, over means of 5 s; 0: the window is too short
	PayloadMiBs       float64 `json:"payloadMiBs,omitempty"`      // of the documents accepted within the window, as they were sent, MiB/s; 0: the driver does not tell their size
	IndexBytes        int64   `json:"indexBytes"`                 // primaries' store after merges have drained
	Segments          int64   `json:"segments,omitempty"`         // of the primaries, after merges have drained
	Work              *Work   `json:"work,omitempty"`             // what the index did beside indexing
	BulkSize          int64   `json:"bulkSize,omitempty"`         // documents a bulk request
	Requests          int64   `json:"requests,omitempty"`         // bulk requests that the driver sent, retries included; 0: it does not count them
	Primaries         int32   `json:"primaries"`                  // read back from the index
	Replicas          int32   `json:"replicas"`                   // read back from the index
	RefreshInterval   string  `json:"refreshInterval"`            // read back from the index
	SettingsDigest    string  `json:"settingsDigest,omitempty"`   // of the effective settings and mapping
}

// Load is a load that fills no index, by the driver's own figures: of the stream transport's Benchmark API, or of any
// program.
type Load struct {
	From       int64   `json:"from"`                 // Unix ms
	To         int64   `json:"to"`                   // Unix ms
	Seconds    float64 `json:"seconds"`              // by the driver, where it tells
	Rate       float64 `json:"rate"`                 // operations that succeeded, a second: what variants are compared by
	Unit       string  `json:"unit"`                 // of Rate: rows/s, calls/s
	Operations int64   `json:"operations,omitempty"` // that succeeded
	Failures   int64   `json:"failures,omitempty"`   // that did not
	// FailuresUncounted: the driver told no count of failures, so that Failures is unknown, not 0.
	FailuresUncounted bool `json:"failuresUncounted,omitempty"`

	MiBs    float64  `json:"mibs,omitempty"`    // payload, MiB/s
	Latency *Latency `json:"latency,omitempty"` // of one request; absent where several loaders tell percentiles only
	Metrics []Metric `json:"metrics,omitempty"` // other figures that the campaign asked for
	Notes   []string `json:"notes,omitempty"`   // where the driver's figures contradict each other, or are missing
}

// ErrorRate returns the share of operations that failed, from 0 to 1; false where the driver did not count both.
func (l Load) ErrorRate() (float64, bool) {
	all := l.Operations + l.Failures
	if l.FailuresUncounted || all == 0 {
		return 0, false
	}
	return float64(l.Failures) / float64(all), true
}

// Metric is a named figure of the driver or of the system under test.
type Metric struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value,omitempty"` // absent when it could not be had
	Unit  string   `json:"unit,omitempty"`
	Note  string   `json:"note,omitempty"` // why it could not
}

// Rate is what variants are compared by, and its unit: accepted docs/s, or the driver's own rate of a load that fills no
// index. It is 0 when no load was measured.
func (r Record) Rate() (rate float64, unit string) {
	switch {
	case r.Ingest != nil:
		return r.Ingest.DocsPerSecond, "docs/s"
	case r.Load != nil:
		return r.Load.Rate, r.Load.Unit
	}
	return 0, ""
}

// Work is what the index's primaries did beside indexing, from the load's start until merges had drained.
type Work struct {
	Merges          int64   `json:"merges"`
	MergeSeconds    float64 `json:"mergeSeconds"`
	MergedMiB       float64 `json:"mergedMiB"`
	ThrottleSeconds float64 `json:"throttleSeconds,omitempty"` // indexing held back by merges
	RefreshSeconds  float64 `json:"refreshSeconds"`
	FlushSeconds    float64 `json:"flushSeconds"`
}

// The windows over which docs/s is taken.
const (
	WindowWhole  = "Whole"  // from the first to the last accepted document
	WindowSteady = "Steady" // a timed load without its warm-up and ramp-down
	WindowCorpus = "Corpus" // a full-corpus load from 15 % to 95 % of its documents, or to the end of the first client
)

// Rejections are the deltas of every counter that tells of refused work, summed over all nodes.
type Rejections struct {
	WritePool        int64 `json:"writePool"`        // thread_pool.write.rejected
	IndexingPressure int64 `json:"indexingPressure"` // indexing_pressure.memory.total.*_rejections
	ShardPressure    int64 `json:"shardPressure"`    // shard_indexing_pressure.total_rejections_breakup: part of IndexingPressure
	AdmissionControl int64 `json:"admissionControl"` // admission_control rejections
	CircuitBreakers  int64 `json:"circuitBreakers"`  // breakers.*.tripped: requests refused for want of heap

	// NoAdmissionControl is true where the statistics of a node have no admission_control (OpenSearch before 2.12):
	// AdmissionControl is then not known.
	NoAdmissionControl bool `json:"noAdmissionControl,omitempty"`

	// These are absent where the statistics of a node do not have the counter, and in records of earlier releases of
	// Knee, which left 0 out.
	SegmentReplication *int64 `json:"segmentReplication,omitempty"` // segment_replication_backpressure: replicas that fell too far behind
	RemoteStore        *int64 `json:"remoteStore,omitempty"`        // indices.segments.remote_store.upload.pressure: uploads that fell too far behind
}

// Total is the sum of all known counters, in requests. OpenSearch counts what its shard indexing pressure refuses in the
// node's indexing_pressure as well (ShardIndexingPressure.markCoordinatingOperationStarted and its like).
func (r Rejections) Total() int64 {
	total := r.WritePool + r.IndexingPressure + r.AdmissionControl + r.CircuitBreakers
	for _, counter := range []*int64{r.SegmentReplication, r.RemoteStore} {
		if counter != nil {
			total += *counter
		}
	}
	return total
}

// Node is one OpenSearch node over the load window.
type Node struct {
	Name        string       `json:"name"`
	CPU         *CPU         `json:"cpu,omitempty"`         // absent when the probe could not be asked
	ReportedCPU *ReportedCPU `json:"reportedCPU,omitempty"` // by the node itself, where no probe tells its CPU
	CPURange    *Range       `json:"cpuRange,omitempty"`    // of user + sys within the window, in percent of all cores; absent when the window is too short for two means
	Pressure    *Pressure    `json:"pressure,omitempty"`    // absent where the kernel tells none
	Disk        *Disk        `json:"disk,omitempty"`        // all disks of the node together; without a probe those of the data path, by _nodes/stats
	Network     *Network     `json:"network,omitempty"`     // of OpenSearch's pod
	Memory      *Memory      `json:"memory,omitempty"`
	Throttled   *float64     `json:"throttledPercent,omitempty"` // share of the CPU quota's periods that were throttled; absent without a quota
	WritePool   *Pool        `json:"writePool,omitempty"`
	HeapUsedMax int64        `json:"heapUsedMaxBytes,omitempty"` // over the load
	GC          GC           `json:"gc,omitzero"`                // Record.GCKnown tells zeros from what had no room
	Probe       float64      `json:"probePercent,omitempty"`     // CPU that Knee's probe itself took over the window, in percent of one core; 0: not known
	Environment Environment  `json:"environment,omitzero"`
}

// CPU is the mean over the window, in percent of all cores of the node.
type CPU struct {
	User   float64 `json:"user"` // user + nice
	Sys    float64 `json:"sys"`  // system + irq + softirq
	IOWait float64 `json:"iowait"`
	Steal  float64 `json:"steal"`
	Idle   float64 `json:"idle"`
	Cores  int     `json:"cores"`

	RunQueue float64 `json:"runQueue,omitempty"` // mean number of running and runnable tasks
}

// Busy is user + sys, in percent of all cores.
func (c CPU) Busy() float64 { return c.User + c.Sys }

// Range is how much a figure varied within the window: its lowest and its highest mean over a shorter time.
type Range struct {
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Seconds float64 `json:"seconds"` // that each mean is over
}

// Pressure is the kernel's pressure stall information over the window (PSI "some"): the percent of time in which
// at least one task waited for the resource.
type Pressure struct {
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
	IO     float64 `json:"io"`
}

// Disk is the mean traffic of a node's disks over the window.
type Disk struct {
	ReadMiBs  float64 `json:"readMiBs"`  // MiB/s
	WriteMiBs float64 `json:"writeMiBs"` // MiB/s
	IOPS      float64 `json:"iops"`      // reads and writes completed a second

	BusiestPercent float64 `json:"busiestPercent,omitempty"` // time in which the busiest disk had work; says little of an NVMe
}

// Network is the mean traffic over the window of all interfaces but loopback that OpenSearch's pod has: what its clients
// and its other nodes send and take. Only in a pod on the host's network are these the interfaces of the machine.
type Network struct {
	ReceiveMiBs  float64 `json:"receiveMiBs"`  // MiB/s
	TransmitMiBs float64 `json:"transmitMiBs"` // MiB/s
}

// Memory is OpenSearch's own over the load.
type Memory struct {
	OldGenMax   int64 `json:"oldGenMaxBytes,omitempty"`   // of the heap's old generation, by _nodes/stats every 5 s
	SurvivorMax int64 `json:"survivorMaxBytes,omitempty"` // of the heap's survivor space, the same
	ResidentMax int64 `json:"residentMaxBytes,omitempty"` // of OpenSearch's process over the window, by the kernel, mapped index files included; 0 where it cannot be seen
	DirectMax   int64 `json:"directMaxBytes,omitempty"`   // direct buffers, by _nodes/stats every 5 s
}

// Pool is a thread pool over the load.
type Pool struct {
	Threads   int64 `json:"threads,omitempty"`
	ActiveMax int64 `json:"activeMax"`
	QueueMax  int64 `json:"queueMax"`
}

// GC is what the node's collectors did during the load.
type GC struct {
	Collections int64 `json:"collections"` // from _nodes/stats, over the whole load
	Millis      int64 `json:"millis"`      // the same

	Pauses *Pauses `json:"pauses,omitempty"` // from gc.log, over the measured window; absent where there is none
}

// Pauses are the stop-the-world pauses that gc.log tells of. Young, Mixed and Full count kinds of them.
type Pauses struct {
	Count  int64   `json:"count"`
	Young  int64   `json:"young,omitempty"`
	Mixed  int64   `json:"mixed,omitempty"`
	Full   int64   `json:"full,omitempty"`
	Millis float64 `json:"millis"`        // total
	P50    float64 `json:"p50,omitempty"` // ms
	P99    float64 `json:"p99,omitempty"` // ms
	Max    float64 `json:"max,omitempty"` // ms

	SurvivorMiB float64 `json:"survivorMiB,omitempty"` // mean survivor space after a pause
	PromotedMiB float64 `json:"promotedMiB,omitempty"` // growth of the old generation over the young pauses, in all
}

// Environment is what a node says of itself; a declared-same thing that differs makes a comparison suspect.
type Environment struct {
	Host        string `json:"host,omitempty"`        // the Kubernetes node
	Arch        string `json:"arch,omitempty"`        // GOARCH's words
	CPUModel    string `json:"cpuModel,omitempty"`    //
	Cores       int    `json:"cores,omitempty"`       // logical processors of the node
	MemoryBytes int64  `json:"memoryBytes,omitempty"` // of the node
	Kernel      string `json:"kernel,omitempty"`      //
	THP         string `json:"thp,omitempty"`         // transparent huge pages
	JVM         string `json:"jvm,omitempty"`         //
	OpenSearch  string `json:"opensearch,omitempty"`  // version and build hash
	HeapBytes   int64  `json:"heapBytes,omitempty"`   // heap maximum
	Processors  int    `json:"processors,omitempty"`  // allocated_processors
	Mlockall    bool   `json:"mlockall"`              //
	MaxFiles    int64  `json:"maxFiles,omitempty"`    // max_file_descriptors
	SMT         int    `json:"smt,omitempty"`         // threads a core
	Disk        string `json:"disk,omitempty"`        // model and size of the disks
	Image       string `json:"image,omitempty"`       // digest of OpenSearch's image, as the node's runtime says

	NodeOS       string `json:"nodeOS,omitempty"`       // distribution that built the node's kernel, as /proc/version says
	ImageOS      string `json:"imageOS,omitempty"`      // operating system that OpenSearch sees: in a container that of its image
	Hypervisor   string `json:"hypervisor,omitempty"`   // what the node runs on; none: on hardware
	Swap         string `json:"swap,omitempty"`         // size of the node's swap areas, or none
	MaxProcesses int64  `json:"maxProcesses,omitempty"` // RLIMIT_NPROC of OpenSearch's process; -1: unlimited
}

// Loader is the pod that made the load, over the load window.
type Loader struct {
	Host              string  `json:"host,omitempty"`           // the Kubernetes node
	CPUCores          float64 `json:"cpuCores"`                 // mean CPU of the driver's processes, in cores
	BusiestPercent    float64 `json:"busiestPercent"`           // the busiest process, in percent of one core
	BusiestProcess    string  `json:"busiestProcess,omitempty"` //
	UtilizationOfTime float64 `json:"clientUtilization"`        // U: share of client time spent waiting for the server; 0: not known
	MemoryBytes       int64   `json:"memoryBytes,omitempty"`    // highest memory of the driver's processes over the window, shared pages counted once
	Cores             int     `json:"cores,omitempty"`          // logical processors of its node
}

// Task is one of the driver's tasks, in the driver's own figures.
type Task struct {
	Name        string   `json:"name"`
	Search      bool     `json:"search,omitempty"`
	Throughput  float64  `json:"throughput"`        // mean; 0 when the driver has none
	Unit        string   `json:"unit,omitempty"`    // docs/s, ops/s
	ErrorRate   float64  `json:"errorRate"`         // share of requests, 0 to 1
	Target      float64  `json:"target,omitempty"`  // the task's target throughput, in its own unit; 0: none, closed loop
	Latency     *Latency `json:"latency,omitempty"` // equals service time unless a target throughput is set
	ServiceTime *Latency `json:"serviceTime,omitempty"`
}

// Latency is a distribution in milliseconds; a percentile that the driver did not report is absent (0).
type Latency struct {
	Min  float64 `json:"min,omitempty"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50,omitempty"`
	P90  float64 `json:"p90,omitempty"`
	P99  float64 `json:"p99,omitempty"`
	P999 float64 `json:"p999,omitempty"`
	Max  float64 `json:"max,omitempty"`
}

// Error is what kept an attempt from a valid measurement.
type Error struct {
	Reason  string `json:"reason"`  // one of the Reason constants
	Message string `json:"message"` // for a person: what was seen, in the words of the program that said it
}

// Reasons of an Error.
const (
	ReasonPluginMissing    = "PluginMissing"    // the cluster lacks a plugin that the load or the topology needs: never retried
	ReasonLoaderLost       = "LoaderLost"       // one of the trial's loader pods did not come, died, or fell behind
	ReasonClusterNotReady  = "ClusterNotReady"  // no green health within the deadline
	ReasonIndexNotMade     = "IndexNotMade"     // the index could not be created, or is not what the topology asks for
	ReasonSourceChanged    = "SourceChanged"    // a ConfigMap that the trial mounts is another than the one that its cell was planned with
	ReasonDriverFailed     = "DriverFailed"     // the driver's exit code was not 0
	ReasonDriverIncomplete = "DriverIncomplete" // exit 0, but the task or its throughput is missing
	ReasonRequestsFailed   = "RequestsFailed"   // failures that the rejection counters do not explain
	ReasonCountMismatch    = "CountMismatch"    // documents are missing or too many
	ReasonCountersUnusable = "CountersUnusable" // a counter went down or could not be read, a shard failed
	ReasonClusterChanged   = "ClusterChanged"   // a node restarted, was lost or replaced, a shard moved, the index was not green, or nobody answered any more, in mid-trial
	ReasonClockJumped      = "ClockJumped"      // the loader's clock was set during the load
	ReasonDriverHung       = "DriverHung"       // the driver showed no sign of life for too long
	ReasonInterrupted      = "Interrupted"      // the trial's pod was ended from outside
	ReasonDeadline         = "Deadline"         // the trial's deadline passed
	ReasonAgentFailed      = "AgentFailed"      // the agent itself could not go on
	ReasonPodFailed        = "PodFailed"        // the pod ended without a record: evicted, OOMKilled, lost its node
	ReasonRecordLost       = "RecordLost"       // the pod vanished before its record was collected; not charged to retries
	ReasonRecordUnreadable = "RecordUnreadable" // truncated, of another attempt, or of an unknown version
)
