package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/plugin/terminal"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/environment"
)

// environmentDifferences lists the differences between the environments that the nodes of a cell report in A and in B. To reuse the code
// that compares the variants of one campaign, it builds a campaign with two variants, named "a" and "b".
func environmentDifferences(a, b side, x, y campaign.Cell) []difference {
	const nameA, nameB = "a", "b"
	var cells []plan.Cell
	var records [][]record.Record
	for _, one := range []struct {
		side side
		cell campaign.Cell
		name string
	}{{a, x, nameA}, {b, y, nameB}} {
		cell := findPlannedCell(one.side.in.Plan, one.cell)
		cell.Hash, cell.Spec.Variant, cell.Spec.Topology.Name = one.name, one.name, "t"
		cells = append(cells, cell)
		records = append(records, campaign.ValidRecords(one.cell.Hash, one.side.in.Assessment.Outcomes))
	}
	out := []difference{}
	for _, d := range environment.Differences(cells, records, [][2]int{{1, 0}}, nil) {
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

// specDifferences lists the differences between the specs of a cell in A and in B, except the rerun token.
func specDifferences(a, b side, x, y campaign.Cell) []difference {
	was, is := flattenSpec(findPlannedCell(a.in.Plan, x).Spec), flattenSpec(findPlannedCell(b.in.Plan, y).Spec)
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

// flattenSpec returns each value of a cell's spec by its path.
func flattenSpec(spec plan.CellSpec) map[string]string {
	text, err := json.Marshal(spec)
	terminal.PanicOnError(err) // encoding plain data never fails
	var tree any
	terminal.PanicOnError(json.Unmarshal(text, &tree))
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
		terminal.PanicOnError(err)
		out[path] = string(text) // a list is one value, because its order matters
	default:
		out[path] = fmt.Sprint(v)
	}
}
