package figures

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// trialFigures lists the figures that identify the attempt of a record and describe its course.
var trialFigures = []Figure{
	{Name: "variant", Field: "variant", Column: 1, Help: "name of the cell's variant", Get: ofRecord(always(func(r *record.Record) string { return r.Attempt.Variant }))},
	{Name: "topology", Field: "topology", Column: 2, Help: "name of the cell's topology", Get: ofRecord(always(func(r *record.Record) string { return r.Attempt.Topology }))},
	{Name: "phase", Field: "phase", Column: 3, Help: "Warmup (its figures are discarded, and no gate judges it), Sweep, Final or OpenLoop",
		Get: ofRecord(always(func(r *record.Record) string { return string(r.Attempt.Phase) }))},
	{Name: "clients", Field: "clients", Column: 4, Help: "client count", Get: ofRecord(always(func(r *record.Record) int64 { return int64(r.Attempt.Clients) }))},
	{Name: "repetition", Field: "repetition", Column: 5, Help: "number of the repetition, from 1; for a Warmup, the number of the Warmup within the cell",
		Get: ofRecord(always(func(r *record.Record) int64 { return int64(r.Attempt.Repetition) }))},
	{Name: "attempt", Column: 6, Help: "number of the attempt, from 1", Get: ofRecord(always(func(r *record.Record) int64 { return int64(r.Attempt.N) }))},
	{Name: "verdict", Column: 7, Help: "Measured, Gated (valid, but failed a gate) or Errored (no valid measurement)"},
	{Name: "failures", Column: 8, Help: "why the attempt is not Measured, and the gates that could not be evaluated"},
	{Name: "status", Column: 120, Help: "the verdict in the words of `kubectl knee analyze`: ok, gated or failed"},
	{Name: "placement", Column: 76, Help: "number of the placement (set of nodes and volumes), from 1; empty for Sweep and OpenLoop trials of the first placement", Get: ofRecord(placement)},
	{Name: "target_docs_per_second", Column: 77, In: IndexLoads, Help: "rate of the load of an OpenLoop trial, in docs/s",
		Get: ofRecord(nonZero(func(r *record.Record) int64 { return r.Attempt.TargetDocsPerSecond }))},
	{Name: "measured_again", Column: 135, Help: "token of spec.sweep.rerun that requested this trial; empty if the point was not measured again",
		Get: ofRecord(always(func(r *record.Record) string { return r.Attempt.RerunToken }))},
	{Name: "cell", Column: 73, Help: "identity of the cell", Get: ofRecord(always(func(r *record.Record) string { return r.Attempt.Cell }))},
	{Name: "started_at", Column: 58, Help: "start of the attempt by the loader's clock, RFC 3339, UTC", Get: ofTime(func(r *record.Record) int64 { return r.StartedAt })},
	{Name: "finished_at", Column: 59, Help: "end of the attempt by the loader's clock, RFC 3339, UTC", Get: ofTime(func(r *record.Record) int64 { return r.FinishedAt })},
	{Name: "window_start", Column: 15, Help: "start of the measured window, RFC 3339, UTC", Get: ofTime(func(r *record.Record) int64 { return cmp.Or(ingest(r).From, load(r).From) })},
	{Name: "window_end", Column: 16, Help: "end of the measured window, RFC 3339, UTC", Get: ofTime(func(r *record.Record) int64 { return cmp.Or(ingest(r).To, load(r).To) })},
	{Name: "driver", Column: 62, Help: "program that made the load, and its version", Get: ofRecord(always(func(r *record.Record) string {
		return strings.TrimSpace(r.Driver.Name + " " + r.Driver.Version)
	}))},
	{Name: "driver_exit_code", Column: 63, Help: "exit code of the program that made the load", Get: ofRecord(always(func(r *record.Record) string { return strconv.Itoa(r.Driver.ExitCode) }))},
	{Name: "osb_run_id", Column: 64, In: IndexLoads, Help: "opensearch-benchmark's own id of the run", Get: ofRecord(always(func(r *record.Record) string { return r.Driver.RunID }))},
	{Name: "settle_seconds", Field: "settleSeconds", Unit: "s", Column: 56, Help: "time that the trial waited for the OpenSearch cluster to become idle before the load",
		Get: ofRecord(ofCluster(always(func(r *record.Record) float64 { return r.Settle.Seconds })))},
	{Field: "settled", Help: "whether the OpenSearch cluster was idle before the load", Get: ofRecord(ofCluster(always(func(r *record.Record) bool { return r.Settle.Note == "" })))},
	{Name: "settle_note", Column: 57, Help: "what was still active in the OpenSearch cluster when the wait of settle_seconds ended; empty if the cluster was idle", Get: ofRecord(always(func(r *record.Record) string { return r.Settle.Note }))},
	{Name: "wait_seconds", Column: 140, Unit: "s", Help: "pause after the OpenSearch cluster became idle and before the load (workload.waitSeconds); empty if the campaign sets no pause",
		Get: ofRecord(nonZero(func(r *record.Record) float64 {
			if r.Ingest == nil && r.Load == nil {
				return 0
			}
			return r.Settle.WaitSeconds
		}))},
	{Name: "dropped", Column: 74, Help: "parts that Knee left out of the trial's record for lack of space", Get: ofRecord(always(func(r *record.Record) string { return r.DroppedNames() }))},
	{Name: "artifacts", Column: 75, Help: "folder of the raw files", Get: ofRecord(always(func(r *record.Record) string { return r.Artifacts }))},
}

// placement returns the number of the placement of a trial. For Sweep and OpenLoop trials, the second result is false for the first
// placement, because reports then show no number.
func placement(r *record.Record) (int64, bool) {
	n := int64(r.Attempt.Placement)
	if r.Attempt.Phase == record.Sweep || r.Attempt.Phase == record.OpenLoop {
		return n, n > 1
	}
	return n, true
}

// ofCluster makes a figure unknown if no OpenSearch cluster was observed.
func ofCluster[T value](of func(*record.Record) (T, bool)) func(*record.Record) (T, bool) {
	return func(r *record.Record) (T, bool) {
		v, ok := of(r)
		return v, ok && clusterSeen(r)
	}
}

// ingest and load return a part of the record. They return an empty part if the record does not have it.

func ingest(r *record.Record) record.Ingest {
	if r.Ingest == nil {
		return record.Ingest{}
	}
	return *r.Ingest
}

func load(r *record.Record) record.Load {
	if r.Load == nil || r.Ingest != nil {
		return record.Load{}
	}
	return *r.Load
}
