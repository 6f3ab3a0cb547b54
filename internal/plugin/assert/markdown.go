package assert

import (
	"fmt"
	"strings"

	"github.com/knee-bench/knee/internal/plugin/terminal"
)

// Markdown returns a report as Markdown, such as for the summary of a step of GitHub Actions.
func Markdown(r Report, allowInconclusive bool) string {
	var b strings.Builder
	heading := "passed"
	if r.failure(allowInconclusive) != nil {
		heading = "failed"
	}
	fmt.Fprintf(&b, "### Benchmark campaign %s %s\n\n%s\n\n", escapeMarkdown(r.Namespace+"/"+r.Campaign), heading, escapeMarkdown(upperFirst(limitText(r))+"."))
	writeRow(&b, "Variant", "Baseline", "Topology", "Clients", "Ratio", "Interval", "Confidence", "Result", "Why")
	b.WriteString("| --- | --- | --- | ---: | ---: | --- | ---: | --- | --- |\n")
	for _, c := range r.Comparisons {
		row := append([]string{c.Variant, c.Baseline, c.Topology}, figures(c)...)
		writeRow(&b, append(row, string(c.Result), c.Why)...)
	}
	if r.Doubt != nil {
		fmt.Fprintf(&b, "\nNot conclusive ([%s](%s)): %s\n", escapeMarkdown(r.Doubt.Reason), terminal.ReasonPage(r.Doubt.Reason), escapeMarkdown(r.Doubt.Message))
	}
	return b.String() + "\n"
}

func writeRow(b *strings.Builder, cells ...string) {
	for _, cell := range cells {
		b.WriteString("| " + escapeMarkdown(cell) + " ")
	}
	b.WriteString("|\n")
}

// escapeMarkdown makes a text a piece of a Markdown paragraph or table cell without markup: it may quote the output of a program. The
// backslash works before each ASCII punctuation character (CommonMark 2.4), also for the bar in a table cell (GFM 4.10).
func escapeMarkdown(s string) string {
	return markdownCharacters.Replace(strings.Join(strings.Fields(terminal.Printable(s)), " "))
}

var markdownCharacters = func() *strings.Replacer {
	var pairs []string
	for _, c := range "\\`*_[]<>|~#!&@" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}()

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
