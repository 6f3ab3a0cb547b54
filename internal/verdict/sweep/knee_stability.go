package sweep

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// KneeStability returns the probability that the knee of a curve is the knee of the true curve, from 0 to 1: the share of true curves,
// drawn from their posterior, that have their knee at the same client count (see newCurvePosterior). noise is the noise of one trial
// of this cell. skipped holds the client counts that an adaptive sweep did not measure. They may also be the true knee.
//
// The function returns false if the noise is unknown or there is no knee. It also returns false for a single count, which has only
// one possible knee.
func KneeStability(c Curve, skipped []int32, percentOfPeak float64, noise stats.Noise, seed uint64) (share float64, ok bool) {
	var m measuredCounts
	points := slices.Clone(c.Points)
	for _, n := range skipped {
		points = append(points, Point{Clients: n, DocsPerSecond: 1, Verdict: verdict.Measured})
	}
	slices.SortFunc(points, func(a, b Point) int { return int(a.Clients - b.Clients) })
	for _, p := range points {
		if p.Verdict == verdict.Measured && stats.Positive(p.DocsPerSecond) {
			m.clients = append(m.clients, p.Clients)
			m.logs = append(m.logs, math.Log(p.DocsPerSecond))
			m.trials = append(m.trials, p.Repeats)
		}
	}
	if c.Knee == nil || len(m.clients) < 2 || noise.Freedom == 0 || math.IsNaN(noise.CV) {
		return 0, false
	}
	knee := slices.Index(m.clients, c.Knee.Clients)
	return min(newCurvePosterior(m, noise, math.Log(percentOfPeak/100), seed).share[knee], 1), true
}
