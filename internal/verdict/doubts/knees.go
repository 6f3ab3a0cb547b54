package doubts

import (
	"fmt"
	"math"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// This file contains the doubts about the evidence for a knee or a peak.

// leastStability is the smallest stability of a knee that is not a doubt. Below it, noise would more often give another knee than the
// same one, so the statement "the knee is at N clients" is more likely wrong than right. A higher limit would be wrong: a stability of
// 60 % still makes this count the best choice, and a ratio at the shared client count does not depend on the knee being exact.
const leastStability = 0.5

// repeatsMissing finds knees and peaks whose points have Errored repeats. The median of fewer repeats is noisier, and the repeats
// that failed may have failed because of the load.
func repeatsMissing(a campaign.Assessment) []Doubt {
	var points []string
	for _, c := range a.Cells {
		for i, p := range []*sweep.Point{c.Curve.Knee, c.Curve.Peak} {
			if p == nil || i == 1 && p.Clients == c.Curve.Knee.Clients {
				continue
			}
			failed, all := 0, 0
			for _, o := range c.Sweep {
				if o.Trial.Clients != p.Clients {
					continue
				}
				all++
				if o.Failed {
					failed++
				}
			}
			if failed > 0 {
				points = append(points, fmt.Sprintf("%s (%d of %d trials at %d clients)", a.CellName(c.Variant, c.Topology), failed, all, p.Clients))
			}
		}
	}
	return doubtAbout(v1alpha1.ReasonRepeatsMissing, points,
		"some sweep trials at the knee or the peak of these cells have no valid measurement: %s; fix the cause that the report names, then raise spec.retries, or add the client count to spec.sweep.rerun")
}

// kneesUnstable finds knees whose stability is known and below leastStability.
func kneesUnstable(a campaign.Assessment) []Doubt {
	var cells []string
	for _, c := range a.Cells {
		if hasStability(c) && c.Stability < leastStability {
			cells = append(cells, fmt.Sprintf("%s (knee at %d clients, stability %s)", a.CellName(c.Variant, c.Topology), c.Curve.Knee.Clients, stabilityText(c.Stability)))
		}
	}
	return doubtAbout(v1alpha1.ReasonKneeUnstable, cells, fmt.Sprintf(
		"because of noise, the knee is more likely at another client count (stability below %.0f %%%%) in these cells: %%s; set spec.sweep.strategy to Full and raise spec.sweep.repetitions, or remove some client counts close to the knee", 100*leastStability))
}

func hasStability(c campaign.Cell) bool { return c.Curve.Knee != nil && !math.IsNaN(c.Stability) }

// stabilityText returns a stability in percent, rounded down, so that a limit is never reached by rounding.
func stabilityText(share float64) string { return fmt.Sprintf("%.0f %%", math.Floor(100*share)) }

// lowestStability returns the lowest known stability of all knees. ok is false if none is known.
func lowestStability(a campaign.Assessment) (lowest float64, ok bool) {
	lowest = 1
	for _, c := range a.Cells {
		if hasStability(c) {
			lowest, ok = min(lowest, c.Stability), true
		}
	}
	return lowest, ok
}

// driftsInSweeps finds sweeps in which docs/s changed with time by so much that the knee may be at another client count.
func driftsInSweeps(a campaign.Assessment) []Doubt {
	var cells []string
	for _, c := range a.Cells {
		if c.Drift != nil && c.Drift.Matters(a.PercentOfPeak) {
			cells = append(cells, fmt.Sprintf("%s (%+.1f %%, p = %.2g)", a.CellName(c.Variant, c.Topology), c.Drift.Percent, c.Drift.P))
		}
	}
	return doubtAbout(v1alpha1.ReasonDriftInSweep, cells,
		unitOf(a)+" changed from the first to the last trial of the sweep in these cells, so the knee may be at another client count: %s; find what changed with time "+
			"(a volume that fills, burst credits, a throttled or shared machine), then set a new spec.rerun")
}
