// Package verdict defines the verdict on a record: whether the record is a valid measurement that passed the gates, and the
// reasons if not.
package verdict

import (
	"slices"
	"strings"
)

// Verdict is the result of judging a record: whether the record is a valid measurement that passed the gates. A verdict is never
// stored, because records are judged again whenever they are read.
type Verdict string

// Values of Verdict.
const (
	Measured Verdict = "Measured" // a valid measurement that passed every gate
	Gated    Verdict = "Gated"    // a valid measurement that failed a gate: shown, never retried, never a peak or a knee
	Errored  Verdict = "Errored"  // not a valid measurement: retried, then reported as failed; its figures are not used
)

// Judgement is a verdict and its reasons.
type Judgement struct {
	Verdict  Verdict
	Failures []Failure // empty if Measured; the most informative failure is first

	// NotEvaluable lists the gates whose figures are not in the record, if the campaign requires such gates to be reported instead
	// of failed (gates.notEvaluable). It is empty if the verdict is Errored.
	NotEvaluable []Failure
}

// Notes lists the failures, then the gates that could not be evaluated.
func (j Judgement) Notes() []Failure {
	out := slices.Clone(j.Failures)
	for _, f := range j.NotEvaluable {
		f.Message = "not evaluable: " + f.Message
		out = append(out, f)
	}
	return out
}

// Failure is one reason why a record failed.
type Failure struct {
	Gate    string // name of the gate in spec.gates; empty for an error
	Reason  string // one of the Reason constants of package record; empty for a gate
	Message string // the figure, the limit and the field, for a human reader
}

// Clip writes a text on one line and limits it to a number of characters.
func Clip(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most-3]) + "..."
	}
	return string(runes)
}
