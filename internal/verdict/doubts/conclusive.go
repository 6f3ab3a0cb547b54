// Package doubts finds the reasons why the answer of a campaign is not conclusive. It gives advice for each reason.
package doubts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Doubt is a reason not to trust the answer. Its message includes advice.
type Doubt struct{ Reason, Message string }

// Conclusive reports whether the answer can be trusted. If it cannot, reason is the reason of the most important doubt, and
// message lists all doubts with their advice.
func Conclusive(a campaign.Assessment) (ok bool, reason, message string) {
	if !a.Finished {
		return false, v1alpha1.ReasonNotFinished, fmt.Sprintf("%d of %d trials are done", a.Done, a.Planned)
	}
	doubts := Doubts(a)
	if len(doubts) == 0 {
		return true, v1alpha1.ReasonConclusive, conclusion(a)
	}
	messages := make([]string, len(doubts))
	for i, d := range doubts {
		messages[i] = d.Message
	}
	return false, doubts[0].Reason, strings.Join(messages, "; ")
}

// conclusion describes an answer without doubts.
func conclusion(a campaign.Assessment) string {
	found, ratios := "every knee was found", "every ratio is distinguished from noise"
	if a.Fixed {
		found = "every cell was measured at every client count"
	} else if lowest, known := lowestStability(a); known {
		found += fmt.Sprintf(" (lowest stability %s)", stabilityText(lowest))
	}
	if len(a.Ratios) == 0 {
		return found
	}
	if slices.ContainsFunc(a.Ratios, func(r campaign.Ratio) bool { return r.Verdict == stats.Equivalent }) {
		ratios += " or is equivalent (within spec.final.smallestDifferencePercent)"
	}
	return found + ", and " + ratios
}

// Doubts returns all doubts, the most important first: 1. the campaign has no answer; 2. the answer may be wrong; 3. the evidence
// for the answer is weak.
func Doubts(a campaign.Assessment) []Doubt {
	var out []Doubt
	for _, find := range []func(campaign.Assessment) []Doubt{
		kneesNotFound, notShared,
		mismatches, clientChecks, clientBounds, diskBounds, cpuThrottled, memoryLocks, ordersConfounded, driftsInSweeps, peaksGated, peaksAtEdge, repeatsMissing, trialsFailed,
		trialsGated, sharedLoader, placementsShared, jvmStartsNotMeasured, noiseUnequal, notSteady, gatesNotEvaluable,
		kneesUnstable, fewRepetitions, notDistinguishable,
	} {
		out = append(out, find(a)...)
	}
	return out
}

// IntervalsShow reports whether the intervals of the ratios show all doubts of a campaign by themselves. reason is the reason of the
// condition Conclusive. The doubts about noise and repetitions come last in Doubts. So if one of them comes first, there is no doubt that
// the intervals do not show.
func IntervalsShow(reason string) bool {
	return reason == v1alpha1.ReasonTooFewRepetitions || reason == v1alpha1.ReasonNotDistinguishable
}

// maxNamed is the highest number of names that a doubt lists. If there are more names, the doubt adds how many names it leaves out.
const maxNamed = 5

// doubtAbout returns one doubt about all the given names. It returns nil if there are no names. format contains one %s for the
// names.
func doubtAbout(reason string, of []string, format string) []Doubt {
	if len(of) == 0 {
		return nil
	}
	return []Doubt{{reason, fmt.Sprintf(format, listUpTo(of, maxNamed))}}
}

// listUpTo lists the first n names and adds the number of further names.
func listUpTo(of []string, n int) string {
	list := strings.Join(of[:min(len(of), n)], ", ")
	if len(of) > n {
		list += fmt.Sprintf(" and %d more", len(of)-n)
	}
	return list
}

// topologyPrefix returns a prefix that names the topology of a message. It returns an empty text if the campaign has only one
// topology.
func topologyPrefix(a campaign.Assessment, topology string) string {
	if len(a.Topologies()) > 1 {
		return topology + ": "
	}
	return ""
}
