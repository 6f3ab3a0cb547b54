package decide

import (
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// kept says whether the clusters of a campaign whose trials are all done are kept. What is kept for a time only is
// looked at again at its end.
func (d *decider) kept(spec v1alpha1.BenchmarkCampaignSpec) bool {
	if !keep(spec.Retain, d.assessment) {
		return false
	}
	if spec.TTLSecondsAfterFinished == nil {
		return true
	}
	until := d.end().Add(time.Duration(*spec.TTLSecondsAfterFinished) * time.Second)
	if !d.now.Before(until) {
		return false
	}
	d.wakeAt(until)
	return true
}

// end is when the last attempt at a trial of the plan's cells was collected.
func (d *decider) end() time.Time {
	var end time.Time
	planned := d.hashes()
	for _, r := range d.world.Records {
		if planned[r.Attempt.Cell] && r.Made.After(end) {
			end = r.Made
		}
	}
	return end
}

func keep(policy v1alpha1.RetainPolicy, a analysis.Assessment) bool {
	switch policy {
	case v1alpha1.RetainAlways:
		return true
	case v1alpha1.RetainOnFailure:
		for trial, o := range a.Outcomes {
			if o.Failed && trial.Phase != record.Warmup {
				return true
			}
		}
	}
	return false
}
