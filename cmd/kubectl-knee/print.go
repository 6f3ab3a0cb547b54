package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"golang.org/x/term"
)

// table writes aligned columns, and no line that ends in blanks.
type table struct {
	*tabwriter.Writer
	text *bytes.Buffer
	out  io.Writer
}

func newTable(out io.Writer) *table {
	text := &bytes.Buffer{}
	return &table{tabwriter.NewWriter(text, 0, 4, 2, ' ', 0), text, out}
}

// row writes cells. The rows of one table have the same number of them, or columns come apart.
func (t *table) row(cells ...string) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = printable(c)
	}
	fmt.Fprintln(t, strings.Join(texts, "\t"))
}

// printable makes a text of what others wrote: what a terminal would obey rather than show becomes a blank.
func printable(s string) string {
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

// printableLines is printable of each line.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// blank ends a table: the columns of the next one are its own.
func (t *table) blank() {
	_ = t.Flush() // a buffer does not fail
	fmt.Fprintln(t)
}

func (t *table) flush() error {
	_ = t.Flush() // a buffer does not fail
	for line := range strings.Lines(t.text.String()) {
		if _, err := fmt.Fprintln(t.out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

func integer[T ~int | ~int32 | ~int64](n T) string { return strconv.FormatInt(int64(n), 10) }

func whole(f float64) string { return strconv.FormatFloat(f, 'f', 0, 64) }

// count is a number of things.
func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func percentOrDash(f *float64) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", *f)
}

// note tells a person something beside the result, which stays alone on standard output.
func (p *plugin) note(format string, args ...any) {
	fmt.Fprintln(p.streams.ErrOut, "note: "+printableLines(fmt.Sprintf(format, args...)))
}

// oneOf refuses a flag's value that is none of those it can have.
func oneOf(flag, value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return usagef("--%s must be one of %s, not %q", flag, strings.Join(slices.DeleteFunc(slices.Clone(values), func(s string) bool { return s == "" }), ", "), value)
}

// terminal is the terminal that out is, if it is one: its columns and lines.
func terminal(out io.Writer) (width, height int, ok bool) {
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

// painter colours text on a terminal, unless NO_COLOR asks for none (https://no-color.org).
func painter(out io.Writer) func(colour, text string) string {
	_, _, isTerminal := terminal(out)
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !isTerminal {
		return func(_, text string) string { return text }
	}
	codes := map[string]string{"good": "32", "bad": "31", "doubt": "33", "strong": "1"}
	return func(colour, text string) string { return "\x1b[" + codes[colour] + "m" + text + "\x1b[0m" }
}

var resultsName = regexp.MustCompile(`^results(-[0-9]+)?\.csv$`)

func isResults(name string) bool { return resultsName.MatchString(name) }

func compareText(a, b string) int { return strings.Compare(a, b) }

func stringReader(s string) io.Reader { return strings.NewReader(s) }
