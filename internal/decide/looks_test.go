package decide_test

import (
	"math"
	"slices"
	"testing"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestNext_raisedRepetitions_areAnotherLook raises spec.final.repetitions of a finished campaign from 4 to 6. The records of the new Finals
// say 6, the earlier records stay, and the ratio is a second look.
func TestNext_raisedRepetitions_areAnotherLook(t *testing.T) {
	s := newSim(t, wrappers.MakeCampaign("x").VariantOnAnyNode("a").VariantOnAnyNode("b").Clients(1, 2).Repetitions(4))
	s.measure = func(a record.Attempt) record.Record {
		return wrappers.MeasuredRecord(a, float64(1000*a.Clients)*(1+0.001*float64(a.Repetition*a.Repetition%5)))
	}
	s.run()
	if r := s.assess().Ratios[0]; r.Looks != nil || math.Abs(r.Confidence-0.95) > 1e-9 {
		t.Fatalf("first look: looks %v, confidence %g", r.Looks, r.Confidence)
	}
	before := len(s.records)
	s.campaign.Spec.Final.Repetitions = new(int32(6))
	s.plan = plan.Build(s.campaign)
	s.run()
	finals := 0
	for i, r := range s.records {
		want := int32(0)
		if r.Attempt.Phase == record.Final {
			want = 4
			if i >= before {
				want, finals = 6, finals+1
			}
		}
		if r.PlannedRepetitions != want {
			t.Errorf("%s %d: %d planned repetitions, want %d", r.Attempt.Phase, r.Attempt.Repetition, r.PlannedRepetitions, want)
		}
	}
	if finals != 4 {
		t.Errorf("%d new Finals, want 2 for each of 2 cells", finals)
	}
	if r := s.assess().Ratios[0]; !slices.Equal(r.Looks, []stats.Look{{N: 4, M: 4}, {N: 6, M: 6}}) || r.Confidence < 0.97 {
		t.Errorf("second look: looks %v, confidence %g", r.Looks, r.Confidence)
	}
}
