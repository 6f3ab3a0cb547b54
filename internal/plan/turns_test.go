package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
)

func across(variant, topology, baseline, baselineTopology string) v1alpha1.Comparison {
	return v1alpha1.Comparison{
		Cell:     v1alpha1.CellName{Variant: v1alpha1.Name(variant), Topology: v1alpha1.Name(topology)},
		Baseline: v1alpha1.CellName{Variant: v1alpha1.Name(baseline), Topology: v1alpha1.Name(baselineTopology)},
	}
}

// TestTurns_joinedTopologies_alternate checks that topologies of one comparison take turns, as variants do. Otherwise their
// ratio would also contain the change between two times.
func TestTurns_joinedTopologies_alternate(t *testing.T) {
	c := pools([]string{"t", "u", "v"}, []string{"a"})
	c.Spec.Final.Repetitions = p(int32(4))
	c.Spec.Final.OpenLoop, c.Spec.Final.FreshJVM = &v1alpha1.OpenLoop{}, p(false)
	c.Spec.Comparisons = []v1alpha1.Comparison{across("a", "v", "a", "t")}
	plan := Build(c)
	asked := Asked{Finals: map[string]Finals{
		"t": {Clients: []int32{2}, Repetitions: 4, TargetDocsPerSecond: 700},
		"u": {Clients: []int32{2}, Repetitions: 2},
		"v": {Clients: []int32{4}, Repetitions: 6, TargetDocsPerSecond: 700},
	}}
	var order []string
	turns := plan.Turns(0, asked)
	for i, turn := range turns {
		order = append(order, turn.Block.Topology)
		if joined := turn.Block.Topology != "u"; turn.Fresh != joined {
			t.Errorf("%s: fresh %t", short(plan, []Turn{turn}), turn.Fresh)
		}
		if i > 0 && (!turns[i-1].Block.Before(turn.Block, plan) || turn.Block.Before(turns[i-1].Block, plan)) {
			t.Errorf("the order of blocks is not that of the turns: %+v, %+v", turns[i-1].Block, turn.Block)
		}
	}
	if len(turns) != 10+2+2 {
		t.Fatalf("turns %q", short(plan, turns))
	}
	for _, i := range []int{0, 4} { // each pair of blocks is a palindrome: t v v t
		if order[i] == order[i+1] || order[i+1] != order[i+2] || order[i] != order[i+3] || slices.Contains(order[i:i+4], "u") {
			t.Errorf("turns %q", short(plan, turns))
		}
	}
	if got := strings.Join(order[8:10], ""); got != "vv" {
		t.Errorf("a second stage of v alone: %q", got)
	}
	if !turns[10].Block.OpenLoop || !turns[11].Block.OpenLoop || order[12] != "u" || order[13] != "u" {
		t.Errorf("turns %q", short(plan, turns))
	}
}

// TestBuild_joinedTopologies checks that comparisons within one topology join no topologies. Joined topologies also take
// turns if their cells have separate pools.
func TestBuild_joinedTopologies(t *testing.T) {
	for _, tt := range []struct {
		comparisons []v1alpha1.Comparison
		want        string
	}{
		{nil, "t|u|v|w"},
		{[]v1alpha1.Comparison{across("a", "t", "b", "t")}, "t|u|v|w"},
		{[]v1alpha1.Comparison{across("a", "v", "b", "u")}, "t|u v|w"},
		{[]v1alpha1.Comparison{across("a", "w", "a", "v"), across("a", "t", "b", "u"), across("b", "u", "b", "w")}, "t u v w"},
	} {
		c := pools([]string{"t", "u", "v", "w"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"})
		c.Spec.Comparisons = tt.comparisons
		var sets []string
		for _, set := range Build(c).Joined {
			sets = append(sets, strings.Join(set, " "))
		}
		if got := strings.Join(sets, "|"); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestTurns_firstFinalAfterAdaptiveSweep_isFresh checks that the first Final of each cell has a new JVM after an
// adaptive sweep, because cells then have different histories. In all cells, the later Finals use the JVM of the first
// Final.
func TestTurns_firstFinalAfterAdaptiveSweep_isFresh(t *testing.T) {
	c := pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"})
	c.Spec.Sweep.Strategy, c.Spec.Final.FreshJVM = v1alpha1.SweepAdaptive, p(false)
	plan := Build(c)
	for group := range plan.Groups {
		turns := plan.Turns(group, asked(plan, map[string]int32{"t": 8}))
		for i, turn := range turns {
			if want := i == 1; turn.Fresh != want {
				t.Errorf("%s: fresh %t", short(plan, []Turn{turn}), turn.Fresh)
			}
		}
	}
}
