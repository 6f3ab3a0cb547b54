package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

func TestClients(t *testing.T) {
	for _, tt := range []struct {
		sweep v1alpha1.Sweep
		want  []int32
	}{
		{v1alpha1.Sweep{Clients: []int32{1, 2, 4}}, []int32{1, 2, 4}},
		{v1alpha1.Sweep{Range: &v1alpha1.ClientRange{Min: 8, Max: 48, Step: 20}}, []int32{8, 28, 48}},
		{v1alpha1.Sweep{Range: &v1alpha1.ClientRange{Min: 8, Max: 47, Step: 20}}, []int32{8, 28}},
		{v1alpha1.Sweep{Range: &v1alpha1.ClientRange{Min: 8, Max: 8, Step: 1}}, []int32{8}},
		{v1alpha1.Sweep{Range: &v1alpha1.ClientRange{Min: 8, Max: 9}}, nil}, // without a step, Clients must not loop forever
	} {
		if got := Clients(tt.sweep); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.sweep, got, tt.want)
		}
	}
	sweep := v1alpha1.Sweep{Clients: []int32{1, 2}}
	Clients(sweep)[0] = 99
	if sweep.Clients[0] != 1 {
		t.Error("Clients hands out the spec's own list")
	}
}

func TestBuild(t *testing.T) {
	c := study()
	c.Spec.Topologies = append(c.Spec.Topologies, v1alpha1.Topology{Name: "2n", Nodes: p(int32(2)), Primaries: 2, Replicas: p(int32(1))})
	got := Build(c)
	var cells []string
	for _, cell := range got.Cells {
		cells = append(cells, cell.Topology()+"/"+cell.Variant())
	}
	if want := []string{"6p0r/arm", "6p0r/intel", "2n/arm", "2n/intel"}; !slices.Equal(cells, want) {
		t.Errorf("cells %v, want %v", cells, want)
	}
	if spec := got.Cells[2].Spec; spec.Topology.Nodes != 2 || spec.Topology.Replicas != 1 || spec.Pool.NodeSelector[ArchLabel] != "arm64" {
		t.Errorf("cell 2n/arm: %+v", spec)
	}
	if got.PercentOfPeak != 97 || got.Repetitions != 4 || got.Retries != 2 || got.Seed != 1 || got.Campaign != c.UID ||
		got.ProvisioningTimeout != 15*time.Minute || got.TrialTimeout != 4*time.Hour || got.SettleTimeout != 5*time.Minute {
		t.Errorf("defaults: %+v", got)
	}
	if !reflect.DeepEqual(Build(c), got) {
		t.Error("two plans of one campaign differ")
	}
	c.Spec.Final.Repetitions, c.Spec.Retries = p(int32(0)), p(int32(0))
	if zero := Build(c); zero.Repetitions != 0 || zero.Retries != 0 {
		t.Errorf("zero repetitions and retries are not the defaults: %+v", zero)
	}
}

func TestTrials(t *testing.T) {
	plan := Build(study())
	cell := plan.Cells[1]
	sweep := plan.SweepTrials(cell)
	if len(sweep) != 8 || sweep[2] != (record.Trial{Campaign: string(plan.Campaign), Cell: cell.Hash, Variant: "intel", Topology: "6p0r",
		Phase: record.Sweep, Clients: 16, Repetition: 1, Placement: 1}) {
		t.Errorf("sweep: %+v", sweep)
	}
	final := plan.FinalTrials(cell, Finals{Clients: []int32{12}, Repetitions: 4})
	if len(final) != 4 || final[3].Phase != record.Final || final[3].Clients != 12 || final[3].Repetition != 4 {
		t.Errorf("Final: %+v", final)
	}
}

func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		name        string
		campaign    *v1alpha1.BenchmarkCampaign
		parallelism int32
		want        string
	}{
		{"pools apart by a label", pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"}), 32, "[[0] [1]]"},
		{"by architecture", study(), 32, "[[0] [1]]"},
		{"one pool", pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "pool", "x"}), 32, "[[0 1]]"},
		{"no labels", pools([]string{"t"}, []string{"a"}, []string{"b"}), 32, "[[0 1]]"},
		{"labels with different keys may be on one node", pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "zone", "y"}), 32, "[[0 1]]"},
		{"apart by one of two labels", pools([]string{"t"}, []string{"a", "pool", "x", "zone", "z"}, []string{"b", "pool", "x", "zone", "y"}), 32, "[[0] [1]]"},
		{"one that fits both joins them", pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"}, []string{"c"}), 32, "[[0 1 2]]"},
		{"a variant's topologies share its nodes", pools([]string{"t", "u"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"}), 32, "[[0 2] [1 3]]"},
		{"parallelism 1", pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"}, []string{"c", "pool", "z"}), 1, "[[0 1 2]]"},
		{"parallelism 2", pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"}, []string{"c", "pool", "z"}), 2, "[[0 2] [1]]"},
	} {
		tt.campaign.Spec.Parallelism = &tt.parallelism
		if got := fmt.Sprint(Build(tt.campaign).Groups); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// short formats turns as "a/t: S1@1 S1@2 S1@4": the cell, then phase, repetition and clients of each trial.
func short(p Plan, turns []Turn) []string {
	var out []string
	for _, turn := range turns {
		cell := p.Cells[turn.Cell]
		var trials []string
		for _, t := range turn.Trials {
			trials = append(trials, fmt.Sprintf("%s%d@%d", t.Phase[:1], t.Repetition, t.Clients))
		}
		block := ""
		if turn.Block.Repetition > 0 {
			block = fmt.Sprintf(" block %s %d", turn.Block.Topology, turn.Block.Repetition)
		}
		if turn.Placement() > 1 {
			block += fmt.Sprintf(" placement %d", turn.Placement())
		}
		out = append(out, fmt.Sprintf("%s/%s%s: %s", cell.Variant(), cell.Topology(), block, strings.Join(trials, " ")))
	}
	return out
}

// asked returns the trials that the records of a plan require, if the shared clients of the given topologies are
// known.
func asked(p Plan, shared map[string]int32) Asked {
	a := Asked{Sweeps: map[string][]record.Trial{}, Finals: map[string]Finals{}}
	for _, cell := range p.Cells {
		a.Sweeps[cell.Hash] = p.SweepTrials(cell)
	}
	for topology, clients := range shared {
		f := Finals{Repetitions: p.Repetitions}
		if clients > 0 {
			f.Clients = []int32{clients}
		}
		a.Finals[topology] = f
	}
	return a
}

func TestTurns_cellWithOwnNodes(t *testing.T) {
	c := pools([]string{"t"}, []string{"a", "pool", "x"}, []string{"b", "pool", "y"})
	c.Spec.Sweep.Clients = []int32{1, 2, 4}
	c.Spec.Final.Repetitions = p(int32(2))
	plan := Build(c)
	if got, want := short(plan, plan.Turns(1, asked(plan, nil))), []string{"b/t: S1@1 S1@2 S1@4"}; !slices.Equal(got, want) {
		t.Errorf("sweep: %q, want %q", got, want)
	}
	want := []string{"b/t: S1@1 S1@2 S1@4", "b/t block t 1: F1@2", "b/t block t 2: F2@2"}
	if got := short(plan, plan.Turns(1, asked(plan, map[string]int32{"t": 2}))); !slices.Equal(got, want) {
		t.Errorf("all: %q, want %q", got, want)
	}
	if got := plan.Turns(1, asked(plan, map[string]int32{"t": 0})); len(got) != 1 {
		t.Errorf("without shared clients there are Finals: %q", short(plan, got))
	}
}

// TestTurns_cellsOnOnePool_alternate checks that cells on one pool take turns. Every second block runs in reverse order,
// so the same cell ends one block and starts the next.
func TestTurns_cellsOnOnePool_alternate(t *testing.T) {
	c := pools([]string{"t"}, []string{"a"}, []string{"b"})
	c.Spec.Sweep.Clients = []int32{1, 2, 4}
	plan := Build(c)
	got := short(plan, plan.Turns(0, asked(plan, map[string]int32{"t": 4})))
	if want := []string{"a/t: S1@1 S1@2 S1@4", "b/t: S1@1 S1@2 S1@4"}; !slices.Equal(got[:2], want) {
		t.Errorf("sweeps: %q, want %q", got[:2], want)
	}
	if len(got) != 2+8 {
		t.Fatalf("turns: %q", got)
	}
	for i, turn := range got[2:] {
		if want := fmt.Sprintf("%s/t block t %d: F%d@4", turn[:1], i/2+1, i/2+1); turn != want {
			t.Errorf("turn %d: %q, want %q", i, turn, want)
		}
	}
	for _, i := range []int{2, 6} { // each pair of blocks is a palindrome: x y y x
		if got[i][:1] == got[i+1][:1] || got[i+1][:1] != got[i+2][:1] || got[i][:1] != got[i+3][:1] {
			t.Errorf("blocks from turn %d: %q, want one order and then its reverse", i, got[i:i+4])
		}
	}
	if again := short(plan, plan.Turns(0, asked(plan, map[string]int32{"t": 4}))); !slices.Equal(again, got) {
		t.Error("the order is not a function of the spec")
	}
}

func TestBlockOrder_dependsOnSeed(t *testing.T) {
	orders := map[string]bool{}
	for seed := range int64(20) {
		c := pools([]string{"t"}, []string{"a"}, []string{"b"}, []string{"c"})
		c.Spec.Seed = &seed
		plan := Build(c)
		orders[fmt.Sprint(plan.blockOrder(0, "t", 1))] = true
	}
	if len(orders) != 6 {
		t.Errorf("20 seeds draw %d of the 6 orders of three cells", len(orders))
	}
}

func TestWarmupTrial(t *testing.T) {
	c := study()
	c.Spec.Sweep.Clients = []int32{1, 2, 4, 8}
	plan := Build(c)
	cell := plan.Cells[1]
	want := record.Trial{Campaign: string(plan.Campaign), Cell: cell.Hash, Variant: "intel", Topology: "6p0r", Phase: record.Warmup, Clients: 4, Repetition: 1, Placement: 1}
	if got := plan.WarmupTrial(cell, plan.SweepTrials(cell)[0], 1); got != want {
		t.Errorf("before the sweep: %+v, want %+v, at the middle of the sweep's clients", got, want)
	}
	want.Clients, want.Repetition = 2, 3
	if got := plan.WarmupTrial(cell, plan.FinalTrials(cell, Finals{Clients: []int32{2}, Repetitions: 4})[1], 3); got != want {
		t.Errorf("before a Final: %+v, want %+v, at the Final's clients", got, want)
	}
}

// TestTurns_newResults_onlyAppend checks that new results only append turns: they must not change the order of trials that were
// already measured.
func TestTurns_newResults_onlyAppend(t *testing.T) {
	c := pools([]string{"t", "u"}, []string{"a"}, []string{"b"})
	plan := Build(c)
	sweeps := short(plan, plan.Turns(0, asked(plan, nil)))
	first := short(plan, plan.Turns(0, asked(plan, map[string]int32{"t": 8})))
	all := short(plan, plan.Turns(0, asked(plan, map[string]int32{"t": 8, "u": 12})))
	if !slices.Equal(first[:len(sweeps)], sweeps) || !slices.Equal(all[:len(first)], first) {
		t.Errorf("sweeps %q\nfirst topology %q\nall %q", sweeps, first, all)
	}
}

func TestBlockBefore_ordersBlocks(t *testing.T) {
	plan := Build(pools([]string{"t", "u"}, []string{"a"}, []string{"b"}))
	order := []Block{
		{}, {Topology: "t", Placement: 1, Repetition: 1}, {Topology: "t", Placement: 1, Repetition: 2},
		{Topology: "t", Placement: 2, Repetition: 1}, {Topology: "t", Placement: 2, Repetition: 2},
		{Topology: "t", Placement: 2, Repetition: 1, OpenLoop: true},
		{Topology: "u", Placement: 1, Repetition: 1}, {Topology: "u", Placement: 1, Repetition: 2},
	}
	for i, b := range order {
		for j, c := range order {
			if got := b.Before(c, plan); got != (i < j) {
				t.Errorf("%v before %v: %t", b, c, got)
			}
		}
	}
}
