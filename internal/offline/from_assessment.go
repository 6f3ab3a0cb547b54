package offline

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// FromAssessment returns the result of an assessment. The assessment can be that of a campaign or of a file.
func FromAssessment(a campaign.Assessment, o Options) Result {
	out := Result{Cells: []Cell{}, Ratios: []Ratio{}}
	for _, c := range a.Cells {
		out.Cells = append(out.Cells, newCell(c, o.PercentOfPeak))
	}
	for _, c := range a.LeftOut {
		out.LeftOut = append(out.LeftOut, LeftOut{c.Variant, c.Topology})
	}
	out.SharedClients, out.SharedFallback = newTopology(sweep.SharedClients(curvesWithSweep(a)))
	if len(a.Topologies()) > 1 {
		for _, topology := range a.Topologies() {
			t := Topology{Topology: topology}
			t.SharedClients, t.SharedFallback = newTopology(a.Shared[topology])
			out.Topologies = append(out.Topologies, t)
		}
	}
	for _, c := range a.Cells {
		base := a.Cell(o.Baseline, c.Topology)
		if base == nil || c.Variant == o.Baseline {
			continue
		}
		for _, r := range slices.Concat(sweepRatios(a, c, *base), finalRatios(a, c)) {
			r.Variant, r.Baseline = c.Variant, base.Variant
			if len(a.Topologies()) > 1 {
				r.Topology = c.Topology
			}
			out.Ratios = append(out.Ratios, r)
		}
	}
	return out
}

// curvesWithSweep returns the curves of the cells with a sweep, without those that are left out. Cells that have only Finals have no
// shared client count.
func curvesWithSweep(a campaign.Assessment) []sweep.Curve {
	var out []sweep.Curve
	for _, c := range a.Cells {
		if len(c.Sweep) > 0 && !a.IsLeftOut(campaign.CellKey{Variant: c.Variant, Topology: c.Topology}) {
			out = append(out, c.Curve)
		}
	}
	return out
}

func newTopology(s sweep.Shared) (clients *int32, fallback bool) {
	if s.Clients == 0 {
		return nil, false
	}
	return &s.Clients, !s.Agreed
}

func newCell(c campaign.Cell, percentOfPeak float64) Cell {
	out := Cell{Variant: c.Variant, Topology: c.Topology, Points: []Point{}}
	out.Peak, out.ObservedPeak = newPeak(c.Curve.Peak), newPeak(c.Curve.Highest)
	if k := c.Curve.Knee; k != nil {
		out.Knee = &Knee{Clients: k.Clients, DocsPerSecond: k.Rate, PercentOfPeak: 100 * k.Rate / c.Curve.Peak.Rate}
		if !math.IsNaN(c.Stability) {
			percent := 100 * c.Stability
			out.Knee.StabilityPercent = &percent
		}
	}
	for _, p := range c.Curve.Points {
		point := Point{Clients: p.Clients, Verdict: string(p.Verdict), Passes: slices.Contains(c.Curve.Passing, p.Clients)}
		if !math.IsNaN(p.Rate) {
			point.DocsPerSecond = &p.Rate
		}
		if !point.Passes {
			point.Reason = failureReason(p, c.Curve, percentOfPeak)
		}
		out.Points = append(out.Points, point)
	}
	return out
}

func newPeak(p *sweep.Point) *Peak {
	if p == nil {
		return nil
	}
	return &Peak{p.Clients, p.Rate}
}

// sweepRatios compares the sweeps of two cells at their peaks, at their knees, and at the shared client count. It leaves out a
// ratio if one of the cells does not have the point.
func sweepRatios(a campaign.Assessment, c, base campaign.Cell) []Ratio {
	var out []Ratio
	add := func(at string, x, y *sweep.Point) {
		if x != nil && y != nil && x.Observed() && y.Observed() {
			out = append(out, Ratio{At: at, Ratio: x.Rate / y.Rate})
		}
	}
	add(AtPeak, c.Curve.Peak, base.Curve.Peak)
	add(AtKnee, c.Curve.Knee, base.Curve.Knee)
	if clients := a.Shared[c.Topology].Clients; clients > 0 {
		add(AtShared, c.Curve.At(clients), base.Curve.At(clients))
	}
	return out
}

// finalRatios returns, for each client count, the ratio of a cell's Finals to the baseline's Finals on the same topology.
func finalRatios(a campaign.Assessment, c campaign.Cell) []Ratio {
	var finals []campaign.Ratio
	for _, r := range a.Ratios {
		if r.Variant == c.Variant && r.Topology == c.Topology && r.BaselineTopology == c.Topology && !r.Named {
			finals = append(finals, r)
		}
	}
	slices.SortStableFunc(finals, func(x, y campaign.Ratio) int { return int(x.Clients - y.Clients) })
	var out []Ratio
	for _, e := range finals {
		if math.IsNaN(e.Ratio) {
			continue
		}
		r := Ratio{At: AtFinal, Ratio: e.Ratio}
		if len(finals) > 1 {
			r.Clients = e.Clients
		}
		if e.HasInterval() {
			r.Low, r.High, r.Confidence, r.P = &e.Low, &e.High, &e.Confidence, &e.P
			bounds, cv, baselineCV := string(e.Bounds), 100*e.CV, 100*e.BaselineCV
			r.Bounds, r.CVPercent, r.BaselineCVPercent = &bounds, &cv, &baselineCV
			if text := string(e.Verdict); text != "" {
				r.Verdict = &text
			}
			if e.Comparisons > 1 || len(e.Looks) > 0 {
				r.AdjustedP = &e.AdjustedP
			}
		}
		for _, l := range e.Looks {
			r.Looks = append(r.Looks, min(l.N, l.M))
		}
		out = append(out, r)
	}
	return out
}

// failureReason returns why a point of a curve does not pass.
func failureReason(p sweep.Point, c sweep.Curve, percentOfPeak float64) string {
	if p.Verdict == verdict.Measured {
		return fmt.Sprintf("%s %% of the peak, below %g %%", formatBelow(100*p.Rate/c.Peak.Rate, percentOfPeak), percentOfPeak)
	}
	var out []string
	for _, f := range p.Failures {
		if !slices.Contains(out, f.Message) {
			out = append(out, f.Message)
		}
	}
	return strings.Join(out, "; ")
}

// formatBelow formats a figure that is below a limit. It prints two decimals, or more decimals if the rounded text would reach the
// limit.
func formatBelow(figure, limit float64) string {
	const most = 15
	for digits := 2; ; digits++ {
		text := strconv.FormatFloat(figure, 'f', digits, 64)
		if rounded, err := strconv.ParseFloat(text, 64); err != nil || rounded < limit || digits == most {
			return text
		}
	}
}
