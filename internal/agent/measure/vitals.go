package measure

import (
	"context"
	"time"

	"github.com/knee-bench/knee/internal/agent/opensearch"
	"github.com/knee-bench/knee/internal/record"
)

// Vital is the state of a node at one time.
type Vital struct {
	At time.Time
	opensearch.Vital
}

// vitalTimeout limits the duration of one reading. A slower reading could not be attributed to one time.
const vitalTimeout = 3 * time.Second

// sampleNodes reads the state of the nodes until the context ends. It runs in a goroutine of its own: a node that reports its
// state slowly must not delay sampleCounters.
func (r *Recorder) sampleNodes(ctx context.Context) {
	tick := time.NewTicker(vitalInterval)
	defer tick.Stop()
	for {
		r.sampleVitals(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (r *Recorder) sampleVitals(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, vitalTimeout)
	defer cancel()
	began := time.Now()
	now, err := r.target.Cluster.Vitals(ctx)
	at := began.Add(time.Since(began) / 2)
	if err != nil {
		return
	}
	if h, err := r.health(ctx); err == nil {
		r.addHealth(h)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, v := range now {
		r.seen.Vitals[id] = append(r.seen.Vitals[id], Vital{at, v})
	}
}

// health returns the health of the index, or of the cluster if the load fills no index.
func (r *Recorder) health(ctx context.Context) (opensearch.Health, error) {
	if r.target.Index == "" {
		return r.target.Cluster.Health(ctx)
	}
	return r.target.Cluster.IndexHealth(ctx, r.target.Index)
}

// fillVitals sets the maxima of a node over the whole load, and its throttling, CPU and disk figures in the window.
func fillVitals(n *record.Node, seen []Vital, from, to time.Time) {
	if len(seen) == 0 {
		return
	}
	n.Memory, n.WritePool = &record.Memory{}, &record.Pool{}
	for _, v := range seen {
		n.HeapUsedMax = max(n.HeapUsedMax, v.Heap)
		n.Memory.OldGenMax = max(n.Memory.OldGenMax, v.OldGen)
		n.Memory.SurvivorMax = max(n.Memory.SurvivorMax, v.Survivor)
		n.Memory.DirectMax = max(n.Memory.DirectMax, v.Direct)
		n.WritePool.Threads = max(n.WritePool.Threads, v.Threads)
		n.WritePool.ActiveMax = max(n.WritePool.ActiveMax, v.Active)
		n.WritePool.QueueMax = max(n.WritePool.QueueMax, v.Queue)
	}
	n.Throttled = throttled(seen, from, to)
	n.ReportedCPU, n.Disk = reportedCPU(seen, from, to), reportedDisk(seen, from, to)
}

// throttled returns the percentage of CPU quota periods in a window that were throttled. It returns nil if there is no quota,
// if the counters were reset, or if fewer than two readings lie in the window or next to it. The kernel counts a period only
// while a process runs, so zero periods mean no throttling.
func throttled(seen []Vital, from, to time.Time) *float64 {
	readings := 0
	for i, v := range seen {
		if !v.HasQuota || v.Periods < 0 || v.Throttled < 0 || i > 0 && (v.Periods < seen[i-1].Periods || v.Throttled < seen[i-1].Throttled) {
			return nil
		}
		lastBefore := !v.At.After(from) && (i+1 == len(seen) || seen[i+1].At.After(from))
		firstAfter := !v.At.Before(to) && (i == 0 || seen[i-1].At.Before(to))
		if v.At.After(from) && v.At.Before(to) || lastBefore || firstAfter {
			readings++
		}
	}
	if readings < 2 {
		return nil
	}
	periods := vitalAt(seen, to, Vital.periods) - vitalAt(seen, from, Vital.periods)
	share := 0.0
	if periods > 0 {
		share = 100 * (vitalAt(seen, to, Vital.throttledPeriods) - vitalAt(seen, from, Vital.throttledPeriods)) / periods
	}
	return &share
}

func (v Vital) periods() float64          { return float64(v.Periods) }
func (v Vital) throttledPeriods() float64 { return float64(v.Throttled) }

// vitalAt interpolates a figure at a time. Before the first and after the last reading, it returns the figure of the nearest
// reading.
func vitalAt(seen []Vital, t time.Time, of func(Vital) float64) float64 {
	for i, v := range seen {
		if v.At.Before(t) {
			continue
		}
		if i == 0 {
			return of(v)
		}
		a := seen[i-1]
		return of(a) + (of(v)-of(a))*t.Sub(a.At).Seconds()/v.At.Sub(a.At).Seconds()
	}
	return of(seen[len(seen)-1])
}
