package report

import (
	"embed"
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/knee-bench/knee/internal/report/chart"
)

//go:embed page
var pageFiles embed.FS

var (
	pageTemplate = template.Must(template.ParseFS(pageFiles, "page/report.html.tmpl"))
	pageCSS      = func() string {
		text, err := pageFiles.ReadFile("page/report.css")
		if err != nil {
			panic(err) // it is in the program
		}
		return string(text)
	}()
)

// MaxHTMLBytes bounds report.html.
const MaxHTMLBytes = MaxFileBytes

// page is report.html of attempts, of which results.csv has so many parts: one page that needs nothing else and no
// script. Of a large campaign it leaves to the CSV files what would not fit.
func page(in Input, rows []attempt, results int) string {
	for detail := detailFor(in); ; detail++ {
		text := htmlPage(in, newDocument(in, rows, results, detail, true))
		if len(text) <= MaxHTMLBytes || detail >= plotsOfKnees {
			return text
		}
	}
}

// detailFor is where to begin, so that a large campaign's page is not drawn several times.
func detailFor(in Input) detail {
	switch n := in.Assessment.Planned; {
	case n > 2500:
		return noSweeps
	case n > 500:
		return fewerRows
	}
	return everything
}

// The page as the template reads it.
type (
	htmlDocument struct {
		Name, Namespace, Version, Times, Progress string
		Sentence, Kind, Verdict, Rest             string
		Long                                      bool // the sentence
		Doubts                                    []htmlDoubt
		Sections                                  []htmlSection
		CSS                                       template.CSS
	}
	htmlDoubt   struct{ Reason, Message string }
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

func htmlPage(in Input, d *document) string {
	v := verdictOf(in)
	s := Status(in)
	page := htmlDocument{
		Name: in.Name, Namespace: in.Namespace, Version: in.Version, Progress: s.Progress,
		Sentence: Sentence(in), Kind: v.kind, Verdict: v.word, Rest: v.rest,
	}
	if s.StartedAt != nil {
		page.Times = s.StartedAt.UTC().Format("2006-01-02 15:04") + " to "
		if s.CompletedAt != nil {
			page.Times += s.CompletedAt.UTC().Format("2006-01-02 15:04") + " UTC"
		} else {
			page.Times += "now"
		}
	}
	const headline = 320 // bytes; a longer sentence is no headline
	page.Long = len(page.Sentence) > headline
	for _, doubt := range v.doubts {
		page.Doubts = append(page.Doubts, htmlDoubt{doubt.Reason, line(doubt.Message)})
	}
	w := &htmlWriter{most: mostRows(d.detail)}
	for _, section := range d.sections {
		page.Sections = append(page.Sections, w.section(section))
	}
	page.CSS = template.CSS(pageCSS + w.sheet.CSS()) // ours, but for nothing
	var b strings.Builder
	if err := pageTemplate.ExecuteTemplate(&b, "report.html.tmpl", page); err != nil {
		return fmt.Sprintf("the page cannot be written: %v", err)
	}
	return b.String()
}

// htmlWriter turns a document's parts into the template's.
type htmlWriter struct {
	sheet  chart.Sheet
	charts int
	most   int // rows of a table
}

func mostRows(d detail) int {
	switch d {
	case everything:
		return math.MaxInt
	case fewerRows:
		return 300
	case noSweeps:
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

func (w *htmlWriter) elements(title string, elements []element) []htmlElement {
	var out []htmlElement
	for _, e := range elements {
		h := htmlElement{Label: title, Code: e.code, Text: marked(e.text)}
		for _, item := range e.list {
			h.List = append(h.List, marked(item))
		}
		if e.table != nil {
			h.Table = w.table(e.table)
		}
		for _, c := range e.charts {
			w.charts++
			plot := htmlChart{SVG: w.svg(c.draw(fmt.Sprintf("c%d", w.charts))), Title: c.title, Caption: c.caption}
			for _, k := range c.keys {
				plot.Keys = append(plot.Keys, htmlKey{w.svg(k.svg), k.text})
			}
			h.Charts = append(h.Charts, plot)
		}
		out = append(out, h)
	}
	return out
}

// svg takes a drawing into the page; its texts are escaped by package chart.
func (w *htmlWriter) svg(text string) template.HTML { return template.HTML(w.sheet.Take(text)) }

func (w *htmlWriter) table(t *table) *htmlTable {
	out := &htmlTable{}
	for i, title := range t.titles {
		out.Head = append(out.Head, htmlCell{Text: marked(strings.TrimSpace(title)), Left: i > 0 && t.left(i)})
	}
	for _, r := range t.rows[:min(len(t.rows), w.most)] {
		row := htmlRow{Flag: r.flag}
		for i := range t.titles {
			cell := htmlCell{First: i == 0, Left: i > 0 && t.left(i)}
			if i < len(r.cells) {
				cell.Text = marked(line(r.cells[i]))
			}
			row.Cells = append(row.Cells, cell)
		}
		out.Rows = append(out.Rows, row)
	}
	if more := len(t.rows) - w.most; more > 0 {
		out.More = fmt.Sprintf("%d rows more: the CSV files hold all.", more)
	}
	return out
}

// marked escapes a text and makes its **strong** words so. An odd mark stands for itself.
func marked(s string) template.HTML {
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
