package decide_test

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestNext_largestCampaign_continuesFromRecords checks the largest allowed campaign, with 9,792 trials on 32 cells.
// Running it step by step would take hours. So the test starts from the records only: none, half, 90 % and all of
// them. The campaign must continue from each of these states.
func TestNext_largestCampaign_continuesFromRecords(t *testing.T) {
	w := wrappers.MakeCampaign("largest").UID("uid-1")
	for i := range 8 {
		w.Variant(fmt.Sprintf("v%d", i))
	}
	w.Spec.Topologies = nil
	for i := range 4 {
		w.Topology(fmt.Sprintf("t%d", i), 1)
	}
	w.Spec.Sweep = v1alpha1.Sweep{Range: &v1alpha1.ClientRange{Min: 1, Max: 64, Step: 1}, Repetitions: ptr.To[int32](4)}
	w.Repetitions(50)
	p := plan.Build(w.Obj())
	if errs := plan.Validate(w.Obj()); len(errs) > 0 || len(p.Cells) != v1alpha1.MaxCells {
		t.Fatalf("%d cells, %v", len(p.Cells), errs)
	}
	all := campaigntest.MeasureAll(p, w.Spec, func(trial record.Trial) record.Record {
		return wrappers.MeasuredRecord(record.Attempt{Trial: trial, N: 1}, 1000*float64(trial.Clients)/(1+float64(trial.Clients)/8)+float64(trial.Repetition))
	})
	for _, share := range []float64{0, 0.5, 0.9, 1} {
		s := newSim(t, w)
		s.records = slices.Clone(all[:int(share*float64(len(all)))])
		for _, r := range s.records {
			s.world.Recorded[r.Attempt] = true
		}
		before := s.assess()
		if share == 1 {
			if d := s.next(); !before.Finished || before.Done != 9792 || !d.Over {
				t.Errorf("at the end %d of %d are done, over %v", before.Done, before.Planned, d.Over)
			}
			continue
		}
		for range 5 { // cluster up, Warmup, its record, trial, its record
			for _, a := range s.next().Actions {
				s.do(a)
			}
			s.exclusive()
		}
		if after := s.assess(); after.Done <= before.Done {
			t.Errorf("from %d trials on it measures none: %d", before.Done, after.Done)
		}
	}
}
