package forecast

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

func neededRepetitions(c *v1alpha1.BenchmarkCampaign, p plan.Plan, cvPercent float64) Repetitions {
	r := Repetitions{
		Comparisons: campaign.Comparisons(c.Spec, p), Planned: int(p.Repetitions), Placements: int(p.Placements),
		SmallestDifference: p.SmallestDifferencePercent,
	}
	if r.Comparisons == 0 {
		return r
	}
	design := campaign.Design{Repetitions: p.Repetitions, MaxRepetitions: p.MaxRepetitions, Placements: p.Placements}
	r.NeededToConclude = design.LeastRepetitions(r.Comparisons)
	if cvPercent > 0 {
		r.CVPercent = &cvPercent
		r.NeededAtCV = ptr.To(stats.RepetitionsFor(stats.Sizing{
			Noise: stats.Noise{CV: cvPercent / 100}, Baseline: stats.Noise{CV: cvPercent / 100},
			SmallestDifferencePercent: p.SmallestDifferencePercent, Comparisons: r.Comparisons,
			TwoStages: p.MaxRepetitions > p.Repetitions,
		}))
	}
	return r
}

// sampleSize returns how many independent figures a comparison will have for each cell. With several placements, the result is the
// number of placements, because repetitions on one machine do not show the difference between machines.
func (r Repetitions) sampleSize(p plan.Plan) int {
	if r.Placements > 1 {
		return r.Placements
	}
	return int(max(p.Repetitions, p.MaxRepetitions))
}

// addWarnings adds warnings to the forecast: reasons why the campaign's answer will not be conclusive, if the plan shows such a reason.
// It also adds remarks on parts that the cost or the estimate of the trials does not include.
func (f *Forecast) addWarnings(c *v1alpha1.BenchmarkCampaign, p plan.Plan) {
	warn := func(format string, args ...any) { f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...)) }
	r := f.Repetitions
	field := "spec.final.repetitions"
	if r.Placements > 1 {
		field = "spec.final.placements"
	}
	switch {
	case r.Comparisons == 0:
	case r.sampleSize(p) < r.NeededToConclude:
		warn("%[2]s is %[1]d, which is too few: at least %[4]d are needed for %[3]s, because fewer cannot distinguish any difference from noise (TooFewRepetitions)",
			r.sampleSize(p), field, format.Plural(r.Comparisons, "comparison"), r.NeededToConclude)
	case r.NeededAtCV != nil && r.sampleSize(p) < *r.NeededAtCV:
		warn("%[2]s is %[1]d, which is too few to detect a difference of %[3]g %% at a CV of %[4]g %%: about %[5]d are needed",
			r.sampleSize(p), field, r.SmallestDifference, *r.CVPercent, *r.NeededAtCV)
	}
	if c.Spec.Loader.Placement == v1alpha1.LoaderShared {
		warn("the loader may share a node with OpenSearch: the answer will not be conclusive (LoaderShared)")
	}
	if f.Cost != nil && len(f.Cost.Without) > 0 {
		warn("pricePerHour is not set for variants %v: the cost does not include these variants", f.Cost.Without)
	}
	if f.Cost != nil {
		f.NotKnown = append(f.NotKnown, "the loader's nodes have no price and are not in the cost")
	}
	if p.Adaptive {
		f.NotKnown = append(f.NotKnown, "an adaptive sweep chooses its client counts during the campaign: the estimate counts each client count once")
	}
}
