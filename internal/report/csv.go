package report

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// resultsCSV is the header and a row for each attempt, each a line of CSV.
func resultsCSV(in Input, rows []attempt) []string {
	columns := columnsOf(in)
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.name
	}
	out := []string{csvLine(header)}
	for _, a := range rows {
		values := make([]string, len(columns))
		for i, c := range columns {
			values[i] = line(c.value(a))
		}
		out = append(out, csvLine(values))
	}
	return out
}

// tasksCSV has a row for each task of each valid attempt, in the driver's own figures; nil without search
// tasks and open loops, whose ingest task results.csv has.
func tasksCSV(rows []attempt) []string {
	out := []string{csvLine([]string{
		"variant", "topology", "phase", "clients", "repetition", "attempt", "verdict", "task", "kind", "throughput", "unit", "error_rate",
		"latency_mean_ms", "latency_p50_ms", "latency_p90_ms", "latency_p99_ms", "latency_p999_ms", "latency_max_ms",
		"service_time_mean_ms", "service_time_p50_ms", "service_time_p90_ms", "service_time_p99_ms", "service_time_p999_ms", "service_time_max_ms",
		"target_throughput", "placement", "target_docs_per_second",
	})}
	some := false
	for _, a := range rows {
		if a.judgement.Verdict == analysis.Errored {
			continue
		}
		for _, t := range a.record.Tasks {
			kind := "ingest"
			if t.Search {
				kind, some = "search", true
			}
			trial := a.record.Trial
			some = some || trial.Phase == record.OpenLoop
			values := []string{
				trial.Variant, trial.Topology, string(trial.Phase), integer(trial.Clients), integer(trial.Repetition),
				integer(trial.Attempt), string(a.judgement.Verdict), t.Name, kind, known(t.Throughput), t.Unit, trimmed(t.ErrorRate, 6),
			}
			out = append(out, csvLine(slices.Concat(values, distribution(t.Latency), distribution(t.ServiceTime),
				[]string{known(t.Target), placement(trial), knownInt(trial.TargetDocsPerSecond)})))
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
	return []string{known(l.Mean), known(l.P50), known(l.P90), known(l.P99), known(l.P999), known(l.Max)}
}

// tuneColumns are those of results.csv that tune_results.csv has too.
var tuneColumns = []string{
	"osb_docs_per_second", "latency_p50_ms", "latency_p90_ms", "latency_p99_ms",
	"cpu_user_percent", "cpu_sys_percent", "cpu_iowait_percent", "docs_per_second_per_cpu_percent",
	"cpu_seconds_per_million_documents", "rejections", "error_rate", "gc_collections", "gc_millis", "index_bytes", "count",
}

// tuneResultsCSV has a row for each client count of a cell's sweep, whether it was measured or not.
func tuneResultsCSV(in Input, c analysis.Cell) string {
	var b strings.Builder
	var columns, titles []string
	for _, name := range tuneColumns {
		if fillsIndex(in) || !slices.Contains(ofIndex, name) {
			columns, titles = append(columns, name), append(titles, named(in, name))
		}
	}
	b.WriteString(csvLine(slices.Concat(
		[]string{"clients", "verdict", named(in, rateMeasure), "percent_of_peak", "passes", "peak", "knee", "attempts"}, titles,
		[]string{"failures", "repetitions", "shared"})))
	for _, p := range sweepPoints(in, c) {
		values := []string{
			integer(p.clients), p.verdict, p.docs, p.share,
			p.says(p.passes), p.says(p.peak), p.says(p.knee), integer(p.tries),
		}
		for _, name := range columns {
			values = append(values, p.column(name))
		}
		b.WriteString(csvLine(append(values, p.failures, fmt.Sprint(len(p.attempts)), p.says(p.shared))))
	}
	return b.String()
}

// says answers a question that only an observed point answers.
func (p sweepPoint) says(yes bool) string {
	switch {
	case !p.observed:
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
		texts[i] = noFormula(v)
	}
	_ = w.Write(texts) // a strings.Builder does not fail
	w.Flush()
	return b.String()
}

// noFormula keeps a spreadsheet from taking a text for a formula, which it does by the first character.
func noFormula(value string) string {
	if value == "" || !strings.ContainsRune("=+-@\t\r", rune(value[0])) {
		return value
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return value
	}
	return "'" + value
}

// split parts lines into texts of at most MaxFileBytes, each with the first line as its header.
func split(lines []string) []string {
	var out []string
	var b strings.Builder
	for i, l := range lines {
		if i == 0 || b.Len()+len(l) > MaxFileBytes {
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

// numbered names the parts of a file: results.csv, results-002.csv, ...
func numbered(base string, i int) string {
	if i == 0 {
		return base + ".csv"
	}
	return fmt.Sprintf("%s-%03d.csv", base, i+1)
}
