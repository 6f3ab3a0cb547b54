package campaign_test

import (
	"math"
	"slices"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// TestAssess_plannedRepetitionsOfRecords_looks checks which looks the records of a campaign show: planned holds the planned repetitions in
// the record of each repetition, for both cells.
func TestAssess_plannedRepetitionsOfRecords_looks(t *testing.T) {
	repeat := func(planned int32, times int) []int32 { return slices.Repeat([]int32{planned}, times) }
	one := []int32(nil)
	for _, c := range []struct {
		name     string
		planned  []int32
		baseline []int32 // nil: like planned
		max      int32
		maxSince int32 // first repetition whose records say max; 0: 1
		failed   int32 // repetition of both cells that fails a gate; 0: none
		want     []int32
	}{
		{name: "one look", planned: repeat(8, 8), want: one},
		{name: "raised from 4 to 8", planned: slices.Concat(repeat(4, 4), repeat(8, 4)), want: []int32{4, 8}},
		{name: "raised twice", planned: slices.Concat(repeat(4, 4), repeat(6, 2), repeat(9, 3)), want: []int32{4, 6, 9}},
		{name: "raised before all repetitions were measured", planned: slices.Concat(repeat(5, 4), repeat(8, 4)), want: one},
		{name: "the first look could never exclude 1", planned: slices.Concat(repeat(3, 3), repeat(8, 5)), want: one},
		{name: "records of an early release", planned: slices.Concat(repeat(0, 4), repeat(8, 4)), want: one},
		{name: "the baseline was measured for an earlier comparison", planned: repeat(8, 8), baseline: slices.Concat(repeat(4, 4), repeat(8, 4)), want: one},
		{name: "a failed repetition is not in the looks", planned: slices.Concat(repeat(5, 5), repeat(8, 3)), failed: 2, want: []int32{4, 7}},
		{name: "the first stage is no look", planned: slices.Concat(repeat(4, 4), repeat(10, 6)), max: 10, want: one},
		{name: "maxRepetitions set after the first look", planned: slices.Concat(repeat(4, 4), repeat(10, 6)), max: 10, maxSince: 5, want: []int32{4, 10}},
		{name: "maxRepetitions set during the first stage", planned: slices.Concat(repeat(4, 4), repeat(10, 6)), max: 10, maxSince: 4, want: one},
		{name: "maxRepetitions raised after two stages", planned: slices.Concat(repeat(4, 4), repeat(6, 2), repeat(10, 4)), max: 10, want: []int32{6, 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 8)
			spec.Spec.Sweep.Mode = v1alpha1.SweepFixed
			n := int32(len(c.planned))
			spec.Spec.Final.Repetitions = &n
			if c.max > 0 {
				spec.Spec.Final.Repetitions, spec.Spec.Final.MaxRepetitions = new(int32(4)), new(c.max)
			}
			p := plan.Build(spec)
			noisy := campaigntest.Randomly(1, 0.2, 0)
			records := campaigntest.MeasureAll(p, spec.Spec, func(trial record.Trial) record.Record {
				r := noisy(trial)
				if trial.Phase != record.Final {
					return r
				}
				planned := c.planned
				if trial.Variant == "a" && c.baseline != nil {
					planned = c.baseline
				}
				r.PlannedRepetitions = planned[trial.Repetition-1]
				if trial.Repetition >= c.maxSince {
					r.MaxRepetitions = c.max
				}
				if trial.Repetition == c.failed {
					r.Rejections.WritePool = 1
				}
				return r
			})
			a := campaign.Assess(p, spec.Spec, records)
			if len(a.Ratios) != 1 {
				t.Fatalf("%d ratios, want 1", len(a.Ratios))
			}
			r := a.Ratios[0]
			var got []int32
			for _, l := range r.Looks {
				got = append(got, int32(l.N))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("looks %v, want %v", got, c.want)
			}
			if wider := r.Confidence > 0.95+1e-9; wider != (c.want != nil) {
				t.Errorf("confidence %g with the looks %v", r.Confidence, got)
			}
			if adjusted := r.AdjustedP > r.P*1.01; adjusted != (c.want != nil) && r.P < 0.5 || math.IsNaN(r.P) {
				t.Errorf("p %g, adjusted %g with the looks %v", r.P, r.AdjustedP, got)
			}
		})
	}
}
