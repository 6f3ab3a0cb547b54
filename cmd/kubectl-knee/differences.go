package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// environmentOf lists what the nodes of a cell say differently in A and in B, by the code that compares the variants of
// one campaign: the two become the variants a and b of a campaign of their own.
func environmentOf(a, b side, x, y analysis.Cell) []difference {
	const nameA, nameB = "a", "b"
	var p plan.Plan
	outcomes := map[record.Trial]analysis.Outcome{}
	for _, one := range []struct {
		side side
		cell analysis.Cell
		as   string
	}{{a, x, nameA}, {b, y, nameB}} {
		cell := cellIn(one.side.in.Plan, one.cell)
		cell.Hash, cell.Spec.Variant, cell.Spec.Topology.Name = one.as, one.as, "t"
		p.Cells = append(p.Cells, cell)
		outcomesOf(one.side, one.cell.Hash, one.as, outcomes)
	}
	spec := v1alpha1.BenchmarkCampaignSpec{Baseline: nameA, Variants: []v1alpha1.Variant{{Name: nameA}, {Name: nameB}}}
	out := []difference{}
	for _, d := range analysis.Differences(p, spec, outcomes) {
		one := difference{What: string(d.Field), Declared: d.Declared, Note: d.Note}
		for _, v := range d.Values {
			if v.Variant == nameA {
				one.A = strings.Join(v.Values, ", ")
			} else {
				one.B = strings.Join(v.Values, ", ")
			}
		}
		out = append(out, one)
	}
	return out
}

// specOf lists what a cell is asked to be in A and in B, where that differs. The rerun token is no difference.
func specOf(a, b side, x, y analysis.Cell) []difference {
	was, is := flat(cellIn(a.in.Plan, x).Spec), flat(cellIn(b.in.Plan, y).Spec)
	all := maps.Clone(was)
	maps.Copy(all, is)
	out := []difference{}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if was[path] != is[path] && path != "rerun" {
			out = append(out, difference{What: path, A: was[path], B: is[path], Declared: true})
		}
	}
	return out
}

// flat gives each value of a cell's spec with its path.
func flat(spec plan.CellSpec) map[string]string {
	text, err := json.Marshal(spec)
	must(err) // plain data
	var tree any
	must(json.Unmarshal(text, &tree))
	out := map[string]string{}
	flatten("", tree, out)
	return out
}

func flatten(path string, v any, out map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			flatten(strings.TrimPrefix(path+"."+key, "."), child, out)
		}
	case []any:
		text, err := json.Marshal(v)
		must(err)
		out[path] = string(text) // a list is one value: its order counts
	default:
		out[path] = fmt.Sprint(v)
	}
}
