package report

import (
	"fmt"
	"math"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
)

// verdict is whether the answer can be trusted, as every report says it under its first sentence.
type verdict struct {
	kind   string // conclusive, running or doubtful
	word   string
	rest   string
	doubts []analysis.Doubt
}

func verdictOf(in Input) verdict {
	ok, reason, message := in.Assessment.Conclusive()
	switch {
	case ok:
		return verdict{kind: "conclusive", word: "Conclusive", rest: ": " + message + "."}
	case reason == v1alpha1.ReasonNotFinished:
		return verdict{kind: "running", word: "Not finished", rest: ": " + message + "."}
	}
	return verdict{kind: "doubtful", word: "Not conclusive", rest: fmt.Sprintf(" (%s):", reason), doubts: in.Assessment.Doubts()}
}

// told tells whether a ratio came to a verdict: faster, slower or equivalent.
func told(r analysis.Ratio) bool {
	switch r.Verdict {
	case analysis.Faster, analysis.Slower, analysis.Equivalent:
		return true
	case analysis.TooNoisy:
		return false
	}
	return r.Distinguishable
}

// ratioVerdict says in a few words what a ratio tells.
func ratioVerdict(r analysis.Ratio) string {
	switch {
	case math.IsNaN(r.Ratio):
		return "no Measured repetitions"
	case !r.HasInterval():
		return "one repetition says nothing of noise"
	case r.Verdict == analysis.TooNoisy && r.Need > 0:
		return fmt.Sprintf("too noisy: needs about %d %s", r.Need, unitsOf(r))
	case r.Verdict != analysis.NoVerdict:
		return string(r.Verdict)
	case !r.Distinguishable:
		return "not distinguishable"
	case r.Ratio > 1:
		return string(analysis.Faster)
	}
	return string(analysis.Slower)
}

// unitsOf names what a ratio's sample sizes count.
func unitsOf(r analysis.Ratio) string {
	if r.Placements > 1 {
		return "placements"
	}
	return "repetitions"
}
