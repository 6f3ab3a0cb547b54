// Package summary writes the short results: the first sentence of a report, its header, and the status of a campaign.
package summary

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Sentence returns the first sentence of every report. It summarizes the result, its certainty and its limits, and the failures.
func Sentence(in view.Input) string {
	a := in.Assessment
	switch {
	case !a.Finished:
		return fmt.Sprintf("Not finished: %d of %d trials are done, and all results are preliminary.", a.Done, a.Planned)
	case !a.Measured:
		return "Nothing was measured: no trial gave a valid measurement that passed every gate; " + failuresSentence(in) + "."
	case len(a.Ratios) == 0:
		return kneesSentence(in) + "; " + failuresSentence(in) + "."
	case len(a.Ratios) <= 2:
		parts := []string{ratioSentence(in, a.Ratios[0])}
		for _, r := range a.Ratios[1:] {
			parts = append(parts, lowerFirst(ratioSentence(in, r)))
		}
		return strings.Join(append(parts, failuresSentence(in)), "; ") + "."
	}
	return ratiosSentence(in) + "; " + failuresSentence(in) + "."
}

// ratioSentence describes a ratio, its interval and the sample on which they are based.
func ratioSentence(in view.Input, r campaign.Ratio) string {
	where, variant, baseline := nameCells(in, r)
	if math.IsNaN(r.Ratio) {
		return fmt.Sprintf("%s there is no ratio of %s to %s: the two cells have %d and %d Measured %s", where, variant, baseline, r.N, r.M, unitsOf(r))
	}
	times, bounds := RatioText(r)
	s := fmt.Sprintf("%s %s %s %sx %s's %s", where, variant, view.Verb(in), times, baseline, view.Unit(in))
	if bounds != "" {
		s += " " + bounds
	}
	s += " (" + sampleBasis(in, r) + ")"
	switch {
	case r.Verdict == stats.Equivalent:
		s += fmt.Sprintf(", equivalent within %s %%", format.Figure(view.SmallestDifference(in)))
	case hasVerdict(r):
	case min(r.N, r.M) < in.Assessment.LeastRepetitions(r.Comparisons):
		s += fmt.Sprintf(", a difference that cannot be distinguished from noise: at least %d %s each are necessary",
			in.Assessment.LeastRepetitions(r.Comparisons), unitsOf(r))
	case r.Verdict == stats.TooNoisy && r.Need > 0:
		s += fmt.Sprintf(", too noisy to detect a difference of %s %%: about %d %s each are necessary", format.Figure(view.SmallestDifference(in)), r.Need, unitsOf(r))
	default:
		s += ", a difference that cannot be distinguished from noise"
	}
	return s
}

// nameCells returns where a ratio was measured (its client counts) and the shortest names of its two cells.
func nameCells(in view.Input, r campaign.Ratio) (where, variant, baseline string) {
	variant, baseline = r.Variant, r.Baseline
	if other := view.BaselineTopology(r); other != r.Topology {
		variant, baseline = r.Variant+" on "+r.Topology, r.Baseline+" on "+other
	}
	where = "At " + format.Plural(int(r.Clients), "client")
	if other := view.BaselineClients(r); other != r.Clients {
		where = fmt.Sprintf("At %d and %d clients", r.Clients, other)
	} else if len(in.Assessment.Topologies()) > 1 && view.BaselineTopology(r) == r.Topology {
		where = fmt.Sprintf("On %s at %s", r.Topology, format.Plural(int(r.Clients), "client"))
	}
	return where, variant, baseline
}

// RatioText formats a ratio and its interval with the same number of decimals.
func RatioText(r campaign.Ratio) (times, bounds string) {
	if !r.HasInterval() {
		return format.Fixed(r.Ratio, 2), ""
	}
	bounds = format.Interval(r.Low, r.High)
	decimals := strings.Index(bounds, ",") - strings.Index(bounds, ".") - 1
	return format.Fixed(r.Ratio, decimals), bounds
}

// ratiosSentence summarizes the ratios if they are too many to describe each in a sentence.
func ratiosSentence(in view.Input) string {
	const most = 6
	var parts []string
	placements, lack, from := 0, "", "noise"
	for _, r := range in.Assessment.Ratios {
		placements = max(placements, r.Placements)
		if r.Placements > 1 && lack == "" {
			lack = notCovered(in, r)
		}
		if !hasVerdict(r) {
			continue
		}
		times, bounds := RatioText(r)
		part := fmt.Sprintf("%s %sx %s %s", RatioCell(in, r), times, RatioBaseline(in, r), bounds)
		if r.Verdict == stats.Equivalent {
			part += " (equivalent)"
			from = "noise or are equivalent"
		}
		parts = append(parts, part)
	}
	s := fmt.Sprintf("%d of %d ratios of %s can be distinguished from %s, at the 5 %% level for all ratios together", len(parts), len(in.Assessment.Ratios), view.Unit(in), from)
	if len(parts) > 0 {
		s += ": " + format.FirstItems(parts, most)
	}
	switch {
	case placements > 1 && lack != "":
		return s + fmt.Sprintf(" (%s each; %s)", format.Plural(placements, "placement"), lack)
	case placements > 1:
		return s + fmt.Sprintf(" (%s each; the intervals cover the variation from machine to machine)", format.Plural(placements, "placement"))
	}
	return s + " (" + widestNotMeasured(in) + " not measured)"
}

// RatioCell returns the shortest unique name of the cell in a ratio's numerator.
func RatioCell(in view.Input, r campaign.Ratio) string {
	s := view.CellName(in, r.Variant, r.Topology)
	if view.FixedClients(in) {
		s += "@" + format.IntText(r.Clients)
	}
	return s
}

// RatioBaseline returns the name of a ratio's baseline. The name includes the topology if the two cells of the ratio have different
// topologies.
func RatioBaseline(in view.Input, r campaign.Ratio) string {
	if other := view.BaselineTopology(r); other != r.Topology {
		return view.CellName(in, r.Baseline, other)
	}
	return r.Baseline
}

// kneesSentence describes the knees of a campaign without ratios.
func kneesSentence(in view.Input) string {
	if view.FixedClients(in) {
		return fixedSentence(in)
	}
	const most = 8
	var parts []string
	some := false
	for _, c := range in.Assessment.Cells {
		some = some || c.Curve.Knee != nil
		switch {
		case len(parts) == most:
			continue
		case c.Curve.Knee == nil:
			parts = append(parts, view.CellName(in, c.Variant, c.Topology)+" has no knee")
			continue
		}
		parts = append(parts, fmt.Sprintf("%s has its knee at %s with %s %s (peak %s)", view.CellName(in, c.Variant, c.Topology),
			format.Plural(int(c.Curve.Knee.Clients), "client"), format.Rounded(c.Curve.Knee.Rate), view.Unit(in), format.Rounded(c.Curve.Peak.Rate)))
	}
	if !some {
		return "No knee was found"
	}
	switch rest := len(in.Assessment.Cells) - len(parts); {
	case rest == 1:
		parts = append(parts, "the report shows 1 more cell")
	case rest > 1:
		parts = append(parts, fmt.Sprintf("the report shows %d more cells", rest))
	}
	return strings.Join(parts, ", ")
}

func fixedSentence(in view.Input) string {
	var parts []string
	for _, c := range in.Assessment.Cells {
		for _, clients := range c.FinalClients() {
			if values, _ := view.FinalRates(c, clients); len(values) > 0 {
				parts = append(parts, fmt.Sprintf("%s %s %s %s at %s (median of %s)",
					view.CellName(in, c.Variant, c.Topology), view.Verb(in), format.Rounded(stats.Median(values)), view.Unit(in), format.Plural(int(clients), "client"), format.Plural(len(values), "run")))
			}
		}
	}
	return format.FirstItems(parts, 8)
}

// failuresSentence lists the failed gates and the trials without a valid measurement.
func failuresSentence(in view.Input) string {
	var gated, failed []string
	note := func(c campaign.Cell, at string, v verdict.Verdict, list []verdict.Failure) {
		name := view.CellName(in, c.Variant, c.Topology) + "@" + at
		switch v {
		case verdict.Gated:
			gated = append(gated, name+" ("+view.FailureText(list, 120)+")")
		case verdict.Errored:
			failed = append(failed, name+" failed: "+view.FailureText(list, 160))
		}
	}
	for _, c := range in.Assessment.Cells {
		for _, p := range c.Curve.Points {
			note(c, format.IntText(p.Clients), p.Verdict, p.Failures)
		}
		outcomes := slices.Clone(c.Finals)
		if c.OpenLoop != nil {
			outcomes = append(outcomes, *c.OpenLoop)
		}
		for _, o := range outcomes {
			if o.Done {
				note(c, fmt.Sprintf("%d %s %s", o.Trial.Clients, phaseName(o.Trial.Phase), view.BlockName(o.Trial)), o.Judgement.Verdict, o.Judgement.Failures)
			}
		}
	}
	s := "no gate failed"
	if len(gated) > 0 {
		s = "gates failed: " + format.FirstItems(gated, 3)
	}
	if len(failed) > 0 {
		s += "; " + strings.TrimSuffix(format.FirstItems(failed, 3), ".")
	}
	return s
}

func phaseName(p record.Phase) string {
	if p == record.OpenLoop {
		return "open loop"
	}
	return string(p)
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
