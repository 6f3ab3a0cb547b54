package decide

import (
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// areClustersKept reports whether the clusters of a campaign are kept after its last trial. If the time is limited, it also
// schedules a decision at the end of that time.
func (d *decider) areClustersKept(spec v1alpha1.BenchmarkCampaignSpec) bool {
	if !keepsClusters(spec.Retain, d.assessment) {
		return false
	}
	if spec.TTLSecondsAfterFinished == nil {
		return true
	}
	until := d.lastCollected().Add(time.Duration(*spec.TTLSecondsAfterFinished) * time.Second)
	if !d.now.Before(until) {
		return false
	}
	d.wakeAt(until)
	return true
}

// lastCollected returns when the newest record of the plan's cells was created.
func (d *decider) lastCollected() time.Time {
	var end time.Time
	planned := d.cellHashes()
	for _, r := range d.world.Records {
		if planned[r.Attempt.Cell] && r.Made.After(end) {
			end = r.Made
		}
	}
	return end
}

func keepsClusters(policy v1alpha1.RetainPolicy, a campaign.Assessment) bool {
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
