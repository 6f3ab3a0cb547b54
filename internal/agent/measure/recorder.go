package measure

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/knee-bench/knee/internal/agent/measure/steady"
	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/agent/probe"
	"github.com/knee-bench/knee/internal/agent/process"
	"github.com/knee-bench/knee/internal/record"
)

// Limits of the sampling interval. The interval is 1/samplesOfLoad (2 %) of the load so far, but not below fastest or above
// slowest. So the start and the end of a short load are known exactly enough.
const (
	fastest       = 100 * time.Millisecond
	slowest       = time.Second
	samplesOfLoad = 50
	vitalInterval = 5 * time.Second
)

// Recorder samples the cluster's counters, the state of its nodes, and the CPU time of the driver's processes during a load.
type Recorder struct {
	target   Target
	programs process.Programs
	cancel   context.CancelFunc
	loops    sync.WaitGroup

	mu      sync.Mutex
	seen    Recording
	lastAt  time.Time       // time of the last reading
	changed time.Time       // time of the last change of the document count
	green   map[string]bool // names of the indices that were green at least once since the first document
	usage   *process.Usage
}

// Recording holds what a Recorder has recorded of the cluster.
type Recording struct {
	Samples []steady.Sample
	Vitals  map[string][]Vital  // key: node ID; in order of time
	Last    opensearch.Indexing // the last reading of the index
	Merging time.Time           // time of the last reading that showed merges; zero: no reading showed merges
	Shards  *opensearch.Allocations
	Problem string // first reason why the counters cannot be used; empty: none
	Change  string // first change in the cluster; empty: none
}

// StartRecorder starts the sampling. The caller must call Stop.
func StartRecorder(t Target, programs process.Programs) *Recorder {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Recorder{target: t, programs: programs, cancel: cancel, green: map[string]bool{}, usage: process.NewUsage(), seen: Recording{Vitals: map[string][]Vital{}}}
	r.loops.Go(func() { r.sampleCounters(ctx) })
	if t.Cluster != nil {
		r.loops.Go(func() { r.sampleNodes(ctx) })
	}
	return r
}

// Stop ends the sampling and returns the recording. It may be called more than once.
func (r *Recorder) Stop() Recording {
	r.cancel()
	r.loops.Wait()
	return r.Recording()
}

// Recording returns a copy of the recording so far.
func (r *Recorder) Recording() Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.seen
	out.Samples, out.Vitals = slices.Clone(out.Samples), maps.Clone(out.Vitals)
	return out
}

// LastProgress implements process.Activity.
func (r *Recorder) LastProgress() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen.Merging.After(r.changed) {
		return r.seen.Merging
	}
	return r.changed
}

// Silence implements process.Activity.
func (r *Recorder) Silence() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen.Last.Total == 0 {
		return 0
	}
	return time.Since(r.lastAt)
}

// sampleCounters samples the counters of the index and the usage of the processes until the context ends.
func (r *Recorder) sampleCounters(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var first time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		began := time.Now()
		if r.target.Index != "" {
			r.sample(ctx)
		}
		r.sampleUsage()
		if first.IsZero() && (r.total() > 0 || r.target.Index == "") {
			first = began
		}
		if r.total() > 0 {
			r.noteShards(ctx)
		}
		timer.Reset(max(0, interval(first, began)-time.Since(began)))
	}
}

// interval returns the time between two samples.
func interval(first, now time.Time) time.Duration {
	if first.IsZero() {
		return fastest
	}
	return min(slowest, max(fastest, now.Sub(first)/samplesOfLoad))
}

func (r *Recorder) sampleUsage() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.programs.Sample(r.usage)
}

// LoaderUsage returns the resources of this machine that the driver's processes used between two times.
func (r *Recorder) LoaderUsage(from, to time.Time) record.Loader {
	r.mu.Lock()
	defer r.mu.Unlock()
	var l record.Loader
	processes := r.usage.Between(from, to)
	for _, p := range processes {
		l.CPUCores += p.Percent / 100
	}
	if len(processes) > 0 {
		l.BusiestPercent, l.BusiestProcess = processes[0].Percent, processes[0].Name
	}
	l.MemoryBytes = r.usage.MaxMemory(from, to)
	l.Cores = probe.ReadEnvironment("/proc", "/sys", "").Cores
	return l
}

func (r *Recorder) total() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen.Last.Total
}

// sample takes one reading of the index. The middle of the request counts as the time of the reading.
func (r *Recorder) sample(ctx context.Context) {
	began := time.Now()
	s, err := r.target.Cluster.IndexState(ctx, r.target.Index)
	at := began.Add(time.Since(began) / 2)
	if ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case opensearch.NotFound(err):
		if r.seen.Last.Total > 0 {
			r.noteChange("the index was deleted during the load: " + err.Error())
		}
		return
	case err != nil:
		return
	}
	r.add(at, s)
}

// add adds one reading to the recording. Unusable counters are recorded as a problem.
func (r *Recorder) add(at time.Time, s opensearch.Indexing) {
	if s.ShardsFailed > 0 {
		if r.seen.Last.Total > 0 {
			r.noteProblem(fmt.Sprintf("%d shards of the index did not report their counters during the load", s.ShardsFailed))
		}
		return
	}
	if s.Total < r.seen.Last.Total {
		r.noteProblem(fmt.Sprintf("the counter index_total of the primary shards went down from %d to %d: check whether the index was created again or a primary shard moved", r.seen.Last.Total, s.Total))
		return
	}
	if s.Total > r.seen.Last.Total || r.changed.IsZero() {
		r.changed = at
	}
	if s.Merges > 0 {
		r.seen.Merging = at
	}
	r.seen.Last, r.lastAt = s, at
	r.seen.Samples = append(r.seen.Samples, steady.Sample{At: at, Count: s.Total})
}

func (r *Recorder) noteProblem(problem string) {
	if r.seen.Problem == "" {
		r.seen.Problem = problem
	}
}

// noteShards records which allocations serve the shards of the index at the start of the load. It does nothing while a
// primary has no allocation, because the first documents may arrive before all primaries have one. It records the allocations
// only once.
func (r *Recorder) noteShards(ctx context.Context) {
	if r.seen.Shards != nil { // needs no lock: only this goroutine writes the field
		return
	}
	shards, err := r.target.Cluster.Allocations(ctx, r.target.Index)
	if err != nil || !shards.Assigned() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.Shards = &shards
}

// isQuiet reports whether no index operation runs and the document count has not changed for overFor. It also returns the
// number of running index operations.
func (r *Recorder) isQuiet() (quiet bool, indexing int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastAt.Sub(r.changed) >= overFor && r.seen.Last.Current == 0, r.seen.Last.Current
}

// isDrained reports whether there were no merges and no change of the document count for overFor. It also returns the number
// of running merges.
func (r *Recorder) isDrained() (drained bool, merges int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen.Last.Merges == 0 && r.lastAt.Sub(r.seen.Merging) >= overFor && r.lastAt.Sub(r.changed) >= overFor, r.seen.Last.Merges
}
