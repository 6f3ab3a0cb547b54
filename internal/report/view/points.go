package view

import (
	"math"
	"slices"
	"strconv"

	"github.com/knee-bench/knee/internal/figures"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/stats"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// Words that replace the verdict of a client count without a verdict.
const (
	Pending = "Pending" // a trial at this client count is not done
	Skipped = "Skipped" // the adaptive sweep did not need this client count
)

// SweepPoint is a client count of a cell's sweep, with the texts that a report shows. A text is empty if its figure is unknown.
type SweepPoint struct {
	Clients            int32
	Verdict            string  // a verdict, Pending or Skipped
	Value              float64 // docs/s; NaN if it is unknown
	Docs, Share        string  // docs/s; percent of the peak
	Passes, Peak, Knee bool
	Tries              int32 // highest number of attempts of a trial
	Failures           string
	Attempts           []Attempt // attempts that determine the figures: one per repetition
	Observed           bool
	AbovePeak, Shared  bool
	Again              string // token of spec.sweep.rerun if the user had the point measured again
}

// Column returns the value of a column of results.csv for this point. It is the median of the repetitions. If a value is not a
// number, it is the text of the first repetition.
func (p SweepPoint) Column(in Input, name string) string {
	f, ok := figures.Named(LoadsOf(in), Named(in, name))
	if len(p.Attempts) == 0 || !ok {
		return ""
	}
	of := func(a Attempt) string { return AttemptText(in, f, a) }
	first := format.OneLine(of(p.Attempts[0]))
	if len(p.Attempts) == 1 {
		return first
	}
	var values []float64
	for _, a := range p.Attempts {
		f, err := strconv.ParseFloat(of(a), 64)
		if err != nil {
			return first
		}
		values = append(values, f)
	}
	return format.Figure(stats.Median(values))
}

// FixedClients reports whether the campaign measures every client count in its Finals and does not search for a knee.
func FixedClients(in Input) bool { return in.Plan.Fixed }

// SweepPoints returns a point for each client count of a cell.
func SweepPoints(in Input, c campaign.Cell) []SweepPoint {
	out := make([]SweepPoint, 0, len(in.Plan.Clients))
	for _, clients := range in.Plan.Clients {
		p := SweepPoint{
			Clients: clients, Verdict: Pending, Value: math.NaN(),
			Shared: !FixedClients(in) && in.Assessment.Shared[c.Topology].Clients == clients,
		}
		p.Again = RerunToken(in, c, clients)
		if slices.Contains(c.Skipped, clients) {
			p.Verdict = Skipped
		}
		outcomes := outcomesAt(in, c, clients)
		for _, o := range outcomes {
			p.Tries = max(p.Tries, o.Attempts)
		}
		if point := pointAt(in, c, clients, outcomes); point != nil {
			p.Verdict, p.Value, p.Observed = string(point.Verdict), point.Rate, point.Observed()
			p.Docs = format.Figure(point.Rate)
			if peak := c.Curve.Peak; peak != nil {
				p.Share = format.Fixed(100*point.Rate/peak.Rate, 2)
				p.Peak = peak.Clients == clients
				p.AbovePeak = point.Observed() && point.Rate > peak.Rate
			}
			p.Passes = slices.Contains(c.Curve.Passing, clients)
			p.Knee = c.Curve.Knee != nil && c.Curve.Knee.Clients == clients
		}
		p.Attempts, p.Failures = countedAttempts(outcomes, p.Verdict)
		out = append(out, p)
	}
	return out
}

// outcomesAt returns the outcomes of a cell at a client count: the repetitions of its sweep. In a Fixed campaign, it returns the
// Finals.
func outcomesAt(in Input, c campaign.Cell, clients int32) []campaign.Outcome {
	var out []campaign.Outcome
	if FixedClients(in) {
		for _, o := range c.Finals {
			if o.Trial.Clients == clients {
				out = append(out, o)
			}
		}
		return out
	}
	trial := record.Trial{
		Campaign: string(in.Plan.Campaign), Cell: c.Hash, Variant: c.Variant, Topology: c.Topology,
		Phase: record.Sweep, Clients: clients, Repetition: 1, Placement: 1, RerunToken: RerunToken(in, c, clients),
	}
	for ; ; trial.Repetition++ {
		o, found := in.Assessment.Outcomes[trial]
		if !found {
			return out
		}
		out = append(out, o)
	}
}

// pointAt returns the point of a client count, or nil if its trials are not done. In a Fixed campaign there is no curve, so the
// point is the median of the Measured Finals. If no Final is Measured, the point is made from all Finals.
func pointAt(in Input, c campaign.Cell, clients int32, outcomes []campaign.Outcome) *sweep.Point {
	if !FixedClients(in) {
		return c.Curve.At(clients)
	}
	var points []sweep.Point
	for _, o := range outcomes {
		if !o.Done {
			return nil
		}
		points = append(points, sweep.Point{
			Clients: clients, Rate: o.Rate(), Verdict: o.Judgement.Verdict, Failures: o.Judgement.Failures,
		})
	}
	measured := slices.DeleteFunc(slices.Clone(points), func(p sweep.Point) bool { return p.Verdict != verdict.Measured })
	if len(measured) > 0 {
		points = measured // the ratios use only the Measured Finals
	}
	return sweep.NewCurve(points, in.Plan.PercentOfPeak).At(clients)
}

// countedAttempts returns the attempts with the given verdict, which determine the point, and their failures. If the verdict is
// Pending, it returns the attempts of all trials that have a record.
func countedAttempts(outcomes []campaign.Outcome, wanted string) (attempts []Attempt, why string) {
	var list []verdict.Failure
	for _, o := range outcomes {
		if o.Record == nil || wanted != Pending && string(o.Judgement.Verdict) != wanted {
			continue
		}
		attempts = append(attempts, Attempt{*o.Record, o.Judgement})
		list = append(list, o.Judgement.Failures...)
	}
	var once []verdict.Failure
	for _, f := range list {
		if !slices.Contains(once, f) {
			once = append(once, f)
		}
	}
	return attempts, FailureText(once, 300)
}

// RerunToken returns the token of spec.sweep.rerun that requests another measurement of a point. It returns an empty text if there
// is no request.
func RerunToken(in Input, c campaign.Cell, clients int32) string {
	return in.Plan.Reruns[plan.Point{Variant: c.Variant, Topology: c.Topology, Clients: clients}]
}
