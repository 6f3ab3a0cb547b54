package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// TestTurns_sweepRepetitions_areSpread checks that the repeats of a client count are spread over the sweep, and that no count is always
// late.
func TestTurns_sweepRepetitions_areSpread(t *testing.T) {
	c := pools([]string{"t"}, []string{"a"})
	c.Spec.Sweep = v1alpha1.Sweep{Clients: []int32{1, 2, 4}, Repetitions: p(int32(3))}
	plan := Build(c)
	got := short(plan, plan.Turns(0, asked(plan, nil)))
	if want := []string{"a/t: S1@1 S1@2 S1@4 S2@4 S2@2 S2@1 S3@1 S3@2 S3@4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTurns_placements(t *testing.T) {
	c := pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"})
	c.Spec.Sweep.Clients = []int32{1, 2}
	c.Spec.Final = v1alpha1.Final{Repetitions: p(int32(2)), Placements: p(int32(2))}
	plan := Build(c)
	a := asked(plan, map[string]int32{"t": 2})
	open := a.Finals["t"]
	open.TargetDocsPerSecond = 700
	a.Finals["t"] = open
	got := short(plan, plan.Turns(1, a))
	want := []string{
		"b/t: S1@1 S1@2", "b/t block t 1: F1@2", "b/t block t 2: F2@2",
		"b/t block t 1 placement 2: F1@2", "b/t block t 2 placement 2: F2@2", "b/t block t 1 placement 2: O1@2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	warmup := plan.WarmupTrial(plan.Cells[1], plan.Turns(1, a)[3].Trials[0], 2)
	if warmup.Placement != 2 || warmup.Clients != 2 {
		t.Errorf("a Warmup before a Final of placement 2: %+v", warmup)
	}
	trials := plan.FinalTrials(plan.Cells[1], a.Finals["t"])
	var inTurns []record.Trial
	for _, turn := range plan.Turns(1, a)[1:5] {
		inTurns = append(inTurns, turn.Trials...)
	}
	if !slices.Equal(trials, inTurns) {
		t.Errorf("FinalTrials %+v, in turns %+v", trials, inTurns)
	}
}

// TestTurns_fixedClients_everySecondBlockReversed checks a plan without a sweep: every block has every client count, in the same order for
// all cells, and in reverse order in every second block.
func TestTurns_fixedClients_everySecondBlockReversed(t *testing.T) {
	c := pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"})
	c.Spec.Sweep = v1alpha1.Sweep{Mode: v1alpha1.SweepFixed, Clients: []int32{1, 2, 4, 8}}
	plan := Build(c)
	if trials := plan.SweepTrials(plan.Cells[0]); len(trials) != 0 {
		t.Errorf("sweeps %+v, want none", trials)
	}
	turns := func(group int, seed uint64) (clients [][]int32) {
		plan.Seed = seed
		for _, turn := range plan.Turns(group, Asked{Finals: map[string]Finals{"t": {Clients: plan.Clients, Repetitions: 4}}}) {
			var block []int32
			for _, trial := range turn.Trials {
				if trial.Phase != record.Final || trial.Repetition != turn.Block.Repetition {
					t.Errorf("block %+v has %+v", turn.Block, trial)
				}
				block = append(block, trial.Clients)
			}
			clients = append(clients, block)
		}
		return clients
	}
	a, b := turns(0, 1), turns(1, 1)
	if len(a) != 4 || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Fatalf("a %v, b %v; want four blocks, alike for both", a, b)
	}
	orders := map[string]bool{}
	for seed := range uint64(40) {
		blocks := turns(0, seed)
		for i := 0; i < 4; i += 2 {
			back := slices.Clone(blocks[i])
			slices.Reverse(back)
			if !slices.Equal(blocks[i+1], back) || !slices.Equal(slices.Sorted(slices.Values(back)), plan.Clients) {
				t.Errorf("seed %d: blocks %v", seed, blocks)
			}
			orders[fmt.Sprint(blocks[i])] = true
		}
	}
	if len(orders) < 20 { // of 24 possible orders
		t.Errorf("80 draws gave %d of the 24 orders", len(orders))
	}
}

// TestTurns_alternatingCells_areFresh checks that every repetition has its own JVM by default. With freshJVM false, only the
// repetitions of alternating cells have one. Otherwise some would run on a JVM that is already warm.
func TestTurns_alternatingCells_areFresh(t *testing.T) {
	for _, tt := range []struct {
		name     string
		campaign *v1alpha1.BenchmarkCampaign
		fresh    bool
	}{
		{"one pool", pools([]string{"t"}, []string{"a"}, []string{"b"}), true},
		{"a third one has nodes of its own", pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "pool", "x"}, []string{"c", "pool", "y"}), true},
		{"pools of their own", pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"}), false},
		{"topologies of one variant follow each other", pools([]string{"t", "u"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"}), false},
	} {
		for _, freshJVM := range []*bool{nil, p(true), p(false)} {
			tt.campaign.Spec.Final.FreshJVM = freshJVM
			plan := Build(tt.campaign)
			fresh := tt.fresh || freshJVM == nil || *freshJVM
			for group := range plan.Groups {
				for _, turn := range plan.Turns(group, asked(plan, map[string]int32{"t": 8, "u": 8})) {
					if want := fresh && turn.Block != (Block{}); turn.Fresh != want {
						t.Errorf("%s: %s", tt.name, short(plan, []Turn{turn}))
					}
				}
			}
		}
	}
}

func TestOpenLoopTarget(t *testing.T) {
	c := study()
	if plan := Build(c); plan.OpenLoopTarget(1e6) != 0 {
		t.Error("a target although no OpenLoop is asked for")
	}
	c.Spec.Final.OpenLoop = &v1alpha1.OpenLoop{}
	for _, tt := range []struct {
		percent string
		knee    float64
		want    int64
	}{
		{"", 236746, 166000}, {"70", 1000, 700}, {"50", 123456, 61700}, {"99.5", 1000, 995}, {"70", 99.99, 70},
		{"70", 1428, 1000}, {"1", 10, 1}, {"70", 0, 0},
	} {
		if tt.percent != "" {
			c.Spec.Final.OpenLoop.PercentOfKnee = v1alpha1.ToDecimal(tt.percent)
		}
		if got := Build(c).OpenLoopTarget(tt.knee); got != tt.want {
			t.Errorf("%s %% of %v: %d, want %d", tt.percent, tt.knee, got, tt.want)
		}
	}
}
