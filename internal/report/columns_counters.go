package report

import (
	"strconv"

	"github.com/knee-bench/knee/internal/record"
)

// counterColumns are counters that not every OpenSearch or driver has, and the wait before the load.
var counterColumns = []column{
	{"rejections_segment_replication", "segment_replication_backpressure; empty where a node's statistics have none",
		ingested(func(r record.Record) string { return optional(r.Rejections.SegmentReplication) })},
	{"rejections_remote_store", "indices.segments.remote_store.upload.pressure; empty where a node's statistics have none",
		ingested(func(r record.Record) string { return optional(r.Rejections.RemoteStore) })},
	{"requests", "bulk requests that the driver sent, retries included; empty where the driver does not count them",
		ingest(func(in record.Ingest) string { return knownInt(in.Requests) })},
	{"wait_seconds", "time without load after the cluster came to rest (workload.waitSeconds); empty where none was asked for",
		loaded(func(r record.Record) string { return known(r.Settle.WaitSeconds) })},
}

// admissionRejections is empty where no admission control was seen.
func admissionRejections(r record.Record) string {
	if r.Rejections.NoAdmissionControl {
		return ""
	}
	return strconv.FormatInt(r.Rejections.AdmissionControl, 10)
}

// optional writes a counter; empty where it is not known. 0 is a count.
func optional(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}
