package sweep

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// KneeStability returns the probability that the knee of a curve is the knee of the true curve, from 0 to 1: the share of true curves,
// drawn from their posterior, that have their knee at the same client count (see newCurvePosterior). noise is the noise of one trial
// of this cell. skipped holds the client counts that an adaptive sweep did not measure, ascending. Those below the highest Measured
// count may also be the true knee or peak. Counts above the highest Measured count are no candidates: a gate failed at one of them or
// below.
//
// The function returns false if the noise is unknown or there is no knee. It also returns false for a single count, which has only
// one possible knee.
func KneeStability(c Curve, skipped []int32, percentOfPeak float64, noise stats.Noise) (share float64, ok bool) {
	if c.Knee == nil || noise.Freedom == 0 || math.IsNaN(noise.CV) {
		return 0, false
	}
	var counted countedCurve
	add := func(clients int32, log float64, trials int) {
		counted.clients = append(counted.clients, clients)
		counted.logs = append(counted.logs, log)
		counted.trials = append(counted.trials, trials)
	}
	for _, p := range c.Points {
		if p.Verdict != verdict.Measured || !stats.Positive(p.Rate) {
			continue
		}
		for len(skipped) > 0 && skipped[0] < p.Clients {
			add(skipped[0], 0, 0)
			skipped = skipped[1:]
		}
		add(p.Clients, math.Log(p.Rate), max(p.Repeats, 1))
	}
	if len(counted.clients) < 2 {
		return 0, false
	}
	knee := slices.Index(counted.clients, c.Knee.Clients)
	if knee < 0 {
		return 0, false
	}
	key := answerKey{}.addInt(knee).addFloat(percentOfPeak).addFloat(noise.CV).addInt(noise.Freedom)
	for i, n := range counted.clients {
		key = key.addInt(int(n)).addFloat(counted.logs[i]).addInt(counted.trials[i])
	}
	return stabilities.Get(string(key), func() float64 {
		return min(newCurvePosterior(counted, noise, math.Log(percentOfPeak/100)).share[knee], 1)
	}), true
}
