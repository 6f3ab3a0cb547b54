package doubts

import (
	"fmt"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// This file contains the doubts about the measurements. ratios.go contains the doubts about ratios, environment.go those about the
// environment.

func kneesNotFound(a campaign.Assessment) []Doubt {
	if a.Fixed {
		return nil
	}
	var cells, leftOut, nothingLeft []string
	for _, c := range a.Cells {
		name := a.CellName(c.Variant, c.Topology)
		switch {
		case c.Curve.Knee != nil:
		case a.IsLeftOut(campaign.CellKey{Variant: c.Variant, Topology: c.Topology}):
			if slices.ContainsFunc(a.Pairs, func(p campaign.Pair) bool { return p.Cell.Topology == c.Topology }) {
				leftOut = append(leftOut, name)
			} else {
				nothingLeft = append(nothingLeft, name)
			}
		default:
			cells = append(cells, name)
		}
	}
	return slices.Concat(
		doubtAbout(v1alpha1.ReasonKneeNotFound, cells,
			"no client count of these cells (%s) has a valid measurement that passed every gate: find the reason in the report, then fix the cause or loosen spec.gates"),
		doubtAbout(v1alpha1.ReasonKneeNotFound, nothingLeft,
			"no client count of these cells (%s) has a valid measurement that passed every gate, so the other cells of the topology cannot be compared: find the reason in the report, then fix the cause, loosen spec.gates, or set spec.baseline to another variant"),
		doubtAbout(v1alpha1.ReasonKneeNotFound, leftOut,
			"no client count of these cells (%s) has a valid measurement that passed every gate, so no comparison includes these cells: find the reason in the report, then fix the cause, loosen spec.gates, or exclude the cells with spec.matrix"))
}

func notShared(a campaign.Assessment) []Doubt {
	if a.Fixed {
		return nil
	}
	var out []Doubt
	for _, t := range a.Topologies() {
		s := a.Shared[t]
		advice := "add client counts to spec.sweep, or lower spec.knee.percentOfPeak"
		if s.Clients == 0 {
			advice = "fix the cause of the failed trials, or loosen spec.gates"
		}
		if !s.Agreed {
			out = append(out, Doubt{v1alpha1.ReasonNoSharedClients, fmt.Sprintf("%s%s: %s", topologyPrefix(a, t), s.Why, advice)})
		}
	}
	return out
}

func peaksGated(a campaign.Assessment) []Doubt {
	var cells []string
	for _, c := range a.Cells {
		if c.Curve.PeakGated && c.Curve.Peak != nil {
			cells = append(cells, fmt.Sprintf("%s (%d clients)", a.CellName(c.Variant, c.Topology), c.Curve.Highest.Clients))
		}
	}
	return doubtAbout(v1alpha1.ReasonPeakGated, cells,
		"the highest "+unitOf(a)+" of these cells failed a gate, so Knee uses the highest value that passed every gate as the peak: %s; fix the problem that the gate found, or change spec.gates")
}

func peaksAtEdge(a campaign.Assessment) []Doubt {
	var cells []string
	for _, c := range a.Cells {
		if c.Curve.PeakAtRangeEdge {
			cells = append(cells, fmt.Sprintf("%s (%d clients)", a.CellName(c.Variant, c.Topology), c.Curve.Peak.Clients))
		}
	}
	return doubtAbout(v1alpha1.ReasonPeakAtRangeEdge, cells,
		"the peak of these cells is at the highest client count observed, so more clients may give a higher peak: %s; add higher client counts to spec.sweep")
}

func trialsFailed(a campaign.Assessment) []Doubt {
	var failed []string
	for _, c := range a.Cells {
		for _, p := range c.Curve.Points {
			if p.Verdict == verdict.Errored {
				failed = append(failed, fmt.Sprintf("%s Sweep %d clients", a.CellName(c.Variant, c.Topology), p.Clients))
			}
		}
		if c.Anchor != nil && c.Anchor.Failed {
			failed = append(failed, a.CellName(c.Variant, c.Topology)+" Anchor")
		}
		failed = append(failed, finalsThat(a, c, func(o campaign.Outcome) bool { return o.Failed })...)
		if c.OpenLoop != nil && c.OpenLoop.Failed {
			failed = append(failed, a.CellName(c.Variant, c.Topology)+" OpenLoop")
		}
	}
	return doubtAbout(v1alpha1.ReasonTrialsFailed, failed,
		"these trials have no valid measurement: %s; fix the cause that the report names, then set a new spec.rerun or raise spec.retries")
}

// trialsGated finds Gated Finals and Gated OpenLoop trials, because ratios do not include them. A Gated sweep point is not a doubt
// here: rejections are expected above the knee, and peaksGated reports a Gated point above the peak.
func trialsGated(a campaign.Assessment) []Doubt {
	var gated []string
	for _, c := range a.Cells {
		gated = append(gated, finalsThat(a, c, func(o campaign.Outcome) bool { return o.Done && o.Judgement.Verdict == verdict.Gated })...)
		if c.OpenLoop != nil && c.OpenLoop.Done && c.OpenLoop.Judgement.Verdict == verdict.Gated {
			gated = append(gated, a.CellName(c.Variant, c.Topology)+" OpenLoop")
		}
	}
	return doubtAbout(v1alpha1.ReasonTrialsGated, gated,
		"the ratios do not include these trials, because a gate failed: %s; fix the problem that the gate found, or change spec.gates")
}

// finalsThat returns the names of those Finals of a cell for which the given function returns true.
func finalsThat(a campaign.Assessment, c campaign.Cell, is func(campaign.Outcome) bool) []string {
	var out []string
	for _, o := range c.Finals {
		if !is(o) {
			continue
		}
		name := a.CellName(c.Variant, c.Topology) + " " + campaign.FinalName(o.Trial)
		if a.Fixed {
			name += fmt.Sprintf(" at %d clients", o.Trial.Clients)
		}
		out = append(out, name)
	}
	return out
}

func sharedLoader(a campaign.Assessment) []Doubt {
	if !a.LoaderShared {
		return nil
	}
	return []Doubt{{v1alpha1.ReasonLoaderShared,
		"the loader may share a Kubernetes node with OpenSearch and take CPU time from OpenSearch: set spec.loader.placement to Dedicated"}}
}

// jvmStartsNotMeasured finds compared cells whose repetitions shared a JVM, although Knee could have restarted it. The JVM of an
// endpoint is no doubt, because nothing that the user changes in the spec would resolve it. The sentence of the report names both.
func jvmStartsNotMeasured(a campaign.Assessment) []Doubt {
	var cells []string
	for _, s := range a.SharedJVMs {
		if s.Restarts {
			name := a.CellName(s.Variant, s.Topology)
			if a.Fixed {
				name += fmt.Sprintf(" at %d clients", s.Clients)
			}
			plural := "s"
			if s.Starts == 1 {
				plural = ""
			}
			cells = append(cells, fmt.Sprintf("%s (%d repetitions, %d start%s of the JVM)", name, s.Finals, s.Starts, plural))
		}
	}
	return doubtAbout(v1alpha1.ReasonJVMStartsNotMeasured, cells,
		"Final repetitions of these cells ran in the same JVM, so the intervals do not cover the variation between starts of the JVM: %s; set spec.final.freshJVM to true, and set a new spec.rerun")
}
