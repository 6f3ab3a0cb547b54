// Package environment finds differences between the machines, programs and settings of the cells that a campaign compares.
package environment

import (
	"maps"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Difference is a fact of the environment that differs between cells of a campaign.
type Difference struct {
	Field    v1alpha1.EnvironmentField
	Values   []CellValue // one value per cell, in the order of the plan
	Declared bool        // whether the campaign itself declares the difference: another pool, version, heap, ...
	Accepted bool        // whether spec.acceptedDifferences names the fact
	Note     string      // reason why a difference makes no comparison suspect: unknown for a cell, or harmless
}

// Suspect reports whether the difference makes a comparison inconclusive.
func (d Difference) Suspect() bool { return !d.Declared && !d.Accepted && d.Note == "" }

// CellValue holds the values of a fact in a cell's valid attempts. There are several values if the nodes or attempts of the cell
// differ.
type CellValue struct {
	Variant, Topology string
	Values            []string // distinct and sorted, for human readers; empty if unknown
	Undeclared        bool     // true: differs from the value of a compared cell, and the campaign does not declare the difference
}

// Differences compares the environments of cells. records[i] holds the records of cells[i]. It compares two cells only if they are
// one of the given pairs. It also lists a fact that differs among the records of one cell.
func Differences(cells []plan.Cell, records [][]record.Record, pairs [][2]int, accepted []v1alpha1.EnvironmentField) []Difference {
	e := environments{cells: cells, records: records, pairs: pairs}
	var out []Difference
	for _, fact := range environmentFacts {
		if d, found := e.difference(fact); found {
			d.Accepted = slices.Contains(accepted, d.Field)
			out = append(out, d)
		}
	}
	return out
}

// environments holds the cells, the records that show their environments, and the compared pairs.
type environments struct {
	cells   []plan.Cell
	records [][]record.Record // records of each cell
	pairs   [][2]int          // pairs of compared cells, as indices into cells
}

// difference returns how the cells differ in a fact. It returns false if there is no difference to list.
func (e environments) difference(f environmentFact) (Difference, bool) {
	shown, compared := e.values(f.shown), e.values(f.compared)
	d := Difference{Field: f.field}
	for i, c := range e.cells {
		d.Values = append(d.Values, CellValue{Variant: c.Variant(), Topology: c.Topology(), Values: shown[i]})
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
			note("unknown for " + e.name(x))
		case len(shown[y]) == 0:
			note("unknown for " + e.name(y))
		case slices.Equal(compared[x], compared[y]):
			if !slices.Equal(shown[x], shown[y]) {
				note(f.alike)
			}
		case len(compared[x]) == 0 || len(compared[y]) == 0:
			note(f.alike)
		case f.loose && slices.ContainsFunc(compared[x], func(v string) bool { return slices.Contains(compared[y], v) }):
		// The campaign may declare a difference between the machines of two cells, but never between the machines of
		// one cell.
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
			note("differs among the runs of cell " + e.name(i))
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

// values returns, for each cell, the distinct values of a fact in sorted order.
func (e environments) values(reader reader) [][]string {
	read := reader(e)
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
