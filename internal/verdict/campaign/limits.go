package campaign

import (
	"fmt"
	"slices"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

// maxThrottled is the highest share of throttled CPU quota periods, in percent. Above it, the CPU limit influenced docs/s.
const maxThrottled = 1.0

// CPULimits finds the loads in which the CPU limit of OpenSearch's container slowed OpenSearch down.
func CPULimits(cells []Cell, outcomes map[record.Trial]Outcome) []Bound {
	return findBounds(cells, outcomes, func(_ Cell, r record.Record) string { return describeCPULimit(r.Nodes) })
}

func describeCPULimit(nodes []record.Node) string {
	for _, n := range nodes {
		if n.Throttled == nil || !(*n.Throttled > maxThrottled) {
			continue
		}
		on := ""
		if len(nodes) > 1 {
			on = " of " + n.Name
		}
		return fmt.Sprintf("%s %% of the CPU quota periods%s were throttled", gates.Above(*n.Throttled, maxThrottled, 1), on)
	}
	return ""
}

// cellsWithoutMemoryLock returns the cells whose settings require locked memory but whose nodes report that their memory is not
// locked.
func cellsWithoutMemoryLock(p plan.Plan, outcomes map[record.Trial]Outcome) []CellKey {
	var out []CellKey
	for _, c := range p.Cells {
		if c.Spec.OpenSearch.LocksMemory() && slices.ContainsFunc(ValidRecords(c.Hash, outcomes), hasUnlockedNode) {
			out = append(out, CellKey{c.Variant(), c.Topology()})
		}
	}
	return out
}

func hasUnlockedNode(r record.Record) bool {
	return slices.ContainsFunc(r.Nodes, func(n record.Node) bool {
		e := n.Environment
		known := e.JVM != "" || e.OpenSearch != "" // Mlockall, JVM and the version come from one response of OpenSearch
		return known && !e.Mlockall
	})
}

// SharedJVM is a compared cell whose Measured Finals at a client count had fewer starts of the JVM than there are Finals. The spread
// of these Finals does not show how docs/s differ from one start to the next.
type SharedJVM struct {
	CellKey
	Clients  int32
	Finals   int  // number of Measured Finals
	Starts   int  // number of different starts of the JVM
	Restarts bool // whether Knee can restart the JVM, because Knee provisions the cluster
}

// SharedJVMs returns the cells of ratios whose Finals shared a JVM. It leaves out ratios of placements, because each placement is a
// new cluster. It also leaves out loads that use no OpenSearch.
func SharedJVMs(p plan.Plan, a Assessment) []SharedJVM {
	var out []SharedJVM
	add := func(key CellKey, clients int32) {
		i := slices.IndexFunc(p.Cells, func(c plan.Cell) bool { return CellKey{c.Variant(), c.Topology()} == key })
		if i < 0 || !p.Cells[i].Provisioned() && p.Cells[i].Spec.Endpoint == nil {
			return
		}
		s := SharedJVM{CellKey: key, Clients: clients, Restarts: p.Cells[i].Provisioned()}
		s.Finals, s.Starts = countJVMStarts(a.Cells[i], clients, warmupStarts(a, p.Cells[i].Hash))
		if s.Starts < s.Finals && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, r := range a.Ratios {
		if r.Placements <= 1 {
			add(CellKey{r.Variant, r.Topology}, r.Clients)
			add(CellKey{r.Baseline, r.BaselineTopology}, r.BaselineClients)
		}
	}
	return out
}

// warmupStarts returns the start times of a cell's Warmups.
func warmupStarts(a Assessment, hash string) []int64 {
	var out []int64
	for t, o := range a.Outcomes {
		if t.Cell == hash && t.Phase == record.Warmup && o.Record != nil {
			out = append(out, o.Record.StartTime())
		}
	}
	return out
}

// countJVMStarts returns the number of a cell's Measured Finals at a client count, and the number of different starts of the JVM in
// which they ran. A record of an early release does not contain the start of the JVM. Each start is followed by Warmups, so the last
// Warmup before the Final identifies the start.
func countJVMStarts(c Cell, clients int32, warmups []int64) (finals, starts int) {
	seen := map[int64]bool{}
	for _, o := range c.Finals {
		if o.Trial.Clients != clients || !o.Measured() {
			continue
		}
		finals++
		start := o.Record.JVMStart
		if start == 0 {
			for _, at := range warmups {
				if at <= o.Record.StartTime() {
					start = max(start, at)
				}
			}
		}
		seen[start] = true
	}
	return finals, len(seen)
}
