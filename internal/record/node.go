package record

// Node holds the figures of one OpenSearch node over the load window.
type Node struct {
	Name        string       `json:"name"`
	CPU         *CPU         `json:"cpu,omitempty"`         // nil if the probe did not answer
	ReportedCPU *ReportedCPU `json:"reportedCPU,omitempty"` // CPU that the node reports itself, if no probe measures it
	CPURange    *Range       `json:"cpuRange,omitempty"`    // range of user + sys within the window, in percent of all cores; nil if the window is too short for two means
	Pressure    *Pressure    `json:"pressure,omitempty"`    // nil if the kernel reports no pressure
	Disk        *Disk        `json:"disk,omitempty"`        // all disks of the node together; without a probe, the disks of the data path from _nodes/stats
	Network     *Network     `json:"network,omitempty"`     // traffic of OpenSearch's pod
	Memory      *Memory      `json:"memory,omitempty"`
	Throttled   *float64     `json:"throttledPercent,omitempty"` // share of the CPU quota's periods that were throttled; nil if the container has no quota
	WritePool   *Pool        `json:"writePool,omitempty"`
	HeapUsedMax int64        `json:"heapUsedMaxBytes,omitempty"` // maximum over the load
	GC          GC           `json:"gc,omitzero"`                // Record.GCKnown reports whether zeros are figures or were left out for lack of space
	Probe       float64      `json:"probePercent,omitempty"`     // CPU of Knee's probe over the window, in percent of one core; 0: unknown
	Environment Environment  `json:"environment,omitzero"`
}

// CPU holds means over the window, in percent of all cores of the node.
type CPU struct {
	User   float64 `json:"user"` // user + nice
	Sys    float64 `json:"sys"`  // system + irq + softirq
	IOWait float64 `json:"iowait"`
	Steal  float64 `json:"steal"`
	Idle   float64 `json:"idle"`
	Cores  int     `json:"cores"`

	RunQueue float64 `json:"runQueue,omitempty"` // mean number of running and runnable tasks
}

// Busy returns user + sys, in percent of all cores.
func (c CPU) Busy() float64 { return c.User + c.Sys }

// Range holds the lowest and the highest mean of a figure within the window. Each mean covers a shorter time than the window.
type Range struct {
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Seconds float64 `json:"seconds"` // time that each mean covers
}

// Pressure holds the kernel's pressure stall information over the window (PSI "some"): the percentage of time in which at least
// one task waited for the resource.
type Pressure struct {
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
	IO     float64 `json:"io"`
}

// Disk holds the mean traffic of a node's disks over the window.
type Disk struct {
	ReadMiBs  float64 `json:"readMiBs"`  // MiB/s
	WriteMiBs float64 `json:"writeMiBs"` // MiB/s
	IOPS      float64 `json:"iops"`      // completed reads and writes per second

	BusiestPercent float64 `json:"busiestPercent,omitempty"` // share of time in which the busiest disk had work; not meaningful for NVMe
}

// Network holds the mean traffic over the window of all interfaces of OpenSearch's pod except loopback. This is the traffic
// with clients and with other nodes. If the pod uses the host's network, the interfaces are those of the machine.
type Network struct {
	ReceiveMiBs  float64 `json:"receiveMiBs"`  // MiB/s
	TransmitMiBs float64 `json:"transmitMiBs"` // MiB/s
}

// Memory holds the memory use of OpenSearch over the load.
type Memory struct {
	OldGenMax   int64 `json:"oldGenMaxBytes,omitempty"`   // highest use of the heap's old generation, from _nodes/stats every 5 s
	SurvivorMax int64 `json:"survivorMaxBytes,omitempty"` // highest use of the heap's survivor space, from _nodes/stats every 5 s
	ResidentMax int64 `json:"residentMaxBytes,omitempty"` // highest resident memory of the OpenSearch process in the window, bytes, reported by the kernel; includes mapped index files; 0: unknown
	DirectMax   int64 `json:"directMaxBytes,omitempty"`   // highest use of direct buffers, from _nodes/stats every 5 s
}

// Pool holds the figures of a thread pool over the load.
type Pool struct {
	Threads   int64 `json:"threads,omitempty"`
	ActiveMax int64 `json:"activeMax"`
	QueueMax  int64 `json:"queueMax"`
}

// GC holds the figures of the node's garbage collectors during the load.
type GC struct {
	Collections int64 `json:"collections"` // from _nodes/stats, over the entire load
	Millis      int64 `json:"millis"`      // milliseconds, from _nodes/stats, over the entire load

	Pauses *Pauses `json:"pauses,omitempty"` // from gc.log, over the measured window; nil without a log
}

// Pauses holds figures of the stop-the-world pauses in gc.log. Young, Mixed and Full are the numbers of pauses of each kind.
type Pauses struct {
	Count  int64   `json:"count"`
	Young  int64   `json:"young,omitempty"`
	Mixed  int64   `json:"mixed,omitempty"`
	Full   int64   `json:"full,omitempty"`
	Millis float64 `json:"millis"`        // total of all pauses, ms
	P50    float64 `json:"p50,omitempty"` // ms
	P99    float64 `json:"p99,omitempty"` // ms
	Max    float64 `json:"max,omitempty"` // ms

	SurvivorMiB float64 `json:"survivorMiB,omitempty"` // mean survivor space after a pause
	PromotedMiB float64 `json:"promotedMiB,omitempty"` // total growth of the old generation over the young pauses
}

// Environment holds what a node reports about itself. A comparison is suspect if the environments differ in a property that the campaign
// does not declare as different.
type Environment struct {
	Host        string `json:"host,omitempty"`        // the Kubernetes node
	Arch        string `json:"arch,omitempty"`        // in the form of GOARCH
	CPUModel    string `json:"cpuModel,omitempty"`    //
	Cores       int    `json:"cores,omitempty"`       // logical processors of the node
	MemoryBytes int64  `json:"memoryBytes,omitempty"` // memory of the node
	Kernel      string `json:"kernel,omitempty"`      //
	THP         string `json:"thp,omitempty"`         // transparent huge pages
	JVM         string `json:"jvm,omitempty"`         //
	OpenSearch  string `json:"opensearch,omitempty"`  // version and build hash
	HeapBytes   int64  `json:"heapBytes,omitempty"`   // heap maximum
	Processors  int    `json:"processors,omitempty"`  // allocated_processors
	Mlockall    bool   `json:"mlockall"`              //
	MaxFiles    int64  `json:"maxFiles,omitempty"`    // max_file_descriptors
	SMT         int    `json:"smt,omitempty"`         // threads per core
	Disk        string `json:"disk,omitempty"`        // model and size of the disks
	Image       string `json:"image,omitempty"`       // digest of OpenSearch's image, from the container runtime of the node

	NodeOS       string `json:"nodeOS,omitempty"`       // distribution that built the node's kernel, from /proc/version
	ImageOS      string `json:"imageOS,omitempty"`      // operating system in which OpenSearch runs; in a container, the operating system of the image
	Hypervisor   string `json:"hypervisor,omitempty"`   // hypervisor of the node; "none": the node is a physical machine
	Swap         string `json:"swap,omitempty"`         // size of the node's swap areas, or "none"
	MaxProcesses int64  `json:"maxProcesses,omitempty"` // RLIMIT_NPROC of OpenSearch's process; -1: unlimited
}

// ReportedCPU holds the CPU of a node as the node itself reports it: os.cpu.percent of _nodes/stats, read every 5 s. Knee uses
// it if no probe runs beside the node: at endpoints, and for nodes of the opensearch-k8s-operator. The unit is percent of the
// CPUs available to the node's JVM: all CPUs of the machine, or the CPUs of a container's limit.
type ReportedCPU struct {
	Mean    float64 `json:"mean"`    // mean of the readings within the window
	Min     float64 `json:"min"`     // lowest reading
	Max     float64 `json:"max"`     // highest reading
	Samples int     `json:"samples"` // number of readings within the window
}

// BusyCPU returns user + sys of a node over the window, in percent. The figure comes from the probe, or from the node itself if there is
// no probe. ok is false if neither the probe nor the node reported a figure.
func (n Node) BusyCPU() (percent float64, ok bool) {
	switch {
	case n.CPU != nil:
		return n.CPU.Busy(), true
	case n.ReportedCPU != nil:
		return n.ReportedCPU.Mean, true
	}
	return 0, false
}

// reportedCPU pools the figures that the nodes report: the mean over the nodes, and the lowest and the highest reading of any
// node. It returns nil unless every node reported figures.
func (r Record) reportedCPU() *ReportedCPU {
	var all ReportedCPU
	for i, n := range r.Nodes {
		c := n.ReportedCPU
		if c == nil {
			return nil
		}
		if i == 0 {
			all.Min, all.Max = c.Min, c.Max
		}
		all.Mean += c.Mean / float64(len(r.Nodes))
		all.Min, all.Max = min(all.Min, c.Min), max(all.Max, c.Max)
		all.Samples += c.Samples
	}
	return &all
}
