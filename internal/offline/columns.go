package offline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// column describes a column that the analysis reads. All other columns of a file are ignored.
type column struct {
	name  string
	alias string // name in Knee's own results.csv, if it differs from name
	own   bool   // whether the column has a meaning only in Knee's own results.csv
	read  func(row *Row, text string) error
}

// columns lists the documented columns, and further columns that only Knee's own results.csv has.
var columns = []column{
	{name: "variant", read: func(r *Row, s string) error { r.Variant = s; return readName(s) }},
	{name: "topology", read: func(r *Row, s string) error { r.Topology = s; return readName(s) }},
	{name: "phase", read: readPhase},
	{name: "clients", read: func(r *Row, s string) (err error) { r.Clients, err = readCount(s); return err }},
	{name: "docs_per_second", read: readDocs},
	{name: "rejections", read: func(r *Row, s string) error {
		n, err := readRoundedUp(s)
		r.Rejections = &n
		return err
	}},
	{name: "error_rate", read: readFigure(func(r *Row, f *float64) { r.ErrorRate = f }, 1, "the value is a share of the requests, from 0 to 1, not percent")},
	{name: "iowait_percent", alias: "cpu_iowait_percent", read: readFigure(func(r *Row, f *float64) { r.IOWait = f }, 100, ofCores)},
	{name: "cpu_user_percent", read: readFigure(func(r *Row, f *float64) { r.User = f }, math.MaxFloat64, "")},
	{name: "cpu_system_percent", alias: "cpu_sys_percent", read: readFigure(func(r *Row, f *float64) { r.System = f }, math.MaxFloat64, "")},
	{name: "status", alias: verdictColumn, read: readStatus},
	{name: "repetition", read: func(r *Row, s string) error {
		n, err := readWhole(s, math.MaxInt32)
		r.Repetition = int32(n)
		return err
	}},
	{name: "placement", read: func(r *Row, s string) error { r.Placement = readLabel(s); return readName(s) }},
	{name: "attempt", own: true, read: func(r *Row, s string) (err error) { r.Attempt, err = readCount(s); return err }},
	{name: "max_repetitions", own: true, read: func(r *Row, s string) (err error) { r.MaxRepetitions, err = readCount(s); return err }},
	{name: "planned_repetitions", own: true, read: func(r *Row, s string) (err error) { r.PlannedRepetitions, err = readCount(s); return err }},
	{name: "failures", own: true, read: func(r *Row, s string) error { r.Reason = printable(s); return nil }},
}

// signature lists columns that identify Knee's own results.csv: only that file has all of them.
var signature = []string{"attempt", "verdict", "failures", "whole_docs_per_second"}

const verdictColumn = "verdict" // a column of Knee's own results.csv; read as the status

const ofCores = "the value is in percent of all cores, from 0 to 100"

// layout lists the columns of a file that are read, with the position of each column.
type layout []struct {
	column
	index int
	title string // title in the file, in lower case
}

// readHeader reads a header. If the header has a documented name and also its alias, the alias is ignored. foreign lists columns
// that have a meaning only in Knee's own results.csv, if this file is a different file.
func readHeader(header []string, fail func(column, format string, args ...any) error) (out layout, foreign []string, err error) {
	at := map[string][]int{}
	for i, title := range header {
		title = strings.ToLower(strings.TrimSpace(title))
		at[title] = append(at[title], i)
	}
	own := !slices.ContainsFunc(signature, func(title string) bool { return len(at[title]) == 0 })
	for _, c := range columns {
		title := c.name
		if len(at[title]) == 0 && c.alias != "" {
			title = c.alias
		}
		if !own && (c.own || title == verdictColumn) {
			if len(at[title]) > 0 {
				foreign = append(foreign, title)
			}
			continue
		}
		switch found := at[title]; len(found) {
		case 0:
		case 1:
			out = append(out, struct {
				column
				index int
				title string
			}{c, found[0], title})
		default:
			return nil, nil, fail(title, "the header names this column %d times (columns %d and %d): keep one of them", len(found), found[0]+1, found[1]+1)
		}
	}
	if len(out) == 0 || out[0].name != "variant" {
		return nil, nil, fail("variant", "the header does not name this column%s", separatorHint(header))
	}
	return out, foreign, nil
}

// separatorHint returns a hint for the error that the header has no variant. It detects a wrong field separator and wrong line
// ends.
func separatorHint(header []string) string {
	if hasOnlyCarriageReturns(header) {
		return ": " + notInCR
	}
	if len(header) == 1 {
		for _, separator := range []struct{ char, name string }{{";", "semicolons"}, {"\t", "tabs"}, {"|", "bars"}} {
			if strings.Contains(header[0], separator.char) {
				return ": separate the fields by commas, not by " + separator.name
			}
		}
	}
	return fmt.Sprintf(" (it has %s): the first line must name the columns, and the column variant is required",
		strings.Join(slices.Collect(quoted(header)), ", "))
}

// hasOnlyCarriageReturns reports whether the header contains CR. All lines of the file then end in CR alone, and the whole file
// looks like one line.
func hasOnlyCarriageReturns(header []string) bool {
	return slices.ContainsFunc(header, func(title string) bool { return strings.Contains(title, "\r") })
}

const notInCR = "end each line with LF or CRLF, not with CR alone"

func readPhase(r *Row, s string) error {
	for _, p := range []record.Phase{record.Warmup, record.Sweep, record.Anchor, record.Final, record.OpenLoop} {
		if strings.EqualFold(s, string(p)) {
			r.Phase = p
			return nil
		}
	}
	return fmt.Errorf("%q is not a valid phase: use Warmup, Sweep, Anchor, Final or OpenLoop, or leave the field empty", s)
}

func readStatus(r *Row, s string) error {
	known := map[string]Status{
		"ok": OK, "failed": Failed, "gated": GatedRow, // documented values
		"measured": OK, "errored": Failed, // the verdicts of Knee's own results.csv
	}
	status, ok := known[strings.ToLower(s)]
	if !ok {
		return fmt.Errorf("%q is not a valid status: use ok, failed or gated, or leave the field empty", s)
	}
	r.Status = status
	return nil
}

// readDocs reads docs/s. It accepts 0, which means no measurement, and plausible rates. The bounds keep the ratio of any two rates
// finite.
func readDocs(r *Row, s string) error {
	const least, most = 1e-3, 1e15
	if err := readFigure(func(r *Row, f *float64) { r.DocsPerSecond = f }, most, "docs/s must be at most 1e15")(r, s); err != nil {
		return err
	}
	if f := *r.DocsPerSecond; f > 0 && f < least {
		return fmt.Errorf("%q is too small: docs/s must be at least 0.001, or 0 if there is no measurement", s)
	}
	return nil
}

// readFigure reads a number from 0 to limit.
func readFigure(set func(*Row, *float64), limit float64, hint string) func(*Row, string) error {
	return func(r *Row, s string) error {
		f, err := readNumber(s)
		if err != nil {
			return err
		}
		if f > limit {
			return fmt.Errorf("%q is too large: %s", s, hint)
		}
		set(r, &f)
		return nil
	}
}
