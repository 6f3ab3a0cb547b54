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

// byteOrderMark is at the start of a UTF-8 file that a spreadsheet wrote.
var byteOrderMark = []byte{0xEF, 0xBB, 0xBF}

// Read reads a CSV file of results. The header names the columns in any order, and each further line is one row. Fields are
// separated by commas and may be quoted (RFC 4180). Lines end in LF or CRLF. Blank lines and lines with only empty fields are
// skipped. A file must have at least one row. The error is a *Malformed, unless the reader itself fails. file is the file's name
// for messages.
func Read(file string, in io.Reader) ([]Row, Columns, error) {
	buffered := bufio.NewReader(in)
	if head, _ := buffered.Peek(len(byteOrderMark)); bytes.Equal(head, byteOrderMark) {
		_, _ = buffered.Discard(len(byteOrderMark)) // cannot fail, because these bytes were peeked
	}
	r := &reader{file: file, csv: csv.NewReader(buffered)}
	r.csv.FieldsPerRecord = -1 // method row checks the number of fields, so that its error can name the column
	return r.readAll()
}

type reader struct {
	file   string
	csv    *csv.Reader
	header []string
	layout layout
	has    Columns
}

func (r *reader) readAll() ([]Row, Columns, error) {
	header, line, err := r.next()
	if errors.Is(err, io.EOF) {
		return nil, nil, &Malformed{r.file, 1, "variant", "the file is empty: the first line must name the columns"}
	}
	if err != nil {
		return nil, nil, err
	}
	r.header = header
	layout, foreign, err := readHeader(header, func(column, format string, args ...any) error {
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
	if hasOnlyCarriageReturns(header) {
		return "the file has one line: " + notInCR
	}
	return "the file has a header and no rows"
}

// next returns the next line that has a non-empty field, and the number of the line.
func (r *reader) next() ([]string, int, error) {
	for {
		fields, err := r.csv.Read()
		var wrong *csv.ParseError
		if errors.As(err, &wrong) {
			return nil, 0, r.csvError(wrong)
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

// csvError returns an error that names the line and the column of the wrong character. For an unbalanced quote that spans lines,
// the error names the line where the row begins.
func (r *reader) csvError(e *csv.ParseError) error {
	if errors.Is(e.Err, csv.ErrQuote) && e.StartLine != e.Line {
		return &Malformed{r.file, e.StartLine, "", fmt.Sprintf(
			"not a valid CSV: a quote in the row that begins here is not balanced (detected on line %d)", e.Line)}
	}
	return &Malformed{r.file, e.Line, strconv.Itoa(e.Column), "not a valid CSV: " + e.Err.Error()}
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
		return fail(missing, "the field is missing: the line has %d fields, the header %d (an empty field needs its comma)", len(fields), len(r.header))
	}
	if len(fields) > len(r.header) {
		return fail(strconv.Itoa(len(r.header)+1), "the header does not name this column: the line has %d fields, the header %d "+
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
		return fail("variant", "the field is empty: every row needs a variant")
	}
	if row.Phase == "" {
		row.Phase = record.Sweep
		if !r.has["clients"] {
			row.Phase = record.Final // without clients and phase, rows are repetitions of one load that the file does not describe
		}
	}
	if row.Phase == record.Sweep && row.Clients == 0 {
		return fail("clients", "the client count is %s: every row of a sweep needs a client count", missingValue(r.has["clients"]))
	}
	return row, nil
}

func missingValue(column bool) string {
	if column {
		return "empty"
	}
	return "missing"
}
