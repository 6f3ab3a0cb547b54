package offline

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// column is one that has a meaning; every other column of a file is ignored.
type column struct {
	name  string
	alias string // the name in Knee's own results.csv, where it differs
	own   bool   // has its meaning in Knee's own results.csv alone
	read  func(row *Row, text string) error
}

// columns are the documented ones, and those of Knee's own results.csv that tell more.
var columns = []column{
	{name: "variant", read: func(r *Row, s string) error { r.Variant = s; return name(s) }},
	{name: "topology", read: func(r *Row, s string) error { r.Topology = s; return name(s) }},
	{name: "phase", read: readPhase},
	{name: "clients", read: func(r *Row, s string) (err error) { r.Clients, err = count(s); return err }},
	{name: "docs_per_second", read: readDocs},
	{name: "rejections", read: func(r *Row, s string) error {
		n, err := roundedUp(s)
		r.Rejections = &n
		return err
	}},
	{name: "error_rate", read: figure(func(r *Row, f *float64) { r.ErrorRate = f }, 1, "it is a share of the requests, from 0 to 1, not percent")},
	{name: "iowait_percent", alias: "cpu_iowait_percent", read: figure(func(r *Row, f *float64) { r.IOWait = f }, 100, ofCores)},
	{name: "cpu_user_percent", read: figure(func(r *Row, f *float64) { r.User = f }, math.MaxFloat64, "")},
	{name: "cpu_system_percent", alias: "cpu_sys_percent", read: figure(func(r *Row, f *float64) { r.System = f }, math.MaxFloat64, "")},
	{name: "status", alias: verdictColumn, read: readStatus},
	{name: "repetition", read: func(r *Row, s string) error {
		n, err := whole(s, math.MaxInt32)
		r.Repetition = int32(n)
		return err
	}},
	{name: "placement", read: func(r *Row, s string) error { r.Placement = label(s); return name(s) }},
	{name: "attempt", own: true, read: func(r *Row, s string) (err error) { r.Attempt, err = count(s); return err }},
	{name: "failures", own: true, read: func(r *Row, s string) error { r.Reason = printable(s); return nil }},
}

// signature are columns that only Knee's own results.csv has together. By themselves some are names that anybody gives.
var signature = []string{"attempt", "verdict", "failures", "whole_docs_per_second"}

const verdictColumn = "verdict" // of Knee's own results.csv, which stands for the status

const ofCores = "it is in percent of all cores, from 0 to 100"

// layout is where a file's columns with a meaning are.
type layout []struct {
	column
	index int
	title string // as the file has it
}

// layoutOf reads a header. A documented name wins over its alias, which then is a column without a meaning.
// foreign are the columns that would have had a meaning in Knee's own results.csv.
func layoutOf(header []string, fail func(column, format string, args ...any) error) (out layout, foreign []string, err error) {
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
			return nil, nil, fail(title, "the header names it %d times (columns %d and %d): keep one", len(found), found[0]+1, found[1]+1)
		}
	}
	if len(out) == 0 || out[0].name != "variant" {
		return nil, nil, fail("variant", "the header does not name it%s", separatorHint(header))
	}
	return out, foreign, nil
}

// separatorHint tells of a file whose fields are not separated by commas.
func separatorHint(header []string) string {
	if carriageReturns(header) {
		return ": " + notInCR
	}
	if len(header) == 1 {
		for _, separator := range []struct{ char, name string }{{";", "semicolons"}, {"\t", "tabs"}, {"|", "bars"}} {
			if strings.Contains(header[0], separator.char) {
				return ": fields are separated by commas, not by " + separator.name
			}
		}
	}
	return fmt.Sprintf(" (it has %s): the first line names the columns, and variant is required",
		strings.Join(slices.Collect(quoted(header)), ", "))
}

// carriageReturns tells of a file whose lines all end in CR alone, which makes one line of it.
func carriageReturns(header []string) bool {
	return slices.ContainsFunc(header, func(title string) bool { return strings.Contains(title, "\r") })
}

const notInCR = "end lines in LF or CRLF, not in CR alone"

func readPhase(r *Row, s string) error {
	for _, p := range []record.Phase{record.Warmup, record.Sweep, record.Final, record.OpenLoop} {
		if strings.EqualFold(s, string(p)) {
			r.Phase = p
			return nil
		}
	}
	return fmt.Errorf("%q is no phase: Warmup, Sweep, Final, OpenLoop or empty", s)
}

func readStatus(r *Row, s string) error {
	known := map[string]Status{
		"ok": OK, "failed": Failed, "gated": GatedRow, // documented
		"measured": OK, "errored": Failed, // the verdicts of Knee's own results.csv
	}
	status, ok := known[strings.ToLower(s)]
	if !ok {
		return fmt.Errorf("%q is no status: ok, failed, gated or empty", s)
	}
	r.Status = status
	return nil
}

// readDocs reads docs/s: 0, which is no measurement, or what a load can have. The ratio of any two is a number then.
func readDocs(r *Row, s string) error {
	const least, most = 1e-3, 1e15
	if err := figure(func(r *Row, f *float64) { r.DocsPerSecond = f }, most, "docs/s of more than 1e15 is no measurement")(r, s); err != nil {
		return err
	}
	if f := *r.DocsPerSecond; f > 0 && f < least {
		return fmt.Errorf("%q is too little: docs/s of less than 0.001 is no measurement", s)
	}
	return nil
}

// figure reads a number that is not negative and at most a limit.
func figure(set func(*Row, *float64), limit float64, hint string) func(*Row, string) error {
	return func(r *Row, s string) error {
		f, err := number(s)
		if err != nil {
			return err
		}
		if f > limit {
			return fmt.Errorf("%q is too much: %s", s, hint)
		}
		set(r, &f)
		return nil
	}
}
