package offline

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// byteOrderMark begins a file that a spreadsheet wrote as UTF-8.
var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// Read reads a CSV of results: a header that names the columns in any order, then a row a line. Fields are separated
// by commas and may be quoted (RFC 4180); lines end in LF or CRLF. Blank lines, and lines of empty fields, are no
// rows, and a file has at least one. The error is a *Malformed, unless the reader itself fails. file is the file's name for messages.
func Read(file string, in io.Reader) ([]Row, Columns, error) {
	buffered := bufio.NewReader(in)
	if head, _ := buffered.Peek(len(byteOrderMark)); bytes.Equal(head, byteOrderMark) {
		_, _ = buffered.Discard(len(byteOrderMark)) // it was just peeked at
	}
	r := &reader{file: file, csv: csv.NewReader(buffered)}
	r.csv.FieldsPerRecord = -1 // counted here, to name the column
	return r.all()
}

type reader struct {
	file   string
	csv    *csv.Reader
	header []string
	layout layout
	has    Columns
}

func (r *reader) all() ([]Row, Columns, error) {
	header, line, err := r.next()
	if errors.Is(err, io.EOF) {
		return nil, nil, &Malformed{r.file, 1, "variant", "the file is empty: the first line names the columns"}
	}
	if err != nil {
		return nil, nil, err
	}
	r.header = header
	layout, foreign, err := layoutOf(header, func(column, format string, args ...any) error {
		return &Malformed{r.file, line, column, fmt.Sprintf(format, args...)}
	})
	if err != nil {
		return nil, nil, err
	}
	r.layout, r.has = layout, Columns{}
	for _, title := range foreign {
		r.has[title] = false
	}
	for _, c := range r.layout {
		r.has[c.name] = true
	}
	headerLine := line
	var rows []Row
	for {
		fields, line, err := r.next()
		if errors.Is(err, io.EOF) && len(rows) == 0 {
			return nil, nil, &Malformed{r.file, headerLine, "", noRows(header)}
		}
		if errors.Is(err, io.EOF) {
			return rows, r.has, nil
		}
		if err != nil {
			return nil, nil, err
		}
		row, err := r.row(fields, line)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, row)
	}
}

func noRows(header []string) string {
	if carriageReturns(header) {
		return "it is the only line: " + notInCR
	}
	return "the file has a header and no rows"
}

// next gives the next line that has a field with something in it, and its number.
func (r *reader) next() ([]string, int, error) {
	for {
		fields, err := r.csv.Read()
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			return nil, 0, r.noCSV(wrong)
		}
		if err != nil {
			return nil, 0, err
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if strings.Join(fields, "") != "" {
			line, _ := r.csv.FieldPos(0)
			return fields, line, nil
		}
	}
}

// noCSV names the line and the character's column; of a quote that swallows lines, the line where its row begins.
func (r *reader) noCSV(e *csv.ParseError) error {
	if errors.Is(e.Err, csv.ErrQuote) && e.StartLine != e.Line {
		return &Malformed{r.file, e.StartLine, "", fmt.Sprintf(
			"it is no CSV: a quote of the row that begins here is not balanced, which shows on line %d", e.Line)}
	}
	return &Malformed{r.file, e.Line, strconv.Itoa(e.Column), "it is no CSV: " + e.Err.Error()}
}

func (r *reader) row(fields []string, line int) (Row, error) {
	fail := func(column, format string, args ...any) (Row, error) {
		return Row{}, &Malformed{r.file, line, column, fmt.Sprintf(format, args...)}
	}
	if len(fields) < len(r.header) {
		missing := r.header[len(fields)]
		if strings.TrimSpace(missing) == "" {
			missing = strconv.Itoa(len(fields) + 1)
		}
		return fail(missing, "it is missing: the line has %d fields, the header %d (an empty field needs its comma)", len(fields), len(r.header))
	}
	if len(fields) > len(r.header) {
		return fail(strconv.Itoa(len(r.header)+1), "the header does not name it: the line has %d fields, the header %d "+
			"(a field with a comma needs quotes)", len(fields), len(r.header))
	}
	row := Row{File: r.file, Line: line, Status: OK, Placement: "1"}
	for _, c := range r.layout {
		text := fields[c.index]
		if text == "" {
			continue
		}
		if err := c.read(&row, text); err != nil {
			at, _ := r.csv.FieldPos(c.index)
			return Row{}, &Malformed{r.file, at, c.title, err.Error()}
		}
	}
	if row.Variant == "" {
		return fail("variant", "it is empty")
	}
	if row.Phase == "" {
		row.Phase = record.Sweep
		if !r.has["clients"] {
			row.Phase = record.Final // repetitions of one load that the file does not describe
		}
	}
	if row.Phase == record.Sweep && row.Clients == 0 {
		return fail("clients", "it is %s: a point of a sweep needs its client count", missing(r.has["clients"]))
	}
	return row, nil
}

func missing(column bool) string {
	if column {
		return "empty"
	}
	return "missing"
}
