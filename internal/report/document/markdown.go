package document

import (
	"fmt"
	"strings"

	"github.com/knee-bench/knee/internal/report/format"
)

// WriteMarkdown returns a document as report.md.
func WriteMarkdown(d *Document, h Header) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", h.Name, plainText(h.Sentence))
	fmt.Fprintf(&b, "\n**%s**%s\n", h.Verdict, plainText(h.Rest))
	for _, doubt := range h.Doubts {
		fmt.Fprintf(&b, "- %s: %s\n", doubt.Reason, plainText(format.OneLine(doubt.Message)))
	}
	for _, s := range d.sections {
		fmt.Fprintf(&b, "\n## %s\n", s.title)
		markdownElements(&b, s.elements)
		for _, part := range s.parts {
			fmt.Fprintf(&b, "\n### %s\n", part.title)
			markdownElements(&b, part.elements)
		}
	}
	return b.String()
}

// plainText escapes HTML in a text, because Markdown can contain HTML and the text can come from another program.
func plainText(s string) string { return markupCharacters.Replace(s) }

var markupCharacters = strings.NewReplacer("&", "&amp;", "<", "&lt;")

func markdownElements(b *strings.Builder, elements []Element) {
	for _, element := range elements {
		switch {
		case element.table != nil:
			b.WriteString("\n")
			element.table.Markdown(b)
		case element.text != "":
			fmt.Fprintf(b, "\n%s\n", plainText(element.text))
		case element.Code != "":
			fmt.Fprintf(b, "\n```yaml\n%s```\n", element.Code)
		case element.list != nil:
			b.WriteString("\n")
			for _, item := range element.list {
				fmt.Fprintf(b, "- %s\n", plainText(format.OneLine(item)))
			}
		}
	}
}

// Markdown writes the table as Markdown.
func (t *Table) Markdown(b *strings.Builder) {
	row := func(cells []string) {
		for i := range t.Titles {
			cell := ""
			if i < len(cells) {
				cell = strings.ReplaceAll(plainText(format.OneLine(cells[i])), "|", "\\|")
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
	}
	row(t.Titles)
	for i := range t.Titles {
		if t.isLeft(i) {
			b.WriteString("| --- ")
		} else {
			b.WriteString("| ---: ")
		}
	}
	b.WriteString("|\n")
	for _, r := range t.rows {
		row(r.cells)
	}
}
