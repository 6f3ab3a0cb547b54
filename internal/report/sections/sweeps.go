package sections

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// sweeps writes a table for each cell with a row for each client count of the sweep. In a Fixed campaign, the rows are the client
// counts of the Finals.
func sweeps(d *document.Document, in view.Input) {
	title := "Sweeps"
	if view.FixedClients(in) {
		title = "Client counts"
	}
	d.Section(title)
	if d.Detail >= document.NoSweeps {
		d.Para("These tables are too large for the report. The file tune_results_VARIANT_TOPOLOGY.csv of each cell contains every client count.")
		return
	}
	const mostOpen = 4 // longer lists of tables are folded at first
	for _, c := range in.Assessment.Cells {
		d.Foldable(c.Variant+" on "+c.Topology, len(in.Assessment.Cells) > mostOpen)
		if c.Curve.Peak != nil {
			d.Para("The peak is %s %s. A client count passes at %s %s or more (%s %% of the peak).",
				format.Rounded(c.Curve.Peak.Rate), view.Unit(in), format.Fixed(c.Curve.Target, 2), view.Unit(in), format.Figure(in.Plan.PercentOfPeak))
		}
		t := d.Table("clients", view.Unit(in), "% of peak", "CPU user %", "sys %", "iowait %", "p50 ms", "p90 ms", "p99 ms", "rejections", "what ")
		for _, p := range view.SweepPoints(in, c) {
			docs := ""
			if p.Observed {
				docs = format.Rounded(p.Value)
			}
			t.Flagged(p.Verdict, format.IntText(p.Clients), docs, p.Share,
				oneDecimal(p.Column(in, "cpu_user_percent")), oneDecimal(p.Column(in, "cpu_sys_percent")), oneDecimal(p.Column(in, "cpu_iowait_percent")),
				oneDecimal(p.Column(in, "latency_p50_ms")), oneDecimal(p.Column(in, "latency_p90_ms")), oneDecimal(p.Column(in, "latency_p99_ms")),
				p.Column(in, "rejections"), pointNotes(p))
		}
		removeUnmeasuredColumns(t, in)
		for _, note := range curveNotes(c, view.Unit(in)) {
			d.Para("%s", note)
		}
		if note := driftNote(c, view.Unit(in)); note != "" {
			d.Para("%s", note)
		}
		for _, note := range replacedNotes(in, c) {
			d.Para("%s", note)
		}
		if note := usl(c.Curve); note != "" {
			d.Para("%s", note)
		}
	}
}

// usl fits the Universal Scalability Law to a curve and describes the fit. The fit is only a diagnostic: no result depends on it.
func usl(c sweep.Curve) string {
	var clients, docs []float64
	for _, p := range c.Points {
		if p.Verdict == verdict.Measured {
			clients, docs = append(clients, float64(p.Clients)), append(docs, p.Rate)
		}
	}
	const leastFit = 0.8 // lowest R² of a fit that is shown; a sweep that begins above its knee has a lower R²
	law, err := sweep.FitUSL(clients, docs)
	if err != nil || law.RSquared < leastFit {
		return ""
	}
	peak := "no peak (coherency is 0)"
	if law.Beta > 0 {
		peak = fmt.Sprintf("a peak at %s clients", format.Fixed(law.PeakClients, 1))
		if law.PeakIsBeyond {
			peak += ", extrapolated"
		}
	}
	return fmt.Sprintf("For diagnosis only, no result depends on this fit: the Universal Scalability Law has contention %s and coherency %s. The fitted curve has %s (R² %s).",
		format.Trimmed(law.Alpha, 6), format.Trimmed(law.Beta, 6), peak, format.Fixed(law.RSquared, 3))
}

// removeUnmeasuredColumns removes the columns that cannot have values: rejections if the load does not fill an index, and CPU if
// no node was observed.
func removeUnmeasuredColumns(t *document.Table, in view.Input) {
	if !view.FillsIndex(in) {
		t.RemoveColumns("rejections")
		if !view.NodesKnown(in) {
			t.RemoveColumns("CPU user %", "CPU user+sys %", "sys %", "iowait %")
		}
	}
}

// curveNotes returns notes about the limits of a curve, for example a peak at the end of the range.
func curveNotes(cell campaign.Cell, unit string) []string {
	var out []string
	c := cell.Curve
	if c.PeakGated {
		out = append(out, fmt.Sprintf("The highest observed %s (%s at %d clients) failed a gate, so this point is not the peak.",
			unit, format.Rounded(c.Highest.Rate), c.Highest.Clients))
	}
	if c.PeakAtRangeEdge {
		out = append(out, fmt.Sprintf("The peak is at the highest client count observed (%d). More clients may give more %s: add higher client counts to the sweep.", c.Peak.Clients, unit))
	}
	if c.KneeAtRangeEdge {
		out = append(out, fmt.Sprintf("The knee is the lowest client count observed (%d). The true knee may be lower: add lower client counts to the sweep.", c.Knee.Clients))
	}
	if len(cell.Skipped) > 0 {
		out = append(out, fmt.Sprintf("The adaptive sweep did not measure the client counts %s, because they were not expected to change the knee.", format.IntList(cell.Skipped)))
	}
	return out
}

// driftNote describes the change of docs/s during a cell's sweep. It returns an empty text if the sweep does not show it.
func driftNote(c campaign.Cell, unit string) string {
	text := ""
	if o := c.Anchor; o != nil && o.Done && !o.Measured() {
		text = fmt.Sprintf("The anchor trial, which repeats %d clients at the end of the sweep, is not usable (verdict %s), so it cannot show a drift. ", o.Trial.Clients, o.Judgement.Verdict)
	}
	if c.Drift == nil {
		if c.SweepDone && len(c.Curve.Points) > 1 {
			text += "No client count was measured at two different times, so this sweep cannot show a drift (a change with time)."
		}
		return strings.TrimSpace(text)
	}
	text += fmt.Sprintf("From the first to the last trial of the sweep, %s at the same client count changed by %s %%", unit, format.Signed(c.Drift.Percent, 1))
	switch {
	case math.IsNaN(c.Drift.P):
		return text + ". The noise is unknown, so Knee cannot say whether this change is significant."
	case c.Drift.IsSignificant():
		return text + fmt.Sprintf(" (p = %.2g). Noise alone does not explain this change.", c.Drift.P)
	}
	return text + fmt.Sprintf(" (p = %.2g). Noise can explain this change: only a change of more than %s %% would be significant.", c.Drift.P, format.Fixed(c.Drift.Limit, 1))
}

// oneDecimal rounds the text of a figure in results.csv to one decimal.
func oneDecimal(s string) string {
	var f float64
	if _, err := fmt.Sscanf(s, "%g", &f); err != nil {
		return ""
	}
	return format.Fixed(f, 1)
}

// replacedNotes returns a note for each earlier result of a point that the user had measured again (spec.sweep.rerun).
func replacedNotes(in view.Input, c campaign.Cell) []string {
	var out []string
	for _, o := range in.Assessment.Replaced {
		if o.Trial.Cell != c.Hash {
			continue
		}
		was := string(o.Judgement.Verdict)
		if docs := o.Rate(); !math.IsNaN(docs) {
			was = format.Rounded(docs) + " " + view.Unit(in) + " (" + was + ")"
		}
		which := ""
		if o.Trial.Repetition > 1 {
			which = fmt.Sprintf(", repetition %d", o.Trial.Repetition)
		}
		if o.Trial.RerunToken != "" {
			which += ", measured with token " + o.Trial.RerunToken
		}
		out = append(out, fmt.Sprintf("Measured again by hand (spec.sweep.rerun, token %s): %d clients. Knee no longer uses the earlier figure%s: %s.",
			view.RerunToken(in, c, o.Trial.Clients), o.Trial.Clients, which, was))
	}
	return out
}

// pointNotes returns the verdict of a point, its role (for example knee) and warnings, as one text.
func pointNotes(p view.SweepPoint) string {
	var words []string
	if p.Verdict != string(verdict.Measured) {
		words = append(words, strings.TrimSuffix("**"+p.Verdict+"**: "+p.Failures, ": "))
	}
	for _, w := range []struct {
		is   bool
		word string
	}{{p.Peak, "peak"}, {p.Knee, "**knee**"}, {p.Shared, "**shared**"}, {p.Passes && !p.Knee && !p.Peak, "passes"}, {p.AbovePeak, "rate above the peak"}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	if len(p.Attempts) > 1 {
		words = append(words, fmt.Sprintf("median of %d", len(p.Attempts)))
	} else if p.Tries > 1 && len(p.Attempts) == 1 {
		words = append(words, fmt.Sprintf("attempt %d", p.Attempts[0].Record.Attempt.N))
	}
	if p.Again != "" {
		words = append(words, "measured again by hand ("+p.Again+")")
	}
	var doubts []string
	for _, a := range p.Attempts {
		for _, w := range warnings(a.Record) {
			if !slices.Contains(doubts, w) {
				doubts = append(doubts, w)
			}
		}
	}
	return strings.Join(append(words, doubts...), ", ")
}

// warnings returns the reasons why a valid measurement is doubtful although no gate failed.
func warnings(r record.Record) []string {
	var out []string
	if campaign.ClientsAreBound(r.Loader) {
		out = append(out, fmt.Sprintf("the loader may be the limit (its clients waited for the server only %s of their time)", format.Percent(r.Loader.UtilizationOfTime, 0)))
	}
	if campaign.FillsCore(r.Loader) {
		out = append(out, fmt.Sprintf("a loader process used %s %% of one core", format.Fixed(r.Loader.BusiestPercent, 0)))
	}
	if r.Settle.Note != "" {
		out = append(out, "the cluster was not at rest before the load: "+r.Settle.Note)
	}
	if r.Ingest != nil && r.Ingest.WindowNote != "" {
		out = append(out, "window: "+r.Ingest.WindowNote)
	}
	return out
}
