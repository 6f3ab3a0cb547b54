// Package offline draws from a CSV of results what the operator draws from its records: peaks, knees, shared clients
// and ratios, by the same code (package analysis). It is pure: a reader in, values out. The CSV may be Knee's own
// results.csv or one that somebody's own script made; docs/kubectl-knee.md documents both sides of it.
package offline

import (
	"fmt"

	"github.com/knee-bench/knee/internal/record"
)

// Row is one line of a CSV of results: one trial, or one attempt at it.
type Row struct {
	File string // for messages; may be empty
	Line int    // 1-based, in the file

	Variant, Topology string
	Phase             record.Phase // Sweep where the file says nothing, but for a file without client counts
	Clients           int32        // 0: not known, which only a Final may be
	Repetition        int32        // 0 where the file says nothing
	Placement         string       // a label; 1 where the file says nothing
	Attempt           int32        // 0: the file has no attempts

	DocsPerSecond *float64 // nil: no valid measurement
	Rejections    *int64   // of a mean the next whole number
	ErrorRate     *float64 // share of requests, 0 to 1
	IOWait        *float64 // percent of all cores, as the two below
	User, System  *float64
	Status        Status
	Reason        string // what the file itself says of a row that is not ok
}

// Status is what the file itself says of a row.
type Status string

// The statuses; an empty field is OK.
const (
	OK       Status = "ok"
	Failed   Status = "failed"
	GatedRow Status = "gated"
)

// Columns tells which of the columns that have a meaning a file has, by their documented names. One that has its meaning
// in Knee's own results.csv alone is there, but false, in a file that is another.
type Columns map[string]bool

// Malformed is a line that cannot be read: which, in what column, and what is wrong.
type Malformed struct {
	File    string
	Line    int    // 1-based
	Column  string // its name, or its number where it has none
	Message string
}

func (m *Malformed) Error() string {
	where := fmt.Sprintf("line %d", m.Line)
	if m.File != "" {
		where = fmt.Sprintf("%s: line %d", m.File, m.Line)
	}
	if m.Column != "" {
		where += ", column " + m.Column
	}
	return where + ": " + m.Message
}
