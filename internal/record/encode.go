package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// Encode gives the record's JSON, never longer than MaxBytes: Kubernetes cuts a longer termination message. What
// does not fit is left out in the order of steps below, and Dropped of the encoded record names what went.
func Encode(r Record) ([]byte, error) {
	r.Version = Version
	r = clone(r)
	round(&r)
	for _, step := range steps {
		out, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("encode the record: %w", err)
		}
		if len(out) <= MaxBytes {
			return out, nil
		}
		if step.drop(&r) {
			r.Dropped = append(r.Dropped, step.name)
		}
	}
	out, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the record: %w", err)
	}
	if len(out) > MaxBytes {
		return nil, fmt.Errorf("the record takes %d bytes without all that may be left out, more than %d", len(out), MaxBytes)
	}
	return out, nil
}

// step leaves one thing out; drop says whether there was something to leave out.
type step struct {
	name string
	drop func(*Record) bool
}

// steps are in the order of leaving out: first what only informs, last what a verdict rests on. Their names stand
// in Dropped and are short, for they take room themselves.
var steps = []step{
	{"settle.note>256", func(r *Record) bool { return cut(&r.Settle.Note, 256) }},
	{"error.message>1024", func(r *Record) bool { return cutError(r, 1024) }},
	{"search.percentiles", func(r *Record) bool { return eachTask(r, func(_ int, t *Task) bool { return t.Search && thin(t) }) }},
	{"node.environment=first", sharedEnvironment},
	{"tasks[16:].latency", func(r *Record) bool { return stripFrom(r, 16) }},
	{"node.disk,gc", func(r *Record) bool { return eachNode(r, dropTraffic) }},
	{"tasks[5:].latency", func(r *Record) bool { return stripFrom(r, 5) }},
	{"tasks[8:]", func(r *Record) bool { return cutTasks(r, 8) }},
	{"tasks[1:].latency", func(r *Record) bool { return stripFrom(r, 1) }},
	{"tasks[1:]", func(r *Record) bool { return cutTasks(r, 1) }},
	{"error.message>512", func(r *Record) bool { return cutError(r, 512) }},
	{"node.pressure,heap", func(r *Record) bool { return eachNode(r, dropPressure) }},
	{"node[1:].environment", otherEnvironments},
	{"texts>64", cutTexts},
	{"all but the 12 worst nodes", func(r *Record) bool { return keepWorst(r, 12) }},
	{"error.message>128", func(r *Record) bool { return cutError(r, 128) }},
	{"tasks", func(r *Record) bool { return cutTasks(r, 0) }},
	{"all but the 4 worst nodes", func(r *Record) bool { return keepWorst(r, 4) }},
}

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
	return r, nil
}

// clone copies what Encode changes, so that the caller's record stays whole.
func clone(r Record) Record {
	r.Nodes = append([]Node(nil), r.Nodes...)
	for i := range r.Nodes {
		r.Nodes[i].CPU = copyOf(r.Nodes[i].CPU)
		r.Nodes[i].Pressure = copyOf(r.Nodes[i].Pressure)
		r.Nodes[i].Disk = copyOf(r.Nodes[i].Disk)
	}
	r.Tasks = append([]Task(nil), r.Tasks...)
	for i := range r.Tasks {
		r.Tasks[i].Latency = copyOf(r.Tasks[i].Latency)
		r.Tasks[i].ServiceTime = copyOf(r.Tasks[i].ServiceTime)
	}
	r.Ingest, r.Error = copyOf(r.Ingest), copyOf(r.Error)
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

// round keeps six significant digits of every figure, far below the noise of any measurement and half the bytes.
func round(r *Record) {
	figures := []*float64{&r.Settle.Seconds, &r.Loader.CPUCores, &r.Loader.BusiestPercent, &r.Loader.UtilizationOfTime}
	if in := r.Ingest; in != nil {
		figures = append(figures, &in.Seconds, &in.DocsPerSecond, &in.WholeDocsPerSec, &in.DrainedDocsPerSec, &in.OSBDocsPerSecond)
	}
	for i := range r.Nodes {
		if c := r.Nodes[i].CPU; c != nil {
			figures = append(figures, &c.User, &c.Sys, &c.IOWait, &c.Steal, &c.Idle)
		}
		if p := r.Nodes[i].Pressure; p != nil {
			figures = append(figures, &p.CPU, &p.Memory, &p.IO)
		}
		if d := r.Nodes[i].Disk; d != nil {
			figures = append(figures, &d.ReadMiBs, &d.WriteMiBs, &d.IOPS)
		}
	}
	for i := range r.Tasks {
		figures = append(figures, &r.Tasks[i].Throughput, &r.Tasks[i].ErrorRate)
		for _, l := range []*Latency{r.Tasks[i].Latency, r.Tasks[i].ServiceTime} {
			if l != nil {
				figures = append(figures, &l.Mean, &l.P50, &l.P90, &l.P99, &l.P999, &l.Max)
			}
		}
	}
	for _, f := range figures {
		*f = significant(*f)
	}
}

// significant rounds to six significant digits; what JSON cannot hold (NaN, infinity) becomes 0.
func significant(f float64) float64 {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(f))))
	if math.IsInf(scale, 0) || scale == 0 {
		return f
	}
	if scale < 1 {
		return math.Round(f)
	}
	return math.Round(f*scale) / scale
}

func eachTask(r *Record, f func(int, *Task) bool) bool {
	changed := false
	for i := range r.Tasks {
		changed = f(i, &r.Tasks[i]) || changed
	}
	return changed
}

// thin keeps the mean, the median and the 99th percentile.
func thin(t *Task) bool {
	changed := false
	for _, l := range []*Latency{t.Latency, t.ServiceTime} {
		if l != nil && (l.P90 != 0 || l.P999 != 0 || l.Max != 0) {
			l.P90, l.P999, l.Max = 0, 0, 0
			changed = true
		}
	}
	return changed
}

func strip(t *Task) bool {
	changed := t.Latency != nil || t.ServiceTime != nil
	t.Latency, t.ServiceTime = nil, nil
	return changed
}

func cutTasks(r *Record, n int) bool {
	changed := len(r.Tasks) > n
	r.Tasks = r.Tasks[:min(n, len(r.Tasks))]
	return changed
}

// stripFrom leaves out the latencies of the tasks from the n-th on.
func stripFrom(r *Record, n int) bool {
	return eachTask(r, func(i int, t *Task) bool { return i >= n && strip(t) })
}

func eachNode(r *Record, f func(*Node) bool) bool {
	changed := false
	for i := range r.Nodes {
		changed = f(&r.Nodes[i]) || changed
	}
	return changed
}

func dropTraffic(n *Node) bool {
	changed := n.Disk != nil || n.GC != GC{}
	n.Disk, n.GC = nil, GC{}
	return changed
}

func dropPressure(n *Node) bool {
	changed := n.Pressure != nil || n.HeapUsedMax != 0
	n.Pressure, n.HeapUsedMax = nil, 0
	return changed
}

// keepWorst keeps n nodes, in their order: those of the highest iowait, steal and busy CPU, then those that waited
// most for their disks. A node whose CPU is not known counts as the worst. A gate on every node's CPU comes to the
// same with the kept ones alone.
func keepWorst(r *Record, n int) bool {
	if len(r.Nodes) <= n {
		return false
	}
	iowait := func(c CPU) float64 { return c.IOWait }
	steal := func(c CPU) float64 { return c.Steal }
	rest := r.Nodes
	var kept []Node
	for _, figure := range []func(CPU) float64{CPU.Busy, steal, iowait} {
		slices.SortStableFunc(rest, func(a, b Node) int { return cmp.Compare(worst(b, figure), worst(a, figure)) })
		kept, rest = append(kept, rest[0]), rest[1:]
	}
	kept = append(kept, rest[:n-len(kept)]...) // rest is in the order of iowait
	r.Nodes = kept
	slices.SortStableFunc(r.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return true
}

// worst is a figure of a node's CPU, infinite when its CPU is not known.
func worst(n Node, figure func(CPU) float64) float64 {
	if n.CPU == nil {
		return math.Inf(1)
	}
	return figure(*n.CPU)
}

// cutTexts shortens every text but identities and the error.
func cutTexts(r *Record) bool {
	texts := []*string{&r.Settle.Note, &r.Artifacts, &r.Loader.BusiestProcess, &r.Loader.Host, &r.Trial.Variant, &r.Trial.Topology, &r.Driver.RunID, &r.Driver.Version}
	if r.Ingest != nil {
		texts = append(texts, &r.Ingest.WindowNote, &r.Ingest.RefreshInterval, &r.Ingest.SettingsDigest)
	}
	for i := range r.Nodes {
		e := &r.Nodes[i].Environment
		texts = append(texts, &r.Nodes[i].Name, &e.Host, &e.CPUModel, &e.Kernel, &e.JVM, &e.OpenSearch, &e.THP, &e.Arch)
	}
	for i := range r.Tasks {
		texts = append(texts, &r.Tasks[i].Name, &r.Tasks[i].Unit)
	}
	changed := false
	for _, text := range texts {
		changed = cut(text, 64) || changed
	}
	return changed
}

// sharedEnvironment leaves out what a node says of itself when, but for its host, it equals the first node's.
func sharedEnvironment(r *Record) bool {
	changed := false
	for i := 1; i < len(r.Nodes); i++ {
		own, first := r.Nodes[i].Environment, r.Nodes[0].Environment
		host := own.Host
		own.Host, first.Host = "", ""
		if own == first && own != (Environment{}) {
			r.Nodes[i].Environment = Environment{Host: host}
			changed = true
		}
	}
	return changed
}

func otherEnvironments(r *Record) bool {
	changed := false
	for i := 1; i < len(r.Nodes); i++ {
		changed = changed || r.Nodes[i].Environment != (Environment{})
		r.Nodes[i].Environment = Environment{}
	}
	return changed
}

func cutError(r *Record, n int) bool { return r.Error != nil && cut(&r.Error.Message, n) }

// cut shortens a string to n bytes of whole runes.
func cut(s *string, n int) bool {
	if len(*s) <= n {
		return false
	}
	for n > 0 && !utf8.RuneStart((*s)[n]) {
		n--
	}
	*s = (*s)[:n]
	return true
}
