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
	adaptiveRepeats = 3 // highest number of trials of one client count
	adaptiveTops    = 2 // the peak of a saturating curve is among the highest counts, so this many of them are always measured

	decided = 1.8 // in standard errors: a count with at least this distance from the threshold is not repeated
	fallen  = 2.0 // in standard errors: if docs/s fall by more than this after the peak, the counts beside the peak are measured

	// Prior for the noise, because the noise is pooled from only a few repeats.
	priorCV      = 0.015
	priorFreedom = 4
)

// AdaptiveNext returns the client count that an adaptive sweep measures next, based on the points measured so far. Repeats of a
// count are separate points, including Errored points. The result depends only on the arguments, not on the order of the points.
// done is true if further trials would not change the knee. Each count has at most three trials. clients must be ascending.
//
// The highest counts come first. The next counts bisect the range towards the knee of a fit that rises and falls. If docs/s fall
// after the peak, counts beside the peak are measured. Finally, counts that are too close to the threshold are repeated. The fit
// only chooses the counts. The knee is always computed by NewCurve from the measured points, as in any sweep.
func AdaptiveNext(clients []int32, points []Point, percentOfPeak float64) (next int32, done bool) {
	tried := triedCounts(clients, points)
	if i := findMissingTop(tried); i >= 0 {
		return tried[i].clients, false
	}
	s, ok := newSteering(tried, math.Log(percentOfPeak/100))
	if !ok {
		return 0, true
	}
	for _, look := range []func() int{s.belowKnee, s.besidePeak, s.findDoubtful} {
		if i := look(); i >= 0 {
			return tried[i].clients, false
		}
	}
	return 0, true
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
		if p.Verdict == verdict.Measured && stats.Positive(p.DocsPerSecond) {
			t.logs = append(t.logs, math.Log(p.DocsPerSecond))
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
	for i, found := usable, 0; i >= 0 && found < adaptiveTops; i-- {
		if tried[i].trials == 0 {
			return i
		}
		if tried[i].isUsable() {
			found++
		}
	}
	return -1
}

// steering holds the fit of the usable counts, with its peak and its knee.
type steering struct {
	tried  []triedCount
	at     []int     // indices of the usable counts in tried
	fit    []float64 // fitted log docs/s of the usable counts
	weight []float64 // numbers of Measured trials of the usable counts
	sigma  float64   // standard deviation of one trial, on logs

	peak, peakEnd int     // first and last count of the fit's peak, as indices into at
	peakWeight    float64 // number of Measured trials of all counts of the peak
	knee          int     // index of the fit's knee in at
	margin        float64 // distance from the peak down to the threshold, on logs
}

func newSteering(tried []triedCount, logShare float64) (s steering, ok bool) {
	s = steering{tried: tried, margin: -logShare}
	squares, freedom := priorFreedom*priorCV*priorCV, float64(priorFreedom)
	var means []float64
	for i, t := range tried {
		if !t.isUsable() {
			continue
		}
		s.at = append(s.at, i)
		means = append(means, stats.Mean(t.logs))
		s.weight = append(s.weight, float64(len(t.logs)))
		squares += stats.SumOfSquares(t.logs)
		freedom += float64(len(t.logs) - 1)
	}
	if len(s.at) == 0 {
		return s, false
	}
	s.sigma = math.Sqrt(squares / freedom)
	s.fit, _ = stats.Unimodal(means, s.weight)
	s.peak = slices.Index(s.fit, slices.Max(s.fit))
	for s.peakEnd = s.peak; s.peakEnd+1 < len(s.fit) && s.isOnPeak(s.peakEnd+1); s.peakEnd++ {
	}
	for k := s.peak; k <= s.peakEnd; k++ {
		s.peakWeight += s.weight[k]
	}
	s.knee = max(kneeIndex(s.fit, logShare), 0)
	return s, true
}

func (s steering) isOnPeak(k int) bool { return s.fit[k] == s.fit[s.peak] }

// belowKnee returns the middle of the counts between the knee and the usable count before it that have no trials. It returns -1 if
// there are no such counts.
func (s steering) belowKnee() int {
	if s.knee == 0 {
		return s.between(-1, s.at[0])
	}
	return s.between(s.at[s.knee-1], s.at[s.knee])
}

// besidePeak returns a count next to the peak that has no trials. It returns -1 if there is no such count, or if docs/s do not
// fall after the peak.
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

// between returns the count without trials that is nearest to the middle between two indices of tried. It returns -1 if there is
// no such count.
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

// findDoubtful finds the count up to the knee that is closest to the threshold in standard errors. It returns the count whose
// repeat helps to decide on which side of the threshold this count is (see repeatFor). It returns -1 if all counts are far enough
// from the threshold or have been repeated often enough.
func (s steering) findDoubtful() int {
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

// distance returns the distance of a count from the threshold. The unit is the standard error of the difference between the
// count's docs/s and the peak's.
func (s steering) distance(k int) float64 {
	if s.isOnPeak(k) {
		return s.margin / (s.sigma * math.Sqrt(1/s.weight[k]))
	}
	return math.Abs(s.fit[s.peak]-s.margin-s.fit[k]) / (s.sigma * math.Sqrt(1/s.weight[k]+1/s.peakWeight))
}

// repeatFor returns the count to repeat: the count k, or a count of the peak if the peak has fewer trials. A repeat of the count
// with fewer trials gives more information. It returns -1 if neither count may be repeated.
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
