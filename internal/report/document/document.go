// Package document holds the content of a report as paragraphs, tables and plots. It writes the content as Markdown and as HTML.
package document

import (
	"fmt"
	"slices"
	"strings"
)

// Document is the content of a report. It is written as report.md and as report.html. Texts can contain words in bold (**bold**)
// and no other markup.
type Document struct {
	sections []section
	Detail   Detail
	Plots    bool // whether plots are drawn: report.html has plots, report.md has none
}

// Header is the part of a report before its first section.
type Header struct {
	Name, Namespace string  // name and namespace of the campaign
	Version         string  // version of Knee that writes the report
	Times, Progress string  // when the trials ran, and how many are done
	Sentence        string  // the result in one sentence
	Kind            string  // kind of the verdict: conclusive, running or doubtful
	Verdict, Rest   string  // whether the answer can be trusted: the verdict, and the rest of the line
	Doubts          []Doubt // reasons not to trust the answer
}

// Doubt is a reason not to trust the answer.
type Doubt struct{ Reason, Message string }

// Detail defines how much of a large campaign's document is left out, so that the report fits a ConfigMap. The CSV files have all
// figures.
type Detail int

// Values of Detail. Each value has less content than the value before.
const (
	Everything   Detail = iota
	FewerRows           // leave out the marks of ordinary points in plots; list only the first runs and failures
	NoSweeps            // also leave out the tables of sweeps and of Finals
	PlotsOfKnees        // also leave out all plots except the knee curves and the ratios
)

// section is a part of a document. It can have subsections (parts). A subsection has no parts.
type section struct {
	title    string
	elements []Element
	parts    []section

	foldable, folded bool // foldable: a reader of report.html can fold the section; folded: it is folded at first
}

// Element is a paragraph, a code block, a list, a table or a row of plots. Exactly one field is set.
type Element struct {
	text   string
	Code   string
	list   []string
	table  *Table
	charts []ChartFigure // plots; only report.html shows them
}

// ChartFigure is a plot with its title, legend and caption.
type ChartFigure struct {
	Draw    func(id string) string // returns the svg element with this id
	Title   string
	Keys    []Key
	Caption string
}

// Key explains a mark of a plot.
type Key struct{ SVG, Text string }

// Section begins a section.
func (d *Document) Section(title string) { d.sections = append(d.sections, section{title: title}) }

// Part begins a part of the current section.
func (d *Document) Part(title string) {
	s := &d.sections[len(d.sections)-1]
	s.parts = append(s.parts, section{title: title})
}

// Foldable begins a part that a reader of report.html can fold and unfold.
func (d *Document) Foldable(title string, folded bool) {
	d.Part(title)
	s := &d.sections[len(d.sections)-1]
	part := &s.parts[len(s.parts)-1]
	part.foldable, part.folded = true, folded
}

// Add appends an element to the current part. If the section has no part, Add appends it to the section.
func (d *Document) Add(e Element) {
	s := &d.sections[len(d.sections)-1]
	if n := len(s.parts); n > 0 {
		s = &s.parts[n-1]
	}
	s.elements = append(s.elements, e)
}

// Para adds a paragraph.
func (d *Document) Para(format string, args ...any) {
	d.Add(Element{text: fmt.Sprintf(format, args...)})
}

// List adds a list. It adds nothing if there are no items.
func (d *Document) List(items []string) {
	if len(items) > 0 {
		d.Add(Element{list: items})
	}
}

// Charts adds plots, side by side if the page has room. It skips nil.
func (d *Document) Charts(of ...*ChartFigure) {
	var list []ChartFigure
	for _, f := range of {
		if f != nil {
			list = append(list, *f)
		}
	}
	if len(list) > 0 {
		d.Add(Element{charts: list})
	}
}

// Table is a table of texts. A column after the first is aligned to the right unless its title ends with a space.
type Table struct {
	Titles []string
	rows   []tableRow
}

type tableRow struct {
	flag  string // verdict of the row: Errored, Gated, Pending or Skipped; report.html colours the row by it
	cells []string
}

// Table adds an empty table to the document and returns the table.
func (d *Document) Table(titles ...string) *Table {
	t := &Table{Titles: titles}
	d.Add(Element{table: t})
	return t
}

// Row adds a row without a flag.
func (t *Table) Row(cells ...string) { t.Flagged("", cells...) }

// Flagged adds a row with a flag, for example a verdict. report.html colours the row by its flag.
func (t *Table) Flagged(flag string, cells ...string) {
	t.rows = append(t.rows, tableRow{flag, cells})
}

// RemoveColumns removes the columns with these titles.
func (t *Table) RemoveColumns(titles ...string) {
	for _, title := range titles {
		at := slices.Index(t.Titles, title)
		if at < 0 {
			continue
		}
		t.Titles = slices.Delete(t.Titles, at, at+1)
		for i, r := range t.rows {
			if at < len(r.cells) {
				t.rows[i].cells = slices.Delete(r.cells, at, at+1)
			}
		}
	}
}

// isLeft reports whether the texts of a column are aligned to the left.
func (t *Table) isLeft(column int) bool {
	return column == 0 || strings.HasSuffix(t.Titles[column], " ")
}
