// Package analysis judges records and draws a campaign's answers from them: verdicts, peaks, knees, the shared
// clients, the ratios of variants with their intervals, and whether all that can be trusted. It is pure: the
// same plan, spec and records give the same assessment.
package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Verdict is what a record is worth. It is made anew whenever records are read, never stored.
type Verdict string

// The verdicts.
const (
	Measured Verdict = "Measured" // a valid measurement that passed every gate
	Gated    Verdict = "Gated"    // a valid measurement that failed a gate: shown, never retried, never a peak or a knee
	Errored  Verdict = "Errored"  // no valid measurement: retried, then shown as failed; never a figure
)

// Judgement is a verdict and what led to it.
type Judgement struct {
	Verdict  Verdict
	Failures []Failure // empty when Measured; the first is the most telling

	// NotEvaluable are the gates that look at what the record does not have, where the campaign wants these reported rather
	// than failed (gates.notEvaluable); empty when Errored.
	NotEvaluable []Failure
}

// Notes are all that there is to say of a verdict: the failures, then the gates that nobody could evaluate.
func (j Judgement) Notes() []Failure {
	out := slices.Clone(j.Failures)
	for _, f := range j.NotEvaluable {
		f.Message = "not evaluable: " + f.Message
		out = append(out, f)
	}
	return out
}

// Failure is one thing that a record failed by.
type Failure struct {
	Gate    string // the gate's field in spec.gates; empty for an error
	Reason  string // one of record's Reason constants; empty for a gate
	Message string // for a person: the figure, the limit and the field
}

// Judge gives a record its verdict. The agent names most errors itself; Judge does not rely on it.
func Judge(r record.Record, g v1alpha1.Gates) Judgement {
	if failures := problems(r); len(failures) > 0 {
		return Judgement{Verdict: Errored, Failures: failures}
	}
	failures, blind := judgeGates(r, g)
	if refused(r) { // whatever number of rejections the gate allows
		failures = append([]Failure{{Gate: "maxRejections", Message: fmt.Sprintf("0 docs/s: all requests were rejected (%d rejections)", r.Rejections.Total())}}, failures...)
	}
	if len(failures) > 0 {
		return Judgement{Verdict: Gated, Failures: failures, NotEvaluable: blind}
	}
	return Judgement{Verdict: Measured, NotEvaluable: blind}
}

// JudgeFor judges a record as one of a campaign's: its rate must be counted in the campaign's unit, or nothing could be
// compared with it.
func JudgeFor(spec v1alpha1.BenchmarkCampaignSpec, r record.Record) Judgement {
	return judgeAs(r, spec.Workload.Unit(), spec.Gates)
}

func judgeAs(r record.Record, unit string, g v1alpha1.Gates) Judgement {
	if _, got := r.Rate(); r.Version == record.Version && r.Error == nil && got != "" && got != unit {
		return Judgement{Verdict: Errored, Failures: []Failure{{Reason: record.ReasonRecordUnreadable, Message: fmt.Sprintf(
			"the record's rate is in %s, and the campaign's in %s: it is of another load than spec.workload says", got, unit)}}}
	}
	return Judge(r, g)
}

// problems lists what keeps a record from being a valid measurement.
func problems(r record.Record) []Failure {
	var out []Failure
	fail := func(reason, format string, args ...any) {
		out = append(out, Failure{Reason: reason, Message: fmt.Sprintf(format, args...)})
	}
	if r.Version != record.Version {
		fail(record.ReasonRecordUnreadable, "record version %d is unknown; this Knee reads version %d", r.Version, record.Version)
		return out
	}
	if r.Error != nil {
		fail(r.Error.Reason, "%s", r.Error.Message)
		return out // what follows would only repeat it in other words
	}
	if r.Driver.ExitCode != 0 {
		fail(record.ReasonDriverFailed, "%s ended with exit code %d", driverName(r), r.Driver.ExitCode)
	}
	if r.Load != nil && r.Ingest == nil {
		loadErrors(*r.Load, fail)
		return out
	}
	if r.Ingest == nil {
		fail(record.ReasonDriverIncomplete, "no load was measured")
		return out
	}
	if d := r.Ingest.DocsPerSecond; !positive(d) && !refused(r) {
		fail(record.ReasonCountersUnusable, "docs/s of %v is no measurement", d)
	}
	taskErrors(r, fail)
	countErrors(*r.Ingest, r.Rejections, fail)
	return out
}

// loadErrors finds a load that fills no index without a figure. Operations that failed are the business of maxErrorRate.
func loadErrors(l record.Load, fail func(reason, format string, args ...any)) {
	switch {
	case l.Unit == "":
		fail(record.ReasonDriverIncomplete, "the load's rate of %v has no unit", l.Rate)
	case !positive(l.Rate):
		fail(record.ReasonDriverIncomplete, "a rate of %v %s is no measurement", l.Rate, l.Unit)
	}
}

// taskErrors finds a driver that measured nothing, and failed requests that no rejection counter explains.
func taskErrors(r record.Record, fail func(reason, format string, args ...any)) {
	ingests := 0
	for _, t := range r.Tasks {
		explained := r.Rejections.Total()
		if t.Search {
			explained = r.Rejections.AdmissionControl // the other counters count writes alone
		} else {
			ingests++
		}
		if !positive(t.Throughput) && !refused(r) {
			fail(record.ReasonDriverIncomplete, "%s gave no throughput for task %q", driverName(r), t.Name)
		}
		if t.ErrorRate != 0 && explained == 0 {
			fail(record.ReasonRequestsFailed, "%.4g %% of the requests of task %q failed, and no rejection counter explains it",
				100*t.ErrorRate, t.Name)
		}
	}
	if ingests == 0 && !slices.Contains(r.Dropped, "tasks") { // else they were there, but did not fit the record
		fail(record.ReasonDriverIncomplete, "%s gave no figures for an ingest task", driverName(r))
	}
}

// countErrors compares what was sent, what the counters saw and what the index holds. A rejection refuses at most
// one bulk request, so that more documents may be missing only by whole bulks.
func countErrors(in record.Ingest, rejections record.Rejections, fail func(reason, format string, args ...any)) {
	if in.IndexFailed != 0 {
		fail(record.ReasonRequestsFailed, "OpenSearch failed to index %d documents", in.IndexFailed)
	}
	if in.Count != in.TotalIndexed {
		fail(record.ReasonCountMismatch, "the index holds %d documents, but %d were indexed", in.Count, in.TotalIndexed)
	}
	if in.Corpus == 0 {
		return
	}
	missing := in.Corpus - in.Count
	if missing < 0 {
		fail(record.ReasonCountMismatch, "the index holds %d documents, more than the %d of the corpus", in.Count, in.Corpus)
	}
	// Without the bulk size a rejection may stand for any number of documents.
	unexplained := rejections.Total() == 0 || in.BulkSize > 0 && missing > rejections.Total()*in.BulkSize
	if missing > 0 && unexplained {
		fail(record.ReasonCountMismatch, "%d of the corpus's %d documents are missing, and %d rejections do not explain it",
			missing, in.Corpus, rejections.Total())
	}
}

// refused tells of a load that OpenSearch rejected altogether: its docs/s are a measurement of 0.
func refused(r record.Record) bool {
	in := r.Ingest
	return in != nil && in.DocsPerSecond == 0 && in.Count == 0 && in.TotalIndexed == 0 && in.IndexFailed == 0 && r.Rejections.Total() > 0
}

func driverName(r record.Record) string {
	if r.Driver.Name == "" {
		return "the driver"
	}
	return r.Driver.Name
}

func positive(f float64) bool { return f > 0 && !math.IsInf(f, 1) }
