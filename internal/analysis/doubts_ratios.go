package analysis

import (
	"fmt"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// fewRepetitions finds comparisons whose smallest possible p, 2/C(2n, n) times the number of comparisons, is
// above Alpha: no difference, however large, could be told from noise. Where there are placements, they are what is
// compared, and the same holds of their number.
func (a Assessment) fewRepetitions() []Doubt {
	if len(a.pairs) == 0 {
		return nil
	}
	if a.repetitions == 0 {
		return []Doubt{{v1alpha1.ReasonTooFewRepetitions, fmt.Sprintf(
			"no Final repetitions, so that the variants are not compared: set spec.final.repetitions to %d",
			Repetitions(a.comparisons()))}}
	}
	var pairs []string
	for _, r := range a.Ratios {
		if r.tooFew() {
			pairs = append(pairs, fmt.Sprintf("%s (%d against %d)", a.ratioName(r), r.N, r.M))
		}
	}
	what, field := a.repeated()
	return each(v1alpha1.ReasonTooFewRepetitions, pairs, fmt.Sprintf(
		"too few Measured %s of %%s to tell any difference from noise: set %s to at least %d",
		what, field, Repetitions(a.comparisons())))
}

// repeated is what a ratio's interval rests on, and the field that asks for more of it.
func (a Assessment) repeated() (what, field string) {
	for _, c := range a.Cells {
		if slices.ContainsFunc(c.Finals, func(o Outcome) bool { return o.Trial.Placement > 1 }) {
			return "placements", "spec.final.placements"
		}
	}
	return "repetitions", "spec.final.repetitions"
}

// notDistinguishable finds ratios that are neither told apart from 1 nor equivalent: an answer that is too noisy to be
// one.
func (a Assessment) notDistinguishable() []Doubt {
	what, field := a.repeated()
	var pairs []string
	for _, r := range a.Ratios {
		if r.Distinguishable || r.Verdict == Equivalent || r.tooFew() {
			continue
		}
		name := a.ratioName(r)
		if r.Need > 0 {
			name += fmt.Sprintf(" (about %d %s would do)", r.Need, what)
		}
		pairs = append(pairs, name)
	}
	return each(v1alpha1.ReasonNotDistinguishable, pairs, fmt.Sprintf(
		"too noisy: %%s cannot be told from no difference at the 5 %%%% level, nor from one of spec.final.smallestDifferencePercent: raise %s, or that percentage if a smaller difference does not matter", field))
}

// tooFew tells whether no samples of these sizes could be distinguishable.
func (r Ratio) tooFew() bool { return float64(max(r.Comparisons, 1))*r.MinP > Alpha }

// Repetitions is the smallest number of Final repetitions with which that many comparisons can each be told from
// noise: comparisons x 2/C(2n, n) <= Alpha.
func Repetitions(comparisons int) int {
	p := 2.0
	for n := 1; ; n++ {
		p *= float64(n) / float64(2*(2*n-1)) // C(2n, n) = C(2n-2, n-1) x 2(2n-1)/n
		if float64(max(comparisons, 1))*p <= Alpha {
			return n
		}
	}
}
