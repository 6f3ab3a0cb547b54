package campaign_test

import (
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestAssess_rerunPoint_newFigureCounts checks spec.sweep.rerun for one point of the study, 20 clients on Intel: only this
// point is measured again, and its new figure counts.
func TestAssess_rerunPoint_newFigureCounts(t *testing.T) {
	c := campaigntest.StudyCampaign()
	records, before := campaigntest.Assess(c, func(t record.Trial) record.Record {
		r := campaigntest.StudyRecord(t)
		if t.Variant == "intel" && t.Phase == record.Sweep && t.Clients == 20 {
			return campaigntest.Measured(t, 150_000) // a disturbed measurement
		}
		return r
	})
	if !before.Finished || before.Cell("intel", "6p0r").Curve.At(20).Rate != 150_000 {
		t.Fatalf("the first run: %+v", before.Cell("intel", "6p0r").Curve.At(20))
	}
	rerun := func(token string) {
		c.Spec.Sweep.Rerun = []v1alpha1.PointRerun{{Variant: "intel", Topology: "6p0r", Clients: 20, Token: token}}
	}
	rerun("by-hand")
	p := plan.Build(c)
	owed := owedTrials(p, campaign.Assess(p, c.Spec, records))
	if len(owed) != 1 || owed[0].Variant != "intel" || owed[0].Clients != 20 || owed[0].RerunToken != "by-hand" {
		t.Fatalf("owed: %+v", owed)
	}
	records = append(records, campaigntest.Measured(owed[0], 242_232))
	a := campaign.Assess(p, c.Spec, records)
	point := a.Cell("intel", "6p0r").Curve.At(20)
	if !a.Finished || point.Rate != 242_232 || point.Repeats != 1 {
		t.Errorf("finished %t, the point %+v", a.Finished, point)
	}
	if len(a.Replaced) != 1 || a.Replaced[0].Rate() != 150_000 || a.Replaced[0].Trial.RerunToken != "" {
		t.Errorf("replaced: %+v", a.Replaced)
	}

	rerun("once-more")
	p = plan.Build(c)
	a = campaign.Assess(p, c.Spec, records)
	if owed := owedTrials(p, a); len(owed) != 1 || owed[0].RerunToken != "once-more" || len(a.Replaced) != 2 {
		t.Errorf("another token: owed %+v, replaced %d", owed, len(a.Replaced))
	}

	c.Spec.Sweep.Rerun = nil
	p = plan.Build(c)
	a = campaign.Assess(p, c.Spec, records)
	if point := a.Cell("intel", "6p0r").Curve.At(20); !a.Finished || point.Rate != 150_000 || len(a.Replaced) != 0 {
		t.Errorf("without the entry: finished %t, the point %+v, replaced %+v", a.Finished, point, a.Replaced)
	}
}

// owedTrials lists the trials of a plan's turns that are not done.
func owedTrials(p plan.Plan, a campaign.Assessment) []record.Trial {
	var out []record.Trial
	for group := range p.Groups {
		for _, turn := range p.Turns(group, a.Asked) {
			for _, t := range turn.Trials {
				if !a.Outcomes[t].Done {
					out = append(out, t)
				}
			}
		}
	}
	return out
}
