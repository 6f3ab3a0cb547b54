// Package probe tells, from beside an OpenSearch node, how busy the machine was: it samples /proc once a second
// and answers over HTTP. Times are relative (seconds ago), so that the clocks of two machines need not agree.
package probe

import (
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// Sample holds the machine's cumulative counters at a time. CPU times are seconds over all cores.
type Sample struct {
	At                                        time.Time
	User, Sys, IOWait, Steal, Idle            float64
	Cores                                     int
	HasPressure                               bool
	PressureCPU, PressureMemory, PressureIO   float64 // seconds in which some task waited
	DiskReadBytes, DiskWriteBytes, Operations float64
	DirtyBytes                                int64 // now, not cumulative: dirty and under writeback
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
	i := sort.Search(n, func(i int) bool { return !r.at(i).At.Before(t) })
	if i == 0 {
		return r.at(0)
	}
	if i == n {
		return r.at(n - 1)
	}
	a, b := r.at(i-1), r.at(i)
	share := t.Sub(a.At).Seconds() / b.At.Sub(a.At).Seconds()
	mix := func(x, y float64) float64 { return x + share*(y-x) }
	return Sample{At: t, Cores: b.Cores, HasPressure: a.HasPressure && b.HasPressure, DirtyBytes: b.DirtyBytes,
		User: mix(a.User, b.User), Sys: mix(a.Sys, b.Sys), IOWait: mix(a.IOWait, b.IOWait), Steal: mix(a.Steal, b.Steal), Idle: mix(a.Idle, b.Idle),
		PressureCPU: mix(a.PressureCPU, b.PressureCPU), PressureMemory: mix(a.PressureMemory, b.PressureMemory), PressureIO: mix(a.PressureIO, b.PressureIO),
		DiskReadBytes: mix(a.DiskReadBytes, b.DiskReadBytes), DiskWriteBytes: mix(a.DiskWriteBytes, b.DiskWriteBytes), Operations: mix(a.Operations, b.Operations)}
}

// CPU is the share of each kind of CPU time between two samples, in percent of all cores. The kernel lets idle and
// iowait go down at times: a negative change counts as none.
func CPU(a, b Sample) record.CPU {
	change := func(x, y float64) float64 { return max(0, y-x) }
	user, sys, iowait := change(a.User, b.User), change(a.Sys, b.Sys), change(a.IOWait, b.IOWait)
	steal, idle := change(a.Steal, b.Steal), change(a.Idle, b.Idle)
	c := record.CPU{Cores: b.Cores}
	if total := user + sys + iowait + steal + idle; total > 0 {
		c.User, c.Sys, c.IOWait, c.Steal, c.Idle = 100*user/total, 100*sys/total, 100*iowait/total, 100*steal/total, 100*idle/total
	}
	return c
}

// Pressure is the percent of time in which some task waited between two samples; nil where the kernel tells none.
func Pressure(a, b Sample) *record.Pressure {
	if !a.HasPressure || !b.HasPressure {
		return nil
	}
	percent := func(x, y float64) float64 { return min(100, 100*max(0, y-x)/b.At.Sub(a.At).Seconds()) }
	return &record.Pressure{CPU: percent(a.PressureCPU, b.PressureCPU), Memory: percent(a.PressureMemory, b.PressureMemory), IO: percent(a.PressureIO, b.PressureIO)}
}

// Disk is the mean traffic between two samples.
func Disk(a, b Sample) *record.Disk {
	rate := func(x, y float64) float64 { return max(0, y-x) / b.At.Sub(a.At).Seconds() }
	const mib = 1 << 20
	return &record.Disk{ReadMiBs: rate(a.DiskReadBytes, b.DiskReadBytes) / mib, WriteMiBs: rate(a.DiskWriteBytes, b.DiskWriteBytes) / mib, IOPS: rate(a.Operations, b.Operations)}
}
