package trial

import (
	"fmt"
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/record"
)

// unequalPods is by how much the loads of several pods may differ in length before a note says so: their rates are summed,
// and the sum holds while all of them ran.
const unequalPods = 0.05

// mergeCommand puts the loads of several pods together: rates and counts are summed. No percentile can be made of several
// programs' percentiles, and what other figures mean together, nobody knows: they are left out, and those that the campaign
// asked for say so.
func mergeCommand(all []commandShare, asked []record.JSONMetric) (load *record.Load, inFlight float64) {
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
		sum.Notes = append(sum.Notes, fmt.Sprintf("the loader pods' loads lasted %.1f to %.1f s: the sum of their rates holds while all of them ran", shortest, sum.Seconds))
	}
	for _, m := range asked {
		sum.Metrics = append(sum.Metrics, record.Metric{Name: m.Name, Unit: m.Unit, Note: fmt.Sprintf("each of the %d loader pods has its own", len(all))})
	}
	if !known {
		inFlight = 0
	}
	return sum, inFlight
}
