package doubts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// fewRepetitions finds comparisons with so few repetitions that even the largest difference could not be distinguished from noise.
// In these comparisons, the smallest possible p times the number of comparisons is above Alpha. The smallest possible p is 2/C(2n,
// n). n is the number of repetitions, or the number of placements if there are several.
func fewRepetitions(a campaign.Assessment) []Doubt {
	if len(a.Pairs) == 0 {
		return nil
	}
	if a.Repetitions == 0 {
		return []Doubt{{v1alpha1.ReasonTooFewRepetitions, fmt.Sprintf(
			"there are no Final repetitions, so Knee does not compare the variants: set spec.final.repetitions to %d",
			stats.Repetitions(a.Comparisons))}}
	}
	var pairs []string
	var short []campaign.Ratio
	for _, r := range a.Ratios {
		if r.TooFew() {
			short = append(short, r)
			pairs = append(pairs, fmt.Sprintf("%s (%d and %d)", a.RatioName(r), r.N, r.M))
		}
	}
	what, field, planned, _ := repetitionField(a)
	least := a.LeastRepetitions(a.Comparisons)
	advice := fmt.Sprintf("set %s to at least %d", field, least)
	switch {
	case planned >= least && slices.ContainsFunc(short, wasLookedAt):
		advice = adviceForSpentError
	case planned >= least:
		advice = adviceForLostFinals(a, short)
	}
	return doubtAbout(v1alpha1.ReasonTooFewRepetitions, pairs, fmt.Sprintf(
		"these comparisons have too few valid %s (no error, no failed gate), so that no difference can be distinguished from noise: %%s; %s", what, advice))
}

// wasLookedAt reports whether the data of a ratio was compared before it had its present repetitions.
func wasLookedAt(r campaign.Ratio) bool { return len(r.Looks) > 0 }

const adviceForSpentError = "the earlier comparisons of these repetitions have used up the allowed error probability, so set a new spec.rerun, which measures all repetitions again"

// adviceForLostFinals returns advice about failed or Gated Finals, which the ratios do not include.
func adviceForLostFinals(a campaign.Assessment, ratios []campaign.Ratio) string {
	failed, gated := false, false
	for _, r := range ratios {
		for _, c := range []*campaign.Cell{a.Cell(r.Variant, r.Topology), a.Cell(r.Baseline, r.BaselineTopology)} {
			for _, o := range c.Finals {
				failed = failed || o.Failed
				gated = gated || o.Done && o.Judgement.Verdict == verdict.Gated
			}
		}
	}
	var advice []string
	if failed {
		advice = append(advice, "fix the cause of the failed Finals, then raise spec.retries")
	}
	if gated { // raising spec.retries does not help, because a Gated Final is a valid measurement
		advice = append(advice, "change the failed gate in spec.gates, or fix the problem that the gate found and set a new spec.rerun")
	}
	return strings.Join(advice, "; ")
}

// repetitionField returns the unit of the values in a ratio's interval (placements or repetitions) and the spec field that sets
// their number. It also returns the planned number and the highest number that the field allows.
func repetitionField(a campaign.Assessment) (what, field string, planned, allowed int) {
	switch {
	case a.Placements > 1:
		return "placements", "spec.final.placements", int(a.Placements), 16
	case a.MaxRepetitions > a.Repetitions:
		return "repetitions", "spec.final.maxRepetitions", int(a.MaxRepetitions), 50
	}
	return "repetitions", "spec.final.repetitions", int(a.Repetitions), 50
}

// notDistinguishable finds ratios that are neither distinguishable from 1 nor equivalent.
func notDistinguishable(a campaign.Assessment) []Doubt {
	what, field, _, allowed := repetitionField(a)
	var pairs, advice []string
	enough, staged, tooMany, spent := 0, 0, false, false // highest numbers of values needed that the field allows (in a new measurement, with a second stage), and whether some ratio needs more; whether earlier looks left no error
	for _, r := range a.Ratios {
		if r.Distinguishable || r.Verdict == stats.Equivalent || r.TooFew() {
			continue
		}
		name := a.RatioName(r)
		if r.Need > 0 {
			name += fmt.Sprintf(" (needs about %d %s)", r.Need, what)
		}
		pairs = append(pairs, name)
		spent = spent || wasLookedAt(r) && !r.HasInterval()
		if r.Need <= allowed {
			enough, staged = max(enough, r.Need), max(staged, r.NeedWithStage)
		} else {
			tooMany = true
		}
	}
	if enough > 0 {
		advice = append(advice, adviceForMore(a, enough, staged))
	}
	if spent {
		advice = append(advice, adviceForSpentError)
	}
	if tooMany {
		advice = append(advice, fmt.Sprintf(
			"reduce the noise (longer loads, dedicated machines) if a comparison needs more than %d, the maximum of %s", allowed, field))
	}
	raise := "raise spec.final.smallestDifferencePercent if small differences do not matter"
	if len(advice) > 0 {
		raise = "or " + raise
	}
	advice = append(advice, raise)
	return doubtAbout(v1alpha1.ReasonNotDistinguishable, pairs, fmt.Sprintf(
		"the measurements of these comparisons are too noisy to show a difference (at the 5 %%%% level) or equivalence (within spec.final.smallestDifferencePercent): %%s; %s",
		strings.Join(advice, ", ")))
}

// adviceForMore returns advice on how to get the verdict with the fewest trials. n is the number of values per cell of a new measurement.
// staged is the number with a second stage, which is another look at the present repetitions: its interval is wider, so that all looks
// together keep the allowed error. It is 0 if there is no second stage to add.
func adviceForMore(a campaign.Assessment, n, staged int) string {
	_, field, planned, allowed := repetitionField(a)
	sweep := 0 // a new rerun measures the sweeps again, too
	for _, c := range a.Cells {
		sweep = max(sweep, len(c.Sweep))
	}
	switch {
	case a.Placements > 1:
		return fmt.Sprintf("set spec.final.placements to %d and a new spec.rerun, which measures all placements again", n)
	case staged > planned && staged <= allowed && staged-planned <= n+sweep:
		return fmt.Sprintf("set spec.final.maxRepetitions to %d, which adds as many repetitions as the noise requires", staged)
	case a.MaxRepetitions >= int32(n): // Knee chose fewer repetitions than maxRepetitions allows
		field = "spec.final.repetitions"
	}
	return fmt.Sprintf("set %s to %d and a new spec.rerun, which measures all repetitions again", field, n)
}

// ordersConfounded returns a doubt with the message of the first topology that has a confounded trend. It adds the names of the
// other topologies.
func ordersConfounded(a campaign.Assessment) []Doubt {
	message := ""
	var others []string
	for _, t := range a.Trends {
		switch {
		case !t.Confounded:
		case message == "":
			message = t.Message
		default:
			others = append(others, t.Topology)
		}
	}
	if message == "" {
		return nil
	}
	if len(others) > 0 {
		message += " (the same applies to " + listUpTo(others, maxNamed) + ")"
	}
	return []Doubt{{v1alpha1.ReasonOrderConfounded, message}}
}

// placementsShared finds cells with several placements on the same machines. Placements are meant to show the variation between
// machines, but such placements do not show it.
func placementsShared(a campaign.Assessment) []Doubt {
	var cells []string
	for _, c := range a.Cells {
		for _, clients := range c.FinalClients() {
			placements, machines := c.Machines(clients)
			if placements <= machines {
				continue
			}
			plural := "s"
			if machines == 1 {
				plural = ""
			}
			cells = append(cells, fmt.Sprintf("%s (%d placements on %d machine%s)", a.CellName(c.Variant, c.Topology), placements, machines, plural))
			break
		}
	}
	return doubtAbout(v1alpha1.ReasonPlacementsShared, cells,
		"some placements (sets of nodes) of these cells ran on the same machines, so the intervals do not cover the variation from machine to machine: %s; add Kubernetes nodes to the node pool (spec.variants[].nodePool), or set spec.final.placements to the number of machines in the pool")
}
