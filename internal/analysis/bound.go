package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Bound is a trial in which something other than the system under test was the limit.
type Bound struct {
	Variant, Topology string
	Where             string // peak, knee, peak and knee, or Final 2
	Clients           int32
	Message           string // for a person: the figure and the limit
}

const (
	minUtilization = 0.9 // of the clients' time: below it the trial is client-bound
	fullCore       = 95  // percent of one core: a loader's process that is as busy can hardly do more
	nearDiskLimit  = 0.9 // of a declared limit
)

// ClientBounds finds the loads at a peak, a knee or in a Final that the loader limited: U below 0.9, or its busiest
// process near one full core (OSB's workers are single-threaded).
func ClientBounds(cells []Cell, outcomes map[record.Trial]Outcome) []Bound {
	return bounds(cells, outcomes, func(_ Cell, r record.Record) string { return clientBound(r.Loader) })
}

func clientBound(l record.Loader) string {
	switch {
	case l.BusiestPercent >= fullCore:
		process := "the loader's busiest process"
		if l.BusiestProcess != "" {
			process += " (" + l.BusiestProcess + ")"
		}
		return fmt.Sprintf("%s used %.1f %% of one core", process, l.BusiestPercent)
	case positive(l.UtilizationOfTime) && l.UtilizationOfTime < minUtilization:
		return fmt.Sprintf("the clients waited for the server only %s of their time, below %s",
			below(l.UtilizationOfTime, minUtilization), number(minUtilization))
	}
	return ""
}

// DiskBounds finds those whose disk traffic was within 10 % of a limit that the campaign declares.
func DiskBounds(p plan.Plan, cells []Cell, outcomes map[record.Trial]Outcome) []Bound {
	limits := map[string]v1alpha1.DiskLimits{}
	for _, c := range p.Cells {
		limits[c.Hash] = c.DiskLimits
	}
	return bounds(cells, outcomes, func(c Cell, r record.Record) string { return diskBound(r.Nodes, limits[c.Hash]) })
}

func diskBound(nodes []record.Node, limits v1alpha1.DiskLimits) string {
	for _, n := range nodes {
		if n.Disk == nil {
			continue
		}
		on := ""
		if len(nodes) > 1 {
			on = " of " + n.Name
		}
		for _, l := range []struct {
			limit  *int32
			figure float64
			unit   string
		}{
			{limits.MiBPerSecond, n.Disk.ReadMiBs + n.Disk.WriteMiBs, "MiB/s"},
			{limits.IOPS, n.Disk.IOPS, "IOPS"},
		} {
			if l.limit != nil && l.figure >= nearDiskLimit*float64(*l.limit) {
				return fmt.Sprintf("all disks of the machine%s did %.0f of the %d %s declared", on, l.figure, *l.limit, l.unit)
			}
		}
	}
	return ""
}

// bounds asks of every load that an answer rests on whether something else limited it, and tells why.
func bounds(cells []Cell, outcomes map[record.Trial]Outcome, why func(Cell, record.Record) string) []Bound {
	var out []Bound
	for _, l := range tellingLoads(cells, outcomes) {
		if message := why(l.cell, *l.outcome.Record); message != "" {
			out = append(out, Bound{
				Variant: l.cell.Variant, Topology: l.cell.Topology, Where: l.where,
				Clients: l.outcome.Trial.Clients, Message: message,
			})
		}
	}
	return out
}

// load is a trial that an answer rests on.
type load struct {
	cell    Cell
	where   string // peak, knee, peak and knee, or Final 2
	outcome Outcome
}

// tellingLoads are the valid loads at each cell's peak and knee, and in its Finals.
func tellingLoads(cells []Cell, outcomes map[record.Trial]Outcome) []load {
	type point struct {
		hash    string
		clients int32
	}
	sweeps := map[point][]Outcome{}
	for t, o := range outcomes {
		if t.Phase == record.Sweep {
			at := point{t.Cell, t.Clients}
			sweeps[at] = append(sweeps[at], o)
		}
	}
	var out []load
	add := func(c Cell, where string, outcomes []Outcome) {
		slices.SortFunc(outcomes, func(a, b Outcome) int { return cmp.Compare(a.Trial.Repetition, b.Trial.Repetition) })
		for _, o := range outcomes {
			if o.valid() {
				out = append(out, load{c, where, o})
			}
		}
	}
	for _, c := range cells {
		peak, knee := c.Curve.Peak, c.Curve.Knee
		switch {
		case peak != nil && knee != nil && peak.Clients == knee.Clients:
			add(c, "peak and knee", sweeps[point{c.Hash, peak.Clients}])
		default:
			if peak != nil {
				add(c, "peak", sweeps[point{c.Hash, peak.Clients}])
			}
			if knee != nil {
				add(c, "knee", sweeps[point{c.Hash, knee.Clients}])
			}
		}
		for _, o := range c.Finals {
			add(c, finalName(o.Trial), []Outcome{o})
		}
	}
	return out
}

// finalName names a Final within its cell.
func finalName(t record.Trial) string {
	if t.Placement > 1 {
		return fmt.Sprintf("Final %d of placement %d", t.Repetition, t.Placement)
	}
	return fmt.Sprintf("Final %d", t.Repetition)
}

// valid tells whether the outcome has a figure: Measured or Gated.
func (o Outcome) valid() bool {
	return o.Record != nil && (o.Judgement.Verdict == Measured || o.Judgement.Verdict == Gated)
}
