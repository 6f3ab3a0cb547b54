package trial

import (
	"context"
	"fmt"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
	"github.com/knee-bench/knee/internal/trial/steady"
)

// Bounds of the waits after a load, and how long nothing may change to count as over.
const (
	quietTimeout = time.Minute
	drainTimeout = 15 * time.Minute
	overFor      = time.Second
	watchEvery   = 100 * time.Millisecond
)

// snapshot is what all nodes count and are at a time.
type snapshot struct {
	nodes []cluster.Node
	infos []cluster.NodeInfo
}

func (a *attempt) snapshot(ctx context.Context) (snapshot, error) {
	nodes, missing, err := a.cluster.Nodes(ctx)
	if err != nil {
		return snapshot{}, err
	}
	if missing > 0 {
		return snapshot{}, fmt.Errorf("%d nodes do not answer", missing)
	}
	infos, err := a.cluster.NodeInfos(ctx)
	return snapshot{nodes, infos}, err
}

func (a *attempt) countBefore(ctx context.Context) error {
	s, err := a.snapshot(ctx)
	if err != nil {
		return fail(record.ReasonCountersUnusable, "counters before the load: %v", err)
	}
	a.baseline = s
	return nil
}

// countAfter waits until what the driver sent is indexed, makes it visible with one refresh, and counts.
func (a *attempt) countAfter(ctx context.Context) error {
	index := a.Config.Index.Name
	there, err := a.cluster.IndexExists(ctx, index)
	if err == nil && !there {
		return a.indexMissing()
	}
	started := time.Now()
	quiet, cancel := context.WithTimeout(ctx, quietTimeout)
	defer cancel()
	err = until(quiet, watchEvery, func(context.Context) (bool, string) {
		last, at, changed, _ := a.watch.state()
		return at.Sub(changed) >= overFor && last.Current == 0, fmt.Sprintf("%d index operations are under way", last.Current)
	})
	if err != nil {
		return fail(record.ReasonCountersUnusable, "the index still takes documents %s after the driver ended: %v", since(started), err)
	}
	if err := a.cluster.Refresh(ctx, index); err != nil {
		return fail(record.ReasonCountersUnusable, "%v", err)
	}
	after, err := a.snapshot(ctx)
	if err != nil {
		return fail(record.ReasonCountersUnusable, "counters after the load: %v", err)
	}
	a.facts.nodesChanged = changedNodes(a.baseline, after)
	a.record.Rejections = rejections(a.baseline.nodes, after.nodes)
	a.fillNodes(after)
	return a.measure(ctx)
}

// measure takes docs/s over the asked window, and the machines' figures over the same.
func (a *attempt) measure(ctx context.Context) error {
	a.watch.mu.Lock()
	samples := append([]steady.Sample(nil), a.watch.samples...)
	a.watch.mu.Unlock()
	whole, err := steady.Whole(samples)
	if err != nil {
		return unmeasured(err, a.watch.total(), a.facts.osb.errors, a.facts.osb.output, a.record.Rejections)
	}
	window, kind, note := choose(a.Config, a.facts.corpus, a.ingest.Timed, samples, whole)
	a.record.Ingest = &record.Ingest{
		From: window.From.UnixMilli(), To: window.To.UnixMilli(), Seconds: window.Seconds(), Window: kind, WindowNote: note,
		Documents: int64(window.Documents + 0.5), DocsPerSecond: window.Rate(), WholeDocsPerSec: whole.Rate(),
		Corpus: a.facts.corpus, BulkSize: a.ingest.BulkSize,
	}
	a.facts.whole = whole
	a.telemetry(ctx, window)
	a.loaderCPU(window)
	a.tasks(samples)
	return nil
}

// choose takes the window that the campaign asks for, or the whole load and why.
func choose(c record.Config, corpus int64, timed bool, samples []steady.Sample, whole steady.Window) (steady.Window, string, string) {
	if c.Measure != "Window" {
		return whole, record.WindowWhole, ""
	}
	var w steady.Window
	var err error
	kind := record.WindowSteady
	switch {
	case corpus > 0:
		kind = record.WindowCorpus
		w, err = steady.Corpus(samples, corpus)
	case timed:
		refresh := c.Index.RefreshInterval
		period, _ := cluster.Seconds(refresh)
		w, err = steady.Steady(samples, time.Duration(max(0, period)*float64(time.Second)))
	default:
		err = fmt.Errorf("the load is neither timed nor are its documents known")
	}
	if err != nil {
		return whole, record.WindowWhole, err.Error()
	}
	return w, kind, ""
}

// drain waits until the merges that the load left are done: docs/s until then shows what deferring them hides.
func (a *attempt) drain(ctx context.Context) error {
	started, limit := time.Now(), drainTimeout
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	drained, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := until(drained, watchEvery, func(context.Context) (bool, string) {
		last, at, changed, merging := a.watch.state()
		return last.Merges == 0 && at.Sub(merging) >= overFor && at.Sub(changed) >= overFor, fmt.Sprintf("%d merges are under way", last.Merges)
	})
	a.stopWatch()
	in := a.record.Ingest
	if err != nil {
		a.say("merges have not drained after %s: %v", since(started), err)
	} else {
		end := a.facts.whole.To
		if a.watch.merging.After(end) {
			end = a.watch.merging
		}
		in.DrainedDocsPerSec = steady.Window{From: a.facts.whole.From, To: end, Documents: a.facts.whole.Documents}.Rate()
	}
	return ctx.Err()
}

func (a *attempt) stopWatch() {
	if a.watch != nil {
		a.watch.stop()
	}
}

// verify reads the index back, counts it, and holds all facts against each other.
func (a *attempt) verify(ctx context.Context) error {
	index, in := a.Config.Index.Name, a.record.Ingest
	made, err := a.cluster.ReadIndex(ctx, index)
	if err != nil {
		return fail(record.ReasonIndexNotMade, "%v", err)
	}
	in.Primaries, in.Replicas, in.RefreshInterval, in.SettingsDigest = made.Primaries, made.Replicas, made.RefreshInterval, made.Digest
	last, err := a.cluster.IndexState(ctx, index)
	if err != nil {
		return fail(record.ReasonCountersUnusable, "%v", err)
	}
	if in.Count, err = a.cluster.Count(ctx, index); err != nil {
		return fail(record.ReasonCountersUnusable, "%v", err)
	}
	primaries, err := a.cluster.Primaries(ctx, index)
	if err != nil {
		return fail(record.ReasonCountersUnusable, "%v", err)
	}
	// The index was new: its counters began at 0.
	in.TotalIndexed, in.IndexFailed, in.IndexBytes = last.Total, last.Failed, last.Bytes
	f := &a.facts
	f.made, f.want = made, a.topology()
	f.problem, f.moved = a.watch.problem, movedPrimaries(a.watch.primaries, primaries)
	f.count, f.total, f.failed, f.bulk = in.Count, in.TotalIndexed, in.IndexFailed, in.BulkSize
	f.rejections, f.tasks = a.record.Rejections, a.ingest.Tasks
	return f.check()
}
