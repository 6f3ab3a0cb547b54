package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Encode returns the record's JSON, at most MaxBytes long, because Kubernetes truncates a longer termination message. If the
// JSON is too long, Encode leaves out parts, in the order of the steps below. The field Dropped of the encoded record names
// these parts.
func Encode(r Record) ([]byte, error) { return encode(r, MaxBytes) }

// EncodeCollected returns the JSON of a record that has the times of its Job. Encode left no space for these times, so the JSON may be
// longer than that of Encode. No part is left out that Encode kept.
func EncodeCollected(r Record) ([]byte, error) { return encode(r, MaxBytes+jobTimesBytes) }

// jobTimesBytes is the longest JSON of the times of a Job.
const jobTimesBytes = len(`,"jobCreatedAt":-9223372036854775808,"jobEndedAt":-9223372036854775808`)

// encode returns the record's JSON, at most limit bytes long.
func encode(r Record, limit int) ([]byte, error) {
	r.Version = Version
	r = clone(r)
	pooled, known := r.Pool()
	round(&r)
	repairTexts(&r)
	for _, step := range steps {
		out, err := marshal(r)
		if err != nil || len(out) <= limit {
			return out, err
		}
		if !step.drop(&r) {
			continue
		}
		if step.loses&loseNodes != 0 {
			if known && r.Pooled == nil {
				roundPooled(&pooled)
				r.Pooled = &pooled
			}
			r.Dropped = slices.DeleteFunc(r.Dropped, leavesSomeNodes) // this step keeps fewer nodes, so the earlier names are obsolete
		}
		if !slices.Contains(r.Dropped, step.name) {
			r.Dropped = append(r.Dropped, step.name)
		}
	}
	out, err := marshal(r)
	if err == nil && len(out) > limit {
		return nil, fmt.Errorf("the trial's record is too large: it takes %d bytes without its optional parts, and the limit is %d bytes", len(out), limit)
	}
	return out, err
}

// marshal encodes a record, or a part of a record, as JSON. It does not escape <, > and &: no record is read as HTML, and each escape needs six bytes.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("cannot encode the record: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// step leaves out one part of a record. The function drop removes the part, and reports whether the record had it.
type step struct {
	name  Drop
	loses loss
	drop  func(*Record) bool
}

// Names of the lossless steps: Decode restores the parts that these steps leave out.
const (
	sameLatency     Drop = "tasks.latency=service"
	sameEnvironment Drop = "node.environment=first"
)

const (
	dropTasks             Drop = "tasks"
	dropOtherEnvironments Drop = "node[1:].environment" // removes the environments of all nodes except the first
)

// leavesSomeNodes reports whether a step leaves out some nodes and keeps the others.
func leavesSomeNodes(d Drop) bool { return losses[d]&(loseNodes|loseAllNodes) == loseNodes }

// keepWorstSteps returns one step for each number of nodes, in descending order. Each step keeps the worst nodes: the first step
// keeps as many as the parameter from, the last step as many as the parameter to.
func keepWorstSteps(from, to int) []step {
	var out []step
	for n := from; n >= to; n-- {
		out = append(out, step{worstNodes(n), loseNodes, func(r *Record) bool { return keepWorst(r, n) }})
	}
	return out
}

// steps lists the steps of Encode in their order. The first steps remove information for users; the last steps remove figures
// that a gate or a verdict needs. A node that is kept has all figures that a gate judges: CPU, pressure and throttling. The
// names are short, because Dropped itself needs space.
var steps = slices.Concat([]step{
	{"settle.note>256", 0, func(r *Record) bool { return cut(&r.Settle.Note, 256) }},
	{"error.message>1024", 0, func(r *Record) bool { return cutError(r, 1024) }},
	{"load.notes>256", 0, cutLoadNotes(256)},
	{"clientCheck.note>256", 0, cutCheckNote(256)},
	{sameLatency, 0, func(r *Record) bool { return eachTask(r, dropEqualLatency) }},
	{sameEnvironment, 0, dropEqualEnvironments},
	{"search.percentiles", 0, func(r *Record) bool {
		return eachTask(r, func(_ int, t *Task) bool { return t.Search && thinLatency(t) })
	}},
	{"node.os", 0, func(r *Record) bool { return eachNode(r, dropSystem) }},
	{sameEnvironment, 0, dropEqualEnvironments}, // repeated: after node.os, more environments equal the first node's environment
	{"load.notes[8:]", 0, keepNotes(8)},
	{"node.network,memory,queues", 0, func(r *Record) bool { return eachNode(r, dropDetail) }},
	{"tasks[16:].latency", 0, func(r *Record) bool { return stripTasksFrom(r, 16) }},
	{"node.disk,gc", loseCollections, func(r *Record) bool { return eachNode(r, dropTraffic) }},
	{"node.cpuRange", 0, func(r *Record) bool { return eachNode(r, dropCPURange) }},
	{"tasks[5:].latency", 0, func(r *Record) bool { return stripTasksFrom(r, 5) }},
	{"tasks[8:]", loseTasks, func(r *Record) bool { return cutTasks(r, 8) }},
	{"tasks[1:].latency", 0, func(r *Record) bool { return stripTasksFrom(r, 1) }},
	{"tasks[1:]", loseTasks, func(r *Record) bool { return cutTasks(r, 1) }},
	{"error.message>512", 0, func(r *Record) bool { return cutError(r, 512) }},
	{"node.heap,ingest.work", 0, dropWork},
	{dropOtherEnvironments, 0, dropLaterEnvironments},
	{"texts>64", 0, cutTexts},
	{"load.metrics[24:]", 0, keepMetrics(24)},
}, keepWorstSteps(16, 12), []step{
	{"load.notes[2:]", 0, keepNotes(2)},
	{"load.metrics[16:]", 0, keepMetrics(16)},
	{"error.message>128", 0, func(r *Record) bool { return cutError(r, 128) }},
}, keepWorstSteps(11, 6), []step{
	{"load.metrics[8:]", 0, keepMetrics(8)},
	{dropTasks, loseTasks, func(r *Record) bool { return cutTasks(r, 0) }},
}, keepWorstSteps(5, 5), []step{
	{"load.metrics", 0, keepMetrics(0)},
	{"load.notes", 0, keepNotes(0)},
	{"artifacts", 0, dropArtifacts},
	{"error.message>32", 0, func(r *Record) bool { return cutError(r, 32) }},
	{"node.environment", 0, dropEnvironments},
	{"clientCheck", 0, dropClientCheck},
	{"nodes", loseNodes | loseAllNodes, dropNodes},
	{"load.latency", 0, changeLoad(dropLoadLatency)},
})

// Decode reads a record that Encode made. It returns an error for a truncated message, for other text, for an unknown version, and
// if a required field is missing. It ignores fields that it does not know.
func Decode(data []byte) (Record, error) {
	var head struct {
		Version *int `json:"version"`
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return Record{}, fmt.Errorf("the record is empty")
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Record{}, fmt.Errorf("the record is incomplete or damaged (%d bytes): %w", len(data), err)
	}
	if head.Version == nil {
		return Record{}, errLacks("version")
	}
	if *head.Version != Version {
		return Record{}, fmt.Errorf("the record has format version %d, but this program reads only format version %d", *head.Version, Version)
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, fmt.Errorf("cannot decode the record (%d bytes): %w", len(data), err)
	}
	if err := checkRequired(data); err != nil {
		return Record{}, err
	}
	if err := checkResult(r); err != nil {
		return Record{}, err
	}
	restore(&r)
	return r, nil
}

// restore restores the parts that the lossless steps left out, and removes these steps from Dropped.
func restore(r *Record) {
	if removeDrop(r, sameLatency) {
		for i := range r.Tasks {
			if t := &r.Tasks[i]; t.Latency == nil && t.Target == 0 {
				t.Latency = copyOf(t.ServiceTime)
			}
		}
	}
	if !slices.Contains(r.Dropped, dropOtherEnvironments) && removeDrop(r, sameEnvironment) {
		for i := 1; i < len(r.Nodes); i++ {
			if e := &r.Nodes[i].Environment; hasOnlyHost(*e) {
				host := e.Host
				*e = r.Nodes[0].Environment
				e.Host = host
			}
		}
	}
}

// removeDrop removes a step's name from Dropped. It reports whether the name was in Dropped.
func removeDrop(r *Record, name Drop) bool {
	i := slices.Index(r.Dropped, name)
	if i < 0 {
		return false
	}
	r.Dropped = slices.Delete(r.Dropped, i, i+1)
	if len(r.Dropped) == 0 {
		r.Dropped = nil
	}
	return true
}

// clone copies the parts that Encode changes, so the caller's record does not change.
func clone(r Record) Record {
	r.Nodes = append([]Node(nil), r.Nodes...)
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.CPURange = copyOf(n.CPURange)
		n.CPU, n.Pressure, n.Disk, n.Network = copyOf(n.CPU), copyOf(n.Pressure), copyOf(n.Disk), copyOf(n.Network)
		n.ReportedCPU = copyOf(n.ReportedCPU)
		n.Memory, n.Throttled, n.WritePool, n.GC.Pauses = copyOf(n.Memory), copyOf(n.Throttled), copyOf(n.WritePool), copyOf(n.GC.Pauses)
	}
	r.Tasks = append([]Task(nil), r.Tasks...)
	for i := range r.Tasks {
		r.Tasks[i].Latency = copyOf(r.Tasks[i].Latency)
		r.Tasks[i].ServiceTime = copyOf(r.Tasks[i].ServiceTime)
	}
	r.Load = cloneLoad(r.Load)
	r.Ingest, r.Error, r.Pooled, r.ClientCheck = copyOf(r.Ingest), copyOf(r.Error), copyOf(r.Pooled), copyOf(r.ClientCheck)
	if p := r.Pooled; p != nil {
		p.CPURange = copyOf(p.CPURange)
		p.ReportedCPU = copyOf(p.ReportedCPU)
		p.CPU, p.Pressure, p.Disk, p.Network, p.GC = copyOf(p.CPU), copyOf(p.Pressure), copyOf(p.Disk), copyOf(p.Network), copyOf(p.GC)
	}
	if r.Ingest != nil {
		r.Ingest.Work = copyOf(r.Ingest.Work)
	}
	r.Dropped = slices.Clone(r.Dropped)
	return r
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// SetCampaign returns the JSON of a record with another UID of the campaign. It changes nothing else, so fields that this program does not
// know are kept.
func SetCampaign(data []byte, uid string) ([]byte, error) {
	if _, err := Decode(data); err != nil {
		return nil, err
	}
	var fields, trial map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("cannot decode the record: %w", err)
	}
	if err := json.Unmarshal(fields["trial"], &trial); err != nil {
		return nil, fmt.Errorf("cannot decode the trial of the record: %w", err)
	}
	var err error
	if trial["campaign"], err = marshal(uid); err != nil {
		return nil, err
	}
	if fields["trial"], err = marshal(trial); err != nil {
		return nil, err
	}
	return marshal(fields)
}
