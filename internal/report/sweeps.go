package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// sweepPoint is a client count of a cell's sweep as it is shown: texts are empty where there is no figure.
type sweepPoint struct {
	clients            int32
	verdict            string // Pending while the trial is not done
	docs, share        string // docs/s, and percent of the peak
	passes, peak, knee bool
	attempts           int32
	failures           string
	attempt            *attempt // the one that counts; nil before any
	observed           bool
	abovePeak, shared  bool
}

// column is the value of one of results.csv's columns.
func (p sweepPoint) column(name string) string {
	if p.attempt == nil {
		return ""
	}
	i := slices.IndexFunc(resultColumns, func(c column) bool { return c.name == name })
	return line(resultColumns[i].value(*p.attempt))
}

// sweepPoints lists a cell's client counts.
func sweepPoints(in Input, c analysis.Cell) []sweepPoint {
	var out []sweepPoint
	for _, clients := range in.Plan.Clients {
		p := sweepPoint{clients: clients, verdict: "Pending", shared: in.Assessment.Shared[c.Topology].Clients == clients}
		if o, found := sweepOutcome(in, c, clients); found && o.Record != nil {
			p.attempts = o.Attempts
			p.attempt = &attempt{*o.Record, o.Judgement}
			p.failures = failures(o.Judgement.Failures, 300)
		}
		if point := c.Curve.At(clients); point != nil {
			p.verdict = string(point.Verdict)
			p.docs = figure(point.DocsPerSecond)
			p.observed = point.Observed()
			if peak := c.Curve.Peak; peak != nil {
				p.share = fixed(100*point.DocsPerSecond/peak.DocsPerSecond, 2)
				p.peak = peak.Clients == clients
				p.abovePeak = point.Observed() && point.DocsPerSecond > peak.DocsPerSecond
			}
			p.passes = slices.Contains(c.Curve.Passing, clients)
			p.knee = c.Curve.Knee != nil && c.Curve.Knee.Clients == clients
		}
		out = append(out, p)
	}
	return out
}

func sweepOutcome(in Input, c analysis.Cell, clients int32) (analysis.Outcome, bool) {
	o, found := in.Assessment.Outcomes[record.Trial{
		Campaign: string(in.Plan.Campaign), Cell: c.Hash, Variant: c.Variant, Topology: c.Topology,
		Phase: record.Sweep, Clients: clients, Repetition: 1,
	}]
	return o, found
}

// sweeps writes a table for each cell's sweep.
func sweeps(b *strings.Builder, in Input) {
	b.WriteString("\n## Sweeps\n")
	for _, c := range in.Assessment.Cells {
		fmt.Fprintf(b, "\n### %s on %s\n\n", c.Variant, c.Topology)
		if c.Curve.Peak != nil {
			fmt.Fprintf(b, "Peak %s docs/s; a client count passes at %s docs/s (%s %% of it).\n\n",
				rounded(c.Curve.Peak.DocsPerSecond), fixed(c.Curve.Target, 2), figure(in.Plan.PercentOfPeak))
		}
		t := newTable(b, "clients", "docs/s", "% of peak", "CPU user %", "sys %", "iowait %", "p50 ms", "p90 ms", "p99 ms", "rejections", "what ")
		for _, p := range sweepPoints(in, c) {
			docs := ""
			if p.attempt != nil && p.observed {
				docs = rounded(c.Curve.At(p.clients).DocsPerSecond)
			}
			t.row(integer(p.clients), docs, p.share,
				oneDecimal(p.column("cpu_user_percent")), oneDecimal(p.column("cpu_sys_percent")), oneDecimal(p.column("cpu_iowait_percent")),
				oneDecimal(p.column("latency_p50_ms")), oneDecimal(p.column("latency_p90_ms")), oneDecimal(p.column("latency_p99_ms")),
				p.column("rejections"), p.what())
		}
		for _, note := range curveNotes(c.Curve) {
			b.WriteString("\n" + note + "\n")
		}
	}
}

// what says what is to be known of a point beside its figures.
func (p sweepPoint) what() string {
	var words []string
	if p.verdict != string(analysis.Measured) {
		words = append(words, strings.TrimSuffix("**"+p.verdict+"**: "+p.failures, ": "))
	}
	for _, w := range []struct {
		is   bool
		word string
	}{{p.peak, "peak"}, {p.knee, "**knee**"}, {p.shared, "**shared**"}, {p.passes && !p.knee && !p.peak, "passes"}, {p.abovePeak, "above the peak"}} {
		if w.is {
			words = append(words, w.word)
		}
	}
	if p.attempts > 1 {
		words = append(words, fmt.Sprintf("attempt %d", p.attempt.record.Trial.Attempt))
	}
	if p.attempt != nil {
		words = append(words, warnings(p.attempt.record)...)
	}
	return strings.Join(words, ", ")
}

// warnings are what makes a valid measurement doubtful without a gate.
func warnings(r record.Record) []string {
	var out []string
	if u := r.Loader.UtilizationOfTime; u > 0 && u < 0.9 {
		out = append(out, fmt.Sprintf("client-bound (clients wait for the server %s of their time)", percent(u, 0)))
	}
	if busy := r.Loader.BusiestPercent; busy >= 95 {
		out = append(out, fmt.Sprintf("a loader process at %s %% of a core", fixed(busy, 0)))
	}
	if r.Settle.Note != "" {
		out = append(out, "not at rest before the load: "+r.Settle.Note)
	}
	if r.Ingest != nil && r.Ingest.WindowNote != "" {
		out = append(out, "window: "+r.Ingest.WindowNote)
	}
	return out
}

// curveNotes say what a curve leaves open.
func curveNotes(c analysis.Curve) []string {
	var out []string
	if c.PeakGated {
		out = append(out, fmt.Sprintf("The highest docs/s observed at all, %s at %d clients, failed a gate and is not the peak.",
			rounded(c.Highest.DocsPerSecond), c.Highest.Clients))
	}
	if c.PeakAtRangeEdge {
		out = append(out, fmt.Sprintf("The peak is at the highest client count observed (%d): more clients may give more docs/s.", c.Peak.Clients))
	}
	if c.KneeAtRangeEdge {
		out = append(out, fmt.Sprintf("The knee is the lowest client count observed (%d): fewer clients may do as well.", c.Knee.Clients))
	}
	return out
}

// oneDecimal shortens a figure that results.csv prints with more.
func oneDecimal(s string) string {
	var f float64
	if _, err := fmt.Sscanf(s, "%g", &f); err != nil {
		return ""
	}
	return fixed(f, 1)
}
