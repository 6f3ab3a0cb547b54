package main

import (
	"fmt"
	"io"
	"strings"
)

// forecastText shows a forecast to a person.
func forecastText(out io.Writer, f forecast) error {
	t := newTable(out)
	name := f.Name
	if f.Namespace != "" {
		name = f.Namespace + "/" + f.Name
	}
	fmt.Fprintf(t, "%s: %s in %s, and %s\n", name, count(f.Trials, "trial"), count(len(f.Cells), "cell"), count(f.Warmups, "Warmup"))
	if f.Between != nil {
		fmt.Fprintln(t, f.Between.text())
	} else {
		fmt.Fprintln(t, timeText(f.Seconds, f.Cost))
	}
	if f.AtMost != nil {
		fmt.Fprintf(t, "with every repetition of the second stage: %d trials, %s\n", f.AtMost.Trials, timeText(f.AtMost.Seconds, f.AtMost.Cost))
	}
	t.blank()
	t.row("VARIANT", "TOPOLOGY", "NODES", "GROUP", "NODES ARE THERE FOR", "PRICE AN HOUR")
	for _, c := range f.Cells {
		price := "-"
		if c.PricePerHour != nil {
			price = fmt.Sprintf("%.2f", *c.PricePerHour)
		}
		t.row(c.Variant, c.Topology, integer(c.Nodes), integer(c.Group), dash(clock(c.NodeSeconds)), price)
	}
	t.blank()
	fmt.Fprintln(t, "Groups run side by side; the cells of one group take turns. A block starts when the one before is over in every group.")
	t.blank()
	t.row("STAGE", "GROUP", "STARTS", "TAKES", "VARIANT", "TOPOLOGY", "TRIALS")
	for _, s := range f.Steps {
		t.row(s.Stage, integer(s.Group), dash(clock(s.Starts)), dash(clock(s.Seconds)), s.Variant, s.Topology, trialsText(s))
	}
	t.blank()
	fmt.Fprintln(t, f.Repetitions.text())
	if f.Seconds != nil || f.Between != nil {
		list(t, "The estimate rests on", f.RestsOn)
	}
	list(t, "Not known", f.NotKnown)
	list(t, "Warnings", f.Warnings)
	return t.flush()
}

func timeText(seconds *float64, c *cost) string {
	if seconds == nil {
		return "time and cost are not known"
	}
	text := "about " + clock(seconds)
	if c == nil {
		return text + "; no cost without variants[].pricePerHour"
	}
	return strings.TrimRight(fmt.Sprintf("%s, about %.2f %s", text, c.Amount, c.Currency), " ")
}

func trialsText(s stepForecast) string {
	text := s.Phase
	switch {
	case s.Warmups == 1:
		text = "Warmup, then " + s.Phase
	case s.Warmups > 1:
		text = fmt.Sprintf("%d Warmups, then %s", s.Warmups, s.Phase)
	}
	if len(s.Clients) == 0 {
		return text + " at the shared clients"
	}
	numbers := make([]string, len(s.Clients))
	for i, n := range s.Clients {
		numbers[i] = integer(n)
	}
	return fmt.Sprintf("%s at %s clients", text, strings.Join(numbers, " "))
}

func (r repetitions) text() string {
	if r.Comparisons == 0 {
		return "Nothing is compared: there is one variant, and no comparison is named."
	}
	text := fmt.Sprintf("%s: to conclude takes at least %d Final repetitions of each cell; %d are planned", count(r.Comparisons, "comparison"), r.NeededToConclude, r.Planned)
	if r.Placements > 1 {
		text = fmt.Sprintf("%s of placement means: to conclude takes at least %d placements; %d are planned, of %d repetitions each",
			count(r.Comparisons, "comparison"), r.NeededToConclude, r.Placements, r.Planned)
	}
	if r.NeededAtCV != nil {
		text += fmt.Sprintf("; to tell %g %% at a CV of %g %% about %d", r.SmallestDifference, *r.CVPercent, *r.NeededAtCV)
	}
	return text + "."
}

func list(out io.Writer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(out, "%s:\n", title)
	for _, l := range lines {
		fmt.Fprintf(out, "- %s\n", l)
	}
}
