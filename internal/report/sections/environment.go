package sections

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict"
)

// environments writes a table that compares the nodes of the variants. It shows what the nodes reported, not what the campaign
// declares.
func environments(d *document.Document, in view.Input) {
	records := map[string][]record.Record{}
	for _, a := range in.Attempts {
		records[a.Record.Attempt.Variant] = append(records[a.Record.Attempt.Variant], a.Record)
	}
	d.Section("Environment")
	who := "The nodes and the index"
	switch {
	case !view.FillsIndex(in) && !view.NodesKnown(in):
		who = "The loads"
	case !view.FillsIndex(in):
		who = "The nodes"
	}
	d.Para("%s reported these values. The comparison is suspect if compared variants differ in a value that the campaign neither declares nor accepts.", who)
	differences(d, in)
	titles := []string{""}
	for _, v := range in.Spec.Variants {
		titles = append(titles, string(v.Name)+" ")
	}
	t := d.Table(append(titles, "differs ")...)
	row := func(name string, of func([]record.Record) string) {
		values := []string{name}
		var known []string
		for _, v := range in.Spec.Variants {
			value := of(records[string(v.Name)])
			values = append(values, format.Shorten(value, 300))
			if value != "" {
				known = append(known, value)
			}
		}
		differs := ""
		if len(format.Distinct(known)) > 1 {
			differs = "yes"
		}
		t.Row(append(values, differs)...)
	}
	for _, f := range figures.Environment() {
		if !view.FillsIndex(in) && !view.NodesKnown(in) {
			break
		}
		row(f.Title, func(rs []record.Record) string { return distinctFacts(rs, f) })
	}
	row("loader's nodes", func(rs []record.Record) string {
		return list(rs, func(r record.Record) string { return r.Loader.Host })
	})
	row("driver", func(rs []record.Record) string {
		return list(rs, func(r record.Record) string { return strings.TrimSpace(r.Driver.Name + " " + r.Driver.Version) })
	})
	for _, topology := range in.Assessment.Topologies() {
		if !view.FillsIndex(in) {
			break
		}
		row("index settings and mapping, "+topology, func(rs []record.Record) string {
			return list(rs, func(r record.Record) string {
				if r.Ingest == nil || r.Attempt.Topology != topology {
					return ""
				}
				return r.Ingest.SettingsDigest
			})
		})
	}
}

// differences writes a row for each difference between the cells. The row shows whether the difference makes the comparison
// suspect.
func differences(d *document.Document, in view.Input) {
	if len(in.Assessment.Differences) == 0 {
		return
	}
	t := d.Table("what differs", "is ", "values ")
	for _, f := range in.Assessment.Differences {
		is, flag := "declared by the campaign", ""
		switch {
		case f.Suspect():
			is, flag = "**not declared: the comparison is suspect**", string(verdict.Errored)
		case f.Note != "":
			is = f.Note
		case f.Accepted && !f.Declared:
			is, flag = "accepted by spec.acceptedDifferences", string(verdict.Gated)
		}
		var values []string
		for _, v := range f.Values {
			if len(v.Values) > 0 {
				value := view.CellName(in, v.Variant, v.Topology) + ": " + strings.Join(v.Values, ", ")
				if v.Undeclared && f.Suspect() {
					value = "**" + value + "**"
				}
				values = append(values, value)
			}
		}
		const most = 12
		if len(values) > most {
			values = append(values[:most], fmt.Sprintf("%d more cells", len(values)-most))
		}
		t.Flagged(flag, string(f.Field), is, strings.Join(values, "; "))
	}
}

// distinctFacts lists the distinct values of a fact of the nodes in the records.
func distinctFacts(rs []record.Record, f figures.Figure) string {
	var values []string
	for i := range rs {
		values = append(values, f.Facts(&rs[i])...)
	}
	return joined(values)
}

func list(rs []record.Record, of func(record.Record) string) string {
	values := make([]string, len(rs))
	for i, r := range rs {
		values[i] = of(r)
	}
	return joined(values)
}

func joined(values []string) string {
	return strings.Join(slices.DeleteFunc(format.Distinct(values), func(s string) bool { return s == "" }), ", ")
}

// failedAttempts writes a table of all attempts that were not Measured.
func failedAttempts(d *document.Document, in view.Input) {
	d.Section("What failed and why")
	rows := slices.DeleteFunc(slices.Clone(in.Attempts), func(a view.Attempt) bool { return a.Judgement.Verdict == verdict.Measured })
	if len(rows) == 0 {
		d.Para("No attempt failed: every attempt was Measured.")
		return
	}
	const most = 500
	t := d.Table("variant", "topology ", "phase ", "clients", "repetition", "attempt", "verdict ", "why ")
	for _, a := range rows[:min(len(rows), most)] {
		r := a.Record.Attempt
		t.Flagged(string(a.Judgement.Verdict), r.Variant, r.Topology, string(r.Phase), format.IntText(r.Clients), view.BlockName(r.Trial), format.IntText(r.N),
			string(a.Judgement.Verdict), view.FailureText(a.Judgement.Notes(), 400))
	}
	if len(rows) > most {
		d.Para("%d more attempts are in results.csv.", len(rows)-most)
	}
}

// durations writes how long the attempts of each cell took, and how much of this time was measured load.
func durations(d *document.Document, in view.Input) {
	d.Section("What ran how long")
	t := d.Table("variant", "topology ", "attempts", "all", "measured load", "settling", "first start, UTC ", "last end, UTC ")
	for _, c := range in.Assessment.Cells {
		n, all, load, settle := 0, 0.0, 0.0, 0.0
		first, last := int64(math.MaxInt64), int64(0)
		for _, a := range in.Attempts {
			if a.Record.Attempt.Cell != c.Hash {
				continue
			}
			n++
			all += float64(a.Record.FinishedAt-a.Record.StartedAt) / 1000
			settle += a.Record.Settle.Seconds
			load += loadSeconds(a.Record)
			if start := a.Record.StartTime(); start > 0 {
				first = min(first, start)
			}
			last = max(last, a.Record.EndTime())
		}
		if n == 0 {
			t.Row(c.Variant, c.Topology, "0")
			continue
		}
		if first == math.MaxInt64 {
			first = 0
		}
		t.Row(c.Variant, c.Topology, strconv.Itoa(n), format.Duration(all), format.Duration(load), format.Duration(settle), format.Clock(first), format.Clock(last))
	}
}

// loadSeconds returns the length of the measured load. It returns 0 if no load was measured.
func loadSeconds(r record.Record) float64 {
	switch {
	case r.Ingest != nil:
		return r.Ingest.Seconds
	case r.Load != nil:
		return r.Load.Seconds
	}
	return 0
}
