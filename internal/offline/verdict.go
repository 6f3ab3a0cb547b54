package offline

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// judge gives a row its verdict by the rule that the operator judges records by: the row becomes the record that
// it would have been. What the file itself calls failed or gated stays so: of a gated one somebody has said already what
// to think of its errors. That of an ok one says nothing, since opensearch-benchmark calls a run with errors a success.
func judge(r Row, gates v1alpha1.Gates) analysis.Judgement {
	switch {
	case r.Status == Failed:
		return errored("the file says that it failed", r.Reason)
	case r.DocsPerSecond == nil:
		return errored("no docs_per_second", r.Reason)
	}
	if r.Status == GatedRow {
		r.ErrorRate = nil
	}
	j := analysis.Judge(recordOf(r), gates)
	for i := range j.Failures {
		if j.Failures[i].Reason == record.ReasonRequestsFailed {
			j.Failures[i].Message += " (under status ok too: error_rate above 0 is not what was asked for)"
		}
	}
	if r.Status == GatedRow && j.Verdict == analysis.Measured {
		j.Verdict = analysis.Gated
		j.Failures = []analysis.Failure{{Message: because("the file says that it failed a gate", r.Reason)}}
	}
	return j
}

func errored(what, why string) analysis.Judgement {
	return analysis.Judgement{Verdict: analysis.Errored, Failures: []analysis.Failure{{Message: because(what, why)}}}
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return why
}

// recordOf is the record that a row with docs/s stands for.
func recordOf(r Row) record.Record {
	rec := record.Record{
		Version: record.Version,
		Ingest:  &record.Ingest{DocsPerSecond: *r.DocsPerSecond},
		Tasks:   []record.Task{{Name: "ingest", Throughput: *r.DocsPerSecond, ErrorRate: value(r.ErrorRate)}},
	}
	if r.Rejections != nil {
		rec.Rejections.WritePool = *r.Rejections
	}
	if r.IOWait != nil {
		rec.Nodes = []record.Node{{CPU: &record.CPU{IOWait: *r.IOWait, User: value(r.User), Sys: value(r.System)}}}
	}
	return rec
}

func value(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

// point is a row of a sweep as the analysis takes it.
func (j judged) point() analysis.Point {
	docs := math.NaN()
	if j.judgement.Verdict != analysis.Errored {
		docs = *j.row.DocsPerSecond
	}
	return analysis.Point{
		Clients: j.row.Clients, DocsPerSecond: docs, Verdict: j.judgement.Verdict, Failures: j.judgement.Failures,
	}
}

// below writes a figure with two decimals, or as many more as it takes for it not to be rounded up to the limit.
func below(figure, limit float64) string {
	const most = 15
	for digits := 2; ; digits++ {
		text := strconv.FormatFloat(figure, 'f', digits, 64)
		if rounded, err := strconv.ParseFloat(text, 64); err != nil || rounded < limit || digits == most {
			return text
		}
	}
}

// reason says why a point of a curve does not pass.
func reason(p analysis.Point, c analysis.Curve, percentOfPeak float64) string {
	if p.Verdict == analysis.Measured {
		return fmt.Sprintf("%s %% of the peak, below %g %%", below(100*p.DocsPerSecond/c.Peak.DocsPerSecond, percentOfPeak), percentOfPeak)
	}
	var out []string
	seen := map[string]bool{}
	for _, f := range p.Failures {
		if !seen[f.Message] {
			out = append(out, f.Message)
		}
		seen[f.Message] = true
	}
	return strings.Join(out, "; ")
}
