package terminal

import (
	"bytes"
	"strings"
	"testing"
)

func TestTable_foreignTexts_areNoCommands(t *testing.T) {
	var out bytes.Buffer
	table := NewTable(&out)
	table.WriteRow("a\x1b[2J", "b\tc\nd", "e\u202e")
	if err := table.Print(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "a [2J  b c d  e\n" {
		t.Errorf("a row of a table: %q", got)
	}
}

func TestPainter_noTerminal_plainText(t *testing.T) {
	var out strings.Builder
	if got := NewPainter(&out)("good", "text"); got != "text" {
		t.Errorf("%q although it is no terminal", got)
	}
}
