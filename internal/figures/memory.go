package figures

import "github.com/knee-bench/knee/internal/record"

// memoryFigures lists the figures of the memory and the thread pools of OpenSearch. They cover the whole load unless an entry says
// otherwise.
var memoryFigures = []Figure{
	{Name: "heap_used_max_bytes", Field: "heapUsedMaxBytes", Of: Node, Unit: "bytes", Column: 55, Row: 28, Help: "highest used heap", Over: overHighest, Get: highestNode(nonZero(func(n *record.Node) int64 { return n.HeapUsedMax }))},
	{Name: "old_gen_max_bytes", Field: "oldGenMaxBytes", Of: Node, Unit: "bytes", Column: 93, Row: 29, Help: "highest size of the heap's old generation", Over: overHighest, Get: memory(func(m *record.Memory) int64 { return m.OldGenMax })},
	{Name: "survivor_max_bytes", Field: "survivorMaxBytes", Of: Node, Unit: "bytes", Column: 95, Help: "highest size of the heap's survivor space", Over: overHighest, Get: memory(func(m *record.Memory) int64 { return m.SurvivorMax })},
	{Name: "resident_max_bytes", Field: "residentMaxBytes", Of: Node, Unit: "bytes", Column: 94, Row: 30, Help: "highest resident memory of OpenSearch's process within the window", Over: overHighest, Get: memory(func(m *record.Memory) int64 { return m.ResidentMax })},
	{Name: "direct_max_bytes", Field: "directMaxBytes", Of: Node, Unit: "bytes", Column: 96, Help: "highest size of the direct buffers", Over: overHighest, Get: memory(func(m *record.Memory) int64 { return m.DirectMax })},
	{Name: "write_pool_threads", Column: 97, In: IndexLoads, Help: "threads of the write pool", Over: overHighest, Get: writePool(func(p *record.Pool) int64 { return p.Threads })},
	{Name: "write_pool_active_max", Field: "writePoolActiveMax", Of: Node, Column: 98, In: IndexLoads, Help: "highest number of active write threads", Over: overHighest, Get: writePool(func(p *record.Pool) int64 { return p.ActiveMax })},
	{Name: "write_pool_queue_max", Field: "writePoolQueueMax", Of: Node, Column: 99, In: IndexLoads, Help: "longest queue of the write pool", Over: overHighest, Get: writePool(func(p *record.Pool) int64 { return p.QueueMax })},
}

func memory(of func(*record.Memory) int64) Getter {
	return highestNode(within(func(n *record.Node) *record.Memory { return n.Memory }, nonZero(of)))
}

func writePool(of func(*record.Pool) int64) Getter {
	return highestNode(within(func(n *record.Node) *record.Pool { return n.WritePool }, always(of)))
}

// collectionFigures lists the figures of garbage collection. In a report, a pause of 0 ms means that there was no pause.
var collectionFigures = []Figure{
	{Name: "gc_collections", Field: "gcCollections", Of: Node, Column: 53, Help: "number of collections of all garbage collectors over the whole load, from _nodes/stats", Over: overSum, Get: collections(func(g *record.GC) int64 { return g.Collections })},
	{Name: "gc_millis", Field: "gcMillis", Of: Node, Unit: "ms", Column: 54, Help: "total time of the collections of all garbage collectors over the whole load, from _nodes/stats", Over: overSum, Get: collections(func(g *record.GC) int64 { return g.Millis })},
	{Name: "gc_pauses", Field: "gcPauses", Of: Node, Column: 100, Help: "stop-the-world pauses in gc.log within the window; unknown without gc.log", Over: overSum, Get: pauses(func(p *record.Pauses) int64 { return p.Count })},
	{Name: "gc_pauses_young", Column: 101, Row: 24, Help: "pauses that were young collections, from gc.log", Over: overSum, Get: pauses(func(p *record.Pauses) int64 { return p.Young })},
	{Name: "gc_pauses_mixed", Column: 102, Row: 25, Help: "pauses that were mixed collections, from gc.log", Over: overSum, Get: pauses(func(p *record.Pauses) int64 { return p.Mixed })},
	{Name: "gc_pauses_full", Field: "gcFullPauses", Of: Node, Column: 103, Row: 26, Help: "pauses that were full collections, from gc.log", Over: overSum, Get: pauses(func(p *record.Pauses) int64 { return p.Full })},
	{Name: "gc_pause_millis", Field: "gcPauseMillis", Of: Node, Unit: "ms", Column: 104, Help: "total length of the pauses, from gc.log", Over: overSum, Get: pauses(func(p *record.Pauses) float64 { return p.Millis })},
	{Name: "gc_pause_p50_ms", Field: "gcPauseP50Millis", Of: Node, Unit: "ms", Column: 105, Row: 21, Zero: ZeroEmpty, Help: "median length of a pause, from gc.log", Over: overHighest, Get: longestPause(func(p *record.Pauses) float64 { return p.P50 })},
	{Name: "gc_pause_p99_ms", Field: "gcPauseP99Millis", Of: Node, Unit: "ms", Column: 106, Row: 22, Zero: ZeroEmpty, Help: "99th percentile of the length of a pause, from gc.log", Over: overHighest, Get: longestPause(func(p *record.Pauses) float64 { return p.P99 })},
	{Name: "gc_pause_max_ms", Field: "gcPauseMaxMillis", Of: Node, Unit: "ms", Column: 107, Row: 23, Zero: ZeroEmpty, Help: "longest pause, from gc.log", Over: overHighest, Get: longestPause(func(p *record.Pauses) float64 { return p.Max })},
	{Name: "gc_pauses_per_minute", Unit: "1/min", Row: 19, Help: "pauses per minute within the window, from gc.log; without gc.log, collections per minute over the whole load", Over: overHighest, Get: ofRecord(pausesPerMinute)},
	{Name: "gc_percent_of_time", Unit: "%", Row: 20, Help: "share of the window spent in pauses, from gc.log; without gc.log, share of the whole load spent in collections", Over: overHighest, Get: ofRecord(pausedPercent)},
	{Name: "gc_survivor_mib", Unit: "MiB", Column: 108, Zero: ZeroEmpty, Help: "mean survivor space after a pause, from gc.log", Over: overHighest, Get: longestPause(func(p *record.Pauses) float64 { return p.SurvivorMiB })},
	{Name: "gc_promoted_mib", Unit: "MiB", Column: 109, Row: 27, Help: "total growth of the old generation in the young pauses, from gc.log", Over: overSum, Get: pauses(func(p *record.Pauses) float64 { return p.PromotedMiB })},
}

func nodePauses(n *record.Node) *record.Pauses { return n.GC.Pauses }

func pauses[T float64 | int64](of func(*record.Pauses) T) Getter {
	return sumOfNodes(within(nodePauses, always(of)))
}

func longestPause(of func(*record.Pauses) float64) Getter {
	return highestNode(within(nodePauses, always(of)))
}

// collections reads the counters of _nodes/stats. If the record had no room for a node's counters, they are 0, and the value of
// the node is unknown.
func collections(of func(*record.GC) int64) Getter {
	return Getter{
		kind: Count,
		record: func(r *record.Record) (any, bool) {
			all, ok := r.Pool()
			if !ok || all.GC == nil {
				return nil, false
			}
			return of(all.GC), true
		},
		part: func(s Subject) (any, bool) { return of(&s.Node.GC), s.Record.GCKnown(*s.Node) },
	}
}

func pausesPerMinute(r *record.Record) (float64, bool) {
	return highestRate(r, func(g record.GC, seconds float64) float64 {
		if g.Pauses != nil {
			return 60 * float64(g.Pauses.Count) / seconds
		}
		return 60 * float64(g.Collections) / seconds
	})
}

func pausedPercent(r *record.Record) (float64, bool) {
	return highestRate(r, func(g record.GC, seconds float64) float64 {
		millis := float64(g.Millis)
		if g.Pauses != nil {
			millis = g.Pauses.Millis
		}
		return millis / 10 / seconds // in percent: milliseconds / 1000 / seconds * 100
	})
}

// highestRate returns the highest rate of all nodes. It leaves out nodes whose collections are unknown, or whose time (see
// collectionSeconds) is unknown.
func highestRate(r *record.Record, rate func(g record.GC, seconds float64) float64) (highest float64, ok bool) {
	for _, n := range r.Nodes {
		seconds := collectionSeconds(r, n)
		if seconds == 0 {
			continue
		}
		if f := rate(n.GC, seconds); !ok || f > highest {
			highest, ok = f, true
		}
	}
	return highest, ok
}

// collectionSeconds returns the time over which a node's collections were counted. The counts of gc.log cover the window. The
// counts of _nodes/stats cover the whole load. It returns 0 if the time is unknown.
func collectionSeconds(r *record.Record, n record.Node) float64 {
	switch {
	case !r.GCKnown(n):
		return 0
	case r.Ingest == nil:
		return load(r).Seconds
	case n.GC.Pauses != nil || r.Load != nil:
		return r.Ingest.Seconds
	case r.Ingest.WholeDocsPerSec > 0:
		return float64(r.Ingest.TotalIndexed) / r.Ingest.WholeDocsPerSec
	}
	return 0
}
