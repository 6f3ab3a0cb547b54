package plan

import (
	"slices"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

func TestSweepTrials_withRerun(t *testing.T) {
	c := study()
	topology, clients := c.Spec.Topologies[0].Name, c.Spec.Sweep.Clients
	before := Build(c)
	cell := func(p Plan, variant string) Cell {
		return p.Cells[slices.IndexFunc(p.Cells, func(c Cell) bool { return c.Variant() == variant })]
	}
	c.Spec.Sweep.Rerun = []v1alpha1.PointRerun{{Variant: "intel", Topology: topology, Clients: clients[1], Token: "a"}}
	after := Build(c)
	for _, variant := range []string{"arm", "intel"} {
		was, is := before.SweepTrials(cell(before, variant)), after.SweepTrials(cell(after, variant))
		for i := range was {
			again := variant == "intel" && was[i].Clients == clients[1]
			if same := was[i] == is[i]; same == again {
				t.Errorf("%s at %d clients: %+v became %+v", variant, was[i].Clients, was[i], is[i])
			}
			if after.Replaces(was[i]) != again || after.Replaces(is[i]) {
				t.Errorf("%s at %d clients: replaced %t, and its successor %t", variant, was[i].Clients, after.Replaces(was[i]), after.Replaces(is[i]))
			}
		}
	}
	intel := cell(after, "intel")
	names := map[string]bool{}
	for _, token := range []string{"", "a", "b", "2026-11-22"} {
		trial := record.Attempt{Trial: record.Trial{Phase: record.Sweep, Clients: 10000, Repetition: 9, RerunToken: token, Placement: 1}, N: 99}
		name := intel.AttemptName(trial)
		if names[name] || len(name) > maxName {
			t.Errorf("token %q: the name %s is too long, or that of another trial", token, name)
		}
		names[name] = true
	}
	if got := intel.AttemptName(record.Attempt{Trial: record.Trial{Phase: record.Sweep, Clients: 20, Repetition: 1, Placement: 1}, N: 1}); got != intel.Name+"-s20-1-1" {
		t.Errorf("a trial without a rerun token has another name: %s", got)
	}
}
