package document

import (
	"embed"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/knee-bench/knee/internal/report/chart"
	"github.com/knee-bench/knee/internal/report/format"
)

//go:embed page
var pageFiles embed.FS

var (
	pageTemplate = template.Must(template.ParseFS(pageFiles, "page/report.html.tmpl"))
	pageCSS      = func() string {
		text, err := pageFiles.ReadFile("page/report.css")
		if err != nil {
			panic(err) // cannot happen: the file is embedded
		}
		return string(text)
	}()
)

// Data types of the HTML template.
type (
	htmlDocument struct {
		Header
		Long     bool // whether the sentence is too long for a headline
		Sections []htmlSection
		CSS      template.CSS
	}
	htmlSection struct {
		ID, Title     string
		Details, Open bool
		Elements      []htmlElement
		Parts         []htmlSection
	}
	htmlElement struct {
		Label, Code string
		Text        template.HTML
		List        []template.HTML
		Table       *htmlTable
		Charts      []htmlChart
	}
	htmlTable struct {
		Head []htmlCell
		Rows []htmlRow
		More string
	}
	htmlRow struct {
		Flag  string
		Cells []htmlCell
	}
	htmlCell struct {
		Text        template.HTML
		Left, First bool
	}
	htmlChart struct {
		SVG            template.HTML
		Title, Caption string
		Keys           []htmlKey
	}
	htmlKey struct {
		SVG  template.HTML
		Text string
	}
)

// WriteHTML returns a document as report.html.
func WriteHTML(d *Document, h Header) string {
	const headline = 320 // in bytes; a longer sentence is not shown as a headline
	page := htmlDocument{Header: h, Long: len(h.Sentence) > headline}
	page.Doubts = nil
	for _, d := range h.Doubts {
		page.Doubts = append(page.Doubts, Doubt{d.Reason, format.OneLine(d.Message)})
	}
	w := &htmlWriter{most: mostRows(d.Detail)}
	for _, section := range d.sections {
		page.Sections = append(page.Sections, w.section(section))
	}
	page.CSS = template.CSS(pageCSS + w.sheet.CSS()) // this CSS is trusted: it comes only from this package and from package chart
	var b strings.Builder
	if err := pageTemplate.ExecuteTemplate(&b, "report.html.tmpl", page); err != nil {
		return fmt.Sprintf("cannot write the page: %v", err)
	}
	return b.String()
}

// htmlWriter converts a document to the data of the template.
type htmlWriter struct {
	sheet  chart.Sheet
	charts int
	most   int // highest number of rows of a table
}

func mostRows(d Detail) int {
	switch d {
	case Everything:
		return math.MaxInt
	case FewerRows:
		return 300
	case NoSweeps:
		return 120
	}
	return 50
}

func (w *htmlWriter) section(s section) htmlSection {
	out := htmlSection{
		ID: strings.ReplaceAll(strings.ToLower(s.title), " ", "-"), Title: s.title, Details: s.foldable, Open: !s.folded,
		Elements: w.elements(s.title, s.elements),
	}
	for _, part := range s.parts {
		out.Parts = append(out.Parts, w.section(part))
	}
	return out
}

func (w *htmlWriter) elements(title string, elements []Element) []htmlElement {
	var out []htmlElement
	for _, e := range elements {
		h := htmlElement{Label: title, Code: e.Code, Text: htmlText(e.text)}
		for _, item := range e.list {
			h.List = append(h.List, htmlText(item))
		}
		if e.table != nil {
			h.Table = w.table(e.table)
		}
		for _, c := range e.charts {
			w.charts++
			plot := htmlChart{SVG: w.svg(c.Draw(fmt.Sprintf("c%d", w.charts))), Title: c.Title, Caption: c.Caption}
			for _, k := range c.Keys {
				plot.Keys = append(plot.Keys, htmlKey{w.svg(k.SVG), k.Text})
			}
			h.Charts = append(h.Charts, plot)
		}
		out = append(out, h)
	}
	return out
}

// svg moves the styles of a drawing to the style sheet of the page. The SVG is trusted, because package chart has escaped its
// texts.
func (w *htmlWriter) svg(text string) template.HTML { return template.HTML(w.sheet.Take(text)) }

func (w *htmlWriter) table(t *Table) *htmlTable {
	out := &htmlTable{}
	for i, title := range t.Titles {
		out.Head = append(out.Head, htmlCell{Text: htmlText(strings.TrimSpace(title)), Left: i > 0 && t.isLeft(i)})
	}
	for _, r := range t.rows[:min(len(t.rows), w.most)] {
		row := htmlRow{Flag: r.flag}
		for i := range t.Titles {
			cell := htmlCell{First: i == 0, Left: i > 0 && t.isLeft(i)}
			if i < len(r.cells) {
				cell.Text = htmlText(format.OneLine(r.cells[i]))
			}
			row.Cells = append(row.Cells, cell)
		}
		out.Rows = append(out.Rows, row)
	}
	if more := len(t.rows) - w.most; more > 0 {
		out.More = fmt.Sprintf("%d more rows are in the CSV files.", more)
	}
	return out
}

// htmlText escapes a text and replaces **words** by <strong>words</strong>. A ** without a second ** stays unchanged.
func htmlText(s string) template.HTML {
	parts := strings.Split(template.HTMLEscapeString(s), "**")
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i%2 == 1 && i < len(parts)-1:
			b.WriteString("<strong>" + part + "</strong>")
		case i%2 == 1:
			b.WriteString("**" + part)
		default:
			b.WriteString(part)
		}
	}
	return template.HTML(b.String())
}
