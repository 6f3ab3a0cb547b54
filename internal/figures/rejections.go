package figures

import (
	"math"

	"github.com/knee-bench/knee/internal/record"
)

// rejectionFigures lists the counts of rejections and failures. The count of indexing pressure includes the rejections of shard
// indexing pressure.
var rejectionFigures = []Figure{
	{Name: "error_rate", Field: "errorRate", Column: 25, Decimals: 6,
		Help: "share of failed requests or operations, 0 to 1, as the driver reports it; with several ingest tasks, the highest share; unknown if the driver does not count failures",
		Get:  ofRecord(ErrorRate)},
	{Name: "rejections", Field: "rejections", Unit: "requests", Column: 26, Row: 11, In: IndexLoads, Help: "refused requests: sum of all counters of all nodes",
		Get: rejections(always(func(c *record.Rejections) int64 { return c.Total() }))},
	{Name: "rejections_write_pool", Field: "writePoolRejections", Column: 27, In: IndexLoads, Title: "write pool", Help: "refused by the write thread pools: thread_pool.write.rejected",
		Get: rejections(always(func(c *record.Rejections) int64 { return c.WritePool }))},
	{Name: "rejections_indexing_pressure", Field: "indexingPressureRejections", Column: 28, In: IndexLoads, Title: "indexing pressure", Help: "refused by indexing pressure: indexing_pressure.memory.total.*_rejections",
		Get: rejections(always(func(c *record.Rejections) int64 { return c.IndexingPressure }))},
	{Name: "rejections_shard_pressure", Column: 29, In: IndexLoads, Help: "refused by shard_indexing_pressure; rejections_indexing_pressure includes them",
		Get: rejections(always(func(c *record.Rejections) int64 { return c.ShardPressure }))},
	{Name: "rejections_admission_control", Field: "admissionControlRejections", Column: 30, In: IndexLoads, Title: "admission control",
		Help: "refused by admission_control; unknown if a node's statistics lack this counter (OpenSearch before 2.12)",
		Get:  rejections(func(c *record.Rejections) (int64, bool) { return c.AdmissionControl, !c.NoAdmissionControl })},
	{Name: "rejections_segment_replication", Field: "segmentReplicationRejections", Column: 137, In: IndexLoads, Title: "segment replication",
		Help: "refused by segment_replication_backpressure; unknown if a node's statistics lack this counter",
		Get:  rejections(func(c *record.Rejections) (int64, bool) { return optional(c.SegmentReplication) })},
	{Name: "rejections_remote_store", Field: "remoteStoreRejections", Column: 138, In: IndexLoads, Title: "remote store",
		Help: "refused by indices.segments.remote_store.upload.pressure; unknown if a node's statistics lack this counter",
		Get:  rejections(func(c *record.Rejections) (int64, bool) { return optional(c.RemoteStore) })},
	{Name: "rejections_circuit_breakers", Field: "circuitBreakerTrips", Column: 31, In: IndexLoads, Title: "circuit breakers", Help: "refused because the heap was full: breakers.*.tripped",
		Get: rejections(always(func(c *record.Rejections) int64 { return c.CircuitBreakers }))},
}

func rejections(of func(*record.Rejections) (int64, bool)) Getter {
	return ofRecord(ofCluster(func(r *record.Record) (int64, bool) { return of(&r.Rejections) }))
}

func optional[T value](v *T) (T, bool) {
	if v == nil {
		var zero T
		return zero, false
	}
	return *v, true
}

// ErrorRate returns the share of failed operations, or the highest share of failed requests of any ingest task. It returns false
// if both are unknown.
func ErrorRate(r *record.Record) (rate float64, ok bool) {
	if r.Load != nil {
		if rate, ok = r.Load.ErrorRate(); ok {
			return rate, true
		}
	}
	for _, t := range r.Tasks {
		if !t.Search && !math.IsNaN(t.ErrorRate) {
			rate, ok = max(rate, t.ErrorRate), true
		}
	}
	return rate, ok
}
