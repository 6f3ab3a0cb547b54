package document

import (
	"strings"
	"testing"
)

func TestTableMarkdown_escapesCells(t *testing.T) {
	var b strings.Builder
	table := Table{Titles: []string{"a", "b", "c "}}
	table.Row("x|y", "two\nlines")
	table.Markdown(&b)
	if want := "| a | b | c |\n| --- | ---: | --- |\n| x\\|y | two lines |  |\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
