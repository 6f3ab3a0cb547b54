// Package probe measures how busy the machine of an OpenSearch node is. It runs beside the node, samples /proc once a second,
// and answers over HTTP. Requests give times as seconds ago, so the clocks of the two machines may differ.
package probe

import (
	"fmt"
	"sort"
	"sync"
	"time"
)

// Sample holds the machine's cumulative counters at one time. CPU times are seconds, summed over all cores.
type Sample struct {
	At                                        time.Time
	User, Sys, IOWait, Steal, Idle            float64
	Cores                                     int
	RunQueue, Runs                            float64 // RunQueue: number of running or runnable tasks, summed over all samples so far; Runs: number of these samples
	HasPressure                               bool
	PressureCPU, PressureMemory, PressureIO   float64 // seconds in which some task waited
	DiskReadBytes, DiskWriteBytes, Operations float64
	DiskBusy                                  []float64 // seconds in which each disk was busy
	Received, Transmitted                     float64   // bytes, over all network interfaces except loopback
	DirtyBytes                                int64     // current bytes that are dirty or under writeback; not cumulative
	ResidentBytes                             int64     // current memory of the OpenSearch process; 0: not visible
	Quota                                     *Quota    // of the OpenSearch container; nil: no quota or not visible
	OwnCPU                                    float64   // CPU seconds of the probe itself
	MaxProcesses                              int64     // RLIMIT_NPROC of the OpenSearch process; -1: unlimited; 0: not known

	ClockStep time.Duration // total adjustment of the wall clock since the sampler began
}

// Ring keeps the newest samples. It is safe for concurrent use.
type Ring struct {
	mu      sync.Mutex
	samples []Sample // grows to size; then each new sample overwrites the oldest
	next    int
	size    int
}

// NewRing returns a ring that keeps size samples.
func NewRing(size int) *Ring { return &Ring{size: size} }

// Add adds a sample. The sample must be later than all samples in the ring.
func (r *Ring) Add(s Sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) < r.size {
		r.samples = append(r.samples, s)
		return
	}
	r.samples[r.next] = s
	r.next = (r.next + 1) % r.size
}

// at returns the i-th oldest sample, from 0.
func (r *Ring) at(i int) Sample { return r.samples[(r.next+i)%len(r.samples)] }

// Last returns the newest sample. It returns false if there is no sample yet.
func (r *Ring) Last() (Sample, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) == 0 {
		return Sample{}, false
	}
	return r.at(len(r.samples) - 1), true
}

// slack is how much earlier than the oldest sample a window may begin.
const slack = 2 * time.Second

// Between returns the counters at the start and at the end of a window, interpolated between the neighbouring samples. It
// returns an error if the window begins more than slack before the oldest sample. If the window ends after the newest sample,
// the result ends at the newest sample.
func (r *Ring) Between(from, to time.Time) (a, b Sample, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.samples)
	if n < 2 {
		return a, b, fmt.Errorf("the probe has %d samples, but a measured period requires at least 2", n)
	}
	if oldest := r.at(0).At; from.Before(oldest.Add(-slack)) {
		return a, b, fmt.Errorf("the measured period begins %.0f s before the oldest sample of the probe", oldest.Sub(from).Seconds())
	}
	a, b = r.interpolate(from), r.interpolate(to)
	if !b.At.After(a.At) {
		return a, b, fmt.Errorf("the measured period of %.2f s contains no samples of the probe", to.Sub(from).Seconds())
	}
	return a, b, nil
}

func (r *Ring) interpolate(t time.Time) Sample {
	n := len(r.samples)
	i := r.first(t)
	if i == 0 {
		return r.at(0)
	}
	if i == n {
		return r.at(n - 1)
	}
	a, b := r.at(i-1), r.at(i)
	share := t.Sub(a.At).Seconds() / b.At.Sub(a.At).Seconds()
	mix := func(x, y float64) float64 { return x + share*(y-x) }
	busy := make([]float64, min(len(a.DiskBusy), len(b.DiskBusy))) // a disk that was added between the samples has no first value
	for i := range busy {
		busy[i] = mix(a.DiskBusy[i], b.DiskBusy[i])
	}
	return Sample{At: t, Cores: b.Cores, RunQueue: mix(a.RunQueue, b.RunQueue), Runs: mix(a.Runs, b.Runs), DiskBusy: busy,
		Received: mix(a.Received, b.Received), Transmitted: mix(a.Transmitted, b.Transmitted), ResidentBytes: b.ResidentBytes, MaxProcesses: b.MaxProcesses, Quota: mixQuota(a.Quota, b.Quota, mix), OwnCPU: mix(a.OwnCPU, b.OwnCPU), HasPressure: a.HasPressure && b.HasPressure, DirtyBytes: b.DirtyBytes,
		User: mix(a.User, b.User), Sys: mix(a.Sys, b.Sys), IOWait: mix(a.IOWait, b.IOWait), Steal: mix(a.Steal, b.Steal), Idle: mix(a.Idle, b.Idle),
		PressureCPU: mix(a.PressureCPU, b.PressureCPU), PressureMemory: mix(a.PressureMemory, b.PressureMemory), PressureIO: mix(a.PressureIO, b.PressureIO),
		DiskReadBytes: mix(a.DiskReadBytes, b.DiskReadBytes), DiskWriteBytes: mix(a.DiskWriteBytes, b.DiskWriteBytes), Operations: mix(a.Operations, b.Operations)}
}

// MaxResident returns the highest resident memory of OpenSearch in a window, in bytes.
func (r *Ring) MaxResident(from, to time.Time) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var most int64
	n := len(r.samples)
	for i := r.first(from); i < n && !r.at(i).At.After(to); i++ {
		most = max(most, r.at(i).ResidentBytes)
	}
	return most
}

// ClockStep returns the largest adjustment of the wall clock between a time and now. Dates of the wall clock in this period
// may be wrong by this amount.
func (r *Ring) ClockStep(from time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var most time.Duration
	n := len(r.samples)
	for i := max(0, r.first(from)-1); i < n; i++ {
		if step := r.at(n-1).ClockStep - r.at(i).ClockStep; step.Abs() > most.Abs() {
			most = step
		}
	}
	return most
}

// Within returns the samples in a window and the last sample before it, oldest first.
func (r *Ring) Within(from, to time.Time) []Sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Sample
	n := len(r.samples)
	for i := max(0, r.first(from)-1); i < n && !r.at(i).At.After(to); i++ {
		out = append(out, r.at(i))
	}
	return out
}

// first returns the index of the first sample that is not before t.
func (r *Ring) first(t time.Time) int {
	return sort.Search(len(r.samples), func(i int) bool { return !r.at(i).At.Before(t) })
}
