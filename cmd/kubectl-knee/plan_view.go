package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/forecast"
	"github.com/knee-bench/knee/internal/plugin/terminal"
)

// forecastText prints a forecast as text.
func forecastText(out io.Writer, f forecast.Forecast) error {
	t := terminal.NewTable(out)
	name := f.Name
	if f.Namespace != "" {
		name = f.Namespace + "/" + f.Name
	}
	fmt.Fprintf(t, "campaign %s: %s in %s, plus %s\n", name, terminal.FormatCount(f.Trials, "trial"), terminal.FormatCount(len(f.Cells), "cell"), terminal.FormatCount(f.Warmups, "Warmup"))
	if f.Between != nil {
		fmt.Fprintln(t, betweenText(*f.Between))
	} else {
		fmt.Fprintln(t, timeText(f.Seconds, f.Cost))
	}
	if f.FreshJVM != nil {
		fmt.Fprintln(t, freshJVMText(*f.FreshJVM))
	}
	if f.Anchor != nil {
		fmt.Fprintln(t, anchorText(*f.Anchor))
	}
	switch {
	case f.AtMost != nil && f.Between != nil:
		fmt.Fprintf(t, "at most, with all repetitions that spec.final.maxRepetitions allows: %d trials\n", f.AtMost.Trials)
	case f.AtMost != nil:
		fmt.Fprintf(t, "at most, with all repetitions that spec.final.maxRepetitions allows: %d trials, %s\n", f.AtMost.Trials, timeText(f.AtMost.Seconds, f.AtMost.Cost))
	}
	t.EndTable()
	t.WriteRow("VARIANT", "TOPOLOGY", "NODES", "GROUP", "NODES EXIST FOR", "PRICE PER HOUR")
	for _, c := range f.Cells {
		price := "-"
		if c.PricePerHour != nil {
			price = fmt.Sprintf("%.2f", *c.PricePerHour)
		}
		t.WriteRow(c.Variant, c.Topology, terminal.FormatInteger(c.Nodes), terminal.FormatInteger(c.Group), terminal.OrDash(terminal.FormatClock(c.NodeSeconds)), price)
	}
	t.EndTable()
	fmt.Fprintln(t, "Groups run in parallel. The cells of one group never run at the same time. A block of repetitions starts when the block before it has ended in every group.")
	t.EndTable()
	t.WriteRow("STAGE", "GROUP", "STARTS", "TAKES", "VARIANT", "TOPOLOGY", "TRIALS")
	for _, s := range f.Steps {
		t.WriteRow(s.Stage, terminal.FormatInteger(s.Group), terminal.OrDash(terminal.FormatClock(s.Starts)), terminal.OrDash(terminal.FormatClock(s.Seconds)), s.Variant, s.Topology, trialsText(s))
	}
	t.EndTable()
	fmt.Fprintln(t, repetitionsText(f.Repetitions))
	if f.Seconds != nil || f.Between != nil {
		terminal.PrintList(t, "The estimate is based on", f.RestsOn)
	}
	terminal.PrintList(t, "Not known", f.NotKnown)
	terminal.PrintList(t, "Warnings", f.Warnings)
	return t.Print()
}

// betweenText describes the range for a person.
func betweenText(b forecast.Between) string {
	line := func(a forecast.AtRate) string {
		return fmt.Sprintf("if each load reaches %s docs/s: %s", strconv.FormatFloat(a.DocsPerSecond, 'f', -1, 64), timeText(a.Seconds, a.Cost))
	}
	return line(b.Slow) + "\n" + line(b.Fast)
}

// freshJVMText describes the price of spec.final.freshJVM.
func freshJVMText(f forecast.FreshJVM) string {
	text := fmt.Sprintf("included above, for a fresh JVM in each Final repetition: %s with %s", terminal.FormatCount(f.Restarts, "restart"), terminal.FormatCount(f.Warmups, "Warmup"))
	if f.Seconds != nil {
		text += ", " + timeText(f.Seconds, f.Cost)
	}
	return text + " (spec.final.freshJVM)"
}

// anchorText describes the price of spec.sweep.anchor.
func anchorText(f forecast.Extent) string {
	text := "included above, to detect a drift of docs/s during the sweeps: " + terminal.FormatCount(f.Trials, "trial")
	if f.Seconds != nil {
		text += ", " + timeText(f.Seconds, f.Cost)
	}
	return text + " (spec.sweep.anchor)"
}

func timeText(seconds *float64, c *forecast.Cost) string {
	if seconds == nil {
		return "time and cost are unknown, because the length of a trial is unknown: set --trial-time"
	}
	text := "about " + terminal.FormatClock(seconds)
	if c == nil {
		return text + "; the cost is unknown: set spec.variants[].pricePerHour"
	}
	return strings.TrimRight(fmt.Sprintf("%s, about %.2f %s", text, c.Amount, c.Currency), " ")
}

func trialsText(s forecast.Step) string {
	text := s.Phase
	switch {
	case s.Warmups == 1:
		text = "Warmup, then " + s.Phase
	case s.Warmups > 1:
		text = fmt.Sprintf("%d Warmups, then %s", s.Warmups, s.Phase)
	}
	if len(s.Clients) == 0 {
		return text + " at the shared client count"
	}
	numbers := make([]string, len(s.Clients))
	for i, n := range s.Clients {
		numbers[i] = terminal.FormatInteger(n)
	}
	return fmt.Sprintf("%s at %s clients", text, strings.Join(numbers, " "))
}

func repetitionsText(r forecast.Repetitions) string {
	if r.Comparisons == 0 {
		return "Nothing is compared: there is one variant, and the spec names no comparison."
	}
	text := fmt.Sprintf("%s: a conclusion needs at least %d Final repetitions of each cell; %d are planned", terminal.FormatCount(r.Comparisons, "comparison"), r.NeededToConclude, r.Planned)
	needed := "repetitions"
	if r.Placements > 1 {
		text = fmt.Sprintf("%s between the means of placements (sets of nodes): a conclusion needs at least %d placements; %d placements with %d repetitions each are planned",
			terminal.FormatCount(r.Comparisons, "comparison"), r.NeededToConclude, r.Placements, r.Planned)
		needed = "placements"
	}
	if r.NeededAtCV != nil {
		text += fmt.Sprintf("; about %[3]d %[4]s are necessary to detect a difference of %[1]g %% at a CV of %[2]g %%", r.SmallestDifference, *r.CVPercent, *r.NeededAtCV, needed)
	}
	return text + "."
}
