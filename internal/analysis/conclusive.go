package analysis

import (
	"fmt"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// Doubt is a reason not to trust the answer as it stands, with what to do about it.
type Doubt struct{ Reason, Message string }

// Conclusive tells whether the answer can be trusted. If not, the reason is the doubt that weighs most; the
// message lists all of them, each with what to do.
func (a Assessment) Conclusive() (ok bool, reason, message string) {
	if !a.Finished {
		return false, v1alpha1.ReasonNotFinished, fmt.Sprintf("%d of %d trials are done", a.Done, a.Planned)
	}
	doubts := a.Doubts()
	if len(doubts) == 0 {
		return true, v1alpha1.ReasonConclusive, "every knee was found, and every ratio is told apart from noise"
	}
	messages := make([]string, len(doubts))
	for i, d := range doubts {
		messages[i] = d.Message
	}
	return false, doubts[0].Reason, strings.Join(messages, "; ")
}

// Doubts are listed by weight: first what leaves no answer, then what may make it wrong, then what makes it weak.
func (a Assessment) Doubts() []Doubt {
	finders := []func() []Doubt{a.kneesNotFound, a.notShared, a.peaksGated, a.peaksAtEdge}
	if a.Fixed {
		finders = nil // there is no sweep to doubt
	}
	finders = append(finders, a.trialsFailed, a.trialsGated, a.sharedLoader, a.fewRepetitions, a.notDistinguishable)
	var out []Doubt
	for _, find := range finders {
		out = append(out, find()...)
	}
	return out
}

func (a Assessment) kneesNotFound() []Doubt {
	var cells []string
	for _, c := range a.Cells {
		if c.Curve.Knee == nil {
			cells = append(cells, a.cellName(c))
		}
	}
	return each(v1alpha1.ReasonKneeNotFound, cells,
		"no client count of %s was Measured: see why in the report, then mend the cause or loosen spec.gates")
}

func (a Assessment) notShared() []Doubt {
	var out []Doubt
	for _, t := range a.topologies {
		if s := a.Shared[t]; !s.Agreed {
			out = append(out, Doubt{v1alpha1.ReasonNoSharedClients, fmt.Sprintf(
				"%s%s: add client counts to spec.sweep, or lower spec.knee.percentOfPeak", a.of(t), s.Why)})
		}
	}
	return out
}

func (a Assessment) peaksGated() []Doubt {
	var cells []string
	for _, c := range a.Cells {
		if c.Curve.PeakGated && c.Curve.Peak != nil {
			cells = append(cells, fmt.Sprintf("%s (%d clients)", a.cellName(c), c.Curve.Highest.Clients))
		}
	}
	return each(v1alpha1.ReasonPeakGated, cells,
		"the highest docs/s of %s failed a gate, so that the peak lies below it: mend what the gate found, or change spec.gates")
}

func (a Assessment) peaksAtEdge() []Doubt {
	var cells []string
	for _, c := range a.Cells {
		if c.Curve.PeakAtRangeEdge {
			cells = append(cells, fmt.Sprintf("%s (%d clients)", a.cellName(c), c.Curve.Peak.Clients))
		}
	}
	return each(v1alpha1.ReasonPeakAtRangeEdge, cells,
		"the peak of %s is at the highest client count observed and may lie beyond it: add higher counts to spec.sweep")
}

func (a Assessment) trialsFailed() []Doubt {
	var failed []string
	for _, c := range a.Cells {
		for _, p := range c.Curve.Points {
			if p.Verdict == Errored {
				failed = append(failed, fmt.Sprintf("%s Sweep %d clients", a.cellName(c), p.Clients))
			}
		}
		failed = append(failed, a.finalsThat(c, func(o Outcome) bool { return o.Failed })...)
	}
	return each(v1alpha1.ReasonTrialsFailed, failed,
		"no valid measurement of %s: mend the cause that the report names, then set a new spec.rerun or raise spec.retries")
}

// trialsGated finds the Finals that a ratio goes without. A Gated point of a sweep is no doubt: past the knee,
// rejections are what is to be expected, and peaksGated tells of one above the peak.
func (a Assessment) trialsGated() []Doubt {
	var gated []string
	for _, c := range a.Cells {
		gated = append(gated, a.finalsThat(c, func(o Outcome) bool { return o.Done && o.Judgement.Verdict == Gated })...)
	}
	return each(v1alpha1.ReasonTrialsGated, gated,
		"a gate failed in %s, so that the ratios go without: mend what the gate found, or change spec.gates")
}

// finalsThat names a cell's Finals that something is true of.
func (a Assessment) finalsThat(c Cell, is func(Outcome) bool) []string {
	var out []string
	for _, o := range c.Finals {
		if is(o) {
			out = append(out, fmt.Sprintf("%s Final %d", a.cellName(c), o.Trial.Repetition))
		}
	}
	return out
}

func (a Assessment) sharedLoader() []Doubt {
	if !a.loaderShared {
		return nil
	}
	return []Doubt{{v1alpha1.ReasonLoaderShared,
		"the loader may share a node with OpenSearch and take its CPU: set spec.loader.placement to Dedicated"}}
}

// fewRepetitions finds comparisons whose smallest possible p, 2/C(2n, n) times the number of comparisons, is
// above Alpha: no difference, however large, could be told from noise.
func (a Assessment) fewRepetitions() []Doubt {
	if a.variants < 2 {
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
	return each(v1alpha1.ReasonTooFewRepetitions, pairs, fmt.Sprintf(
		"too few Measured repetitions of %%s to tell any difference from noise: set spec.final.repetitions to at least %d",
		Repetitions(a.comparisons())))
}

func (a Assessment) notDistinguishable() []Doubt {
	var pairs []string
	for _, r := range a.Ratios {
		if !r.Distinguishable && !r.tooFew() {
			pairs = append(pairs, a.ratioName(r))
		}
	}
	return each(v1alpha1.ReasonNotDistinguishable, pairs,
		"%s cannot be told from no difference at the 5 %% level: raise spec.final.repetitions if a smaller difference matters")
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

// each makes one doubt of all that it is true of.
func each(reason string, of []string, format string) []Doubt {
	if len(of) == 0 {
		return nil
	}
	const most = 5
	list := strings.Join(of[:min(len(of), most)], ", ")
	if len(of) > most {
		list += fmt.Sprintf(" and %d more", len(of)-most)
	}
	return []Doubt{{reason, fmt.Sprintf(format, list)}}
}

// cellName names a cell as briefly as it is unique.
func (a Assessment) cellName(c Cell) string { return a.name(c.Variant, c.Topology) }

func (a Assessment) ratioName(r Ratio) string {
	return a.name(r.Variant, r.Topology) + " against " + r.Baseline
}

func (a Assessment) name(variant, topology string) string {
	if len(a.topologies) > 1 {
		return variant + "/" + topology
	}
	return variant
}

func (a Assessment) of(topology string) string {
	if len(a.topologies) > 1 {
		return topology + ": "
	}
	return ""
}
