package command

import (
	"fmt"
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/record"
)

// unequalPods is the largest accepted difference between the durations of the pods' loads, as a share of the longest
// duration. For a larger difference, mergeShares adds a note, because the sum of the pods' rates is correct only while all
// pods run.
const unequalPods = 0.05

// mergeShares merges the loads of several pods. It adds rates and counts. It omits latencies, because percentiles of several
// programs cannot be merged. It also omits the values of metrics, because their meaning is not known. Each metric gets a note
// instead of a value.
func mergeShares(all []commandShare) (load *record.Load, inFlight float64) {
	sum := &record.Load{Unit: all[0].Load.Unit}
	shortest, known := math.Inf(1), true
	for _, s := range all {
		sum.Rate += s.Load.Rate
		sum.Operations += s.Load.Operations
		sum.Failures += s.Load.Failures
		sum.FailuresUncounted = sum.FailuresUncounted || s.Load.FailuresUncounted
		sum.Seconds = max(sum.Seconds, s.Load.Seconds)
		shortest = min(shortest, s.Load.Seconds)
		inFlight += s.InFlight
		known = known && s.InFlight > 0
		for _, note := range s.Load.Notes {
			if !slices.Contains(sum.Notes, note) {
				sum.Notes = append(sum.Notes, note)
			}
		}
	}
	if shortest < (1-unequalPods)*sum.Seconds {
		sum.Notes = append(sum.Notes, fmt.Sprintf("the loads of the loader pods lasted between %.1f and %.1f s: the sum of their rates is valid only for the time in which all pods ran", shortest, sum.Seconds))
	}
	for _, m := range all[0].Load.Metrics {
		sum.Metrics = append(sum.Metrics, record.Metric{Name: m.Name, Unit: m.Unit, Note: fmt.Sprintf("each of the %d loader pods reported its own value, and Knee cannot merge the values", len(all))})
	}
	if !known {
		inFlight = 0
	}
	return sum, inFlight
}
