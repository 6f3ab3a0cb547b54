// Package offline reads a CSV file of results into records. Package verdict/campaign judges these records like the records of a
// campaign: it finds peaks, knees, shared client counts and ratios. The package is pure: it takes a reader and returns values. The
// CSV file can be Knee's own results.csv or the output of any script. docs/kubectl-knee.md documents its columns and the result.
package offline

import (
	"fmt"

	"github.com/knee-bench/knee/internal/record"
)

// Row is one line of a CSV file of results: one trial, or one attempt at a trial.
type Row struct {
	File string // name of the file for messages; may be empty
	Line int    // number of the line in the file, from 1

	Variant, Topology  string
	Phase              record.Phase // default: Sweep, or Final in a file without client counts
	Clients            int32        // 0: unknown, which is possible only for a Final
	Repetition         int32        // 0 if the file has no repetitions
	Placement          string       // a label; 1 if the file has no placements
	Attempt            int32        // 0: the file has no attempts
	PlannedRepetitions int32        // repetitions of the look with which a Final was measured; 0: there is only one look
	MaxRepetitions     int32        // repetitions of both stages together; 0: the repetitions had one stage

	DocsPerSecond *float64 // nil: no valid measurement
	Rejections    *int64   // rejected requests; nil: unknown. If the file gives a mean with decimals, the mean is rounded up
	ErrorRate     *float64 // share of failed requests, 0 to 1
	IOWait        *float64 // in percent of all cores, like User and System; nil: unknown
	User, System  *float64
	Status        Status
	Reason        string // the reason in the file for a row with a status other than ok
}

// Status is the verdict that the file gives for a row.
type Status string

// Values of Status. An empty field of the file means OK.
const (
	OK       Status = "ok"
	Failed   Status = "failed"
	GatedRow Status = "gated"
)

// Columns holds the known columns of a file, by their documented names. The value is false for a column that only has a meaning in
// Knee's own results.csv, if this file is a different file.
type Columns map[string]bool

// Malformed is the error for a line that cannot be read. It has the line number, the column, and the problem.
type Malformed struct {
	File    string
	Line    int    // from 1
	Column  string // the column's name, or its number if it has no name
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
