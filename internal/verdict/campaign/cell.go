package campaign

import (
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

// Cell is the result of a cell: a variant on a topology.
type Cell struct {
	Variant, Topology string
	Hash              string
	Sweep             []Outcome   // outcomes of the sweep's trials, in the order in which the sweep required these trials
	Curve             sweep.Curve // curve of the sweep's trials that are done
	SweepDone         bool
	Finals            []Outcome    // sorted by placement, clients and repetition; empty if there are no Finals or they are not yet known
	OpenLoop          *Outcome     // nil if the campaign has no OpenLoop phase, or if the knees are not yet known
	Stability         float64      // stability of the knee, 0 to 1; NaN without repeats
	Anchor            *Outcome     // repeat of the sweep's first point after the sweep; nil without spec.sweep.anchor
	Drift             *sweep.Drift // change of docs/s during the sweep; nil if no client count was measured at different times
	Skipped           []int32      // client counts that an adaptive sweep did not need; set when the sweep is done
	Done, Planned     int          // numbers of trials, without Warmups
}

// CellKey identifies a cell.
type CellKey struct{ Variant, Topology string }

func findCell(cells []Cell, variant, topology string) *Cell {
	for i := range cells {
		if cells[i].Variant == variant && cells[i].Topology == topology {
			return &cells[i]
		}
	}
	return nil
}

// FinalClients returns the client counts of the cell's Finals in ascending order. This is the shared client count, or, without a
// sweep, all client counts.
func (c Cell) FinalClients() []int32 {
	var out []int32
	for _, o := range c.Finals {
		if !slices.Contains(out, o.Trial.Clients) {
			out = append(out, o.Trial.Clients)
		}
	}
	slices.Sort(out)
	return out
}

// FinalRates returns the rates of the cell's Measured Finals. It returns nil if there are Finals at several client counts,
// because their rates are not repeats of one load: see FinalsAt.
func (c Cell) FinalRates() []float64 {
	clients := c.FinalClients()
	if len(clients) != 1 {
		return nil
	}
	return slices.Concat(c.FinalsAt(clients[0])...)
}

// FinalsAt returns docs/s of the Measured Finals at a client count, by placement. It leaves out placements without Measured
// Finals.
func (c Cell) FinalsAt(clients int32) [][]float64 {
	var out [][]float64
	for _, placement := range finalRecordsAt(c, clients) {
		var docs []float64
		for _, r := range placement {
			rate, _ := r.Rate()
			docs = append(docs, rate)
		}
		out = append(out, docs)
	}
	return out
}

// finalRecordsAt returns the records of the Measured Finals at a client count, by placement.
func finalRecordsAt(c Cell, clients int32) [][]record.Record {
	var out [][]record.Record
	last := record.Placement(0)
	for _, o := range c.Finals {
		if o.Trial.Clients != clients || !o.Measured() {
			continue
		}
		if o.Trial.Placement != last {
			last = o.Trial.Placement
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], *o.Record)
	}
	return out
}

// Machines returns two numbers for a cell's Measured Finals at a client count: the placements whose machines are known, and the
// different machines of these placements. If there are fewer machines than placements, some placements shared a machine.
func (c Cell) Machines(clients int32) (placements, machines int) {
	var sets, hosts []string
	for _, placement := range finalRecordsAt(c, clients) {
		names := hostsOf(placement)
		if len(names) == 0 {
			continue
		}
		placements++
		sets, hosts = append(sets, strings.Join(names, " ")), append(hosts, names...)
	}
	// A placement of several nodes runs on a set of machines, so distinct sets are counted. Overlapping sets can outnumber the
	// machines. The result is therefore limited to the number of distinct machines.
	return placements, min(countDistinct(sets), countDistinct(hosts))
}

// hostsOf returns the known machines of a placement's OpenSearch nodes, sorted and without duplicates.
func hostsOf(placement []record.Record) []string {
	var out []string
	for _, r := range placement {
		for _, n := range r.Nodes {
			if n.Environment.Host != "" {
				out = append(out, n.Environment.Host)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func countDistinct(names []string) int {
	return len(slices.Compact(slices.Sorted(slices.Values(names))))
}

// cellsWithFinals returns the cells of the topologies whose Finals are done.
func cellsWithFinals(cells []Cell) []Cell {
	var out []Cell
	for _, c := range cells {
		if finalsDone(cells, c.Topology) {
			out = append(out, c)
		}
	}
	return out
}

// finalsDone reports whether a topology has Finals and all of them are done.
func finalsDone(cells []Cell, topology string) bool {
	some := false
	for _, c := range cells {
		if c.Topology != topology {
			continue
		}
		for _, o := range c.Finals {
			some = true
			if !o.Done {
				return false
			}
		}
	}
	return some
}
