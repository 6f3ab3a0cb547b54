package analysis

import (
	"math"
	"slices"
)

// What steers an adaptive sweep, tuned by simulation (make bench-adaptive measures it on curves of other seeds).
const (
	adaptiveRepeats = 3 // of one client count at most
	adaptiveTops    = 2 // highest counts that are always measured, since the peak of a saturating curve lies there

	decided = 1.8 // standard errors from the threshold at which a count is not repeated
	fallen  = 2.0 // standard errors that docs/s must fall after the peak, for the counts beside the peak to be measured

	// What a noise from a handful of repeats is pooled with.
	priorCV      = 0.015
	priorFreedom = 4
)

// AdaptiveNext says which client count an adaptive sweep measures next, given the points measured so far (repeats of
// a count are points of their own, Errored ones included). It is a pure function of its arguments, whatever the points'
// order; done when the knee is settled as far as it can be, after at most three trials of each count. clients is
// ascending.
//
// The highest counts come first. Then it bisects towards the knee of a rise-and-fall fit, looks beside the peak where
// docs/s fall after it, and repeats what lies too near the threshold to be told from it. The fit steers; the knee is
// then read off the points by the literal rule, as from any sweep.
func AdaptiveNext(clients []int32, points []Point, percentOfPeak float64) (next int32, done bool) {
	tried := triedCounts(clients, points)
	if i := missingTop(tried); i >= 0 {
		return tried[i].clients, false
	}
	s, ok := steer(tried, math.Log(percentOfPeak/100))
	if !ok {
		return 0, true
	}
	for _, look := range []func() int{s.belowKnee, s.besidePeak, s.doubtful} {
		if i := look(); i >= 0 {
			return tried[i].clients, false
		}
	}
	return 0, true
}

// triedCount is what is known of one client count.
type triedCount struct {
	clients int32
	trials  int
	gated   bool
	logs    []float64 // docs/s of the Measured trials, on logs
}

// usable tells whether the count may be a peak or a knee.
func (t triedCount) usable() bool { return !t.gated && len(t.logs) > 0 }

// triedCounts is one a client count, but for those that were tried in vain: an error says nothing of other counts.
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
		t.gated = t.gated || p.Verdict == Gated
		if p.Verdict == Measured && positive(p.DocsPerSecond) {
			t.logs = append(t.logs, math.Log(p.DocsPerSecond))
		}
	}
	for _, t := range all {
		slices.Sort(t.logs) // the sum of floats must not depend on the points' order
	}
	return slices.DeleteFunc(all, func(t triedCount) bool { return t.trials > 0 && !t.gated && !t.usable() })
}

// missingTop is a count that must be measured to know the highest counts that no gate keeps out; -1 when these are
// known. Gates such as rejections fail from some count on, which is found by bisection.
func missingTop(tried []triedCount) int {
	usable, gated := -1, len(tried) // the highest usable count, and the lowest Gated one above it
	for i, t := range tried {
		switch {
		case t.usable():
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
	for i, found := usable, 0; i >= 0 && found < adaptiveTops; i-- {
		if tried[i].trials == 0 {
			return i
		}
		if tried[i].usable() {
			found++
		}
	}
	return -1
}

// steering is the fit of the usable counts, and what it says of the knee.
type steering struct {
	tried  []triedCount
	at     []int     // the usable counts, as indices into tried
	fit    []float64 // their docs/s, on logs
	weight []float64 // their Measured trials
	sigma  float64   // noise of one trial, on logs

	peak, peakEnd int     // first and last of the fit's highest counts, as indices into at
	peakWeight    float64 // of them all
	knee          int     // index into at
	margin        float64 // from the peak down to the threshold, on logs
}

func steer(tried []triedCount, logShare float64) (s steering, ok bool) {
	s = steering{tried: tried, margin: -logShare}
	squares, freedom := priorFreedom*priorCV*priorCV, float64(priorFreedom)
	var means []float64
	for i, t := range tried {
		if !t.usable() {
			continue
		}
		s.at = append(s.at, i)
		means = append(means, mean(t.logs))
		s.weight = append(s.weight, float64(len(t.logs)))
		squares += sumOfSquares(t.logs)
		freedom += float64(len(t.logs) - 1)
	}
	if len(s.at) == 0 {
		return s, false
	}
	s.sigma = math.Sqrt(squares / freedom)
	s.fit, _ = unimodal(means, s.weight)
	s.peak = slices.Index(s.fit, slices.Max(s.fit))
	for s.peakEnd = s.peak; s.peakEnd+1 < len(s.fit) && s.onPeak(s.peakEnd+1); s.peakEnd++ {
	}
	for k := s.peak; k <= s.peakEnd; k++ {
		s.peakWeight += s.weight[k]
	}
	s.knee = max(kneeIndex(s.fit, logShare), 0)
	return s, true
}

func (s steering) onPeak(k int) bool { return s.fit[k] == s.fit[s.peak] }

// belowKnee is the middle of the counts not tried between the knee and the usable count before it, -1 when there are
// none.
func (s steering) belowKnee() int {
	if s.knee == 0 {
		return s.between(-1, s.at[0])
	}
	return s.between(s.at[s.knee-1], s.at[s.knee])
}

// besidePeak is a count not tried next to the peak, -1 when there is none or docs/s do not fall after the peak.
func (s steering) besidePeak() int {
	last := len(s.fit) - 1
	fall := s.fit[s.peak] - s.fit[last]
	if fall <= fallen*s.sigma*math.Sqrt(1/s.peakWeight+1/s.weight[last]) {
		return -1
	}
	if s.peak > 0 {
		if i := s.between(s.at[s.peak-1], s.at[s.peak]); i >= 0 {
			return i
		}
	}
	return s.between(s.at[s.peakEnd], s.at[s.peakEnd+1])
}

// between is the count nearest to the middle of those not tried between two indices into tried.
func (s steering) between(low, high int) int {
	best, distance := -1, math.MaxInt
	for i := low + 1; i < high; i++ {
		d := max(2*i-low-high, low+high-2*i)
		if s.tried[i].trials == 0 && d < distance {
			best, distance = i, d
		}
	}
	return best
}

// doubtful is the count to repeat for the one up to the knee that can be told least from the threshold, -1 when all
// are told or repeated enough.
func (s steering) doubtful() int {
	repeat, least := -1, decided
	for k := 0; k <= s.knee; k++ {
		if z := s.distance(k); z < least {
			if r := s.repeatFor(k); r >= 0 {
				repeat, least = s.at[r], z
			}
		}
	}
	return repeat
}

// distance is how far a count lies from the threshold, in standard errors of its docs/s against the peak's.
func (s steering) distance(k int) float64 {
	if s.onPeak(k) {
		return s.margin / (s.sigma * math.Sqrt(1/s.weight[k]))
	}
	return math.Abs(s.fit[s.peak]-s.margin-s.fit[k]) / (s.sigma * math.Sqrt(1/s.weight[k]+1/s.peakWeight))
}

// repeatFor is what tells most of a count against the peak: whichever of the two has fewer trials; -1 when both have
// as many as there may be.
func (s steering) repeatFor(k int) int {
	peak := -1
	for q := s.peak; q <= s.peakEnd; q++ {
		if s.mayRepeat(q) {
			peak = q
		}
	}
	if s.mayRepeat(k) && (peak < 0 || s.weight[k] <= s.peakWeight) {
		return k
	}
	return peak
}

func (s steering) mayRepeat(k int) bool { return s.tried[s.at[k]].trials < adaptiveRepeats }
