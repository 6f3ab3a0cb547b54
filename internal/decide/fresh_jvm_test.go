package decide_test

import (
	"testing"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestFreshJVM_separatePools_restartsBeforeEachFinal checks that each Final starts in a new JVM with its Warmup, and that a finished
// campaign starts nothing if the user sets freshJVM later.
func TestFreshJVM_separatePools_restartsBeforeEachFinal(t *testing.T) {
	for _, fresh := range []bool{true, false} {
		c := wrappers.MakeCampaign("x").Variant("a").Variant("b").Clients(1, 2).Repetitions(2)
		c.Spec.Final.FreshJVM = &fresh
		s := newSim(t, c)
		jvms := map[string][]string{} // JVMs of a cell's Finals
		for range 300 {
			d := s.next()
			for _, a := range d.Actions {
				if a.Attempt.Phase == record.Final {
					if a.JVM != "" {
						jvms[a.Cell] = append(jvms[a.Cell], a.JVM)
					}
				}
				s.do(a)
			}
			if d.Over {
				break
			}
		}
		for cell, of := range jvms {
			if len(of) != 2 || (of[0] != of[1]) != fresh {
				t.Errorf("fresh %t: %s has Finals in %q", fresh, cell, of)
			}
		}
		warmups := map[bool]int{true: 2 * (1 + 2), false: 2}[fresh]
		if got := s.trials(record.Warmup); len(jvms) != 2 || len(got) != warmups {
			t.Errorf("fresh %t: Finals of %d cells, Warmups %q, want %d", fresh, len(jvms), got, warmups)
		}
		other := !fresh
		s.campaign.Spec.Final.FreshJVM = &other
		s.plan = plan.Build(s.campaign)
		if d := s.next(); !d.Over {
			t.Errorf("freshJVM %t after the end of the campaign starts %+v", other, d.Actions)
		}
	}
}
