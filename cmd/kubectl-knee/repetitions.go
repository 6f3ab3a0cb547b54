package main

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/plan"
)

func repetitionsOf(c *v1alpha1.BenchmarkCampaign, p plan.Plan, cvPercent float64) repetitions {
	r := repetitions{
		Comparisons: analysis.Comparisons(c.Spec, p), Planned: int(p.Repetitions), Placements: int(p.Placements),
		SmallestDifference: p.SmallestDifferencePercent,
	}
	if r.Comparisons == 0 {
		return r
	}
	r.NeededToConclude = analysis.Repetitions(r.Comparisons)
	if cvPercent > 0 {
		r.CVPercent = &cvPercent
		r.NeededAtCV = ptr.To(analysis.RepetitionsFor(cvPercent/100, p.SmallestDifferencePercent, r.Comparisons))
	}
	return r
}

// sample is how many independent figures a comparison will have of each cell: placements where there are several,
// since repetitions on one machine are none of the machine.
func (r repetitions) sample(p plan.Plan) int {
	if r.Placements > 1 {
		return r.Placements
	}
	return int(max(p.Repetitions, p.MaxRepetitions))
}

// warn says what will keep the campaign from a conclusive answer, as far as the plan can tell.
func (f *forecast) warn(c *v1alpha1.BenchmarkCampaign, p plan.Plan) {
	warn := func(format string, args ...any) { f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...)) }
	r := f.Repetitions
	field := "spec.final.repetitions"
	if r.Placements > 1 {
		field = "spec.final.placements"
	}
	switch {
	case r.Comparisons == 0:
	case r.sample(p) < r.NeededToConclude:
		warn("%d of %s is too few: no difference, however large, can be told from noise in %s below %d (TooFewRepetitions)",
			r.sample(p), field, count(r.Comparisons, "comparison"), r.NeededToConclude)
	case r.NeededAtCV != nil && r.sample(p) < *r.NeededAtCV:
		warn("%d of %s is too few to tell a difference of %g %% at a CV of %g %%: that takes about %d",
			r.sample(p), field, r.SmallestDifference, *r.CVPercent, *r.NeededAtCV)
	}
	if c.Spec.Loader.Placement == v1alpha1.LoaderShared {
		warn("the loader may share a node with OpenSearch: the answer will not be conclusive (LoaderShared)")
	}
	if f.Cost != nil && len(f.Cost.Without) > 0 {
		warn("no pricePerHour of %v: the cost goes without", f.Cost.Without)
	}
	if f.Cost != nil {
		f.NotKnown = append(f.NotKnown, "the loader's nodes have no price and are not in the cost")
	}
	if p.Adaptive {
		f.NotKnown = append(f.NotKnown, "an adaptive sweep decides as it goes: each client count once is assumed")
	}
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
