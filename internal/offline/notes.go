package offline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
)

// notes say what the file does not tell although somebody may look for it.
func notes(cells []*cell, has Columns, o Options) []string {
	var out []string
	if ignored := foreign(has); len(ignored) > 0 {
		out = append(out, fmt.Sprintf("columns %s are ignored: they have a meaning in Knee's own results.csv alone, which has all of %s",
			strings.Join(ignored, ", "), strings.Join(signature, ", ")))
	}
	names := variants(cells)
	switch {
	case len(cells) == 0:
		return append(out, "there is no row of a Sweep or a Final")
	case !has["docs_per_second"]:
		out = append(out, "there is no column docs_per_second: every row counts as failed")
	}
	if o.Baseline == "" && len(names) > 1 {
		out = append(out, fmt.Sprintf("no ratios: name the variant to compare with by --baseline (%s)", strings.Join(names, ", ")))
	}
	if o.Gates.MaxRejections != nil && !has["rejections"] {
		out = append(out, "there is no column rejections: no row is held against --max-rejections")
	}
	someFinals := slices.ContainsFunc(cells, func(c *cell) bool { return len(c.finals) > 0 })
	if o.Baseline != "" && len(names) > 1 && !someFinals {
		out = append(out, "no interval: a sweep tells nothing of noise; mark repetitions at one client count with the phase Final")
	}
	for _, c := range cells {
		if base := find(cells, o.Baseline, c.topology); base != nil && c != base {
			out = append(out, notCompared(c, base)...)
		}
	}
	return out
}

// foreign are the columns that are Knee's own in a file that is not, in the order of columns.
func foreign(has Columns) []string {
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

// notCompared says why two cells have no ratio of their sweeps or their Finals, or one without an interval.
func notCompared(c, base *cell) []string {
	var out []string
	say := func(what, format string, args ...any) {
		out = append(out, fmt.Sprintf("no %s of %s / %s", what, c.name(), base.variant)+fmt.Sprintf(format, args...))
	}
	if len(c.sweep) > 0 && len(base.sweep) > 0 {
		for _, one := range []*cell{c, base} {
			if one.curve.Peak == nil {
				say("ratio of the sweeps", ": %s has no peak, since no point of its sweep is Measured", one.variant)
			}
		}
	}
	both := common(c, base)
	switch {
	case len(c.finals) == 0 && len(base.finals) == 0:
	case len(c.finals) == 0:
		say("ratio of the Finals", ": %s has none", c.variant)
	case len(base.finals) == 0:
		say("ratio of the Finals", ": %s has none", base.variant)
	case len(both) == 0:
		say("ratio of the Finals", ": they are at different client counts (%s: %s; %s: %s)",
			c.variant, finalClients(c), base.variant, finalClients(base))
	}
	for _, clients := range both {
		f := final{x: c.placements(clients), y: base.placements(clients)}
		x, y := f.values()
		switch {
		case x == 0:
			say("ratio of the Finals", " at %s: none of %s is Measured (%s)", clientsText(clients), c.variant, c.lost(clients))
		case y == 0:
			say("ratio of the Finals", " at %s: none of %s is Measured (%s)", clientsText(clients), base.variant, base.lost(clients))
		case x == 1 || y == 1:
			say("interval of the Finals", " at %s: %s", clientsText(clients), strings.Join(slices.Concat(single(c, x, f), single(base, y, f)), ", "))
		}
	}
	return out
}

// single says of a cell with one value what it is.
func single(c *cell, values int, f final) []string {
	switch {
	case values > 1:
		return nil
	case f.byPlacement():
		return []string{c.variant + " has one placement, and means of placements are compared"}
	}
	return []string{c.variant + " has one value"}
}

// lost counts the Finals at a client count that are no figures, by verdict.
func (c *cell) lost(clients int32) string {
	n := map[analysis.Verdict]int{}
	for _, j := range c.finals {
		if j.row.Clients == clients {
			n[j.judgement.Verdict]++
		}
	}
	var out []string
	for _, v := range []analysis.Verdict{analysis.Gated, analysis.Errored} {
		if n[v] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[v], v))
		}
	}
	return strings.Join(out, ", ")
}

// finalClients are the client counts of a cell's Finals.
func finalClients(c *cell) string {
	var out []string
	for _, clients := range common(c, c) {
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
		return "a client count that is not known"
	case 1:
		return "1 client"
	}
	return fmt.Sprintf("%d clients", clients)
}

// name is the cell's for messages.
func (c *cell) name() string {
	if c.topology == "" {
		return c.variant
	}
	return c.variant + " on " + c.topology
}
