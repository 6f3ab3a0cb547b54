package analysis

import (
	"fmt"
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// maxThrottled is the share of throttled CPU quota periods, in percent, above which the CPU limit shaped the figure.
const maxThrottled = 1.0

// CPULimits finds the loads in which the CPU limit of OpenSearch's container held it back.
func CPULimits(cells []Cell, outcomes map[record.Trial]Outcome) []Bound {
	return bounds(cells, outcomes, func(_ Cell, r record.Record) string { return cpuLimited(r.Nodes) })
}

func cpuLimited(nodes []record.Node) string {
	for _, n := range nodes {
		if n.Throttled == nil || !(*n.Throttled > maxThrottled) {
			continue
		}
		on := ""
		if len(nodes) > 1 {
			on = " of " + n.Name
		}
		return fmt.Sprintf("%s %% of the CPU quota's periods%s were throttled", above(*n.Throttled, maxThrottled), on)
	}
	return ""
}

// memoryNotLocked lists the cells whose settings ask for locked memory and whose nodes report that it is not locked.
func memoryNotLocked(p plan.Plan, outcomes map[record.Trial]Outcome) []CellKey {
	var out []CellKey
	for _, c := range p.Cells {
		if c.Spec.OpenSearch.LocksMemory() && slices.ContainsFunc(validRecords(c, outcomes), hasUnlockedNode) {
			out = append(out, CellKey{c.Variant(), c.Topology()})
		}
	}
	return out
}

func hasUnlockedNode(r record.Record) bool {
	return slices.ContainsFunc(r.Nodes, func(n record.Node) bool {
		e := n.Environment
		known := e.JVM != "" || e.OpenSearch != "" // they are from the answer of OpenSearch that has mlockall
		return known && !e.Mlockall
	})
}

func (a Assessment) cpuThrottled() []Doubt {
	return each(v1alpha1.ReasonCPUThrottled, a.boundCells(a.CPULimited),
		"the CPU limit held OpenSearch back in %s: raise spec.opensearch.resources.cpu, or set resources.limits to Memory, so that OpenSearch may use every core of its node")
}

func (a Assessment) memoryLocks() []Doubt {
	var cells []string
	for _, c := range a.unlocked {
		cells = append(cells, a.name(c.Variant, c.Topology))
	}
	return each(v1alpha1.ReasonMemoryNotLocked, cells,
		v1alpha1.MemoryLockSetting+" is true, but OpenSearch of %s did not lock its memory: set LimitMEMLOCK=infinity for the container runtime on the Kubernetes nodes, or leave the setting out of spec.opensearch.settings")
}
