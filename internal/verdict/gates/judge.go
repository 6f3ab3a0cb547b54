// Package gates judges one record. It compares figures with the limits of the campaign and evaluates the CEL gates. The package is
// pure: the same record and limits give the same judgement.
package gates

import (
	"fmt"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Judge returns the verdict on a record. The agent already reports most errors in the record, but Judge checks for them again.
func Judge(r record.Record, g v1alpha1.Gates) verdict.Judgement {
	if failures := findProblems(r); len(failures) > 0 {
		return verdict.Judgement{Verdict: verdict.Errored, Failures: failures}
	}
	failures, blind := judgeGates(r, g)
	if wasRefused(r) { // Gated for any value of maxRejections
		failures = append([]verdict.Failure{{Gate: "maxRejections", Message: fmt.Sprintf("0 docs/s: OpenSearch rejected all requests (%d rejections)", r.Rejections.Total())}}, failures...)
	}
	if len(failures) > 0 {
		return verdict.Judgement{Verdict: verdict.Gated, Failures: failures, NotEvaluable: blind}
	}
	return verdict.Judgement{Verdict: verdict.Measured, NotEvaluable: blind}
}

// JudgeFor judges a record of a campaign. A rate in a unit other than the campaign's unit makes the record Errored, because the
// rates cannot be compared.
func JudgeFor(spec v1alpha1.BenchmarkCampaignSpec, r record.Record) verdict.Judgement {
	unit := plan.DriverOf(spec.Workload).Unit()
	if _, got := r.Rate(); r.Version == record.Version && r.Error == nil && got != "" && got != unit {
		return verdict.Judgement{Verdict: verdict.Errored, Failures: []verdict.Failure{{Reason: record.ReasonRecordUnreadable, Message: fmt.Sprintf(
			"the stored record of this trial has its rate in %s, but spec.workload gives a rate in %s: the record was measured with another workload", got, unit)}}}
	}
	return Judge(r, spec.Gates)
}

// findProblems lists the reasons why a record is not a valid measurement.
func findProblems(r record.Record) []verdict.Failure {
	var out []verdict.Failure
	fail := func(reason, format string, args ...any) {
		out = append(out, verdict.Failure{Reason: reason, Message: fmt.Sprintf(format, args...)})
	}
	if r.Version != record.Version {
		fail(record.ReasonRecordUnreadable, "cannot read the record of the trial: the record has version %d, but this version of Knee reads only record version %d", r.Version, record.Version)
		return out
	}
	if r.Error != nil {
		fail(r.Error.Reason, "%s", r.Error.Message)
		return out // the following checks would only report the same problem again
	}
	if r.Driver.ExitCode != 0 {
		fail(record.ReasonDriverFailed, "%s ended with exit code %d", driverName(r), r.Driver.ExitCode)
	}
	if r.Load != nil && r.Ingest == nil {
		loadErrors(*r.Load, fail)
		return out
	}
	if r.Ingest == nil {
		fail(record.ReasonDriverIncomplete, "the record of the trial has no figures of the load")
		return out
	}
	if d := r.Ingest.DocsPerSecond; !stats.Positive(d) && !wasRefused(r) {
		fail(record.ReasonCountersUnusable, "docs/s of %v is no measurement", d)
	}
	taskErrors(r, fail)
	countErrors(*r.Ingest, r.Rejections, fail)
	return out
}

// loadErrors checks a load that does not fill an index for a missing unit or rate. The gate maxErrorRate judges failed operations.
func loadErrors(l record.Load, fail func(reason, format string, args ...any)) {
	switch {
	case l.Unit == "":
		fail(record.ReasonDriverIncomplete, "the driver reported the rate %v without a unit", l.Rate)
	case !stats.Positive(l.Rate):
		fail(record.ReasonDriverIncomplete, "the driver reported the rate %v %s, which is not a valid measurement", l.Rate, l.Unit)
	}
}

// taskErrors finds tasks without a throughput, failed requests that no rejection counter explains, and a missing ingest task.
func taskErrors(r record.Record, fail func(reason, format string, args ...any)) {
	ingests := 0
	for _, t := range r.Tasks {
		explained := r.Rejections.Total()
		if t.Search {
			explained = r.Rejections.AdmissionControl // the other counters count only rejected writes
		} else {
			ingests++
		}
		if !stats.Positive(t.Throughput) && !wasRefused(r) {
			fail(record.ReasonDriverIncomplete, "%s reported no throughput for task %q", driverName(r), t.Name)
		}
		if t.ErrorRate != 0 && explained == 0 {
			fail(record.ReasonRequestsFailed, "%.4g %% of the requests of task %q failed, and no rejection counter explains these failures",
				100*t.ErrorRate, t.Name)
		}
	}
	if ingests == 0 && !r.HasLostAllTasks() { // if HasLostAllTasks, the tasks were dropped from the record for lack of space
		fail(record.ReasonDriverIncomplete, "%s reported no figures for an ingest task", driverName(r))
	}
}

// countErrors compares the number of documents sent, the counters of OpenSearch and the number of documents in the index. A
// rejection refuses at most one bulk request, so each rejection explains at most one bulk of missing documents.
func countErrors(in record.Ingest, rejections record.Rejections, fail func(reason, format string, args ...any)) {
	if in.IndexFailed != 0 {
		fail(record.ReasonRequestsFailed, "OpenSearch failed to index %d documents", in.IndexFailed)
	}
	if in.Count != in.TotalIndexed {
		fail(record.ReasonCountMismatch, "the index holds %d documents, but OpenSearch counted %d indexed documents", in.Count, in.TotalIndexed)
	}
	if in.Corpus == 0 {
		return
	}
	missing := in.Corpus - in.Count
	if missing < 0 {
		fail(record.ReasonCountMismatch, "the index holds %d documents, more than the %d documents of the corpus", in.Count, in.Corpus)
	}
	// If the bulk size is unknown, a rejection can explain any number of missing documents.
	unexplained := rejections.Total() == 0 || in.BulkSize > 0 && missing > rejections.Total()*in.BulkSize
	if missing > 0 && unexplained {
		fail(record.ReasonCountMismatch, "%d of the %d documents of the corpus are missing from the index, and %d rejections cannot explain all of them",
			missing, in.Corpus, rejections.Total())
	}
}

// wasRefused reports whether OpenSearch rejected the whole load. Then 0 docs/s is a valid measurement.
func wasRefused(r record.Record) bool {
	in := r.Ingest
	return in != nil && in.DocsPerSecond == 0 && in.Count == 0 && in.TotalIndexed == 0 && in.IndexFailed == 0 && r.Rejections.Total() > 0
}

func driverName(r record.Record) string {
	if r.Driver.Name == "" {
		return "the driver"
	}
	return r.Driver.Name
}
