// Package terminal prints tables, colours, notes and usage errors, and formats numbers, for kubectl knee.
package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode"

	"golang.org/x/term"
)

// Table writes aligned columns, without trailing blanks.
type Table struct {
	*tabwriter.Writer
	text *bytes.Buffer
	out  io.Writer
}

// NewTable returns an empty table that Print writes to out.
func NewTable(out io.Writer) *Table {
	text := &bytes.Buffer{}
	return &Table{tabwriter.NewWriter(text, 0, 4, 2, ' ', 0), text, out}
}

// WriteRow writes one row. All rows of a table must have the same number of cells, because otherwise the columns are not
// aligned.
func (t *Table) WriteRow(cells ...string) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = Printable(c)
	}
	fmt.Fprintln(t, strings.Join(texts, "\t"))
}

// Printable makes text from other sources safe for a terminal: it replaces control characters with blanks.
func Printable(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s), " ")
}

// PrintableLines applies Printable to each line.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// EndTable ends a table. The next table has new column widths.
func (t *Table) EndTable() {
	_ = t.Flush() // writing to a buffer never fails
	fmt.Fprintln(t)
}

// Print writes the table to its output.
func (t *Table) Print() error {
	_ = t.Flush() // writing to a buffer never fails
	for line := range strings.Lines(t.text.String()) {
		if _, err := fmt.Fprintln(t.out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// PrintNote prints a remark. Callers pass standard error as out, so standard output contains only the result.
func PrintNote(out io.Writer, format string, args ...any) {
	fmt.Fprintln(out, "note: "+PrintableLines(fmt.Sprintf(format, args...)))
}

// Size returns the columns and lines of the terminal that out writes to. ok is false if out is not a terminal.
func Size(out io.Writer) (width, height int, ok bool) {
	f, isFile := out.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	return width, height, true
}

// NewPainter returns a function that colours text if out is a terminal and NO_COLOR is not set (https://no-color.org).
func NewPainter(out io.Writer) func(colour, text string) string {
	_, _, isTerminal := Size(out)
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !isTerminal {
		return func(_, text string) string { return text }
	}
	codes := map[string]string{"good": "32", "bad": "31", "doubt": "33", "strong": "1"}
	return func(colour, text string) string { return "\x1b[" + codes[colour] + "m" + text + "\x1b[0m" }
}

// PrintList prints a title and a list of lines. It prints nothing if there are no lines.
func PrintList(out io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "%s:\n", title)
	for _, l := range lines {
		fmt.Fprintf(out, "- %s\n", l)
	}
}

// PrintJSON prints a value as indented JSON.
func PrintJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
