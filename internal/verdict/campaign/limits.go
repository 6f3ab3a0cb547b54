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
