package campaign

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/gates"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// Bound is a trial whose rate was limited by something other than the system under test.
type Bound struct {
	Variant, Topology string
	Where             string // "peak", "knee", "peak and knee", or for example "Final 2"
	Clients           int32
	Message           string // the figure and the limit, for a human reader
}

const (
	minUtilization = 0.9 // share of the clients' time; a trial below this share is client-bound
	fullCore       = 95  // percent of one core; a loader process above this value can hardly do more work
	nearDiskLimit  = 0.9 // share of a declared limit
)

// ClientBounds finds the loads at a peak, at a knee or in a Final whose rate was limited by the loader. There are two signs: the
// clients' utilization is below 0.9, or the loader's busiest process used nearly one full core (the workers of
// opensearch-benchmark are single-threaded).
func ClientBounds(cells []Cell, outcomes map[record.Trial]Outcome) []Bound {
	return findBounds(cells, outcomes, func(_ Cell, r record.Record) string { return describeClientBound(r.Loader) })
}

// ClientsAreBound reports whether the clients waited for the server for less than minUtilization of their time.
func ClientsAreBound(l record.Loader) bool {
	return stats.Positive(l.UtilizationOfTime) && l.UtilizationOfTime < minUtilization
}

// FillsCore reports whether the loader's busiest process used nearly one full core.
func FillsCore(l record.Loader) bool { return l.BusiestPercent >= fullCore }

func describeClientBound(l record.Loader) string {
	switch {
	case FillsCore(l):
		process := "the loader's busiest process"
		if l.BusiestProcess != "" {
			process += " (" + l.BusiestProcess + ")"
		}
		return fmt.Sprintf("%s used %.1f %% of one core", process, l.BusiestPercent)
	case ClientsAreBound(l):
		return fmt.Sprintf("the share of time in which the clients waited for the server was only %s, below %s",
			gates.Below(l.UtilizationOfTime, minUtilization, 2), gates.Number(minUtilization))
	}
	return ""
}

// DiskBounds finds the loads at a peak, at a knee or in a Final whose disk traffic reached 90 % of a limit that the campaign
// declares.
func DiskBounds(p plan.Plan, cells []Cell, outcomes map[record.Trial]Outcome) []Bound {
	limits := map[string]v1alpha1.DiskLimits{}
	for _, c := range p.Cells {
		limits[c.Hash] = c.DiskLimits
	}
	return findBounds(cells, outcomes, func(c Cell, r record.Record) string { return describeDiskBound(r.Nodes, limits[c.Hash]) })
}

func describeDiskBound(nodes []record.Node, limits v1alpha1.DiskLimits) string {
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
				return fmt.Sprintf("all disks of the machine%s together reached %.0f of the declared limit of %d %s", on, l.figure, *l.limit, l.unit)
			}
		}
	}
	return ""
}

// findBounds returns the loads that determine an answer and whose rate was limited by something other than OpenSearch. The function
// why describes the limit of a load. It returns an empty text if there was no limit.
func findBounds(cells []Cell, outcomes map[record.Trial]Outcome, why func(Cell, record.Record) string) []Bound {
	var out []Bound
	for _, l := range TellingLoads(cells, outcomes) {
		if message := why(l.Cell, *l.Outcome.Record); message != "" {
			out = append(out, Bound{
				Variant: l.Cell.Variant, Topology: l.Cell.Topology, Where: l.Where,
				Clients: l.Outcome.Trial.Clients, Message: message,
			})
		}
	}
	return out
}

// TellingLoad is a trial that determines an answer: a trial at a peak or a knee, or a Final.
type TellingLoad struct {
	Cell    Cell
	Where   string // "peak", "knee", "peak and knee", or for example "Final 2"
	Outcome Outcome
}

// TellingLoads returns the Measured and Gated trials at the peak of each cell, at its knee, and in its Finals.
func TellingLoads(cells []Cell, outcomes map[record.Trial]Outcome) []TellingLoad {
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
	var out []TellingLoad
	add := func(c Cell, where string, outcomes []Outcome) {
		slices.SortFunc(outcomes, func(a, b Outcome) int { return cmp.Compare(a.Trial.Repetition, b.Trial.Repetition) })
		for _, o := range outcomes {
			if o.hasFigure() {
				out = append(out, TellingLoad{c, where, o})
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
			add(c, FinalName(o.Trial), []Outcome{o})
		}
	}
	return out
}

// FinalName returns the name of a Final within its cell.
func FinalName(t record.Trial) string {
	if t.Placement > 1 {
		return fmt.Sprintf("Final %d of placement %d", t.Repetition, t.Placement)
	}
	return fmt.Sprintf("Final %d", t.Repetition)
}
