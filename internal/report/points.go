package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// The words for a client count that has no verdict.
const (
	pending = "Pending" // the trial is not done
	skipped = "Skipped" // an adaptive sweep had no need of it
)

// sweepPoint is a client count of a cell's sweep as it is shown: texts are empty where there is no figure.
type sweepPoint struct {
	clients            int32
	verdict            string  // or pending, or skipped
	value              float64 // docs/s; NaN where there is none
	docs, share        string  // docs/s, and percent of the peak
	passes, peak, knee bool
	tries              int32 // the highest attempt
	failures           string
	attempts           []attempt // those that the figures are of: one, or one a repeat; none before any
	observed           bool
	abovePeak, shared  bool
	again              string // token by which the point was measured again by hand
}

// column is the value of one of results.csv's columns: of repeats their median, or what the first says.
func (p sweepPoint) column(name string) string {
	if len(p.attempts) == 0 {
		return ""
	}
	of := columnNamed(name)
	first := line(of(p.attempts[0]))
	if len(p.attempts) == 1 {
		return first
	}
	var values []float64
	for _, a := range p.attempts {
		f, err := strconv.ParseFloat(of(a), 64)
		if err != nil {
			return first
		}
		values = append(values, f)
	}
	return figure(analysis.Median(values))
}

// fixedClients tells whether a campaign looks for no knee and measures every client count in its Finals.
func fixedClients(in Input) bool { return in.Plan.Fixed }

// sweepPoints lists a cell's client counts.
func sweepPoints(in Input, c analysis.Cell) []sweepPoint {
	out := make([]sweepPoint, 0, len(in.Plan.Clients))
	for _, clients := range in.Plan.Clients {
		p := sweepPoint{
			clients: clients, verdict: pending, value: math.NaN(),
			shared: !fixedClients(in) && in.Assessment.Shared[c.Topology].Clients == clients,
		}
		p.again = again(in, c, clients)
		if slices.Contains(c.Skipped, clients) {
			p.verdict = skipped
		}
		outcomes := outcomesAt(in, c, clients)
		for _, o := range outcomes {
			p.tries = max(p.tries, o.Attempts)
		}
		if point := pointAt(in, c, clients, outcomes); point != nil {
			p.verdict, p.value, p.observed = string(point.Verdict), point.DocsPerSecond, point.Observed()
			p.docs = figure(point.DocsPerSecond)
			if peak := c.Curve.Peak; peak != nil {
				p.share = fixed(100*point.DocsPerSecond/peak.DocsPerSecond, 2)
				p.peak = peak.Clients == clients
				p.abovePeak = point.Observed() && point.DocsPerSecond > peak.DocsPerSecond
			}
			p.passes = slices.Contains(c.Curve.Passing, clients)
			p.knee = c.Curve.Knee != nil && c.Curve.Knee.Clients == clients
		}
		p.attempts, p.failures = counting(outcomes, p.verdict)
		out = append(out, p)
	}
	return out
}

// outcomesAt are the trials of a cell at a client count: the repeats of its sweep, or in a Fixed campaign its Finals.
func outcomesAt(in Input, c analysis.Cell, clients int32) []analysis.Outcome {
	var out []analysis.Outcome
	if fixedClients(in) {
		for _, o := range c.Finals {
			if o.Trial.Clients == clients {
				out = append(out, o)
			}
		}
		return out
	}
	trial := record.Trial{
		Campaign: string(in.Plan.Campaign), Cell: c.Hash, Variant: c.Variant, Topology: c.Topology,
		Phase: record.Sweep, Clients: clients, Repetition: 1, Again: again(in, c, clients),
	}
	for ; ; trial.Repetition++ {
		o, found := in.Assessment.Outcomes[trial]
		if !found {
			return out
		}
		out = append(out, o)
	}
}

// pointAt is the point of a client count; nil while it is not done. A Fixed campaign has no curve: its point is the
// median of the Measured Finals.
func pointAt(in Input, c analysis.Cell, clients int32, outcomes []analysis.Outcome) *analysis.Point {
	if !fixedClients(in) {
		return c.Curve.At(clients)
	}
	var points []analysis.Point
	for _, o := range outcomes {
		if !o.Done {
			return nil
		}
		points = append(points, analysis.Point{
			Clients: clients, DocsPerSecond: o.DocsPerSecond(), Verdict: o.Judgement.Verdict, Failures: o.Judgement.Failures,
		})
	}
	measured := slices.DeleteFunc(slices.Clone(points), func(p analysis.Point) bool { return p.Verdict != analysis.Measured })
	if len(measured) > 0 {
		points = measured // as in the ratios, which go without the others
	}
	return analysis.NewCurve(points, in.Plan.PercentOfPeak).At(clients)
}

// counting are the attempts whose figures make a point of that verdict, and what they failed by. Before there is a
// verdict they are those of the trials that have one.
func counting(outcomes []analysis.Outcome, verdict string) (attempts []attempt, why string) {
	var list []analysis.Failure
	for _, o := range outcomes {
		if o.Record == nil || verdict != pending && string(o.Judgement.Verdict) != verdict {
			continue
		}
		attempts = append(attempts, attempt{*o.Record, o.Judgement})
		list = append(list, o.Judgement.Failures...)
	}
	var once []analysis.Failure
	for _, f := range list {
		if !slices.Contains(once, f) {
			once = append(once, f)
		}
	}
	return attempts, failures(once, 300)
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
	if len(p.attempts) > 1 {
		words = append(words, fmt.Sprintf("median of %d", len(p.attempts)))
	} else if p.tries > 1 && len(p.attempts) == 1 {
		words = append(words, fmt.Sprintf("attempt %d", p.attempts[0].record.Trial.Attempt))
	}
	if p.again != "" {
		words = append(words, "measured again by hand ("+p.again+")")
	}
	var doubts []string
	for _, a := range p.attempts {
		for _, w := range warnings(a.record) {
			if !slices.Contains(doubts, w) {
				doubts = append(doubts, w)
			}
		}
	}
	return strings.Join(append(words, doubts...), ", ")
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
