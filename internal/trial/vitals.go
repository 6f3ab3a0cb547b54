package trial

import (
	"context"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
)

// vital is what a node was at a time.
type vital struct {
	at time.Time
	cluster.Vital
}

// vitalTimeout bounds one reading: one that takes longer belongs to no time.
const vitalTimeout = 3 * time.Second

// vitalLoop reads beside the counters: a node that is slow to tell of its heap must not keep them waiting.
func (w *watch) vitalLoop(ctx context.Context) {
	tick := time.NewTicker(vitalInterval)
	defer tick.Stop()
	for {
		w.sampleVitals(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *watch) sampleVitals(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, vitalTimeout)
	defer cancel()
	began := time.Now()
	now, err := w.cluster.Vitals(ctx)
	at := began.Add(time.Since(began) / 2)
	if err != nil {
		return
	}
	if h, err := w.health(ctx); err == nil {
		w.addHealth(h)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, v := range now {
		w.vitals[id] = append(w.vitals[id], vital{at, v})
	}
}

// health is that of the index, or of the cluster where no index is filled.
func (w *watch) health(ctx context.Context) (cluster.Health, error) {
	if w.index == "" {
		return w.cluster.Health(ctx)
	}
	return w.cluster.IndexHealth(ctx, w.index)
}

// fillVitals notes the highest figures of a node over the load, and its throttling over the window.
func fillVitals(n *record.Node, seen []vital, from, to time.Time) {
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

// throttled is the share of the quota's periods within a window that were throttled, in percent; nil without a quota,
// when the counters began anew, and unless two readings tell of the window: within it, or next to it. Periods count only
// while something runs: none at all is no throttling.
func throttled(seen []vital, from, to time.Time) *float64 {
	telling := 0
	for i, v := range seen {
		if !v.HasQuota || v.Periods < 0 || v.Throttled < 0 || i > 0 && (v.Periods < seen[i-1].Periods || v.Throttled < seen[i-1].Throttled) {
			return nil
		}
		lastBefore := !v.at.After(from) && (i+1 == len(seen) || seen[i+1].at.After(from))
		firstAfter := !v.at.Before(to) && (i == 0 || seen[i-1].at.Before(to))
		if v.at.After(from) && v.at.Before(to) || lastBefore || firstAfter {
			telling++
		}
	}
	if telling < 2 {
		return nil
	}
	periods := vitalAt(seen, to, vital.periods) - vitalAt(seen, from, vital.periods)
	share := 0.0
	if periods > 0 {
		share = 100 * (vitalAt(seen, to, vital.throttledPeriods) - vitalAt(seen, from, vital.throttledPeriods)) / periods
	}
	return &share
}

func (v vital) periods() float64          { return float64(v.Periods) }
func (v vital) throttledPeriods() float64 { return float64(v.Throttled) }

// vitalAt interpolates a figure at a time; outside of what was seen it is the nearest end.
func vitalAt(seen []vital, t time.Time, of func(vital) float64) float64 {
	for i, v := range seen {
		if v.at.Before(t) {
			continue
		}
		if i == 0 {
			return of(v)
		}
		a := seen[i-1]
		return of(a) + (of(v)-of(a))*t.Sub(a.at).Seconds()/v.at.Sub(a.at).Seconds()
	}
	return of(seen[len(seen)-1])
}
