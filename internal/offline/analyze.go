package offline

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// Options are the campaign's rules that a CSV does not hold.
type Options struct {
	PercentOfPeak      float64 // of the knee, 1 to 100
	Gates              v1alpha1.Gates
	Baseline           string  // the denominator of ratios; empty: there are none
	SmallestDifference float64 // in percent: a ratio whose interval lies within it is equivalent
	Seed               uint64  // of the resamples that tell a knee's stability
}

// Defaults are those of a campaign.
func Defaults() Options { return Options{PercentOfPeak: 97, SmallestDifference: 3, Seed: 1} }

// judged is a row with its verdict.
type judged struct {
	row       Row
	judgement analysis.Judgement
}

// cell is what a file has of a variant on a topology.
type cell struct {
	variant, topology string
	sweep, finals     []judged
	curve             analysis.Curve
}

// Analyze judges the rows and draws from them what an operator's campaign would show.
func Analyze(rows []Row, has Columns, o Options) (Result, error) {
	kept, err := latest(rows, has)
	if err != nil {
		return Result{}, err
	}
	noIOWait := o.Gates.MaxIOWaitPercent != nil && !has["iowait_percent"]
	if noIOWait {
		o.Gates.MaxIOWaitPercent = nil // a gate that nothing can be held against; a note says so
	}
	cells := cellsOf(kept, o)
	if err := tooManyFinals(cells); err != nil {
		return Result{}, err
	}
	if o.Baseline != "" && !slices.ContainsFunc(cells, func(c *cell) bool { return c.variant == o.Baseline }) {
		return Result{}, fmt.Errorf("the baseline %q is no variant of the file; it has %s", o.Baseline, strings.Join(variants(cells), ", "))
	}
	noise := noiseOf(cells)
	out := Result{Cells: []Cell{}, Ratios: []Ratio{}}
	for _, c := range cells {
		out.Cells = append(out.Cells, c.result(o, noise))
	}
	shared := sharedOf(cells)
	out.SharedClients, out.SharedFallback = found(shared.all)
	if len(shared.names) > 1 {
		for _, topology := range shared.names {
			t := Topology{Topology: topology}
			t.SharedClients, t.SharedFallback = found(shared.of[topology])
			out.Topologies = append(out.Topologies, t)
		}
	}
	out.Ratios = append(out.Ratios, ratios(cells, shared, o, noise)...)
	out.Notes = notes(cells, has, o)
	if noIOWait {
		out.Notes = append(out.Notes, "there is no column iowait_percent: no row is held against --max-iowait")
	}
	return out, nil
}

// latest leaves of the attempts at a trial the one that counts: the latest valid one, else the latest. Only Knee's
// own files have attempts; everywhere else each row is a measurement of its own.
func latest(rows []Row, has Columns) ([]Row, error) {
	if !has["attempt"] || !has["repetition"] {
		return rows, nil
	}
	type key struct {
		variant, topology, placement string
		phase                        record.Phase
		clients, repetition          int32
	}
	at := map[key]int{}
	var out []Row
	seen := map[key]map[int32]int{}
	for _, r := range rows {
		k := key{r.Variant, r.Topology, r.Placement, r.Phase, r.Clients, r.Repetition}
		if seen[k] == nil {
			seen[k] = map[int32]int{}
		}
		if line, twice := seen[k][r.Attempt]; twice {
			return nil, &Malformed{r.File, r.Line, "attempt", fmt.Sprintf("attempt %d at this trial is on line %d already: "+
				"results of two runs are not one campaign's; compare them with kubectl knee compare", r.Attempt, line)}
		}
		seen[k][r.Attempt] = r.Line
		i, known := at[k]
		if !known {
			at[k] = len(out)
			out = append(out, r)
			continue
		}
		if valid(r) == valid(out[i]) && r.Attempt > out[i].Attempt || valid(r) && !valid(out[i]) {
			out[i] = r
		}
	}
	return out, nil
}

// valid tells whether a row is a valid measurement, whatever the gates say of it.
func valid(r Row) bool { return judge(r, v1alpha1.Gates{}).Verdict != analysis.Errored }

// cellsOf sorts rows into cells: by topology, then by variant, each in the order in which the file names them first.
func cellsOf(rows []Row, o Options) []*cell {
	var out []*cell
	find := func(r Row) *cell {
		for _, c := range out {
			if c.variant == r.Variant && c.topology == r.Topology {
				return c
			}
		}
		c := &cell{variant: r.Variant, topology: r.Topology}
		out = append(out, c)
		return c
	}
	for _, r := range rows {
		if r.Phase == record.Warmup || r.Phase == record.OpenLoop {
			continue // discarded, and of a fixed rate: no docs/s of either is a result
		}
		c, j := find(r), judged{r, judge(r, o.Gates)}
		if r.Phase == record.Final {
			c.finals = append(c.finals, j)
		} else {
			c.sweep = append(c.sweep, j)
		}
	}
	names, order := topologies(out), variants(out)
	slices.SortStableFunc(out, func(a, b *cell) int {
		if d := slices.Index(names, a.topology) - slices.Index(names, b.topology); d != 0 {
			return d
		}
		return slices.Index(order, a.variant) - slices.Index(order, b.variant)
	})
	for _, c := range out {
		points := make([]analysis.Point, len(c.sweep))
		for i, j := range c.sweep {
			points[i] = j.point()
		}
		c.curve = analysis.NewCurve(points, o.PercentOfPeak)
	}
	return out
}

// mostFinals is how many Finals a cell may have at a client count: more than any plan asks for, and fewer than the
// samples of a time series, whose exact interval would take minutes and mean nothing.
const mostFinals = 100

func tooManyFinals(cells []*cell) error {
	for _, c := range cells {
		n := map[int32]int{}
		for _, j := range c.finals {
			if n[j.row.Clients]++; n[j.row.Clients] > mostFinals {
				return &Malformed{j.row.File, j.row.Line, "", fmt.Sprintf("%s has more than %d Final rows at %s: "+
					"is this a time series? A row is one repetition; name a clients or phase column if it is something else",
					c.name(), mostFinals, clientsText(j.row.Clients))}
			}
		}
	}
	return nil
}

func topologies(cells []*cell) []string {
	return distinct(cells, func(c *cell) string { return c.topology })
}

func variants(cells []*cell) []string {
	return distinct(cells, func(c *cell) string { return c.variant })
}

func distinct(cells []*cell, of func(*cell) string) []string {
	var out []string
	for _, c := range cells {
		if !slices.Contains(out, of(c)) {
			out = append(out, of(c))
		}
	}
	return out
}

// noiseOf pools the spread of repeats: of each client count of a sweep, and of the Finals of each machine.
func noiseOf(cells []*cell) analysis.Noise {
	var groups [][]float64
	for _, c := range cells {
		for _, rows := range [][]judged{c.sweep, c.finals} {
			type place struct {
				clients   int32
				placement string
			}
			of := map[place][]float64{}
			var order []place
			for _, j := range rows {
				if j.judgement.Verdict != analysis.Measured {
					continue
				}
				k := place{j.row.Clients, j.row.Placement}
				if of[k] == nil {
					order = append(order, k)
				}
				of[k] = append(of[k], *j.row.DocsPerSecond)
			}
			for _, k := range order {
				groups = append(groups, of[k])
			}
		}
	}
	return analysis.PooledNoise(groups)
}

func (c *cell) result(o Options, noise analysis.Noise) Cell {
	out := Cell{Variant: c.variant, Topology: c.topology, Points: []Point{}}
	out.Peak, out.ObservedPeak = peak(c.curve.Peak), peak(c.curve.Highest)
	if k := c.curve.Knee; k != nil {
		out.Knee = &Knee{Clients: k.Clients, DocsPerSecond: k.DocsPerSecond, PercentOfPeak: 100 * k.DocsPerSecond / c.curve.Peak.DocsPerSecond}
		if share, ok := analysis.KneeStability(c.curve, o.PercentOfPeak, noise, o.Seed); ok {
			percent := 100 * share
			out.Knee.StabilityPercent = &percent
		}
	}
	for _, p := range c.curve.Points {
		point := Point{Clients: p.Clients, Verdict: string(p.Verdict), Passes: slices.Contains(c.curve.Passing, p.Clients)}
		if !math.IsNaN(p.DocsPerSecond) {
			point.DocsPerSecond = &p.DocsPerSecond
		}
		if !point.Passes {
			point.Reason = reason(p, c.curve, o.PercentOfPeak)
		}
		out.Points = append(out.Points, point)
	}
	return out
}

func peak(p *analysis.Point) *Peak {
	if p == nil {
		return nil
	}
	return &Peak{p.Clients, p.DocsPerSecond}
}

// Validate refuses options that no campaign could have.
func (o Options) Validate() error {
	if p := o.PercentOfPeak; !(p >= 1 && p <= 100) {
		hint := ""
		if p > 0 && p < 1 {
			hint = fmt.Sprintf(": it is in percent, so %g is meant", math.Round(p*1e6)/1e4)
		}
		return fmt.Errorf("--percent-of-peak must be from 1 to 100, not %g%s", p, hint)
	}
	if f := o.Gates.MaxIOWaitPercent.Float(0); !(f >= 0 && f <= 100) {
		return fmt.Errorf("--max-iowait must be from 0 to 100 percent, not %g", f)
	}
	if n := o.Gates.MaxRejections; n != nil && *n < 0 {
		return errors.New("--max-rejections must not be negative")
	}
	return nil
}
