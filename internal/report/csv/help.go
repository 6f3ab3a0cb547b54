package csv

import (
	"strings"

	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/view"
)

// comparisonColumns describes the columns of comparison.csv. The file has a row for each figure of a pair of cells. A cell without
// a baseline also has a row for each figure.
var comparisonColumns = []struct{ name, help string }{
	{"topology", "topology of the cell"},
	{"variant", "variant of the cell"},
	{"baseline", "variant of the baseline, which is the cell to compare with; empty if there is no baseline"},
	{"baseline_topology", "topology of the baseline"},
	{"at", "peak, knee, shared (the sweep at the shared clients), sweep (the whole sweep), final (Measured Finals), observed (Finals that have no ratio because of a gate) or open loop"},
	{"clients", "clients of the cell"},
	{"baseline_clients", "clients of the baseline"},
	{"figure", "name of the figure; for a task: the task's name, a colon and the name of the figure"},
	{"unit", "unit of value and baseline_value; empty for a count and a share"},
	{"value", "value of the cell: the median over the repetitions"},
	{"baseline_value", "value of the baseline: the median over the repetitions"},
	{"ratio", "value / baseline_value; for docs/s and tasks at final: the Hodges-Lehmann estimate, which is not the ratio of the medians"},
	{"low", "lower end of the ratio's interval; empty for a ratio of sweeps, because sweeps do not show the noise"},
	{"high", "upper end of the ratio's interval"},
	{"confidence", "confidence of the interval, 0 to 1"},
	{"runs", "number of repetitions from which value is computed; if there are several placements: the number of placements"},
	{"baseline_runs", "number of repetitions or placements from which baseline_value is computed"},
	{"p", "two-sided p that agrees with the interval: the larger one of the exact Mann-Whitney test and of Welch's test on logs"},
	{"p_adjusted", "p adjusted for the number of comparisons (Bonferroni)"},
	{"verdict", "faster, slower, equivalent or too noisy"},
	{"cv_percent", "noise of the cell: the coefficient of variation of its repetitions, or of the means of its placements"},
	{"baseline_cv_percent", "the same of the baseline"},
	{"bounds", "method that gives the bounds of the interval: rank, Welch or rank/Welch"},
	{"widening", "factor by which the interval is wider on logs because repetitions depend on the repetition before; 1: not wider"},
}

// Help returns a Markdown text that explains results.csv and comparison.csv.
func Help(in view.Input) string {
	var b strings.Builder
	b.WriteString("# Columns of results.csv\nOne row for each attempt. A figure that was not measured is empty.\n\n")
	t := document.Table{Titles: []string{"column", "meaning "}}
	for _, c := range columnsOf(in) {
		t.Row(c.name, c.help)
	}
	t.Markdown(&b)
	b.WriteString("\n# Columns of comparison.csv\nOne row for each figure of two cells that are compared.\n\n")
	t = document.Table{Titles: []string{"column", "meaning "}}
	for _, c := range comparisonColumns {
		t.Row(c.name, strings.ReplaceAll(c.help, "docs/s", view.Unit(in)))
	}
	t.Markdown(&b)
	b.WriteString("\n# Figures of comparison.csv\n\n")
	t = document.Table{Titles: []string{"figure", "unit ", "meaning "}}
	for _, f := range view.ComparedFigures(in) {
		t.Row(f.Name, view.UnitOf(in, f), f.Description())
	}
	for _, extra := range [][]string{
		{"clients", "", "client count of the knee (in the rows with knee in column at)"},
		{"knee_stability", "", "probability that the knee of the true curve is at this client count, 0 to 1; empty without repetitions"},
		{view.Named(in, "highest_docs_per_second"), view.Unit(in), "the highest observed rate, Gated points included"},
		{"price_per_hour", "spec.currency", "price of all nodes with their volumes"},
		{view.CountedThings(in) + "_per_currency_unit", view.CountedThings(in), "3600 x " + view.Unit(in) + " / price_per_hour"},
		{"break_even_price_ratio", "", "price of the variant / price of the baseline at which the same work costs the same on both"},
	} {
		t.Row(extra...)
	}
	t.Markdown(&b)
	return b.String()
}
