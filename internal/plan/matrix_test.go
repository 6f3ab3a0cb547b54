package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// names returns the cells of a plan as VARIANT/TOPOLOGY, in the order of the plan.
func names(p Plan) []string {
	var out []string
	for _, c := range p.Cells {
		out = append(out, c.Variant()+"/"+c.Topology())
	}
	return out
}

func TestMatrix(t *testing.T) {
	type selectors = []v1alpha1.CellSelector
	for _, tt := range []struct {
		what   string
		matrix *v1alpha1.Matrix
		want   string
	}{
		{"none", nil, "a/s b/s c/s a/l b/l c/l"},
		{"nothing said", &v1alpha1.Matrix{}, "a/s b/s c/s a/l b/l c/l"},
		{"a variant excluded", &v1alpha1.Matrix{Exclude: selectors{{Variant: "b"}}}, "a/s c/s a/l c/l"},
		{"a cell excluded", &v1alpha1.Matrix{Exclude: selectors{{Variant: "b", Topology: "l"}}}, "a/s b/s c/s a/l c/l"},
		{"a topology included, and a cell", &v1alpha1.Matrix{Include: selectors{{Topology: "l"}, {Variant: "c", Topology: "s"}}}, "c/s a/l b/l c/l"},
		{"included and excluded", &v1alpha1.Matrix{Include: selectors{{Topology: "l"}}, Exclude: selectors{{Variant: "a"}}}, "b/l c/l"},
		{"all excluded", &v1alpha1.Matrix{Exclude: selectors{{Topology: "l"}, {Topology: "s"}}}, ""},
	} {
		c := pools([]string{"s", "l"}, []string{"a", "pool", "a"}, []string{"b", "pool", "b"}, []string{"c", "pool", "c"})
		c.Spec.Baseline = "a"
		all := Build(c)
		c.Spec.Matrix = tt.matrix
		p := Build(c)
		if got := strings.Join(names(p), " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
		for _, cell := range p.Cells {
			if !slices.ContainsFunc(all.Cells, func(other Cell) bool { return other.Hash == cell.Hash }) {
				t.Errorf("%s: %s is another cell than without a matrix", tt.what, cell.Name)
			}
		}
		if invalid := len(Validate(c)) > 0; invalid != (tt.want == "") {
			t.Errorf("%s: %v", tt.what, Validate(c))
		}
		if n := len(Needs(c)); n != len(variantsOf(p)) {
			t.Errorf("%s: %d pools are needed of %v", tt.what, n, names(p))
		}
	}
}

func variantsOf(p Plan) map[string]bool {
	out := map[string]bool{}
	for _, c := range p.Cells {
		out[c.Variant()] = true
	}
	return out
}

// TestTurns_matrix_onlyRemainingCells checks that a plan with excluded cells has turns only for its remaining cells, each with all
// trials.
func TestTurns_matrix_onlyRemainingCells(t *testing.T) {
	c := pools([]string{"s", "l"}, []string{"a"}, []string{"b"})
	c.Spec.Matrix = &v1alpha1.Matrix{Exclude: []v1alpha1.CellSelector{{Variant: "a", Topology: "l"}}}
	c.Spec.Final.Repetitions = p(int32(2))
	plan := Build(c)
	asked := Asked{Finals: map[string]Finals{"s": {Clients: []int32{8}, Repetitions: 2}, "l": {Clients: []int32{8}, Repetitions: 2}}}
	finals := map[string]int{}
	for g := range plan.Groups {
		for _, turn := range plan.Turns(g, asked) {
			finals[plan.Cells[turn.Cell].Variant()+"/"+plan.Cells[turn.Cell].Topology()] += len(turn.Trials)
		}
	}
	if len(finals) != 3 || finals["a/s"] != 2 || finals["b/s"] != 2 || finals["b/l"] != 2 {
		t.Errorf("%v", finals)
	}
}
