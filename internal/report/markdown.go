package report

import (
	"fmt"
	"strings"
)

// markdown is report.md: first the sentence that says what was found, last where it all comes from.
func markdown(in Input, d *document, sentence string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", in.Name, plainText(sentence))
	v := verdictOf(in)
	fmt.Fprintf(&b, "\n**%s**%s\n", v.word, plainText(v.rest))
	for _, doubt := range v.doubts {
		fmt.Fprintf(&b, "- %s: %s\n", doubt.Reason, plainText(line(doubt.Message)))
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

// plainText keeps what others wrote from being taken for HTML, which Markdown may hold.
func plainText(s string) string { return markupCharacters.Replace(s) }

var markupCharacters = strings.NewReplacer("&", "&amp;", "<", "&lt;")

func markdownElements(b *strings.Builder, elements []element) {
	for _, element := range elements {
		switch {
		case element.table != nil:
			b.WriteString("\n")
			element.table.markdown(b)
		case element.text != "":
			fmt.Fprintf(b, "\n%s\n", plainText(element.text))
		case element.code != "":
			fmt.Fprintf(b, "\n```yaml\n%s```\n", element.code)
		case element.list != nil:
			b.WriteString("\n")
			for _, item := range element.list {
				fmt.Fprintf(b, "- %s\n", plainText(line(item)))
			}
		}
	}
}

func (t *table) markdown(b *strings.Builder) {
	row := func(cells []string) {
		for i := range t.titles {
			cell := ""
			if i < len(cells) {
				cell = strings.ReplaceAll(plainText(line(cells[i])), "|", "\\|")
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
	}
	row(t.titles)
	for i := range t.titles {
		if t.left(i) {
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
