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
		if step.drop(&r) && !slices.Contains(r.Dropped, step.name) {
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

// sameLatency and sameEnvironment name the steps that lose nothing: Decode puts back what they left out.
const (
	sameLatency     = "tasks.latency=service"
	sameEnvironment = "node.environment=first"
)

// otherEnvironmentsStep names the step after which the environments of all but the first node are gone.
const otherEnvironmentsStep = "node[1:].environment"

// steps are in the order of leaving out: first what only informs, last what a gate or a verdict rests on. What a
// gate judges of a node (its CPU, pressure and throttling) stays with every node that stays. Their names stand in
// Dropped and are short, for they take room themselves.
var steps = []step{
	{"settle.note>256", func(r *Record) bool { return cut(&r.Settle.Note, 256) }},
	{"error.message>1024", func(r *Record) bool { return cutError(r, 1024) }},
	{sameLatency, func(r *Record) bool { return eachTask(r, sharedLatency) }},
	{sameEnvironment, sharedEnvironment},
	{"search.percentiles", func(r *Record) bool { return eachTask(r, func(_ int, t *Task) bool { return t.Search && thin(t) }) }},
	{"node.network,memory,queues", func(r *Record) bool { return eachNode(r, dropDetail) }},
	{"tasks[16:].latency", func(r *Record) bool { return stripFrom(r, 16) }},
	{"node.disk,gc", func(r *Record) bool { return eachNode(r, dropTraffic) }},
	{"tasks[5:].latency", func(r *Record) bool { return stripFrom(r, 5) }},
	{"tasks[8:]", func(r *Record) bool { return cutTasks(r, 8) }},
	{"tasks[1:].latency", func(r *Record) bool { return stripFrom(r, 1) }},
	{"tasks[1:]", func(r *Record) bool { return cutTasks(r, 1) }},
	{"error.message>512", func(r *Record) bool { return cutError(r, 512) }},
	{"node.heap,ingest.work", dropWork},
	{otherEnvironmentsStep, otherEnvironments},
	{"texts>64", cutTexts},
	{"all but the 12 worst nodes", func(r *Record) bool { return keepWorst(r, 12) }},
	{"error.message>128", func(r *Record) bool { return cutError(r, 128) }},
	{"tasks", func(r *Record) bool { return cutTasks(r, 0) }},
	{"all but the 5 worst nodes", func(r *Record) bool { return keepWorst(r, 5) }},
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
		n.CPU, n.Pressure, n.Disk, n.Network = copyOf(n.CPU), copyOf(n.Pressure), copyOf(n.Disk), copyOf(n.Network)
		n.Memory, n.Throttled, n.WritePool, n.GC.Pauses = copyOf(n.Memory), copyOf(n.Throttled), copyOf(n.WritePool), copyOf(n.GC.Pauses)
	}
	r.Tasks = append([]Task(nil), r.Tasks...)
	for i := range r.Tasks {
		r.Tasks[i].Latency = copyOf(r.Tasks[i].Latency)
		r.Tasks[i].ServiceTime = copyOf(r.Tasks[i].ServiceTime)
	}
	r.Ingest, r.Error = copyOf(r.Ingest), copyOf(r.Error)
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

// round keeps six significant digits of every figure, and four of a node's, far below the noise of any measurement
// and half the bytes.
func round(r *Record) {
	figures := []*float64{&r.Settle.Seconds, &r.Loader.CPUCores, &r.Loader.BusiestPercent, &r.Loader.UtilizationOfTime}
	if in := r.Ingest; in != nil {
		figures = append(figures, &in.Seconds, &in.DocsPerSecond, &in.WholeDocsPerSec, &in.DrainedDocsPerSec, &in.OSBDocsPerSecond,
			&in.SteadySeconds, &in.CVPercent)
		if w := in.Work; w != nil {
			figures = append(figures, &w.MergeSeconds, &w.MergedMiB, &w.ThrottleSeconds, &w.RefreshSeconds, &w.FlushSeconds)
		}
	}
	for i := range r.Nodes {
		for _, f := range nodeFigures(&r.Nodes[i]) {
			*f = significant(*f, 4)
		}
	}
	for i := range r.Tasks {
		figures = append(figures, &r.Tasks[i].Throughput, &r.Tasks[i].ErrorRate, &r.Tasks[i].Target)
		for _, l := range []*Latency{r.Tasks[i].Latency, r.Tasks[i].ServiceTime} {
			if l != nil {
				figures = append(figures, &l.Mean, &l.P50, &l.P90, &l.P99, &l.P999, &l.Max)
			}
		}
	}
	for _, f := range figures {
		*f = significant(*f, 6)
	}
}

func nodeFigures(n *Node) []*float64 {
	var out []*float64
	if c := n.CPU; c != nil {
		out = append(out, &c.User, &c.Sys, &c.IOWait, &c.Steal, &c.Idle, &c.RunQueue)
	}
	if p := n.Pressure; p != nil {
		out = append(out, &p.CPU, &p.Memory, &p.IO)
	}
	if d := n.Disk; d != nil {
		out = append(out, &d.ReadMiBs, &d.WriteMiBs, &d.IOPS, &d.BusiestPercent)
	}
	if w := n.Network; w != nil {
		out = append(out, &w.ReceiveMiBs, &w.TransmitMiBs)
	}
	if n.Throttled != nil {
		out = append(out, n.Throttled)
	}
	if p := n.GC.Pauses; p != nil {
		out = append(out, &p.Millis, &p.P50, &p.P99, &p.Max, &p.SurvivorMiB, &p.PromotedMiB)
	}
	return out
}

// significant rounds to so many significant digits; what JSON cannot hold (NaN, infinity) becomes 0. Whole numbers
// stay whole.
func significant(f float64, digits int) float64 {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	scale := math.Pow(10, float64(digits)-1-math.Floor(math.Log10(math.Abs(f))))
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

// sharedLatency leaves out a latency that equals the service time, as that of every task without a target
// throughput does.
func sharedLatency(_ int, t *Task) bool {
	if t.Latency == nil || t.ServiceTime == nil || *t.Latency != *t.ServiceTime || t.Target != 0 {
		return false
	}
	t.Latency = nil
	return true
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

func dropDetail(n *Node) bool {
	changed := n.Network != nil || n.WritePool != nil || n.Memory != nil
	if n.CPU != nil {
		changed = changed || n.CPU.RunQueue != 0
		n.CPU.RunQueue = 0
	}
	n.Network, n.WritePool, n.Memory = nil, nil, nil
	return changed
}

// dropWork leaves out the heaps and what the index did beside indexing.
func dropWork(r *Record) bool {
	changed := r.Ingest != nil && r.Ingest.Work != nil
	if changed {
		r.Ingest.Work = nil
	}
	return eachNode(r, func(n *Node) bool {
		had := n.HeapUsedMax != 0
		n.HeapUsedMax = 0
		return had
	}) || changed
}

// gated are the figures of a node that a gate may judge, the higher the worse. A figure that is not known is
// infinite, for a gate fails on it; a node without a CPU quota is never throttled.
var gated = []func(Node) float64{
	ofCPU(CPU.Busy),
	ofCPU(func(c CPU) float64 { return c.Steal }),
	func(n Node) float64 {
		if n.Throttled == nil {
			return 0
		}
		return *n.Throttled
	},
	func(n Node) float64 {
		if n.Pressure == nil {
			return math.Inf(1)
		}
		return n.Pressure.IO
	},
	ofCPU(func(c CPU) float64 { return c.IOWait }),
}

func ofCPU(figure func(CPU) float64) func(Node) float64 {
	return func(n Node) float64 {
		if n.CPU == nil {
			return math.Inf(1)
		}
		return figure(*n.CPU)
	}
}

// keepWorst keeps n nodes, in their order: the worst of each gated figure, then those that waited most for their
// disks. A gate on every node comes to the same with the kept ones alone.
func keepWorst(r *Record, n int) bool {
	if len(r.Nodes) <= n {
		return false
	}
	rest := r.Nodes
	var kept []Node
	for _, figure := range gated {
		slices.SortStableFunc(rest, func(a, b Node) int { return cmp.Compare(figure(b), figure(a)) })
		kept, rest = append(kept, rest[0]), rest[1:]
	}
	kept = append(kept, rest[:n-len(kept)]...) // rest is in the order of iowait
	r.Nodes = kept
	slices.SortStableFunc(r.Nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	return true
}

// cutTexts shortens every text but identities and the error.
func cutTexts(r *Record) bool {
	texts := []*string{&r.Settle.Note, &r.Artifacts, &r.Loader.BusiestProcess, &r.Loader.Host, &r.Trial.Variant, &r.Trial.Topology, &r.Driver.RunID, &r.Driver.Version}
	if r.Ingest != nil {
		texts = append(texts, &r.Ingest.WindowNote, &r.Ingest.RefreshInterval, &r.Ingest.SettingsDigest)
	}
	for i := range r.Nodes {
		e := &r.Nodes[i].Environment
		texts = append(texts, &r.Nodes[i].Name, &e.Host, &e.CPUModel, &e.Kernel, &e.JVM, &e.OpenSearch, &e.THP, &e.Arch, &e.Disk, &e.Image)
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

// sharedEnvironment leaves out what a node says of itself when, but for its host, it equals the first node's. A node
// that says nothing but its host would read as one of these: then nothing is left out.
func sharedEnvironment(r *Record) bool {
	if slices.ContainsFunc(r.Nodes, func(n Node) bool { return onlyHost(n.Environment) }) {
		return false
	}
	changed := false
	for i := 1; i < len(r.Nodes); i++ {
		own, first := r.Nodes[i].Environment, r.Nodes[0].Environment
		host := own.Host
		own.Host, first.Host = "", ""
		if own == first && host != "" {
			r.Nodes[i].Environment = Environment{Host: host}
			changed = true
		}
	}
	return changed
}

func onlyHost(e Environment) bool { return e.Host != "" && e == Environment{Host: e.Host} }

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
