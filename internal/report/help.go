package report

import "strings"

// comparisonColumns explain comparison.csv: a row a figure of a pair of cells, or of a cell that is compared with none.
var comparisonColumns = []struct{ name, help string }{
	{"topology", "of the cell"},
	{"variant", "of the cell"},
	{"baseline", "variant of the cell that it is compared with; empty where there is none"},
	{"baseline_topology", "of that cell"},
	{"at", "peak, knee, shared (the sweep at the shared clients), sweep (all of it), final (Measured Finals), observed (Finals of which a gate leaves no ratio) or open loop"},
	{"clients", "of the cell"},
	{"baseline_clients", "of the baseline"},
	{"figure", "what is compared; of a task TASK: and the figure"},
	{"unit", "of value and baseline_value; empty of a count and a share"},
	{"value", "of the cell: the median over repeats"},
	{"baseline_value", "of the baseline: the same"},
	{"ratio", "value over baseline_value; of docs/s and tasks at final the Hodges-Lehmann estimate, which is not the ratio of the medians"},
	{"low", "lower end of the ratio's interval; empty where there is none: a sweep says nothing of noise"},
	{"high", "upper end"},
	{"confidence", "of the interval, 0 to 1"},
	{"runs", "repetitions, or placements where there are several, that value rests on"},
	{"baseline_runs", "the same of baseline_value"},
	{"p", "two-sided exact Mann-Whitney"},
	{"p_adjusted", "for the number of comparisons (Holm)"},
	{"verdict", "faster, slower, equivalent or too noisy"},
}

// columnsHelp explains results.csv and comparison.csv.
func columnsHelp(in Input) string {
	var b strings.Builder
	b.WriteString("# Columns of results.csv\nOne row an attempt. A figure that was not measured is empty.\n\n")
	t := table{titles: []string{"column", "meaning "}}
	for _, c := range columnsOf(in) {
		t.row(c.name, c.help)
	}
	t.markdown(&b)
	b.WriteString("\n# Columns of comparison.csv\nOne row a figure of two cells that are compared.\n\n")
	t = table{titles: []string{"column", "meaning "}}
	for _, c := range comparisonColumns {
		t.row(c.name, strings.ReplaceAll(c.help, "docs/s", unit(in)))
	}
	t.markdown(&b)
	b.WriteString("\n# Figures of comparison.csv\n\n")
	t = table{titles: []string{"figure", "unit ", "meaning "}}
	for _, m := range measuresOf(in) {
		t.row(m.name, m.unit, m.help)
	}
	for _, extra := range [][]string{
		{"clients", "", "at knee: the knee itself"},
		{"knee_stability", "", "share of resamples that give the same knee, 0 to 1; empty without repeats"},
		{named(in, "highest_docs_per_second"), unit(in), "the highest observed at all, Gated points too"},
		{"price_per_hour", "spec.currency", "of all nodes with their volumes"},
		{things(in) + "_per_currency_unit", things(in), "3600 x " + unit(in) + " over price_per_hour"},
		{"break_even_price_ratio", "", "price of the variant over the baseline's at which both cost the same"},
	} {
		t.row(extra...)
	}
	t.markdown(&b)
	return b.String()
}
