package sweep

import (
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Parameters of an adaptive sweep. They were tuned by simulation. make bench-adaptive measures their quality on curves with other
// seeds.
const (
	adaptiveRepeats     = 6     // highest number of trials of one client count
	stopProbability     = 0.96  // probability of the knee at which the sweep ends
	minGainPerTrial     = 0.002 // a further trial must raise the probability of the right knee by at least this
	contradictionMargin = 0.1   // see contradiction
	maxTrialsTogether   = 3     // highest number of trials of a count that mostInformative considers together

	// Prior for the noise: a coefficient of variation of 1 %, worth two degrees of freedom.
	priorCV      = 0.01
	priorFreedom = 2
)

// AdaptiveNext returns the client count that an adaptive sweep measures next, based on the points measured so far. Repeats of a
// count are separate points, including Errored points. The result depends only on the arguments, not on the order of the points.
// done is true if the knee is known with a probability of 96 %, or if no further trial is worth its time. Each count has at most six
// trials. clients must be ascending.
//
// The highest count that passes the gates comes first. The next count is the one whose measurement is expected to raise the
// probability of the right knee most (see newCurvePosterior). This may be a repeat. In the end, the next lower count that may be a knee
// is measured if it has no trial. The posterior only chooses the counts. The knee is always computed by NewCurve from the measured
// points, as in any sweep.
//
// The noise is that of the cell's own repeats and a weak prior. The noise of other cells and of Finals is not used: their records
// arrive later, and must not change which trials a replay of the sweep requires.
func AdaptiveNext(clients []int32, points []Point, percentOfPeak float64) (next int32, done bool) {
	tried := triedCounts(clients, points)
	if i := findMissingTop(tried); i >= 0 {
		return tried[i].clients, false
	}
	next = nextCounts.Get(string(keyOf(tried, percentOfPeak)), func() int32 { return chooseNext(tried, percentOfPeak) })
	return next, next == 0
}

func keyOf(tried []triedCount, percentOfPeak float64) (k answerKey) {
	k = k.addFloat(percentOfPeak)
	for _, t := range tried {
		gated := 0
		if t.gated {
			gated = 1
		}
		k = k.addInt(int(t.clients)).addInt(t.trials).addInt(gated).addInt(len(t.logs))
		for _, v := range t.logs {
			k = k.addFloat(v)
		}
	}
	return k
}

// triedCount holds the trials of one client count.
type triedCount struct {
	clients int32
	trials  int
	gated   bool
	logs    []float64 // log of docs/s of the Measured trials
}

// isUsable reports whether the count may be a peak or a knee.
func (t triedCount) isUsable() bool { return !t.gated && len(t.logs) > 0 }

// logOfMedian returns the log of the median of docs/s. It returns NaN if there are no Measured trials.
func (t triedCount) logOfMedian() float64 {
	docs := make([]float64, len(t.logs))
	for i, l := range t.logs {
		docs[i] = math.Exp(l)
	}
	return math.Log(stats.Median(docs))
}

// triedCounts returns the trials of each client count, including counts without trials. It leaves out counts that have only
// Errored trials, because an error says nothing about other counts.
func triedCounts(clients []int32, points []Point) []triedCount {
	all := make([]triedCount, len(clients))
	for i, n := range clients {
		all[i].clients = n
	}
	for _, p := range points {
		i, asked := slices.BinarySearch(clients, p.Clients)
		if !asked {
			continue
		}
		t := &all[i]
		t.trials++
		t.gated = t.gated || p.Verdict == verdict.Gated
		if p.Verdict == verdict.Measured && stats.Positive(p.Rate) {
			t.logs = append(t.logs, math.Log(p.Rate))
		}
	}
	for _, t := range all {
		slices.Sort(t.logs) // sorted, because the sum of floats must not depend on the order of the points
	}
	return slices.DeleteFunc(all, func(t triedCount) bool { return t.trials > 0 && !t.gated && !t.isUsable() })
}

// findMissingTop returns the index of a count that must be measured to find the highest counts that pass the gates. It returns -1
// if these counts are known. Gates such as rejections fail above some count, which a bisection finds.
func findMissingTop(tried []triedCount) int {
	usable, gated := -1, len(tried) // the highest usable count, and the lowest Gated count above it
	for i, t := range tried {
		switch {
		case t.isUsable():
			usable, gated = i, len(tried)
		case t.gated:
			gated = min(gated, i)
		}
	}
	if gated == len(tried) && usable < len(tried)-1 {
		return len(tried) - 1
	}
	if gated-usable > 1 {
		return (usable + gated) / 2
	}
	return -1
}

// lastUsable returns the index of the highest usable count, or -1 if there is none.
func lastUsable(tried []triedCount) int {
	for i := len(tried) - 1; i >= 0; i-- {
		if tried[i].isUsable() {
			return i
		}
	}
	return -1
}

// steering chooses the next count of an adaptive sweep.
type steering struct {
	countedCurve
	posterior  curvePosterior
	attempts   []int // trials of each count, including Errored trials
	knee, peak int   // indices of the measured knee and peak
	likeliest  int   // index of the most probable knee
}

// chooseNext returns the count that an adaptive sweep measures next, or 0 if the sweep is done.
func chooseNext(tried []triedCount, percentOfPeak float64) int32 {
	s, noise := steering{}, newSweepNoise(tried)
	for _, t := range tried[:lastUsable(tried)+1] {
		if t.gated {
			continue
		}
		s.clients = append(s.clients, t.clients)
		s.logs = append(s.logs, t.logOfMedian())
		s.trials = append(s.trials, len(t.logs))
		s.attempts = append(s.attempts, t.trials)
	}
	if len(s.clients) < 2 {
		return 0
	}
	logShare := math.Log(percentOfPeak / 100)
	s.knee, s.peak = s.countedCurve.knee(logShare)
	s.posterior = newCurvePosterior(s.countedCurve, noise, logShare)
	s.likeliest = slices.Index(s.posterior.share, slices.Max(s.posterior.share))
	if i := s.worthMeasuring(); i >= 0 {
		return s.clients[i]
	}
	if s.knee > 0 && s.trials[s.knee-1] == 0 { // the count below the knee must have failed, not only be expected to fail
		return s.clients[s.knee-1]
	}
	return 0
}

// worthMeasuring returns the index of the count to measure, or -1 if the measured knee is sure enough or no trial is worth its price.
func (s steering) worthMeasuring() int {
	if s.posterior.share[s.knee] >= stopProbability {
		return -1
	}
	if s.trials[s.likeliest] == 0 {
		return s.likeliest
	}
	if i := s.mostInformative(); i >= 0 {
		return i
	}
	return s.contradiction()
}

// newSweepNoise returns the noise of the repeats of a sweep, with the prior for the noise.
func newSweepNoise(tried []triedCount) stats.Noise {
	squares, freedom := float64(priorFreedom)*priorCV*priorCV, priorFreedom
	for _, t := range tried {
		if t.isUsable() {
			squares += stats.SumOfSquares(t.logs)
			freedom += len(t.logs) - 1
		}
	}
	return stats.Noise{CV: math.Sqrt(squares / float64(freedom)), Freedom: freedom}
}

func (s steering) mayMeasure(i int) bool { return s.attempts[i] < adaptiveRepeats }

// mostInformative returns the count whose measurement is expected to raise the probability of the right knee most, per trial. It
// considers up to three trials of a count together, because one trial alone may be too noisy to change the decision. It returns -1
// if no count is worth a trial. This is the knowledge gradient (Frazier, Powell and Dayanik 2008).
func (s steering) mostInformative() int {
	groups := s.posterior.groupByKnee()
	best, highest := -1, minGainPerTrial
	for i := range s.clients {
		for n := 1; n <= min(maxTrialsTogether, adaptiveRepeats-s.attempts[i]); n++ {
			gain := 0.0
			for other := range s.clients {
				if other != s.likeliest && groups[other].draws > 0 {
					gain += expectedGain(groups[s.likeliest], groups[other], i, s.posterior.variance/float64(n))
				}
			}
			if gain /= float64(n); gain > highest {
				best, highest = i, gain
			}
		}
	}
	return best
}

// contradiction returns the count to repeat if the measured knee is much less probable than another knee. Then noise has
// probably moved the median of the peak, of the measured knee or of the likeliest knee. More trials correct it. Of these three counts, it is the one whose
// trials can move the median most towards the expected docs/s. It returns -1 if there is no contradiction.
func (s steering) contradiction() int {
	if s.posterior.share[s.likeliest]-s.posterior.share[s.knee] <= contradictionMargin {
		return -1
	}
	best, highest := -1, 0.0
	for _, i := range []int{s.likeliest, s.knee, s.peak} {
		move := math.Abs(s.logs[i]-s.posterior.expected(i)) / float64(s.trials[i]+1)
		if s.mayMeasure(i) && move > highest {
			best, highest = i, move
		}
	}
	return best
}
