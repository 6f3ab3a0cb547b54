package view

import (
	"math"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// ComparedFigures returns the figures of a campaign's comparison.csv.
func ComparedFigures(in Input) []figures.Figure {
	return append(figures.Rows(LoadsOf(in)), MetricsOf(in)...)
}

// MedianOf returns the median of a figure, given by its name, over the records in which the figure is known. It returns NaN if
// there are no such records.
func MedianOf(in Input, name string, records []*record.Record) float64 {
	f, _ := figures.Named(LoadsOf(in), Named(in, name))
	return Median(f, records)
}

// Median returns the median of a figure over the records in which the figure is known. It returns NaN if there are no such
// records.
func Median(f figures.Figure, records []*record.Record) float64 {
	var values []float64
	for _, r := range records {
		if v := f.Number(r); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return stats.Median(values)
}

// MetricsOf returns the figures of the metrics that the campaign defines, sorted by name.
func MetricsOf(in Input) []figures.Figure {
	var names []string
	units := map[string]string{}
	for _, o := range in.Assessment.Outcomes {
		if o.Record == nil || o.Record.Load == nil {
			continue
		}
		for _, m := range o.Record.Load.Metrics {
			names = append(names, m.Name)
			if m.Unit != "" {
				units[m.Name] = m.Unit
			}
		}
	}
	var out []figures.Figure
	for _, name := range format.Distinct(names) {
		out = append(out, figures.Metric(name, units[name]))
	}
	return out
}

// AttemptText formats a figure of an attempt for results.csv.
func AttemptText(in Input, f figures.Figure, a Attempt) string {
	if f.Valid && a.Judgement.Verdict == verdict.Errored {
		return ""
	}
	switch f.Name {
	case "verdict":
		return string(a.Judgement.Verdict)
	case "failures":
		return FailureText(a.Judgement.Notes(), 1000)
	case "status":
		return statusWord(a.Judgement.Verdict)
	case "unit":
		return Unit(in)
	}
	return FigureText(f, a.Record)
}

// statusWord translates a verdict into a status of `kubectl knee analyze`.
func statusWord(v verdict.Verdict) string {
	switch v {
	case verdict.Measured:
		return "ok"
	case verdict.Gated:
		return "gated"
	default:
		return "failed"
	}
}

// FigureText formats the value of a figure for results.csv. It returns an empty text if the value is unknown.
func FigureText(f figures.Figure, r record.Record) string {
	value, ok := f.Get.Of(&r)
	if !ok {
		return ""
	}
	switch v := value.(type) {
	case float64:
		if v == 0 && f.Zero == figures.ZeroEmpty {
			return ""
		}
		return format.Trimmed(v, max(f.Decimals, 3))
	case int64:
		if f.Kind() == figures.Time {
			return format.Timestamp(v)
		}
		return strconv.FormatInt(v, 10)
	case string:
		return v
	case []string:
		return strings.Join(v, "; ")
	default:
		return ""
	}
}

// PlacementText returns the number of a trial's placement. It returns an empty text if the trial has no placement.
func PlacementText(t record.Trial) string {
	f, _ := figures.Named(figures.IndexLoads, "placement")
	return FigureText(f, record.Record{Attempt: record.Attempt{Trial: t}})
}
