package decide_test

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestComparison_comparedTopologies_takeTurns checks that topologies whose cells are compared take turns.
func TestComparison_comparedTopologies_takeTurns(t *testing.T) {
	c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").Topology("2p0r", 2).Clients(1, 2).Repetitions(4)
	first, second := c.Spec.Topologies[0].Name, c.Spec.Topologies[1].Name
	c.Spec.Comparisons = []v1alpha1.Comparison{{
		Cell: v1alpha1.CellName{Variant: "a", Topology: second}, Baseline: v1alpha1.CellName{Variant: "a", Topology: first},
	}}
	s := newSim(t, c)
	var finals []string
	s.measure = func(a record.Attempt) record.Record {
		if a.Phase == record.Final {
			finals = append(finals, a.Topology[:1])
		}
		return wrappers.MeasuredRecord(a, 1000)
	}
	if d := s.run(); !d.Over {
		t.Fatalf("not over: %+v", d)
	}
	got := strings.Join(finals, "")
	if len(got) != 8 || strings.Count(got, "1") != 4 || got[0] == got[1] || got[1] != got[2] || got[4] == got[5] || got[5] != got[6] {
		t.Errorf("Finals on topologies %s, want pairs of blocks that are each other's reverse", got)
	}
	if ups := strings.Count(strings.Join(s.log, "\n"), "up a"); ups != 2+8 {
		t.Errorf("%d starts of OpenSearch, want one a sweep and one a Final", ups)
	}
}
