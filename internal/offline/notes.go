package offline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// findNotes returns notes about figures that a reader may expect but that the file does not have.
func findNotes(a campaign.Assessment, has Columns, o Options) []string {
	var out []string
	if ignored := foreignColumns(has); len(ignored) > 0 {
		text := "columns %s are ignored, because this file is not Knee's own results.csv: it does not have all of these columns: %s"
		if len(ignored) == 1 {
			text = "column %s is ignored, because this file is not Knee's own results.csv: it does not have all of these columns: %s"
		}
		out = append(out, fmt.Sprintf(text, strings.Join(ignored, ", "), strings.Join(signature, ", ")))
	}
	var names []string
	someFinals := false
	for _, c := range a.Cells {
		someFinals = someFinals || len(c.Finals) > 0
		if !slices.Contains(names, c.Variant) {
			names = append(names, c.Variant)
		}
	}
	switch {
	case len(a.Cells) == 0:
		return append(out, "the file has no row of a Sweep or a Final")
	case !has["docs_per_second"]:
		out = append(out, "there is no column docs_per_second: every row counts as failed")
	}
	if o.Baseline == "" && len(names) > 1 {
		out = append(out, fmt.Sprintf("no ratios: name the variant to compare with by --baseline (%s)", strings.Join(names, ", ")))
	}
	if o.Gates.MaxRejections != nil && !has["rejections"] {
		out = append(out, "there is no column rejections: --max-rejections is not applied to any row")
	}
	if o.Baseline != "" && len(names) > 1 && !someFinals {
		out = append(out, "no interval: a sweep contains no information about noise; mark repetitions at one client count with the phase Final")
	}
	for _, c := range a.Cells {
		if base := a.Cell(o.Baseline, c.Topology); base != nil && c.Variant != base.Variant {
			out = append(out, describeMissingRatio(a, c, *base)...)
		}
	}
	if isOwn(has) && len(a.Ratios) > 0 {
		out = append(out, fmt.Sprintf("results.csv does not hold all of the campaign's plan: it does not say whether all trials are done, and it has no spec.comparisons "+
			"and no spec.final.smallestDifferencePercent (%g here); to use the whole plan, analyze a bundle of kubectl knee export instead",
			o.SmallestDifference))
	}
	return out
}

// foreignColumns returns the columns that are ignored because they have a meaning only in Knee's own results.csv. They are in the
// order of columns.
func foreignColumns(has Columns) []string {
	var out []string
	for _, c := range columns {
		for _, title := range []string{c.name, c.alias} {
			if known, there := has[title]; there && !known {
				out = append(out, title)
			}
		}
	}
	return out
}

// isOwn reports whether the file is Knee's own results.csv.
func isOwn(has Columns) bool { return has["attempt"] }

// describeMissingRatio returns the reasons why two cells have no ratio of their sweeps, no ratio of their Finals, or a ratio of
// their Finals without an interval.
func describeMissingRatio(a campaign.Assessment, c, base campaign.Cell) []string {
	var out []string
	name := cellName(campaign.CellKey{Variant: c.Variant, Topology: c.Topology})
	say := func(what, format string, args ...any) {
		out = append(out, fmt.Sprintf("no %s of %s / %s", what, name, base.Variant)+fmt.Sprintf(format, args...))
	}
	if len(c.Sweep) > 0 && len(base.Sweep) > 0 {
		for _, one := range []campaign.Cell{c, base} {
			if one.Curve.Peak == nil {
				say("ratio of the sweeps", ": variant %s has no peak, because every point of its sweep had an error or failed a gate", one.Variant)
			}
		}
	}
	both := commonClients(c, base)
	switch {
	case len(c.Finals) == 0 && len(base.Finals) == 0:
	case len(c.Finals) == 0:
		say("ratio of the Finals", ": variant %s has no Finals", c.Variant)
	case len(base.Finals) == 0:
		say("ratio of the Finals", ": variant %s has no Finals", base.Variant)
	case len(both) == 0:
		say("ratio of the Finals", ": the two variants have Finals at different client counts (%s: %s; %s: %s)",
			c.Variant, finalClients(c), base.Variant, finalClients(base))
	}
	for _, clients := range both {
		byPlacement := a.ComparesPlacements(c.FinalsAt(clients), base.FinalsAt(clients))
		switch x, y := countValues(a.Design, c, base, clients); {
		case x == 0:
			say("ratio of the Finals", " at %s: every Final of variant %s had an error or failed a gate (%s)", clientsText(clients), c.Variant, countLost(c, clients))
		case y == 0:
			say("ratio of the Finals", " at %s: every Final of variant %s had an error or failed a gate (%s)", clientsText(clients), base.Variant, countLost(base, clients))
		case x == 1 || y == 1:
			say("interval for the ratio of the Finals", " at %s: %s", clientsText(clients),
				strings.Join(slices.Concat(describeSingle(c, x, byPlacement), describeSingle(base, y, byPlacement)), ", "))
		}
	}
	return out
}

// describeSingle describes a cell that has only one value. It returns nil if the cell has more values.
func describeSingle(c campaign.Cell, values int, byPlacement bool) []string {
	switch {
	case values > 1:
		return nil
	case byPlacement:
		return []string{"variant " + c.Variant + " has only one placement, but an interval needs several, because the means of placements are compared"}
	}
	return []string{"variant " + c.Variant + " has only one value"}
}

// countLost counts the Finals of a cell at a client count by their verdict, for a cell without Measured Finals.
func countLost(c campaign.Cell, clients int32) string {
	n := map[verdict.Verdict]int{}
	for _, o := range c.Finals {
		if o.Trial.Clients == clients {
			n[o.Judgement.Verdict]++
		}
	}
	var out []string
	for _, v := range []verdict.Verdict{verdict.Gated, verdict.Errored} {
		if n[v] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[v], v))
		}
	}
	return strings.Join(out, ", ")
}

// finalClients lists the client counts of a cell's Finals.
func finalClients(c campaign.Cell) string {
	var out []string
	for _, clients := range c.FinalClients() {
		if clients == 0 {
			out = append(out, "not known")
			continue
		}
		out = append(out, fmt.Sprint(clients))
	}
	return strings.Join(out, ", ")
}

func clientsText(clients int32) string {
	switch clients {
	case 0:
		return "an unknown client count"
	case 1:
		return "1 client"
	}
	return fmt.Sprintf("%d clients", clients)
}

// cellName names a cell for messages.
func cellName(c campaign.CellKey) string {
	if c.Topology == "" {
		return c.Variant
	}
	return c.Variant + " on " + c.Topology
}
