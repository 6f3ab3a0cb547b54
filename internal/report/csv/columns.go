package csv

import (
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// column is a column of results.csv.
type column struct {
	name, help string
	value      func(view.Attempt) string
}

// columnsOf returns the columns of a campaign's results.csv.
func columnsOf(in view.Input) []column {
	var out []column
	for _, f := range figures.Columns(view.LoadsOf(in)) {
		out = append(out, column{f.Name, f.Description(), func(a view.Attempt) string { return view.AttemptText(in, f, a) }})
	}
	for _, f := range view.MetricsOf(in) {
		out = append(out, column{f.Name, strings.TrimSuffix(f.Help+"; "+f.Unit, "; "), func(a view.Attempt) string { return view.AttemptText(in, f, a) }})
	}
	if most := in.Assessment.MaxRepetitions; most > in.Assessment.Repetitions {
		out = append(out, column{"max_repetitions",
			"spec.final.maxRepetitions of a campaign with two stages of repetitions, whose intervals are wider; 0: the look with which a Final was measured had one stage", func(a view.Attempt) string {
				most := most
				if a.Record.Attempt.Phase == record.Final {
					_, most = in.Assessment.LookEnd(a.Record.Attempt.Trial)
				}
				return format.IntText(most)
			}})
	}
	if slices.ContainsFunc(in.Assessment.Ratios, func(r campaign.Ratio) bool { return len(r.Looks) > 0 }) {
		out = append(out, column{"planned_repetitions",
			"repetitions of the look with which a Final was measured, in a campaign whose spec.final.repetitions was raised", func(a view.Attempt) string {
				if a.Record.Attempt.Phase != record.Final {
					return ""
				}
				end, _ := in.Assessment.LookEnd(a.Record.Attempt.Trial)
				return format.IntText(end)
			}})
	}
	return out
}
