package analysis

import (
	"fmt"
	"strings"

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
	var short []Ratio
	for _, r := range a.Ratios {
		if r.tooFew() {
			short = append(short, r)
			pairs = append(pairs, fmt.Sprintf("%s (%d against %d)", a.ratioName(r), r.N, r.M))
		}
	}
	what, field, planned, _ := a.repeated()
	advice := fmt.Sprintf("set %s to at least %d", field, Repetitions(a.comparisons()))
	if planned >= Repetitions(a.comparisons()) {
		advice = a.mend(short)
	}
	return each(v1alpha1.ReasonTooFewRepetitions, pairs, fmt.Sprintf(
		"too few Measured %s of %%s to tell any difference from noise: %s", what, advice))
}

// mend says what to do about Finals that ratios go without.
func (a Assessment) mend(ratios []Ratio) string {
	failed, gated := false, false
	for _, r := range ratios {
		for _, c := range []*Cell{a.Cell(r.Variant, r.Topology), a.Cell(r.Baseline, r.BaselineTopology)} {
			for _, o := range c.Finals {
				failed = failed || o.Failed
				gated = gated || o.Done && o.Judgement.Verdict == Gated
			}
		}
	}
	var advice []string
	if failed {
		advice = append(advice, "mend what failed, then raise spec.retries")
	}
	if gated { // a Gated Final is measured, and takes no retry
		advice = append(advice, "change the gate that failed in spec.gates, or mend what it found and set a new spec.rerun")
	}
	return strings.Join(advice, "; ")
}

// repeated is what a ratio's interval rests on, the field that asks for more of it, and how many are planned at most,
// and allowed.
func (a Assessment) repeated() (what, field string, planned, allowed int) {
	switch {
	case a.placements > 1:
		return "placements", "spec.final.placements", int(a.placements), 16
	case a.most > a.repetitions:
		return "repetitions", "spec.final.maxRepetitions", int(a.most), 50
	}
	return "repetitions", "spec.final.repetitions", int(a.repetitions), 50
}

// notDistinguishable finds ratios that are neither told apart from 1 nor equivalent: an answer that is too noisy to be
// one.
func (a Assessment) notDistinguishable() []Doubt {
	what, field, planned, allowed := a.repeated()
	var pairs []string
	most, raise := 0, false // the most that would do, and whether raising the field may
	for _, r := range a.Ratios {
		if r.Distinguishable || r.Verdict == Equivalent || r.tooFew() {
			continue
		}
		name := a.ratioName(r)
		if r.Need > 0 {
			name += fmt.Sprintf(" (about %d %s would do)", r.Need, what)
		}
		pairs = append(pairs, name)
		most, raise = max(most, r.Need), raise || r.Need <= allowed
	}
	if most <= planned && field == "spec.final.maxRepetitions" {
		field = "spec.final.repetitions" // the first stage asked for fewer than are allowed
	}
	var advice []string
	if raise {
		advice = append(advice, "raise "+field)
	}
	or := ", or"
	if most > allowed {
		or = ", or raise"
		advice = append(advice, fmt.Sprintf(
			"lessen the noise (longer loads, machines that nobody shares) where it takes more than the %d that %s allows", allowed, field))
	}
	return each(v1alpha1.ReasonNotDistinguishable, pairs, fmt.Sprintf(
		"too noisy: %%s cannot be told from no difference at the 5 %%%% level, nor from one of spec.final.smallestDifferencePercent: %s that percentage if a smaller difference does not matter",
		strings.Join(advice, ", ")+or))
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
