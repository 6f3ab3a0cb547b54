package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Difference is one thing of the environment in which the cells of a campaign differ.
type Difference struct {
	Field    v1alpha1.EnvironmentField
	Values   []EnvironmentValue // by cell, in the plan's order
	Declared bool               // the campaign itself declares it: another pool, version, heap, ...
	Accepted bool               // spec.acceptedDifferences names it
	Note     string             // why it is listed though it makes no comparison suspect: not known of a cell, or harmless
}

// Suspect tells whether the difference makes a comparison inconclusive.
func (d Difference) Suspect() bool { return !d.Declared && !d.Accepted && d.Note == "" }

// EnvironmentValue is what a cell's valid attempts say of a thing; several values when its own nodes or attempts differ.
type EnvironmentValue struct {
	Variant, Topology string
	Values            []string // distinct, sorted, for people; empty when not known
	Undeclared        bool     // it differs from that of a cell it is compared with, and the campaign does not declare it
}

// Differences compares what the cells' valid Sweep and Final attempts say of their environment. Only cells that are
// compared with each other can differ; of a cell that is compared with none, what differs among its own attempts is
// listed.
func Differences(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec, outcomes map[record.Trial]Outcome) []Difference {
	e := environments{cells: p.Cells, records: make([][]record.Record, len(p.Cells)), pairs: comparedCells(p, spec)}
	for i, c := range p.Cells {
		e.records[i] = validRecords(c, outcomes)
	}
	var out []Difference
	for _, fact := range environmentFacts {
		if d, found := e.difference(fact); found {
			d.Accepted = slices.Contains(spec.AcceptedDifferences, d.Field)
			out = append(out, d)
		}
	}
	return out
}

// environments are the cells with what they have shown of themselves.
type environments struct {
	cells   []plan.Cell
	records [][]record.Record // by cell
	pairs   [][2]int          // cells that are compared
}

// comparedCells are the pairs of cells that a ratio compares, as indices.
func comparedCells(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec) [][2]int {
	index := map[CellKey]int{}
	for i, c := range p.Cells {
		index[CellKey{c.Variant(), c.Topology()}] = i
	}
	var out [][2]int
	for _, pair := range pairsOf(spec, p) {
		out = append(out, [2]int{
			index[CellKey{pair.variant, pair.topology}], index[CellKey{pair.baseline, pair.baselineTopology}],
		})
	}
	return out
}

// CellKey names a cell.
type CellKey struct{ Variant, Topology string }

func validRecords(c plan.Cell, outcomes map[record.Trial]Outcome) []record.Record {
	var out []record.Record
	for t, o := range outcomes {
		if t.Cell == c.Hash && (t.Phase == record.Sweep || t.Phase == record.Final) && o.valid() {
			out = append(out, *o.Record)
		}
	}
	return out
}

// difference finds out how the cells differ in a thing; false when there is nothing to list.
func (e environments) difference(f environmentFact) (Difference, bool) {
	shown, compared := e.values(f.shown), e.values(f.compared)
	d := Difference{Field: f.field}
	for i, c := range e.cells {
		d.Values = append(d.Values, EnvironmentValue{Variant: c.Variant(), Topology: c.Topology(), Values: shown[i]})
	}
	var suspect, declared bool
	var notes []string
	note := func(text string) {
		if !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	for _, pair := range e.pairs {
		x, y := pair[0], pair[1]
		switch {
		case len(shown[x]) == 0 && len(shown[y]) == 0:
		case len(shown[x]) == 0:
			note("not known of " + e.name(x))
		case len(shown[y]) == 0:
			note("not known of " + e.name(y))
		case slices.Equal(compared[x], compared[y]):
			if !slices.Equal(shown[x], shown[y]) {
				note(f.alike)
			}
		case len(compared[x]) == 0 || len(compared[y]) == 0:
			note(f.alike)
		case f.loose && slices.ContainsFunc(compared[x], func(v string) bool { return slices.Contains(compared[y], v) }):
		// The campaign may declare that two cells' machines differ, but never that those of one cell do.
		case (f.loose || len(compared[x]) == 1 && len(compared[y]) == 1) && f.declared(e, x, y):
			declared = true
		default:
			suspect = true
			d.Values[x].Undeclared, d.Values[y].Undeclared = true, true
		}
	}
	for i, values := range compared {
		if f.strict && len(values) > 1 {
			suspect = true
			d.Values[i].Undeclared = true
		}
	}
	for i, values := range shown {
		if len(values) > 1 && !suspect {
			note("differs among the runs of " + e.name(i))
		}
	}
	d.Declared = declared && !suspect
	if !suspect && !declared {
		d.Note = strings.Join(notes[:min(len(notes), 5)], "; ")
	}
	return d, suspect || declared || len(notes) > 0
}

func (e environments) name(i int) string {
	c := e.cells[i]
	if slices.ContainsFunc(e.cells, func(o plan.Cell) bool { return o.Topology() != c.Topology() }) {
		return c.Variant() + "/" + c.Topology()
	}
	return c.Variant()
}

// values lists, by cell, the distinct values of a thing, sorted.
func (e environments) values(of func(e environments) func(cell int, r record.Record) []string) [][]string {
	read := of(e)
	out := make([][]string, len(e.cells))
	for i, records := range e.records {
		seen := map[string]bool{}
		for _, r := range records {
			for _, v := range read(i, r) {
				if v != "" {
					seen[v] = true
				}
			}
		}
		out[i] = slices.Sorted(maps.Keys(seen))
	}
	return out
}

// mismatches are the doubts of differences that nobody declared or accepted.
func (a Assessment) mismatches() []Doubt {
	var suspects []Difference
	for _, d := range a.Differences {
		if d.Suspect() {
			suspects = append(suspects, d)
		}
	}
	most := maxNamed
	if len(suspects) > 1 {
		most = 2 // of each: the report has all
	}
	var fields []string
	for _, d := range suspects {
		var cells []string
		for _, v := range d.Values {
			if v.Undeclared {
				cells = append(cells, fmt.Sprintf("%s: %s", a.name(v.Variant, v.Topology), clip(strings.Join(v.Values, " and "), 60)))
			}
		}
		fields = append(fields, fmt.Sprintf("%s (%s)", d.Field, atMost(cells, most)))
	}
	return each(v1alpha1.ReasonEnvironmentMismatch, fields,
		"the cells compared differ in %s, which the campaign does not declare: make them the same and measure again with a new spec.rerun, or name what may differ in spec.acceptedDifferences")
}
