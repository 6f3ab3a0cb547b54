// Package record defines the versioned record of one attempt of a trial. A record holds what the agent measured inside the
// cluster. It is the only source of measurements for the controller, the analysis and the reports. A record holds raw figures
// and facts, never a judgement: verdicts are made when records are read.
package record

import "cmp"

// Version is the version of the record's JSON. A reader refuses an unknown version.
const Version = 1

// Record holds the measurements of one attempt. Times are Unix milliseconds, of the loader's clock unless a field states another
// clock. Durations are in seconds.
// CPU is in percent of all cores of the node unless a field states another unit. Latencies are in milliseconds.
type Record struct {
	Version    int        `json:"version"`
	Attempt    Attempt    `json:"trial"`
	StartedAt  int64      `json:"startedAt"`
	FinishedAt int64      `json:"finishedAt"`
	Driver     Driver     `json:"driver,omitzero"`
	Sources    Sources    `json:"sources,omitzero"` // digests of the sources outside the campaign's spec
	Settle     Settle     `json:"settle,omitzero"`
	Ingest     *Ingest    `json:"ingest,omitempty"`    // nil if no load was measured, or the load fills no index
	Load       *Load      `json:"load,omitempty"`      // a load that fills no index; nil if no such load was measured
	Rejections Rejections `json:"rejections,omitzero"` // deltas over the load, summed over all nodes
	Nodes      []Node     `json:"nodes,omitempty"`     // one per OpenSearch node, ordered by name; NodesKnown reports whether Nodes is complete
	Pooled     *Pooled    `json:"pooled,omitempty"`    // figures over all nodes, if there was no space for each node
	Loader     Loader     `json:"loader,omitzero"`     //
	JVMStart   int64      `json:"jvmStart,omitempty"`  // latest start of a node's JVM, by the clock of the node; 0: unknown, as in records of early releases
	Tasks      []Task     `json:"tasks,omitempty"`     // the driver's own figures, ingest first

	// PlannedRepetitions is the number of repetitions of a Final on each placement that the campaign required when the attempt's Job was
	// created. With two stages, it is the number of the present stage. It shows that spec.final.repetitions was raised later, which
	// is another look at the data. 0: unknown, as in records of early releases, or not a Final.
	PlannedRepetitions int32 `json:"plannedRepetitions,omitempty"`

	// MaxRepetitions is spec.final.maxRepetitions when the attempt's Job was created, if it was above spec.final.repetitions. It shows
	// that the second stage was planned before the first stage had a result. 0: one stage, or not a Final.
	MaxRepetitions int32 `json:"maxRepetitions,omitempty"`

	ClientCheck *ClientCheck `json:"clientCheck,omitempty"` // result of the same load, sent by Knee's own loader; nil if the campaign did not request the check

	// JobCreatedAt and JobEndedAt are when the attempt's Job was created and ended, by the clock of the Kubernetes control plane. The
	// manager sets them when it collects the record. 0: unknown, as in records of early releases, and before the record is collected.
	JobCreatedAt int64 `json:"jobCreatedAt,omitempty"`
	JobEndedAt   int64 `json:"jobEndedAt,omitempty"`

	Error     *Error `json:"error,omitempty"`     // why the attempt has no valid measurement
	Dropped   []Drop `json:"dropped,omitempty"`   // parts that were left out for lack of space, in this order
	Artifacts string `json:"artifacts,omitempty"` // folder of the raw files, if raw files are kept
}

// StartTime returns when the attempt started, in Unix milliseconds. It is the time by which attempts are ordered: that of the control
// plane's clock if it is known, because the clocks of the loaders differ. 0: unknown.
func (r Record) StartTime() int64 { return cmp.Or(r.JobCreatedAt, r.StartedAt) }

// EndTime returns when the attempt ended, by the same clock as StartTime.
func (r Record) EndTime() int64 { return cmp.Or(r.JobEndedAt, r.FinishedAt) }

// Rate returns the figure by which variants are compared, and its unit. The figure is accepted docs/s, or the driver's own rate
// if the load fills no index. It is 0 if no load was measured.
func (r Record) Rate() (rate float64, unit string) {
	switch {
	case r.Ingest != nil:
		return r.Ingest.DocsPerSecond, "docs/s"
	case r.Load != nil:
		return r.Load.Rate, r.Load.Unit
	}
	return 0, ""
}

// Driver is the program that made the load.
type Driver struct {
	Name     string `json:"name"`              // osb, bulk, stream or command
	Version  string `json:"version,omitempty"` // version that the program reports
	ExitCode int    `json:"exitCode"`          //
	RunID    string `json:"runID,omitempty"`   // OSB's test-run ID
}

// Sources identifies inputs of an attempt that are outside the campaign's spec and may have changed. Digests are made by
// package content. Records of early releases of Knee have no Sources.
type Sources struct {
	IndexBody string `json:"indexBody,omitempty"` // digest of the index body of spec.workload.index.bodyFrom
	ISMPolicy string `json:"ismPolicy,omitempty"` // digest of the policy of the topology's ismPolicyFrom
	Files     string `json:"files,omitempty"`     // digest of the files of the workload or dataset, from a ConfigMap, an image or a volume
	Commit    string `json:"commit,omitempty"`    // git commit of the workload's repository
}

// Settle describes the wait for the cluster to become idle before the load.
type Settle struct {
	Seconds float64 `json:"seconds"`
	Note    string  `json:"note,omitempty"` // what was still active at the deadline; empty if the cluster was idle

	WaitSeconds float64 `json:"waitSeconds,omitempty"` // pause without requests after the cluster was idle, from spec.workload.waitSeconds; 0: no pause
}

// Loader holds the figures of the pod that makes the load, over the load window.
type Loader struct {
	Host              string  `json:"host,omitempty"`           // the Kubernetes node
	CPUCores          float64 `json:"cpuCores"`                 // mean CPU of the driver's processes, in cores
	BusiestPercent    float64 `json:"busiestPercent"`           // CPU of the busiest process, in percent of one core
	BusiestProcess    string  `json:"busiestProcess,omitempty"` //
	UtilizationOfTime float64 `json:"clientUtilization"`        // U: share of client time spent waiting for the server; 0: unknown
	MemoryBytes       int64   `json:"memoryBytes,omitempty"`    // highest memory of the driver's processes over the window, shared pages counted once
	Cores             int     `json:"cores,omitempty"`          // logical processors of the loader's node
}
