package report

import (
	"fmt"
	"slices"
	"strings"
)

// document is a report before it is written: report.md and report.html are two writings of one document. Texts may
// hold **strong** words and no other markup.
type document struct {
	sections []section
	detail   detail
	plots    bool // whether charts are drawn: report.md has none
}

// newDocument is a campaign's report: first the answer, last where it all comes from.
func newDocument(in Input, rows []attempt, resultFiles int, detail detail, plots bool) *document {
	d := &document{detail: detail, plots: plots}
	if in.Published != "" {
		d.section("Not measured by Knee")
		d.para("**%s**", in.Published)
	}
	answer(d, in)
	knees(d, in)
	finals(d, in)
	latencies(d, in)
	loads(d, in)
	clientChecks(d, in)
	perMachine(d, in)
	telemetry(d, in)
	sweeps(d, in)
	rejectionsByCounter(d, rows)
	costs(d, in)
	failed(d, rows)
	environments(d, in, rows)
	durations(d, in, rows)
	provenance(d, in, rows, resultFiles)
	return d
}

// detail says how much a document of a large campaign leaves to the CSV files, so that it fits a ConfigMap.
type detail int

const (
	everything   detail = iota
	fewerRows           // marks of a plot's ordinary points, and runs and failures beyond the first, are left out
	noSweeps            // the tables of sweeps and of Final runs too
	plotsOfKnees        // all plots but the knee curves and the ratios too
)

// section is a part of a document; the parts of a section are one deep.
type section struct {
	title    string
	elements []element
	parts    []section

	foldable, folded bool // report.html lets its reader fold it, and shows it so
}

// element is one thing: only one of its fields is set.
type element struct {
	text   string
	code   string
	list   []string
	table  *table
	charts []plotted // of report.html alone
}

// plotted is a plot with what explains it.
type plotted struct {
	draw    func(id string) string // the svg element
	title   string
	keys    []key
	caption string
}

// key explains a mark of a plot.
type key struct{ svg, text string }

func (d *document) section(title string) { d.sections = append(d.sections, section{title: title}) }

func (d *document) part(title string) {
	s := &d.sections[len(d.sections)-1]
	s.parts = append(s.parts, section{title: title})
}

// foldable is a part that report.html lets its reader fold and unfold.
func (d *document) foldable(title string, folded bool) {
	d.part(title)
	s := &d.sections[len(d.sections)-1]
	part := &s.parts[len(s.parts)-1]
	part.foldable, part.folded = true, folded
}

func (d *document) add(e element) {
	s := &d.sections[len(d.sections)-1]
	if n := len(s.parts); n > 0 {
		s = &s.parts[n-1]
	}
	s.elements = append(s.elements, e)
}

func (d *document) para(format string, args ...any) {
	d.add(element{text: fmt.Sprintf(format, args...)})
}

func (d *document) list(items []string) {
	if len(items) > 0 {
		d.add(element{list: items})
	}
}

// charts shows plots side by side where there is room; nil ones are left out.
func (d *document) charts(of ...*plotted) {
	var list []plotted
	for _, f := range of {
		if f != nil {
			list = append(list, *f)
		}
	}
	if len(list) > 0 {
		d.add(element{charts: list})
	}
}

// table is a table of texts. Columns after the first are aligned to the right unless their title ends with a space.
type table struct {
	titles []string
	rows   []tableRow
}

type tableRow struct {
	flag  string // Errored, Gated, Pending or Skipped: report.html shows it in colour, beside the words
	cells []string
}

func (d *document) table(titles ...string) *table {
	t := &table{titles: titles}
	d.add(element{table: t})
	return t
}

func (t *table) row(cells ...string) { t.flagged("", cells...) }

func (t *table) flagged(flag string, cells ...string) {
	t.rows = append(t.rows, tableRow{flag, cells})
}

// without leaves columns out.
func (t *table) without(titles ...string) {
	for _, title := range titles {
		at := slices.Index(t.titles, title)
		if at < 0 {
			continue
		}
		t.titles = slices.Delete(t.titles, at, at+1)
		for i, r := range t.rows {
			if at < len(r.cells) {
				t.rows[i].cells = slices.Delete(r.cells, at, at+1)
			}
		}
	}
}

// left tells whether a column is aligned to the left.
func (t *table) left(column int) bool { return column == 0 || strings.HasSuffix(t.titles[column], " ") }
