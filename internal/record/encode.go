package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
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

// steps are in the order of leaving out: what can be had elsewhere first, what a verdict rests on never.
var steps = []step{
	{"settle note beyond 256 bytes", func(r *Record) bool { return cut(&r.Settle.Note, 256) }},
	{"error message beyond 1024 bytes", func(r *Record) bool { return cutError(r, 1024) }},
	{"processing percentiles of search tasks", func(r *Record) bool {
		return eachTask(r, func(i int, t *Task) bool { return t.Search && thin(t) })
	}},
	{"latency of tasks after the first 16", func(r *Record) bool {
		return eachTask(r, func(i int, t *Task) bool { return i >= 16 && strip(t) })
	}},
	{"environment of nodes that equals the first node's", func(r *Record) bool { return sharedEnvironment(r) }},
	{"latency of search tasks after the first 4", func(r *Record) bool {
		return eachTask(r, func(i int, t *Task) bool { return i > 4 && t.Search && strip(t) })
	}},
	{"tasks after the first 8", func(r *Record) bool { return cutTasks(r, 8) }},
	{"latency of all tasks but the first", func(r *Record) bool {
		return eachTask(r, func(i int, t *Task) bool { return i > 0 && strip(t) })
	}},
	{"tasks after the first", func(r *Record) bool { return cutTasks(r, 1) }},
	{"error message beyond 512 bytes", func(r *Record) bool { return cutError(r, 512) }},
	{"environment of all nodes but the first", func(r *Record) bool { return otherEnvironments(r) }},
	{"nodes after the first 8", func(r *Record) bool { return cutNodes(r, 8) }},
	{"notes, artifacts, names", func(r *Record) bool {
		changed := cut(&r.Settle.Note, 0)
		for _, s := range []*string{&r.Ingest.note().WindowNote, &r.Artifacts, &r.Loader.BusiestProcess, &r.Trial.Variant, &r.Trial.Topology} {
			changed = cut(s, 64) || changed
		}
		for i := range r.Nodes {
			changed = cut(&r.Nodes[i].Name, 64) || changed
		}
		for i := range r.Tasks {
			changed = cut(&r.Tasks[i].Name, 64) || changed
		}
		return changed
	}},
	{"nodes", func(r *Record) bool { return cutNodes(r, 0) }},
	{"tasks", func(r *Record) bool { return cutTasks(r, 0) }},
	{"error message beyond 128 bytes", func(r *Record) bool { return cutError(r, 128) }},
}

// note gives an Ingest to write to even where the record has none.
func (in *Ingest) note() *Ingest {
	if in == nil {
		return &Ingest{}
	}
	return in
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

func cutNodes(r *Record, n int) bool {
	changed := len(r.Nodes) > n
	r.Nodes = r.Nodes[:min(n, len(r.Nodes))]
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
