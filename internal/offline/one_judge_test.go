package offline_test

import (
	"math"
	"testing"

	"github.com/knee-bench/knee/internal/offline"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestAnalyze_resultsOfRandomRecords_sameAsAssessment checks that the results.csv of a report gives the same ratios,
// intervals, knees and winners as the records. Campaigns with named comparisons are left out, because results.csv
// does not contain them. M7: the intervals of campaigns with two stages have the same correction.
func TestAnalyze_resultsOfRandomRecords_sameAsAssessment(t *testing.T) {
	campaigns := campaigntest.RandomCampaigns()
	raised := campaigntest.RandomCampaigns()["one stage"]
	raised.Spec.Final.Repetitions = new(int32(12))
	campaigns["repetitions raised from 6 to 12"] = raised
	leftOut := campaigntest.RandomCampaigns()["one stage"]
	leftOut.Spec.Variants = append(leftOut.Spec.Variants, leftOut.Spec.Variants[1])
	leftOut.Spec.Variants[len(leftOut.Spec.Variants)-1].Name = "dead"
	campaigns["a cell without a knee"] = leftOut
	looks := 0
	for name, c := range campaigns {
		if name == "named" {
			continue
		}
		p := plan.Build(c)
		for seed := range uint64(20) {
			if c == raised && seed >= 4 {
				break
			}
			randomly := campaigntest.Randomly(seed, 0.02, 0.04*float64(seed%2))
			records := campaigntest.MeasureAll(p, c.Spec, func(t record.Trial) record.Record {
				if t.Variant == "dead" {
					return campaigntest.Errored(t, record.ReasonClusterNotReady, "red")
				}
				return randomly(t)
			})
			for i := range records {
				if t := records[i].Attempt.Trial; c == raised && t.Phase == record.Final {
					records[i].PlannedRepetitions = 6 + 6*((t.Repetition-1)/6)
				}
			}
			in := view.NewInput(c, p, records, "")
			got := analyze(t, report.Files(in)["results.csv"], against("a"))
			if c == leftOut && (len(got.LeftOut) == 0 || got.LeftOut[0].Variant != "dead") {
				t.Errorf("%s, seed %d: left out %v", name, seed, got.LeftOut)
			}
			n := 0
			for _, w := range in.Assessment.Ratios {
				for _, g := range got.Ratios {
					if g.At != offline.AtFinal || g.Variant != w.Variant || g.Topology != w.Topology || g.Clients != 0 && g.Clients != w.Clients {
						continue
					}
					n++
					if len(g.Looks) != len(w.Looks) {
						t.Errorf("%s, seed %d: looks %v, want %v", name, seed, g.Looks, w.Looks)
					}
					looks = max(looks, len(g.Looks))
					near := func(g *float64, w float64) bool { return g != nil && math.Abs(*g-w) <= 1e-6 }
					if !near(&g.Ratio, w.Ratio) || (g.Low != nil) != w.HasInterval() || (g.Verdict == nil) != (w.Verdict == "") {
						t.Errorf("%s, seed %d: %+v, want %+v", name, seed, g, w)
						continue
					}
					if w.HasInterval() && !(near(g.Low, w.Low) && near(g.High, w.High) && near(g.Confidence, w.Confidence) &&
						near(g.P, w.P) && near(g.AdjustedP, w.AdjustedP) && *g.Verdict == string(w.Verdict)) {
						t.Errorf("%s, seed %d: %+v, want %+v", name, seed, g, w)
					}
				}
			}
			want := 0
			for _, w := range in.Assessment.Ratios {
				if !math.IsNaN(w.Ratio) {
					want++
				}
			}
			if n != want {
				t.Errorf("%s, seed %d: %d ratios of Finals, want %d", name, seed, n, want)
			}
			for i, cell := range in.Assessment.Cells {
				if k := cell.Curve.Knee; (k == nil) != (got.Cells[i].Knee == nil) || k != nil && k.Clients != got.Cells[i].Knee.Clients {
					t.Errorf("%s, seed %d: knee %+v, want %+v", name, seed, got.Cells[i].Knee, k)
				}
			}
		}
	}
	if looks != 2 {
		t.Errorf("the campaign with raised repetitions has %d looks, want 2", looks)
	}
}
