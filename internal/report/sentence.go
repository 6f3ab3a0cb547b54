package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// Sentence says what was found, how sure that is, what failed, and what it does not prove: the first line of every
// report.
func Sentence(in Input) string {
	a := in.Assessment
	switch {
	case !a.Finished:
		return fmt.Sprintf("Not finished: %d of %d trials are done, and nothing below is final.", a.Done, a.Planned)
	case !a.Measured:
		return "Nothing was measured: no trial gave a valid measurement that passed every gate; " + troubles(in) + "."
	case len(a.Ratios) == 0:
		return foundKnees(in) + "; " + troubles(in) + "."
	case len(a.Ratios) <= 2:
		parts := []string{foundRatio(in, a.Ratios[0])}
		for _, r := range a.Ratios[1:] {
			parts = append(parts, lowerFirst(foundRatio(in, r)))
		}
		return strings.Join(append(parts, troubles(in)), "; ") + "."
	}
	return foundRatios(in) + "; " + troubles(in) + "."
}

// foundRatio is a ratio with its interval and what that rests on.
func foundRatio(in Input, r analysis.Ratio) string {
	where, variant, baseline := placeOf(in, r)
	if math.IsNaN(r.Ratio) {
		return fmt.Sprintf("%s there is no ratio of %s to %s: %d and %d Measured %s", where, variant, baseline, r.N, r.M, unitsOf(r))
	}
	times, bounds := ratioText(r)
	s := fmt.Sprintf("%s %s %s %sx %s's %s", where, variant, did(in), times, baseline, unit(in))
	if bounds != "" {
		s += " " + bounds
	}
	s += " (" + restsOn(in, r) + ")"
	switch {
	case r.Verdict == analysis.Equivalent:
		s += fmt.Sprintf(", equivalent within %s %%", figure(smallestDifference(in)))
	case told(r):
	case min(r.N, r.M) < analysis.Repetitions(r.Comparisons):
		s += fmt.Sprintf(", a difference that cannot be told from noise: none can with fewer than %d %s each",
			analysis.Repetitions(r.Comparisons), unitsOf(r))
	case r.Verdict == analysis.TooNoisy && r.Need > 0:
		s += fmt.Sprintf(", too noisy to tell a difference of %s %%: that takes about %d %s each", figure(smallestDifference(in)), r.Need, unitsOf(r))
	default:
		s += ", a difference that cannot be told from noise"
	}
	return s
}

// placeOf says at how many clients, and names the two cells as briefly as they are told apart.
func placeOf(in Input, r analysis.Ratio) (where, variant, baseline string) {
	variant, baseline = r.Variant, r.Baseline
	if other := baselineTopology(r); other != r.Topology {
		variant, baseline = r.Variant+" on "+r.Topology, r.Baseline+" on "+other
	}
	where = "At " + plural(int(r.Clients), "client")
	if other := baselineClients(r); other != r.Clients {
		where = fmt.Sprintf("At %d and %d clients", r.Clients, other)
	} else if len(in.Assessment.Topologies()) > 1 && baselineTopology(r) == r.Topology {
		where = fmt.Sprintf("On %s at %s", r.Topology, plural(int(r.Clients), "client"))
	}
	return where, variant, baseline
}

// ratioText prints a ratio with as many decimals as its interval.
func ratioText(r analysis.Ratio) (times, bounds string) {
	if !r.HasInterval() {
		return fixed(r.Ratio, 2), ""
	}
	bounds = interval(r.Low, r.High)
	decimals := strings.Index(bounds, ",") - strings.Index(bounds, ".") - 1
	return fixed(r.Ratio, decimals), bounds
}

// foundRatios is for more ratios than a sentence holds.
func foundRatios(in Input) string {
	const most = 6
	var parts []string
	placements, lack, from := 0, "", "noise"
	for _, r := range in.Assessment.Ratios {
		placements = max(placements, r.Placements)
		if r.Placements > 1 && lack == "" {
			lack = notCovered(in, r)
		}
		if !told(r) {
			continue
		}
		times, bounds := ratioText(r)
		part := fmt.Sprintf("%s %sx %s %s", ratioCell(in, r), times, ratioBaseline(in, r), bounds)
		if r.Verdict == analysis.Equivalent {
			part += " (equivalent)"
			from = "noise or from a difference that matters"
		}
		parts = append(parts, part)
	}
	s := fmt.Sprintf("%d of %d ratios of %s can be told from %s, all together at the 5 %% level", len(parts), len(in.Assessment.Ratios), unit(in), from)
	if len(parts) > 0 {
		s += ": " + listed(parts, most)
	}
	switch {
	case placements > 1 && lack != "":
		return s + fmt.Sprintf(" (%s each; %s)", plural(placements, "placement"), lack)
	case placements > 1:
		return s + fmt.Sprintf(" (%s each; the intervals cover the variation from machine to machine)", plural(placements, "placement"))
	}
	return s + " (machine-to-machine variation not measured)"
}

// ratioCell names a ratio's numerator as briefly as it is unique in its campaign.
func ratioCell(in Input, r analysis.Ratio) string {
	s := cellName(in, r.Variant, r.Topology)
	if fixedClients(in) {
		s += "@" + integer(r.Clients)
	}
	return s
}

func ratioBaseline(in Input, r analysis.Ratio) string {
	if other := baselineTopology(r); other != r.Topology {
		return cellName(in, r.Baseline, other)
	}
	return r.Baseline
}

// foundKnees is for campaigns that compare nothing.
func foundKnees(in Input) string {
	if fixedClients(in) {
		return foundFixed(in)
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
			parts = append(parts, cellName(in, c.Variant, c.Topology)+" has no knee")
			continue
		}
		parts = append(parts, fmt.Sprintf("%s has its knee at %s with %s %s (peak %s)", cellName(in, c.Variant, c.Topology),
			plural(int(c.Curve.Knee.Clients), "client"), rounded(c.Curve.Knee.DocsPerSecond), unit(in), rounded(c.Curve.Peak.DocsPerSecond)))
	}
	if !some {
		return "No knee was found"
	}
	switch rest := len(in.Assessment.Cells) - len(parts); {
	case rest == 1:
		parts = append(parts, "1 more cell is below")
	case rest > 1:
		parts = append(parts, fmt.Sprintf("%d more cells are below", rest))
	}
	return strings.Join(parts, ", ")
}

func foundFixed(in Input) string {
	var parts []string
	for _, c := range in.Assessment.Cells {
		for _, clients := range c.FinalClients() {
			if values, _ := docsAt(c, clients); len(values) > 0 {
				parts = append(parts, fmt.Sprintf("%s %s %s %s at %s (median of %s)",
					cellName(in, c.Variant, c.Topology), did(in), rounded(analysis.Median(values)), unit(in), plural(int(clients), "client"), plural(len(values), "run")))
			}
		}
	}
	return listed(parts, 8)
}

// troubles says which gates failed and what could not be measured.
func troubles(in Input) string {
	var gated, failed []string
	note := func(c analysis.Cell, at string, v analysis.Verdict, list []analysis.Failure) {
		name := cellName(in, c.Variant, c.Topology) + "@" + at
		switch v {
		case analysis.Gated:
			gated = append(gated, name+" ("+failures(list, 120)+")")
		case analysis.Errored:
			failed = append(failed, name+" failed: "+failures(list, 160))
		}
	}
	for _, c := range in.Assessment.Cells {
		for _, p := range c.Curve.Points {
			note(c, integer(p.Clients), p.Verdict, p.Failures)
		}
		outcomes := slices.Clone(c.Finals)
		if c.OpenLoop != nil {
			outcomes = append(outcomes, *c.OpenLoop)
		}
		for _, o := range outcomes {
			if o.Done {
				note(c, fmt.Sprintf("%d %s %s", o.Trial.Clients, phaseName(o.Trial.Phase), blockName(o.Trial)), o.Judgement.Verdict, o.Judgement.Failures)
			}
		}
	}
	s := "no gate failed"
	if len(gated) > 0 {
		s = "gates failed: " + listed(gated, 3)
	}
	if len(failed) > 0 {
		s += "; " + strings.TrimSuffix(listed(failed, 3), ".")
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

func unique(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// cellName names a cell as briefly as it is unique in its campaign.
func cellName(in Input, variant, topology string) string {
	if len(in.Assessment.Topologies()) > 1 {
		return variant + "/" + topology
	}
	return variant
}
