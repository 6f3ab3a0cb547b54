// Package csv writes the CSV files of a report: results.csv, comparison.csv, tasks.csv and the rejections.
package csv

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// Results returns the header and the rows of results.csv: one row for each attempt.
func Results(in view.Input) []string {
	columns := columnsOf(in)
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.name
	}
	out := []string{csvLine(header)}
	for _, a := range in.Attempts {
		values := make([]string, len(columns))
		for i, c := range columns {
			values[i] = format.OneLine(c.value(a))
		}
		out = append(out, csvLine(values))
	}
	return out
}

// Tasks returns the header and the rows of tasks.csv: one row for each task of each valid attempt, with the driver's own figures.
// It returns nil if there is neither a search task nor an open loop, because results.csv already has the ingest task.
func Tasks(in view.Input) []string {
	out := []string{csvLine([]string{
		"variant", "topology", "phase", "clients", "repetition", "attempt", "verdict", "task", "kind", "throughput", "unit", "error_rate",
		"latency_mean_ms", "latency_p50_ms", "latency_p90_ms", "latency_p99_ms", "latency_p999_ms", "latency_max_ms",
		"service_time_mean_ms", "service_time_p50_ms", "service_time_p90_ms", "service_time_p99_ms", "service_time_p999_ms", "service_time_max_ms",
		"target_throughput", "placement", "target_docs_per_second",
	})}
	some := false
	for _, a := range in.Attempts {
		if a.Judgement.Verdict == verdict.Errored {
			continue
		}
		for _, t := range a.Record.Tasks {
			kind := "ingest"
			if t.Search {
				kind, some = "search", true
			}
			attempt := a.Record.Attempt
			some = some || attempt.Phase == record.OpenLoop
			values := []string{
				attempt.Variant, attempt.Topology, string(attempt.Phase), format.IntText(attempt.Clients), format.IntText(attempt.Repetition),
				format.IntText(attempt.N), string(a.Judgement.Verdict), t.Name, kind, format.OrEmpty(t.Throughput), t.Unit, format.Trimmed(t.ErrorRate, 6),
			}
			out = append(out, csvLine(slices.Concat(values, distribution(t.Latency), distribution(t.ServiceTime),
				[]string{format.OrEmpty(t.Target), view.PlacementText(attempt.Trial), format.IntOrEmpty(attempt.TargetDocsPerSecond)})))
		}
	}
	if !some {
		return nil
	}
	return out
}

func distribution(l *record.Latency) []string {
	if l == nil {
		return make([]string, 6)
	}
	return []string{format.OrEmpty(l.Mean), format.OrEmpty(l.P50), format.OrEmpty(l.P90), format.OrEmpty(l.P99), format.OrEmpty(l.P999), format.OrEmpty(l.Max)}
}

// tuneColumns lists the columns that tune_results.csv copies from results.csv.
var tuneColumns = []string{
	"osb_docs_per_second", "latency_p50_ms", "latency_p90_ms", "latency_p99_ms",
	"cpu_user_percent", "cpu_sys_percent", "cpu_iowait_percent", "docs_per_second_per_cpu_percent",
	"cpu_seconds_per_million_documents", "rejections", "error_rate", "gc_collections", "gc_millis", "index_bytes", "count",
}

// TuneResults returns tune_results.csv of a cell. It has a row for each client count of the sweep, measured or not.
func TuneResults(in view.Input, c campaign.Cell) string {
	var b strings.Builder
	var columns, titles []string
	for _, name := range tuneColumns {
		if f, ok := figures.Named(view.LoadsOf(in), view.Named(in, name)); ok {
			columns, titles = append(columns, name), append(titles, f.Name)
		}
	}
	b.WriteString(csvLine(slices.Concat(
		[]string{"clients", "verdict", view.Named(in, figures.RateName), "percent_of_peak", "passes", "peak", "knee", "attempts"}, titles,
		[]string{"failures", "repetitions", "shared"})))
	for _, p := range view.SweepPoints(in, c) {
		values := []string{
			format.IntText(p.Clients), p.Verdict, p.Docs, p.Share,
			yesNo(p, p.Passes), yesNo(p, p.Peak), yesNo(p, p.Knee), format.IntText(p.Tries),
		}
		for _, name := range columns {
			values = append(values, p.Column(in, name))
		}
		b.WriteString(csvLine(append(values, p.Failures, fmt.Sprint(len(p.Attempts)), yesNo(p, p.Shared))))
	}
	return b.String()
}

// yesNo returns "yes" or "no" for an observed point. It returns an empty text for a point that was not observed.
func yesNo(p view.SweepPoint, yes bool) string {
	switch {
	case !p.Observed:
		return ""
	case yes:
		return "yes"
	}
	return "no"
}

func csvLine(values []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = escapeFormula(v)
	}
	_ = w.Write(texts) // writing to a strings.Builder never fails
	w.Flush()
	return b.String()
}

// escapeFormula puts a quote before a text that a spreadsheet would read as a formula because of its first character. Numbers stay
// unchanged.
func escapeFormula(value string) string {
	if value == "" || !strings.ContainsRune("=+-@\t\r", rune(value[0])) {
		return value
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return value
	}
	return "'" + value
}

// SplitLines splits lines into texts of at most maxBytes. Each text starts with lines[0], the header.
func SplitLines(lines []string, maxBytes int) []string {
	var out []string
	var b strings.Builder
	for i, l := range lines {
		if i == 0 || b.Len()+len(l) > maxBytes {
			if i > 0 {
				out = append(out, b.String())
			}
			b.Reset()
			b.WriteString(lines[0])
		}
		if i > 0 {
			b.WriteString(l)
		}
	}
	return append(out, b.String())
}

// PartName returns the name of part i of a file, from 0: results.csv, results-002.csv and so on.
func PartName(base string, i int) string {
	if i == 0 {
		return base + ".csv"
	}
	return fmt.Sprintf("%s-%03d.csv", base, i+1)
}
