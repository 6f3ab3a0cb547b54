package trial

import (
	"cmp"
	"context"
	"time"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/agent/loaders"
	"github.com/knee-bench/knee/internal/agent/measure"
	"github.com/knee-bench/knee/internal/agent/measure/steady"
	"github.com/knee-bench/knee/internal/record"
)

// measureByDriver takes the driver's own figures as the result of a load that fills no index.
func (a *attempt) measureByDriver(ctx context.Context) error {
	if err := a.span.CheckWallClock(); err != nil {
		return err
	}
	l := a.outcome.Load
	if l == nil {
		return record.Errorf(record.ReasonDriverIncomplete, "the driver reported no figures for the load")
	}
	a.whole = steady.Window{From: a.span.Began, To: a.span.Ended}
	l.From, l.To = a.whole.From.UnixMilli(), a.whole.To.UnixMilli()
	a.record.Load, a.record.Tasks = l, a.outcome.Tasks
	a.record.Loader.UtilizationOfTime = a.outcome.ClientUtilization
	if a.driver.Kind() == driver.NoCluster {
		a.recording = a.recorder.Stop()
		return a.measureLoaders(ctx, a.whole)
	}
	return nil
}

// countNodes reads the nodes' counters after a load that fills no index, and checks that the cluster did not change.
func (a *attempt) countNodes(ctx context.Context) error {
	after, err := a.target().CountAfter(ctx, a.baseline)
	if err != nil {
		return err
	}
	a.recording = a.recorder.Stop()
	a.noteNodes(after)
	a.target().FillNodes(ctx, a.record.Nodes, a.nodeIDs, a.recording, a.whole)
	if err := a.measureLoaders(ctx, a.whole); err != nil {
		return err
	}
	if why := cmp.Or(after.Changed, a.recording.Change); why != "" {
		return record.Errorf(record.ReasonClusterChanged, "%s", why)
	}
	if after.Decreased != "" {
		return record.Errorf(record.ReasonCountersUnusable, "%s", after.Decreased)
	}
	return nil
}

// noteNodes adds the nodes after the load to the record.
func (a *attempt) noteNodes(after measure.After) {
	a.record.Rejections = after.Rejections
	a.record.Nodes = a.target().NodesOf(a.baseline, after.Baseline)
	a.nodeIDs = after.NodeIDs()
}

// measureLoaders records the resources of the loader pods that the load used in a window.
func (a *attempt) measureLoaders(ctx context.Context, window steady.Window) error {
	a.record.Loader = a.ownUsage(window.From, window.To)
	others, err := a.pods.Usage(ctx, a.span, window.From, window.To)
	if err != nil {
		return err
	}
	a.record.Loader = loaders.SumUsage(a.record.Loader, others)
	return nil
}

// ownUsage returns the resources of this pod that the load used between two times.
func (a *attempt) ownUsage(from, to time.Time) record.Loader {
	l := a.recorder.LoaderUsage(from, to)
	l.Host, l.UtilizationOfTime = a.record.Loader.Host, a.record.Loader.UtilizationOfTime
	return l
}

// countAfter waits until all documents that the driver sent are indexed. Then it reads the counters and computes docs/s.
func (a *attempt) countAfter(ctx context.Context) error {
	if err := a.target().WaitForQuiet(ctx, a.recorder, a.outcome.Failures); err != nil {
		return err
	}
	after, err := a.target().CountAfter(ctx, a.baseline)
	if err != nil {
		return err
	}
	a.changed, a.decreased = cmp.Or(after.Changed, a.recorder.Recording().Change), after.Decreased
	a.noteNodes(after)
	if err := a.span.CheckWallClock(); err != nil {
		return err
	}
	seen := a.recorder.Recording()
	result, err := measure.Measure(a.Config, a.span, a.outcome, seen, after.Rejections)
	if err != nil {
		return err
	}
	a.record.Ingest, a.whole = &result.Ingest, result.Whole
	a.target().FillNodes(ctx, a.record.Nodes, a.nodeIDs, seen, result.Window)
	if err := a.measureLoaders(ctx, result.Window); err != nil {
		return err
	}
	a.record.Tasks = append(a.record.Tasks, a.outcome.Tasks...)
	a.record.Loader.UtilizationOfTime = result.Utilization
	return nil
}

// drain waits until the merges of the load have ended.
func (a *attempt) drain(ctx context.Context) (err error) {
	a.record.Ingest.DrainedDocsPerSec, a.recording, err = a.target().Drain(ctx, a.recorder, a.whole)
	return err
}

// verify reads the settings and the document count of the index, and compares all evidence.
func (a *attempt) verify(ctx context.Context) error {
	index, in, c := a.Config.Index.Name, a.record.Ingest, a.session.Cluster
	made, err := c.ReadIndex(ctx, index)
	if err != nil {
		return record.Errorf(record.ReasonIndexNotMade, "%v", err)
	}
	in.Primaries, in.Replicas, in.RefreshInterval, in.SettingsDigest = made.Primaries, made.Replicas, made.RefreshInterval, made.Digest
	last, err := c.IndexState(ctx, index)
	if err != nil {
		return record.Errorf(record.ReasonCountersUnusable, "%v", err)
	}
	if in.Count, err = c.Count(ctx, index); err != nil {
		return record.Errorf(record.ReasonCountersUnusable, "%v", err)
	}
	shards, err := c.Allocations(ctx, index)
	if err != nil {
		return record.Errorf(record.ReasonCountersUnusable, "%v", err)
	}
	if err := a.target().CheckSameNodes(ctx, a.baseline, "the load or the merges after it"); err != nil {
		return err
	}
	if err := a.noteWork(ctx); err != nil {
		return record.Errorf(record.ReasonCountersUnusable, "%v", err)
	}
	// The counters are totals of this load, because the index was new.
	in.TotalIndexed, in.IndexFailed, in.IndexBytes = last.Total, last.Failed, last.Bytes
	evidence := measure.Evidence{
		Outcome: a.outcome, Made: made, Want: a.topology(), Changed: a.changed, Decreased: a.decreased, Problem: a.recording.Problem,
		Rejections: a.record.Rejections, Count: in.Count, Total: in.TotalIndexed, Failed: in.IndexFailed,
	}
	if last.Total > 0 { // 0: the recorder did not record the places of the shards
		evidence.Changed = cmp.Or(evidence.Changed, measure.MovedShards(a.recording.Shards, shards))
	}
	return evidence.Check()
}

// noteWork records the other work of the index, such as merges. The counters are totals of this trial, because the index was
// new.
func (a *attempt) noteWork(ctx context.Context) error {
	w, err := a.session.Cluster.IndexWork(ctx, a.Config.Index.Name)
	if err != nil {
		return err
	}
	a.record.Ingest.Segments = w.Segments
	a.record.Ingest.Work = &record.Work{Merges: w.Merges, MergeSeconds: float64(w.MergeMillis) / 1e3, MergedMiB: float64(w.MergedBytes) / (1 << 20),
		ThrottleSeconds: float64(w.ThrottleMillis) / 1e3, RefreshSeconds: float64(w.RefreshMillis) / 1e3, FlushSeconds: float64(w.FlushMillis) / 1e3}
	return nil
}

// search runs the driver's search tasks on the index that its load filled.
func (a *attempt) search(ctx context.Context) error {
	tasks, err := a.driver.(driver.Searcher).Search(ctx)
	a.record.Tasks = append(a.record.Tasks, tasks...)
	if len(tasks) > 0 {
		if changed := a.target().CheckSameNodes(ctx, a.baseline, "the search tasks"); changed != nil {
			return changed
		}
	}
	return err
}
