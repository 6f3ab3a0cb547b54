package stats

// RatioVerdict is the verdict on a ratio with its interval.
type RatioVerdict string

// Values of RatioVerdict.
const (
	Faster     RatioVerdict = "faster"     // the interval is above 1, and the difference is distinguished from noise
	Slower     RatioVerdict = "slower"     // the interval is below 1, and the difference is distinguished from noise
	Equivalent RatioVerdict = "equivalent" // the interval is within 1/(1+d) and 1+d; d is smallestDifferencePercent / 100
	TooNoisy   RatioVerdict = "too noisy"  // not faster, slower or equivalent; JudgeRatio also returns the repetitions needed
	NoVerdict  RatioVerdict = ""           // there is no interval
)

// JudgeRatio returns the verdict on an estimate. The verdict is equivalent if the interval is within the smallest difference that
// matters, even if the difference is distinguished from noise. Its limits are 1/(1+d) and 1+d, so that the verdict does not depend
// on which cell is the baseline. The interval must have the confidence that all comparisons together require. Otherwise even a narrow
// interval does not show equivalence. need is about the number of repetitions per cell that a new measurement requires to detect the
// smallest difference at the noise in s. It is 0 unless the verdict is too noisy.
func JudgeRatio(e Estimate, distinguishable bool, s Sizing) (verdict RatioVerdict, need int) {
	d := s.SmallestDifferencePercent / 100
	sure := e.Confidence >= FamilyConfidence(s.Comparisons)-rounding && !e.TooFew(s.Comparisons)
	switch {
	case !e.HasInterval():
		return NoVerdict, 0
	case sure && e.Low >= (1-rounding)/(1+d) && e.High <= (1+d)*(1+rounding): // tolerance, because the bounds are computed on logs
		return Equivalent, 0
	case distinguishable && e.Low > 1:
		return Faster, 0
	case distinguishable && e.High < 1:
		return Slower, 0
	}
	// The present number of repetitions was not enough, whatever the noise predicts. So need is higher than the present number.
	return TooNoisy, max(RepetitionsFor(s), min(e.N, e.M)+1)
}
