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
		markdownBlocks(&b, s.blocks)
		for _, part := range s.parts {
			fmt.Fprintf(&b, "\n### %s\n", part.title)
			markdownBlocks(&b, part.blocks)
		}
	}
	return b.String()
}

// plainText keeps what others wrote from being taken for HTML, which Markdown may hold.
func plainText(s string) string { return markupCharacters.Replace(s) }

var markupCharacters = strings.NewReplacer("&", "&amp;", "<", "&lt;")

func markdownBlocks(b *strings.Builder, blocks []block) {
	for _, block := range blocks {
		switch {
		case block.table != nil:
			b.WriteString("\n")
			block.table.markdown(b)
		case block.text != "":
			fmt.Fprintf(b, "\n%s\n", plainText(block.text))
		case block.code != "":
			fmt.Fprintf(b, "\n```yaml\n%s```\n", block.code)
		case block.list != nil:
			b.WriteString("\n")
			for _, item := range block.list {
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
