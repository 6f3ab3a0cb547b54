package decide_test

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestTruth_H1_deadCell_campaignEnds checks that a variant that is always Errored runs nothing after its sweep, and that the Finals of
// the other variants still run in blocks, on common and on separate pools. All clusters are deleted in the end.
func TestTruth_H1_deadCell_campaignEnds(t *testing.T) {
	for _, pool := range []string{"one pool", "separate pools"} {
		for _, strategy := range []v1alpha1.SweepStrategy{v1alpha1.SweepFull, v1alpha1.SweepAdaptive} {
			for _, topologies := range [][]v1alpha1.Topology{nil, {{Name: "t"}, {Name: "u"}}} {
				c := wrappers.MakeCampaign("x").Clients(1, 2, 4, 8).Repetitions(3)
				for _, name := range []string{"a", "dead", "b"} {
					if pool == "one pool" {
						c.VariantOnAnyNode(name)
					} else {
						c.Variant(name)
					}
				}
				c.Spec.Topologies, c.Spec.Sweep.Strategy = topologies, strategy
				c.Spec.Retries = ptr.To[int32](1)
				name := pool + " " + string(strategy)
				s := newSim(t, c)
				s.measure = func(a record.Attempt) record.Record {
					if a.Variant == "dead" {
						return wrappers.ErroredRecord(a, record.ReasonDriverFailed, "no load")
					}
					return wrappers.MeasuredRecord(a, saturating(map[string]int32{"a": 2, "b": 4}[a.Variant])(a.Clients))
				}
				if d := s.run(); !d.Over || len(s.world.Clusters)+len(s.world.Jobs) > 0 {
					t.Fatalf("%s: not over: %+v", name, d)
				}
				checkBlocks(t, name, s.trials(record.Final), max(1, len(topologies)))
				a := s.assess()
				if len(a.Ratios) != max(1, len(topologies)) || a.Done != a.Planned || len(a.LeftOut) != max(1, len(topologies)) {
					t.Errorf("%s: %d ratios, %d of %d done, left out %v", name, len(a.Ratios), a.Done, a.Planned, a.LeftOut)
				}
			}
		}
	}
}

// checkBlocks checks that each block holds one Final of "a" and one Final of "b", both at 4 clients.
func checkBlocks(t *testing.T, name string, finals []string, topologies int) {
	t.Helper()
	if len(finals) != 2*3*topologies {
		t.Fatalf("%s: Finals %q", name, finals)
	}
	for i := 0; i < len(finals); i += 2 {
		first, second := finals[i], finals[i+1]
		if first[0] == second[0] || first[1:] != second[1:] || !strings.Contains(first, " Final 4/") {
			t.Errorf("%s: block of %q and %q", name, first, second)
		}
	}
}
