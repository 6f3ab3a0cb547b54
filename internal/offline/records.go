package offline

import (
	"fmt"
	"math"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

// file holds the rows of a CSV file as attempts.
type file struct {
	cells    []campaign.CellKey // sorted by topology, then by variant, each in the order of first appearance in the file
	attempts []campaign.Judged
}

// mostFinals is the highest number of Finals that a cell may have at a client count. It is more than any plan has. It also rejects
// a time series: the exact interval of so many values would take minutes to compute and would have no meaning.
const mostFinals = 100

// newFile makes an attempt from each row of a Sweep or a Final. In Knee's own file, several attempts can belong to one trial. In
// any other file, each row is a separate trial.
func newFile(rows []Row, has Columns, o Options) (file, error) {
	type finals struct {
		cell    campaign.CellKey
		clients int32
	}
	var f file
	places := placementNumbers(rows)
	lines := map[record.Attempt]int{} // line number of each attempt
	counts := map[finals]int{}
	trials := map[record.Trial]int32{} // number of rows of each trial; in a file without repetitions, Repetition is 0 in the key
	for _, r := range rows {
		if r.Phase == record.Warmup || r.Phase == record.Anchor || r.Phase == record.OpenLoop {
			continue // the docs/s of a Warmup, an anchor or an open loop are not a result
		}
		t := record.Trial{Variant: r.Variant, Topology: r.Topology, Phase: r.Phase, Clients: r.Clients, Placement: places[r.Placement]}
		attempt, first := record.Attempt{Trial: t, N: 1}, true
		if has["attempt"] && has["repetition"] {
			attempt.Repetition, attempt.N = r.Repetition, r.Attempt
			_, seen := trials[attempt.Trial]
			first = !seen
			trials[attempt.Trial]++
			if line, twice := lines[attempt]; twice {
				return file{}, &Malformed{r.File, r.Line, "attempt", fmt.Sprintf("attempt %d of this trial is already on line %d: "+
					"the results of two runs cannot be analyzed as one campaign; compare them with kubectl knee compare", r.Attempt, line)}
			}
			lines[attempt] = r.Line
		} else {
			trials[t]++
			attempt.Repetition = trials[t]
		}
		key := campaign.CellKey{Variant: r.Variant, Topology: r.Topology}
		if !slices.Contains(f.cells, key) {
			f.cells = append(f.cells, key)
		}
		if r.Phase == record.Final && first {
			at := finals{key, r.Clients}
			if counts[at]++; counts[at] > mostFinals {
				return file{}, &Malformed{r.File, r.Line, "", fmt.Sprintf("%s has more than %d Final rows at %s: "+
					"each row must be one repetition, not a point of a time series; add a clients or phase column if the rows are something else",
					cellName(key), mostFinals, clientsText(r.Clients))}
			}
		}
		f.attempts = append(f.attempts, judge(r, attempt, has, o.Gates))
	}
	topologies, variants := f.topologies(), f.variants()
	slices.SortStableFunc(f.cells, func(a, b campaign.CellKey) int {
		if d := slices.Index(topologies, a.Topology) - slices.Index(topologies, b.Topology); d != 0 {
			return d
		}
		return slices.Index(variants, a.Variant) - slices.Index(variants, b.Variant)
	})
	return f, nil
}

// placementNumbers assigns numbers from 1 to the labels of placements.
func placementNumbers(rows []Row) map[string]record.Placement {
	var labels []string
	for _, r := range rows {
		labels = append(labels, r.Placement)
	}
	slices.Sort(labels)
	out := map[string]record.Placement{}
	for i, label := range slices.Compact(labels) {
		out[label] = record.Placement(i + 1)
	}
	return out
}

// placements returns the number of placements of the campaign that wrote the file. For any other file it returns 1, because the
// cells may have different numbers of placements. Each comparison then uses the number of placements of its own two cells.
func (f file) placements(has Columns) int32 {
	most := int32(1)
	for _, j := range f.attempts {
		if t := j.Record.Attempt; isOwn(has) && t.Phase == record.Final {
			most = max(most, int32(t.Placement))
		}
	}
	return most
}

func (f file) variants() []string {
	return distinct(f.cells, func(c campaign.CellKey) string { return c.Variant })
}

func (f file) topologies() []string {
	return distinct(f.cells, func(c campaign.CellKey) string { return c.Topology })
}

func distinct(cells []campaign.CellKey, of func(campaign.CellKey) string) []string {
	var out []string
	for _, c := range cells {
		if !slices.Contains(out, of(c)) {
			out = append(out, of(c))
		}
	}
	return out
}

// judge gives a row its verdict by the rules for records. A row with the status failed or gated keeps this status, whatever its
// figures are. A row with the status ok can still be Errored, because opensearch-benchmark reports success for a run with errors.
// A row that Knee itself judged Measured has passed the gates of its campaign, so only the gates of the options apply.
func judge(r Row, attempt record.Attempt, has Columns, limits v1alpha1.Gates) campaign.Judged {
	if r.Status == GatedRow {
		r.ErrorRate = nil // a row with the status "gated": the program that wrote this status already considered the errors
	}
	if isOwn(has) && limits.MaxRejections == nil {
		limits.MaxRejections = new(int64(math.MaxInt64))
	}
	rec := recordOf(r, attempt)
	j := gates.Judge(rec, limits)
	for i := range j.Failures {
		if j.Failures[i].Reason == record.ReasonRequestsFailed && rec.Error == nil {
			j.Failures[i].Message += " (an error_rate above 0 is a failure, even if the status is ok)"
		}
	}
	if r.Status == GatedRow && j.Verdict == verdict.Measured {
		j.Verdict = verdict.Gated
		j.Failures = []verdict.Failure{{Message: reasonOf("the file says that this row failed a quality gate", r.Reason)}}
	}
	return campaign.Judged{Record: rec, Judgement: j}
}

// recordOf returns a record with the figures of the row.
func recordOf(r Row, attempt record.Attempt) record.Record {
	rec := record.Record{Version: record.Version, Attempt: attempt, PlannedRepetitions: r.PlannedRepetitions, MaxRepetitions: r.MaxRepetitions}
	switch {
	case r.Status == Failed:
		rec.Error = &record.Error{Reason: record.ReasonDriverFailed, Message: reasonOf("the file says that this row failed", r.Reason)}
		return rec
	case r.DocsPerSecond == nil:
		rec.Error = &record.Error{Reason: record.ReasonDriverFailed, Message: reasonOf("no docs_per_second", r.Reason)}
		return rec
	}
	rec.Ingest = &record.Ingest{DocsPerSecond: *r.DocsPerSecond}
	rec.Tasks = []record.Task{{Name: "ingest", Throughput: *r.DocsPerSecond, ErrorRate: value(r.ErrorRate)}}
	if r.Rejections != nil {
		rec.Rejections.WritePool = *r.Rejections
	}
	if r.IOWait != nil {
		rec.Nodes = []record.Node{{CPU: &record.CPU{IOWait: *r.IOWait, User: value(r.User), Sys: value(r.System)}}}
	}
	return rec
}

// reasonOf returns the reason that the file gives (parameter why). If the file gives no reason, it returns a default text
// (parameter what).
func reasonOf(what, why string) string {
	if why == "" {
		return what
	}
	return why
}

func value(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}
