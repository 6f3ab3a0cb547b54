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
	h, err := a.cluster.Health(ctx)
	if err != nil {
		return fail(record.ReasonClusterNotReady, "before the load: %v", err)
	}
	if ready, lacks := a.ready(h); !ready {
		return fail(record.ReasonClusterNotReady, "the cluster is not green before the load: %s%s", lacks, a.whyUnassigned(ctx))
	}
	s, err := a.snapshot(ctx)
	if err != nil {
		return fail(record.ReasonCountersUnusable, "counters before the load: %v", err)
	}
	if why := differentNodes(a.known, s.infos, "the wait for rest"); why != "" {
		return fail(record.ReasonClusterChanged, "%s", why)
	}
	a.before = s
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
	if a.facts.upheaval = differentNodes(a.before.infos, after.infos, "the load"); a.facts.upheaval == "" {
		a.facts.upheaval = a.watch.seen()
	}
	a.facts.decreased = decreased(a.before.nodes, after.nodes)
	a.record.Rejections = rejections(a.before.nodes, after.nodes)
	a.fillNodes(after)
	return a.measure(ctx)
}

// measure takes docs/s over the asked window, and the machines' figures over the same.
func (a *attempt) measure(ctx context.Context) error {
	if step, jumped := a.clock.jumped(); jumped {
		return clockJumped(step)
	}
	a.watch.mu.Lock()
	samples := append([]steady.Sample(nil), a.watch.samples...)
	a.watch.mu.Unlock()
	whole, err := steady.Whole(samples)
	if err != nil {
		if refused(a.watch.total(), a.outcome.failures, a.record.Rejections) && len(samples) > 0 {
			return a.measureNothing(ctx, samples)
		}
		return unmeasured(err, a.watch.total(), a.outcome.output)
	}
	load := loadFacts{corpus: a.outcome.corpus, timed: a.outcome.timed, samples: samples, whole: whole}
	if a.outcome.firstEnd > 0 {
		load.firstEnd = a.clock.at.Add(a.outcome.firstEnd)
	}
	window, kind, note := choose(a.Config, load)
	a.record.Ingest = &record.Ingest{
		From: window.From.UnixMilli(), To: window.To.UnixMilli(), Seconds: window.Seconds(), Window: kind, WindowNote: note,
		Documents: int64(window.Documents + 0.5), DocsPerSecond: window.Rate(), WholeDocsPerSec: whole.Rate(),
		Corpus: a.outcome.corpus, BulkSize: a.outcome.bulkSize, Requests: a.outcome.requests, CVPercent: steady.CVPercent(samples, window),
	}
	a.record.Ingest.PayloadMiBs = a.outcome.documentBytes * window.Rate() / (1 << 20)
	if a.outcome.timed {
		if w, err := steady.Steady(samples, load.refresh(a.Config)); err == nil {
			a.record.Ingest.SteadySeconds = w.Seconds()
		}
	}
	a.facts.whole = whole
	a.telemetry(ctx, window)
	if err := a.loader(ctx, window); err != nil {
		return err
	}
	a.tasks(samples)
	return nil
}

// measureNothing is the measurement of a load that was refused altogether: 0 docs/s, from the driver's start to its end.
func (a *attempt) measureNothing(ctx context.Context, samples []steady.Sample) error {
	window := steady.Window{From: a.clock.at, To: a.ended}
	a.record.Ingest = &record.Ingest{From: window.From.UnixMilli(), To: window.To.UnixMilli(), Seconds: window.Seconds(), Window: record.WindowWhole,
		WindowNote: fmt.Sprintf("all requests were rejected (%d rejections): no document was accepted", a.record.Rejections.Total()),
		Corpus:     a.outcome.corpus, BulkSize: a.outcome.bulkSize, Requests: a.outcome.requests}
	a.facts.whole = window
	a.telemetry(ctx, window)
	if err := a.loader(ctx, window); err != nil {
		return err
	}
	a.tasks(samples)
	return nil
}

// loadFacts are what the window of a load is chosen by.
type loadFacts struct {
	corpus   int64
	timed    bool
	firstEnd time.Time // when the first client had sent all its documents; zero when not known
	samples  []steady.Sample
	whole    steady.Window
}

// refresh is the index's refresh interval; 0 when it has none.
func (l loadFacts) refresh(c record.Config) time.Duration {
	period, _ := cluster.Seconds(c.Index.RefreshInterval)
	return time.Duration(max(0, period) * float64(time.Second))
}

// choose takes the window that the campaign asks for, or the whole load, and says why it is not as asked.
func choose(c record.Config, l loadFacts) (w steady.Window, kind, note string) {
	if c.Measure != "Window" {
		return l.whole, record.WindowWhole, ""
	}
	var err error
	switch {
	case l.corpus > 0:
		kind = record.WindowCorpus
		w, err = steady.Corpus(l.samples, l.corpus, l.firstEnd)
		note = l.endNote(w)
	case l.timed:
		kind = record.WindowSteady
		w, err = steady.Steady(l.samples, l.refresh(c))
	default:
		err = fmt.Errorf("the load is neither timed nor are its documents known")
	}
	if err != nil {
		return l.whole, record.WindowWhole, err.Error()
	}
	return w, kind, note
}

// endNote says what the end of a corpus window has to do with the end of the first client.
func (l loadFacts) endNote(w steady.Window) string {
	switch {
	case l.firstEnd.IsZero():
		return "when the first client finished is not known: the window may hold seconds of fewer clients"
	case w.To.Equal(l.firstEnd):
		sent := steady.Part(l.samples, l.samples[0].At, w.To).Documents
		return fmt.Sprintf("it ends with the first client, at %.1f %% of the corpus", 100*sent/float64(l.corpus))
	}
	return ""
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
	shards, err := a.cluster.Allocations(ctx, index)
	if err != nil {
		return fail(record.ReasonCountersUnusable, "%v", err)
	}
	if err := a.sameNodes(ctx, "the load or the merges after it"); err != nil {
		return err
	}
	if err := a.work(ctx); err != nil {
		return fail(record.ReasonCountersUnusable, "%v", err)
	}
	// The index was new: its counters began at 0.
	in.TotalIndexed, in.IndexFailed, in.IndexBytes = last.Total, last.Failed, last.Bytes
	f := &a.facts
	f.made, f.want = made, a.topology()
	f.problem = a.watch.problem
	if f.upheaval == "" && last.Total > 0 { // where nothing was indexed, nobody noted where the shards were
		f.upheaval = movedShards(a.watch.shards, shards)
	}
	f.count, f.total, f.failed = in.Count, in.TotalIndexed, in.IndexFailed
	f.outcome, f.rejections = a.outcome, a.record.Rejections
	return f.check()
}

// work notes what the index did beside indexing. It was new: its counters began at 0.
func (a *attempt) work(ctx context.Context) error {
	w, err := a.cluster.IndexWork(ctx, a.Config.Index.Name)
	if err != nil {
		return err
	}
	a.record.Ingest.Segments = w.Segments
	a.record.Ingest.Work = &record.Work{Merges: w.Merges, MergeSeconds: float64(w.MergeMillis) / 1e3, MergedMiB: float64(w.MergedBytes) / (1 << 20),
		ThrottleSeconds: float64(w.ThrottleMillis) / 1e3, RefreshSeconds: float64(w.RefreshMillis) / 1e3, FlushSeconds: float64(w.FlushMillis) / 1e3}
	return nil
}
