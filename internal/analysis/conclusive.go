package analysis

import (
	"fmt"
	"slices"
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
		return true, v1alpha1.ReasonConclusive, a.conclusion()
	}
	messages := make([]string, len(doubts))
	for i, d := range doubts {
		messages[i] = d.Message
	}
	return false, doubts[0].Reason, strings.Join(messages, "; ")
}

// conclusion says what an answer without doubts holds.
func (a Assessment) conclusion() string {
	found, ratios := "every knee was found", "every ratio is told apart from noise"
	if a.Fixed {
		found = "every cell was measured at every client count"
	}
	if len(a.Ratios) == 0 {
		return found
	}
	if slices.ContainsFunc(a.Ratios, func(r Ratio) bool { return r.Verdict == Equivalent }) {
		ratios += " or from a difference that matters"
	}
	return found + ", and " + ratios
}

// Doubts are listed by weight: first what leaves no answer, then what may make it wrong, then what makes it weak.
func (a Assessment) Doubts() []Doubt {
	var out []Doubt
	for _, find := range []func() []Doubt{
		a.kneesNotFound, a.notShared,
		a.mismatches, a.clientChecks, a.clientBounds, a.diskBounds, a.cpuThrottled, a.memoryLocks, a.ordersConfounded, a.peaksGated, a.peaksAtEdge, a.trialsFailed,
		a.trialsGated, a.sharedLoader, a.placementsShared, a.notSteady, a.gatesNotEvaluable,
		a.fewRepetitions, a.notDistinguishable,
	} {
		out = append(out, find()...)
	}
	return out
}

// maxNamed is how many things a doubt names before it counts the rest.
const maxNamed = 5

// each makes one doubt of all that it is true of.
func each(reason string, of []string, format string) []Doubt {
	if len(of) == 0 {
		return nil
	}
	return []Doubt{{reason, fmt.Sprintf(format, atMost(of, maxNamed))}}
}

// atMost lists n things and counts the others.
func atMost(of []string, n int) string {
	list := strings.Join(of[:min(len(of), n)], ", ")
	if len(of) > n {
		list += fmt.Sprintf(" and %d more", len(of)-n)
	}
	return list
}

// clip cuts a text to what a line has room for.
func clip(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most-3]) + "..."
	}
	return string(runes)
}

// cellName names a cell as briefly as it is unique.
func (a Assessment) cellName(c Cell) string { return a.name(c.Variant, c.Topology) }

func (a Assessment) ratioName(r Ratio) string {
	baseline := r.Baseline
	if r.BaselineTopology != "" && r.BaselineTopology != r.Topology {
		baseline = a.name(r.Baseline, r.BaselineTopology)
	}
	name := a.name(r.Variant, r.Topology) + " against " + baseline
	if a.Fixed {
		name += fmt.Sprintf(" at %d clients", r.Clients)
	}
	return name
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
