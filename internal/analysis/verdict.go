package analysis

// RatioVerdict says what a ratio with its interval comes to.
type RatioVerdict string

// The verdicts of a ratio.
const (
	Faster     RatioVerdict = "faster"     // the interval lies above 1, and the difference can be told from noise
	Slower     RatioVerdict = "slower"     // the same below 1
	Equivalent RatioVerdict = "equivalent" // the interval lies within 1 -+ smallestDifferencePercent
	TooNoisy   RatioVerdict = "too noisy"  // none of these; Need tells about how many repetitions it takes
	NoVerdict  RatioVerdict = ""           // no interval
)

// JudgeRatio gives an estimate its verdict. A difference that can be told from noise may be equivalent as well, when
// it is smaller than what matters: then equivalent stands. need is about how many repetitions a cell would take for
// smallestDifferencePercent to be told, 0 unless too noisy.
func JudgeRatio(e Estimate, distinguishable bool, smallestDifferencePercent float64, noise Noise, comparisons int) (verdict RatioVerdict, need int) {
	return NoVerdict, 0
}

// RepetitionsFor is the number of repetitions a cell with which the interval's half-width is about half of the
// smallest difference at the given noise, at least what Repetitions asks for; for the second stage and for plans.
func RepetitionsFor(cv, smallestDifferencePercent float64, comparisons int) int { return 0 }

// CompareMeans is Compare on the geometric means of placements: each inner slice holds the repetitions of one.
func CompareMeans(x, y [][]float64, confidence float64) Estimate { return Estimate{} }
