package figures

import "github.com/knee-bench/knee/internal/record"

// indexFigures lists the figures of the documents of the load, and of the work that the index did with them.
var indexFigures = []Figure{
	{Name: "seconds", Field: "windowSeconds", Unit: "s", Column: 17, In: IndexLoads, Help: "length of the window", Get: ofIngest(nonZero(func(in *record.Ingest) float64 { return in.Seconds }))},
	{Name: "window", Field: "window", Column: 13, In: IndexLoads, Help: "part of the load over which docs/s is measured: Whole, Steady or Corpus", Get: ofIngest(always(func(in *record.Ingest) string { return in.Window }))},
	{Name: "window_note", Column: 14, In: IndexLoads, Help: "why docs/s was not measured over the part of the load that workload.measure requires", Get: ofIngest(always(func(in *record.Ingest) string { return in.WindowNote }))},
	{Name: "steady_seconds", Field: "steadySeconds", Unit: "s", Column: 78, In: IndexLoads, Zero: ZeroEmpty,
		Help: "length of the steady part of a timed load; 0 in gate expressions and empty in results.csv if no steady part was found; unknown for a full corpus",
		Get:  ofIngest(func(in *record.Ingest) (float64, bool) { return in.SteadySeconds, in.Corpus == 0 })},
	{Name: "cv_percent", Field: "cvPercent", Unit: "%", Column: 79, In: IndexLoads,
		Help: "coefficient of variation of docs/s within the window, over means of 5 s; unknown if the window is too short", Get: ofIngest(nonZero(func(in *record.Ingest) float64 { return in.CVPercent }))},
	{Name: "documents", Field: "documents", Column: 18, In: IndexLoads, Help: "documents that the primaries accepted within the window", Get: ofDocuments(func(in *record.Ingest) int64 { return in.Documents })},
	{Name: "total_indexed", Field: "totalDocuments", Column: 19, In: IndexLoads, Help: "documents that the primaries accepted over the whole load", Get: ofDocuments(func(in *record.Ingest) int64 { return in.TotalIndexed })},
	{Name: "index_failed", Column: 20, In: IndexLoads, Help: "documents that OpenSearch failed to index", Get: ofIngest(always(func(in *record.Ingest) int64 { return in.IndexFailed }))},
	{Name: "count", Column: 21, In: IndexLoads, Help: "documents in the index after the load", Get: ofDocuments(func(in *record.Ingest) int64 { return in.Count })},
	{Name: "corpus", Column: 22, In: IndexLoads, Help: "documents that the driver had to send; unknown for a timed load", Get: ofIngest(nonZero(func(in *record.Ingest) int64 { return in.Corpus }))},
	{Name: "bulk_size", Field: "bulkSize", Column: 23, In: IndexLoads, Help: "documents in a bulk request", Get: ofIngest(nonZero(func(in *record.Ingest) int64 { return in.BulkSize }))},
	{Name: "requests", Column: 139, In: IndexLoads, Help: "bulk requests that the driver sent, retries included; unknown where the driver does not count them",
		Get: ofIngest(nonZero(func(in *record.Ingest) int64 { return in.Requests }))},
	{Name: "index_bytes", Field: "indexBytes", Unit: "bytes", Column: 24, Row: 12, In: IndexLoads, Help: "store size of the primaries after merges have drained",
		Get: ofIngest(nonZero(func(in *record.Ingest) int64 { return in.IndexBytes }))},
	{Name: "segments", Field: "segments", Column: 80, Row: 13, In: IndexLoads, Help: "segments of the primaries after merges have drained", Get: ofIngest(nonZero(func(in *record.Ingest) int64 { return in.Segments }))},
	{Name: "primaries", Column: 69, In: IndexLoads, Help: "primary shards, read back from the index", Get: ofIngest(always(func(in *record.Ingest) int64 { return int64(in.Primaries) }))},
	{Name: "replicas", Column: 70, In: IndexLoads, Help: "replicas of each primary, read back from the index", Get: ofIngest(always(func(in *record.Ingest) int64 { return int64(in.Replicas) }))},
	{Name: "refresh_interval", Column: 71, In: IndexLoads, Help: "refresh interval, read back from the index", Get: ofIngest(always(func(in *record.Ingest) string { return in.RefreshInterval }))},
	{Name: "settings_digest", Column: 72, In: IndexLoads, Help: "digest of the effective settings and mapping of the index", Get: ofIngest(always(func(in *record.Ingest) string { return in.SettingsDigest }))},
	{Name: "merges", Column: 81, In: IndexLoads, Help: "merges of the primaries, from the start of the load until merges had drained", Get: ofWork(func(w *record.Work) int64 { return w.Merges })},
	{Name: "merge_seconds", Field: "mergeSeconds", Unit: "s", Column: 82, Row: 14, In: IndexLoads, Help: "time of the merges from the start of the load until merges had drained, added up over all shards and threads", Get: ofWork(func(w *record.Work) float64 { return w.MergeSeconds })},
	{Name: "merged_mib", Field: "mergedMiB", Unit: "MiB", Column: 83, In: IndexLoads, Help: "size that the merges wrote from the start of the load until merges had drained", Get: ofWork(func(w *record.Work) float64 { return w.MergedMiB })},
	{Name: "merge_throttle_seconds", Field: "mergeThrottleSeconds", Unit: "s", Column: 84, In: IndexLoads, Help: "time in which merges throttled indexing, added up over the primaries",
		Get: ofWork(func(w *record.Work) float64 { return w.ThrottleSeconds })},
	{Name: "refresh_seconds", Field: "refreshSeconds", Unit: "s", Column: 85, In: IndexLoads, Help: "time of refreshes, added up over the primaries", Get: ofWork(func(w *record.Work) float64 { return w.RefreshSeconds })},
	{Name: "flush_seconds", Field: "flushSeconds", Unit: "s", Column: 86, In: IndexLoads, Help: "time of flushes, added up over the primaries", Get: ofWork(func(w *record.Work) float64 { return w.FlushSeconds })},
}

// ofDocuments reads a number of documents. If docs/s is above 0, a value of 0 means unknown, because the source reported only the
// rate.
func ofDocuments(of func(*record.Ingest) int64) Getter {
	return ofIngest(func(in *record.Ingest) (int64, bool) {
		n := of(in)
		return n, n != 0 || !(in.DocsPerSecond > 0)
	})
}

func ofWork[T value](of func(*record.Work) T) Getter {
	return ofIngest(within(func(in *record.Ingest) *record.Work { return in.Work }, always(of)))
}
