package campaign_test

import (
	"slices"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// anchorCampaigns returns campaigns with each way to sweep, without an anchor. In the campaign "shared", the adaptive sweeps need more
// points for the shared clients.
func anchorCampaigns() map[string]*v1alpha1.BenchmarkCampaign {
	full := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4, 8, 16, 32)
	adaptive, thrice := full.DeepCopy(), full.DeepCopy()
	adaptive.Spec.Sweep.Strategy = v1alpha1.SweepAdaptive
	thrice.Spec.Sweep.Repetitions = new(int32(3))
	return map[string]*v1alpha1.BenchmarkCampaign{"full": full, "adaptive": adaptive, "three passes": thrice}
}

// anchorRecord measures a peak at 8 clients in cell "a" and at 2 clients in cell "b", so the shared clients need more points.
func anchorRecord(t record.Trial) record.Record {
	docs := map[string]map[int32]float64{
		"a": {1: 100, 2: 200, 4: 400, 8: 800, 16: 700, 32: 600},
		"b": {1: 500, 2: 1000, 4: 995, 8: 990, 16: 985, 32: 980},
	}[t.Variant][t.Clients]
	if t.Phase == record.Anchor {
		docs *= 1.5 // must change no answer
	}
	return campaigntest.Measured(t, docs)
}

// TestAnchor_addedLater_oneTrialPerCell checks that an anchor that is added to a finished campaign owes one trial per cell, and that
// its record changes no answer, with the field and after the field is removed.
func TestAnchor_addedLater_oneTrialPerCell(t *testing.T) {
	for name, c := range anchorCampaigns() {
		records, before := campaigntest.Assess(c, anchorRecord)
		if !before.Finished {
			t.Fatalf("%s: not finished", name)
		}
		c.Spec.Sweep.Anchor = new(true)
		p := plan.Build(c)
		for _, first := range []string{"a", "b"} {
			owed := owedTrials(p, campaign.Assess(p, c.Spec, records))
			if want := map[string]int{"a": 2, "b": 1}[first]; len(owed) != want || owed[0].Variant != first || owed[0].Phase != record.Anchor {
				t.Fatalf("%s: owed %+v", name, owed)
			}
			if want := before.Cell(first, "t").Sweep[0].Trial.Clients; owed[0].Clients != want {
				t.Errorf("%s: anchor at %d clients, want %d", name, owed[0].Clients, want)
			}
			records = append(records, anchorRecord(owed[0]))
		}
		with := campaign.Assess(p, c.Spec, records)
		checkSameAnswer(t, name, before, with)
		if with.Planned != before.Planned+2 || with.Cell("a", "t").Anchor == nil {
			t.Errorf("%s: %d trials, before %d", name, with.Planned, before.Planned)
		}

		c.Spec.Sweep.Anchor = nil
		p = plan.Build(c)
		without := campaign.Assess(p, c.Spec, records)
		checkSameAnswer(t, name+", removed", before, without)
		if without.Planned != before.Planned || without.Cell("a", "t").Anchor != nil || len(without.Attempts) != len(before.Attempts) {
			t.Errorf("%s: %d trials after the anchor was removed, before %d", name, without.Planned, before.Planned)
		}
	}
}

func checkSameAnswer(t *testing.T, name string, before, after campaign.Assessment) {
	t.Helper()
	if !after.Finished || after.Noise != before.Noise || after.Shared["t"].Clients != before.Shared["t"].Clients || after.Ratios[0].Ratio != before.Ratios[0].Ratio {
		t.Errorf("%s: %+v, before %+v", name, after.Shared, before.Shared)
	}
	for i, c := range after.Cells {
		points := before.Cells[i].Curve.Points
		if len(c.Sweep) != len(before.Cells[i].Sweep) || len(c.Curve.Points) != len(points) || c.Curve.Knee.Clients != before.Cells[i].Curve.Knee.Clients {
			t.Errorf("%s: the sweep of %s changed", name, c.Variant)
		}
		for j, p := range c.Curve.Points {
			if p.Rate != points[j].Rate || p.Repeats != points[j].Repeats {
				t.Errorf("%s: point %+v, before %+v", name, p, points[j])
			}
		}
	}
}

// TestAnchor_whichClients checks the client count of the anchor: the first one that is Measured, unless the sweep ends with it.
func TestAnchor_whichClients(t *testing.T) {
	for _, tt := range []struct {
		name        string
		clients     []int32
		repetitions int32
		errored     []int32
		want        int32 // 0: no anchor
	}{
		{"first", []int32{1, 2, 4}, 1, nil, 1},
		{"first is Errored", []int32{1, 2, 4}, 1, []int32{1}, 2},
		{"only the last is Measured", []int32{1, 2, 4}, 1, []int32{1, 2}, 0},
		{"none is Measured", []int32{1, 2, 4}, 1, []int32{1, 2, 4}, 0},
		{"two passes end with the first", []int32{1, 2, 4}, 2, nil, 0},
		{"one count", []int32{1}, 1, nil, 0},
	} {
		c := campaigntest.Campaign([]string{"a"}, []string{"t"}, tt.clients...)
		c.Spec.Sweep.Anchor, c.Spec.Sweep.Repetitions, c.Spec.Retries = new(true), &tt.repetitions, new(int32(0))
		_, a := campaigntest.Assess(c, func(trial record.Trial) record.Record {
			if slices.Contains(tt.errored, trial.Clients) && trial.Phase == record.Sweep {
				return campaigntest.Errored(trial, record.ReasonDriverFailed, "exit code 64")
			}
			return campaigntest.Measured(trial, 100*float64(trial.Clients))
		})
		got := int32(0)
		if o := a.Cells[0].Anchor; o != nil && o.Measured() {
			got = o.Trial.Clients
		}
		if !a.Finished || got != tt.want {
			t.Errorf("%s: finished %t, anchor at %d clients, want %d", tt.name, a.Finished, got, tt.want)
		}
	}
}
