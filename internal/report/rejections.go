package report

import (
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// rejectionCounters are the counters of refused requests. Indexing pressure includes what shard indexing pressure refused.
var rejectionCounters = []struct {
	title string
	of    func(record.Record) string
}{
	{"write pool", func(r record.Record) string { return optional(&r.Rejections.WritePool) }},
	{"indexing pressure", func(r record.Record) string { return optional(&r.Rejections.IndexingPressure) }},
	{"admission control", admissionRejections},
	{"segment replication", func(r record.Record) string { return optional(r.Rejections.SegmentReplication) }},
	{"remote store", func(r record.Record) string { return optional(r.Rejections.RemoteStore) }},
	{"circuit breakers", func(r record.Record) string { return optional(&r.Rejections.CircuitBreakers) }},
}

// rejectionsByCounter lists the attempts in which a node refused requests, with the counters that say so. It writes nothing
// where no attempt has any, Warmups aside.
func rejectionsByCounter(d *document, rows []attempt) {
	var refusing []attempt
	for _, a := range rows {
		if a.record.Trial.Phase != record.Warmup && a.record.Rejections.Total() > 0 {
			refusing = append(refusing, a)
		}
	}
	if len(refusing) == 0 {
		return
	}
	d.section("Refused requests")
	if d.detail >= fewerRows {
		d.para("Too many for this report: the columns rejections_* of results.csv hold them.")
		return
	}
	d.para("By counter, summed over all nodes. An empty cell: the statistics of a node do not have the counter.")
	titles := []string{"variant ", "topology ", "phase ", "clients", "repetition", "attempt"}
	for _, c := range rejectionCounters {
		titles = append(titles, c.title)
	}
	t := d.table(append(titles, "verdict ")...)
	for _, a := range refusing {
		trial := a.record.Trial
		row := []string{trial.Variant, trial.Topology, string(trial.Phase), integer(trial.Clients), integer(trial.Repetition), integer(trial.Attempt)}
		for _, c := range rejectionCounters {
			row = append(row, c.of(a.record))
		}
		verdict := string(a.judgement.Verdict)
		flag := ""
		if verdict != string(analysis.Measured) {
			flag = verdict
		}
		t.flagged(flag, append(row, verdict)...)
	}
}
