package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Encode gives the record's JSON, never longer than MaxBytes: Kubernetes cuts a longer termination message. What
// does not fit is left out in the order of steps below, and Dropped of the encoded record names what went.
func Encode(r Record) ([]byte, error) {
	r.Version = Version
	r = clone(r)
	pooled, known := r.Pool()
	round(&r)
	repairTexts(&r)
	for _, step := range steps {
		out, err := marshal(r)
		if err != nil || len(out) <= MaxBytes {
			return out, err
		}
		if !step.drop(&r) {
			continue
		}
		if ofWorst(step.name) || step.name == noNodes {
			if known && r.Pooled == nil {
				roundPooled(&pooled)
				r.Pooled = &pooled
			}
			r.Dropped = slices.DeleteFunc(r.Dropped, ofWorst) // fewer have been left now
		}
		if !slices.Contains(r.Dropped, step.name) {
			r.Dropped = append(r.Dropped, step.name)
		}
	}
	out, err := marshal(r)
	if err == nil && len(out) > MaxBytes {
		return nil, fmt.Errorf("the record takes %d bytes without all that may be left out, more than %d", len(out), MaxBytes)
	}
	return out, err
}

// marshal leaves <, > and & as they are: nobody reads a record as HTML, and escaped they take six bytes each.
func marshal(r Record) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("encode the record: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// step leaves one thing out; drop says whether there was something to leave out.
type step struct {
	name string
	drop func(*Record) bool
}

// sameLatency and sameEnvironment name the steps that lose nothing: Decode puts back what they left out.
const (
	sameLatency     = "tasks.latency=service"
	sameEnvironment = "node.environment=first"
)

// otherEnvironmentsStep names the step after which the environments of all but the first node are gone.
const otherEnvironmentsStep = "node[1:].environment"

// noNodes names the step after which no node is left; worstNodes ends the names of those that leave some.
const (
	noNodes    = "nodes"
	worstNodes = " worst nodes"
)

// ofWorst tells the steps that leave so many nodes.
func ofWorst(name string) bool { return strings.HasSuffix(name, worstNodes) }

// worst are the steps that leave fewer and fewer nodes.
func worst(from, to int) []step {
	var out []step
	for n := from; n >= to; n-- {
		out = append(out, step{"all but the " + strconv.Itoa(n) + worstNodes, func(r *Record) bool { return keepWorst(r, n) }})
	}
	return out
}

// steps are in the order of leaving out: first what only informs, last what a gate or a verdict rests on. What a
// gate judges of a node (its CPU, pressure and throttling) stays with every node that stays. Their names stand in
// Dropped and are short, for they take room themselves.
var steps = slices.Concat([]step{
	{"settle.note>256", func(r *Record) bool { return cut(&r.Settle.Note, 256) }},
	{"error.message>1024", func(r *Record) bool { return cutError(r, 1024) }},
	{"load.notes>256", cutLoadNotes(256)},
	{"clientCheck.note>256", cutCheckNote(256)},
	{sameLatency, func(r *Record) bool { return eachTask(r, sharedLatency) }},
	{sameEnvironment, sharedEnvironment},
	{"search.percentiles", func(r *Record) bool { return eachTask(r, func(_ int, t *Task) bool { return t.Search && thin(t) }) }},
	{"node.os", func(r *Record) bool { return eachNode(r, dropSystem) }},
	{sameEnvironment, sharedEnvironment}, // again: without their systems more nodes equal the first
	{"load.notes[8:]", fewerNotes(8)},
	{"node.network,memory,queues", func(r *Record) bool { return eachNode(r, dropDetail) }},
	{"tasks[16:].latency", func(r *Record) bool { return stripFrom(r, 16) }},
	{"node.disk,gc", func(r *Record) bool { return eachNode(r, dropTraffic) }},
	{"node.cpuRange", func(r *Record) bool { return eachNode(r, dropCPURange) }},
	{"tasks[5:].latency", func(r *Record) bool { return stripFrom(r, 5) }},
	{"tasks[8:]", func(r *Record) bool { return cutTasks(r, 8) }},
	{"tasks[1:].latency", func(r *Record) bool { return stripFrom(r, 1) }},
	{"tasks[1:]", func(r *Record) bool { return cutTasks(r, 1) }},
	{"error.message>512", func(r *Record) bool { return cutError(r, 512) }},
	{"node.heap,ingest.work", dropWork},
	{otherEnvironmentsStep, otherEnvironments},
	{"texts>64", cutTexts},
	{"load.metrics[24:]", fewerMetrics(24)},
}, worst(16, 12), []step{
	{"load.notes[2:]", fewerNotes(2)},
	{"load.metrics[16:]", fewerMetrics(16)},
	{"error.message>128", func(r *Record) bool { return cutError(r, 128) }},
}, worst(11, 6), []step{
	{"load.metrics[8:]", fewerMetrics(8)},
	{"tasks", func(r *Record) bool { return cutTasks(r, 0) }},
}, worst(5, 5), []step{
	{"load.metrics", fewerMetrics(0)},
	{"load.notes", fewerNotes(0)},
	{"artifacts", dropArtifacts},
	{"error.message>32", func(r *Record) bool { return cutError(r, 32) }},
	{"node.environment", noEnvironments},
	{"clientCheck", dropClientCheck},
	{noNodes, dropNodes},
	{"load.latency", onLoad(dropLoadLatency)},
})

// Decode reads a record that Encode made. A truncated or foreign message and an unknown version are errors.
func Decode(data []byte) (Record, error) {
	var head struct {
		Version *int `json:"version"`
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return Record{}, fmt.Errorf("the record is empty")
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Record{}, fmt.Errorf("the record is not whole (%d bytes): %w", len(data), err)
	}
	if head.Version == nil {
		return Record{}, fmt.Errorf("the record has no version")
	}
	if *head.Version != Version {
		return Record{}, fmt.Errorf("the record has version %d, this program knows %d", *head.Version, Version)
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, fmt.Errorf("the record is not whole (%d bytes): %w", len(data), err)
	}
	restore(&r)
	return r, nil
}

// restore puts back what the steps that lose nothing left out, and takes them from Dropped.
func restore(r *Record) {
	if undrop(r, sameLatency) {
		for i := range r.Tasks {
			if t := &r.Tasks[i]; t.Latency == nil && t.Target == 0 {
				t.Latency = copyOf(t.ServiceTime)
			}
		}
	}
	if !slices.Contains(r.Dropped, otherEnvironmentsStep) && undrop(r, sameEnvironment) {
		for i := 1; i < len(r.Nodes); i++ {
			if e := &r.Nodes[i].Environment; onlyHost(*e) {
				host := e.Host
				*e = r.Nodes[0].Environment
				e.Host = host
			}
		}
	}
}

// undrop takes a step's name from Dropped and says whether it was there.
func undrop(r *Record, name string) bool {
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

// clone copies what Encode changes, so that the caller's record stays whole.
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
	r.Dropped = append([]string(nil), r.Dropped...)
	return r
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
