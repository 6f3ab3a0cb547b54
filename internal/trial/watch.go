package trial

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/knee-bench/knee/internal/trial/cluster"
	"github.com/knee-bench/knee/internal/trial/process"
	"github.com/knee-bench/knee/internal/trial/steady"
)

// How often the load is sampled: an interval is at most 2 % of the load so far, so that the ends of a short load
// are known well, and never more often than 10 or less often than once a second.
const (
	fastest       = 100 * time.Millisecond
	slowest       = time.Second
	share         = 50
	vitalInterval = 5 * time.Second
)

// watch samples the cluster's counters and the driver's CPU time while a load runs.
type watch struct {
	cluster  *cluster.Client // nil: there is none to look at
	index    string          // empty: the load fills none
	nodes    int32           // that the cluster had before
	programs Programs
	cancel   context.CancelFunc
	loops    sync.WaitGroup

	mu       sync.Mutex
	samples  []steady.Sample
	last     cluster.Indexing
	lastAt   time.Time
	changed  time.Time       // when the count changed last
	merging  time.Time       // when merges were seen last
	problem  string          // why the counters cannot be used; the first
	upheaval string          // what of the cluster changed; the first
	green    map[string]bool // indices that were green once since the first document
	shards   *cluster.Allocations
	vitals   map[string][]vital // by node id, in time
	usage    *process.Usage
	silent   int // samples that could not be taken since the first document
}

func startWatch(c *cluster.Client, index string, nodes int32, programs Programs) *watch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{cluster: c, index: index, nodes: nodes, programs: programs, cancel: cancel, green: map[string]bool{}, vitals: map[string][]vital{}, usage: process.NewUsage()}
	w.loops.Go(func() { w.loop(ctx) })
	if w.cluster != nil {
		w.loops.Go(func() { w.vitalLoop(ctx) })
	}
	return w
}

// stop ends the sampling; what was seen can then be read without a lock.
func (w *watch) stop() {
	w.cancel()
	w.loops.Wait()
}

func (w *watch) loop(ctx context.Context) {
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
		if w.index != "" {
			w.sample(ctx)
		}
		w.sampleUsage()
		if first.IsZero() && (w.total() > 0 || w.index == "") {
			first = began
		}
		if w.total() > 0 {
			w.noteShards(ctx)
		}
		timer.Reset(max(0, interval(first, began)-time.Since(began)))
	}
}

// interval is the time from one sample to the next.
func interval(first, now time.Time) time.Duration {
	if first.IsZero() {
		return fastest
	}
	return min(slowest, max(fastest, now.Sub(first)/share))
}

func (w *watch) sampleUsage() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.programs.Sample(w.usage)
}

// loader is the CPU of the driver's processes over a window.
func (w *watch) loader(from, to time.Time) []process.Process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.usage.Between(from, to)
}

// loaderMemory is the most that the driver's processes had in memory within a window, in bytes.
func (w *watch) loaderMemory(from, to time.Time) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.usage.MaxMemory(from, to)
}

func (w *watch) total() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last.Total
}

// sample takes one reading, dated in the middle of its call.
func (w *watch) sample(ctx context.Context) {
	began := time.Now()
	s, err := w.cluster.IndexState(ctx, w.index)
	at := began.Add(time.Since(began) / 2)
	if ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case cluster.NotFound(err):
		if w.last.Total > 0 {
			w.noteUpheaval("the index vanished during the load: " + err.Error())
		}
		return
	case err != nil:
		if w.last.Total > 0 {
			w.silent++
		}
		return
	}
	w.add(at, s)
}

// add takes in one reading.
func (w *watch) add(at time.Time, s cluster.Indexing) {
	if s.ShardsFailed > 0 {
		if w.last.Total > 0 {
			w.note(fmt.Sprintf("%d shards could not tell their counters", s.ShardsFailed))
		}
		return
	}
	if s.Total < w.last.Total {
		w.note(fmt.Sprintf("the primaries' index_total went down from %d to %d", w.last.Total, s.Total))
		return
	}
	if s.Total > w.last.Total || w.changed.IsZero() {
		w.changed = at
	}
	if s.Merges > 0 {
		w.merging = at
	}
	w.last, w.lastAt = s, at
	w.samples = append(w.samples, steady.Sample{At: at, Count: s.Total})
}

func (w *watch) note(problem string) {
	if w.problem == "" {
		w.problem = problem
	}
}

// noteShards remembers, once, which allocations serve the index's shards as the load begins: once every primary has one,
// since the first documents may come before the last primary does.
func (w *watch) noteShards(ctx context.Context) {
	if w.shards != nil { // only this goroutine writes it
		return
	}
	shards, err := w.cluster.Allocations(ctx, w.index)
	if err != nil || !shards.Assigned() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shards = &shards
}

// state is the newest reading, and since when the count and the merges rest.
func (w *watch) state() (last cluster.Indexing, at, changed, merging time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last, w.lastAt, w.changed, w.merging
}
