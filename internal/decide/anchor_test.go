package decide_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestAnchor_runsAtEndOfSweep checks that the anchor of each cell follows the cell's own sweep without a new start of the cluster, and
// that the campaign ends. The points that adaptive sweeps need for the shared clients come after all anchors. If the anchor is added
// to a finished campaign, exactly one trial of each cell runs.
func TestAnchor_runsAtEndOfSweep(t *testing.T) {
	for _, pool := range []string{"one pool", "separate pools"} {
		for _, strategy := range []v1alpha1.SweepStrategy{v1alpha1.SweepFull, v1alpha1.SweepAdaptive} {
			for _, later := range []bool{false, true} {
				name := pool + " " + string(strategy)
				c := wrappers.MakeCampaign("x").Clients(1, 2, 4, 8, 12, 16, 24, 32).Repetitions(2)
				for _, variant := range []string{"a", "b"} {
					if pool == "one pool" {
						c.VariantOnAnyNode(variant)
					} else {
						c.Variant(variant)
					}
				}
				c.Spec.Sweep.Strategy = strategy
				anchor := !later
				c.Spec.Sweep.Anchor = &anchor
				s := newSim(t, c)
				s.measure = func(a record.Attempt) record.Record {
					return wrappers.MeasuredRecord(a, saturating(map[string]int32{"a": 2, "b": 16}[a.Variant])(a.Clients))
				}
				if d := s.run(); !d.Over {
					t.Fatalf("%s: not over: %+v", name, d)
				}
				if later {
					s.log, anchor = nil, true
					s.plan = plan.Build(s.campaign)
					if d := s.run(); !d.Over || len(s.trials(record.Sweep))+len(s.trials(record.Final)) > 0 {
						t.Errorf("%s, added later: %q", name, s.log)
					}
				}
				checkAnchors(t, name, s, later)
			}
		}
	}
}

// checkAnchors checks that each cell has one Anchor trial, and that it follows a trial of the cell's own sweep in the same JVM.
func checkAnchors(t *testing.T, name string, s *sim, later bool) {
	t.Helper()
	anchors := s.trials(record.Anchor)
	if len(anchors) != 2 || s.assess().Done != s.assess().Planned {
		t.Fatalf("%s: anchors %q, log %q", name, anchors, s.log)
	}
	for _, line := range anchors {
		variant, _, _ := strings.Cut(line, " ")
		own := slices.DeleteFunc(slices.Clone(s.log), func(l string) bool {
			return !strings.HasPrefix(l, variant+" ") && !strings.HasSuffix(l, " "+variant)
		})
		before := own[slices.Index(own, line)-1]
		if want := map[bool]string{false: variant + " Sweep ", true: variant + " Warmup "}[later]; !strings.HasPrefix(before, want) {
			t.Errorf("%s: %q follows %q", name, line, before)
		}
	}
}
