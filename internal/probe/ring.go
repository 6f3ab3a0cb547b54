// Package probe tells, from beside an OpenSearch node, how busy the machine was: it samples /proc once a second
// and answers over HTTP. Times are relative (seconds ago), so that the clocks of two machines need not agree.
package probe

import (
	"fmt"
	"sort"
	"sync"
	"time"
)

// Sample holds the machine's cumulative counters at a time. CPU times are seconds over all cores.
type Sample struct {
	At                                        time.Time
	User, Sys, IOWait, Steal, Idle            float64
	Cores                                     int
	RunQueue, Runs                            float64 // tasks running or runnable, summed over the samples so far, and how many those are
	HasPressure                               bool
	PressureCPU, PressureMemory, PressureIO   float64 // seconds in which some task waited
	DiskReadBytes, DiskWriteBytes, Operations float64
	DiskBusy                                  []float64 // seconds in which each disk had work
	Received, Transmitted                     float64   // bytes, over all interfaces but loopback
	DirtyBytes                                int64     // now, not cumulative: dirty and under writeback
	ResidentBytes                             int64     // now: of OpenSearch's process; 0 when it cannot be seen
	Quota                                     *Quota    // of OpenSearch's container; nil without one, and where it cannot be seen
	OwnCPU                                    float64   // seconds that the probe itself has used
	MaxProcesses                              int64     // RLIMIT_NPROC of OpenSearch's process; -1: unlimited; 0: not known

	ClockStep time.Duration // by how much the wall clock was set since the sampler began, all in all
}

// Ring keeps the newest samples. It is safe for concurrent use.
type Ring struct {
	mu      sync.Mutex
	samples []Sample // grows to size, then is written round
	next    int
	size    int
}

// NewRing gives a ring of so many samples.
func NewRing(size int) *Ring { return &Ring{size: size} }

// Add notes a sample, later than all before it.
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

// at is the i-th oldest sample.
func (r *Ring) at(i int) Sample { return r.samples[(r.next+i)%len(r.samples)] }

// Last is the newest sample; ok is false before the first.
func (r *Ring) Last() (Sample, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) == 0 {
		return Sample{}, false
	}
	return r.at(len(r.samples) - 1), true
}

// slack is how far a window may reach beyond the oldest sample.
const slack = 2 * time.Second

// Between gives the counters at both ends of a window, interpolated between the samples beside each end. A window
// beyond the oldest sample is refused; one beyond the newest ends there.
func (r *Ring) Between(from, to time.Time) (a, b Sample, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.samples)
	if n < 2 {
		return a, b, fmt.Errorf("the probe has %d samples, too few for a window", n)
	}
	if oldest := r.at(0).At; from.Before(oldest.Add(-slack)) {
		return a, b, fmt.Errorf("the window begins %.0f s before the oldest sample", oldest.Sub(from).Seconds())
	}
	a, b = r.interpolate(from), r.interpolate(to)
	if !b.At.After(a.At) {
		return a, b, fmt.Errorf("the window of %.2f s holds no samples", to.Sub(from).Seconds())
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
	busy := make([]float64, min(len(a.DiskBusy), len(b.DiskBusy))) // a disk that came meanwhile has no two ends
	for i := range busy {
		busy[i] = mix(a.DiskBusy[i], b.DiskBusy[i])
	}
	return Sample{At: t, Cores: b.Cores, RunQueue: mix(a.RunQueue, b.RunQueue), Runs: mix(a.Runs, b.Runs), DiskBusy: busy,
		Received: mix(a.Received, b.Received), Transmitted: mix(a.Transmitted, b.Transmitted), ResidentBytes: b.ResidentBytes, MaxProcesses: b.MaxProcesses, Quota: mixQuota(a.Quota, b.Quota, mix), OwnCPU: mix(a.OwnCPU, b.OwnCPU), HasPressure: a.HasPressure && b.HasPressure, DirtyBytes: b.DirtyBytes,
		User: mix(a.User, b.User), Sys: mix(a.Sys, b.Sys), IOWait: mix(a.IOWait, b.IOWait), Steal: mix(a.Steal, b.Steal), Idle: mix(a.Idle, b.Idle),
		PressureCPU: mix(a.PressureCPU, b.PressureCPU), PressureMemory: mix(a.PressureMemory, b.PressureMemory), PressureIO: mix(a.PressureIO, b.PressureIO),
		DiskReadBytes: mix(a.DiskReadBytes, b.DiskReadBytes), DiskWriteBytes: mix(a.DiskWriteBytes, b.DiskWriteBytes), Operations: mix(a.Operations, b.Operations)}
}

// MaxResident is OpenSearch's highest resident memory within a window.
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

// ClockStep is by how much the wall clock was set, at most, between a time and now: what dates by it is not where it
// seems to be.
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

// Within gives the samples of a window, and the one before it, oldest first.
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

// first is the index of the oldest sample that is not before a time.
func (r *Ring) first(t time.Time) int {
	return sort.Search(len(r.samples), func(i int) bool { return !r.at(i).At.Before(t) })
}
