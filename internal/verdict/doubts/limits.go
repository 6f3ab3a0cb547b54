package doubts

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// This file contains the doubts about limits other than OpenSearch itself: the loader, the disk, the CPU limit and the memory
// lock.

func clientChecks(a campaign.Assessment) []Doubt {
	var cells []string
	for _, c := range a.ClientChecks {
		if c.Bound {
			cells = append(cells, fmt.Sprintf("%s (%d clients: opensearch-benchmark reached %.0f docs/s, Knee's loader %.0f docs/s, %.2f times as many)",
				a.CellName(c.Variant, c.Topology), c.Clients, c.Driver, c.Loader, c.Ratio))
		}
	}
	return doubtAbout(v1alpha1.ReasonClientBound, cells,
		"opensearch-benchmark was the limit and not OpenSearch in these cells, because Knee's own loader reached more docs/s with the same load: %s; "+
			"give opensearch-benchmark more CPU (spec.loader.resources), use Knee's own loader (spec.workload.bulk), or remove clientBoundCheck and use several loader pods (spec.workload.clientsPerPod)")
}

// unitOf returns the unit of rates, escaped for use in a format string.
func unitOf(a campaign.Assessment) string {
	return strings.ReplaceAll(cmp.Or(a.Unit, "docs/s"), "%", "%%")
}

func clientBounds(a campaign.Assessment) []Doubt {
	return doubtAbout(v1alpha1.ReasonClientBound, boundCells(a, a.ClientBound),
		"the loader was the limit and not OpenSearch, so "+unitOf(a)+" may be too low in these cells: %s; give the loader more CPU (spec.loader.resources) or a machine with more CPU (spec.loader.nodePool)")
}

func diskBounds(a campaign.Assessment) []Doubt {
	return doubtAbout(v1alpha1.ReasonDiskBound, boundCells(a, a.DiskBound),
		"the disk may have been the limit in these cells: %s; provision a faster disk (spec.opensearch.storage), or correct spec.opensearch.diskLimits, which Knee compares with the traffic of all disks of the machine")
}

// boundCells describes each cell that has bounds: its name, the places of its bounds and the message of the first bound.
func boundCells(a campaign.Assessment, bounds []campaign.Bound) []string {
	var out []string
	for _, c := range a.Cells {
		var points []string
		finals, message := 0, ""
		for _, b := range bounds {
			if b.Variant != c.Variant || b.Topology != c.Topology {
				continue
			}
			if message == "" {
				message = b.Message
			}
			if strings.HasPrefix(b.Where, string(record.Final)) {
				finals++
			} else if len(points) == 0 || points[len(points)-1] != b.Where { // repeats of a point are listed once
				points = append(points, b.Where)
			}
		}
		if finals > 0 {
			points = append(points, fmt.Sprintf("%d of %d Finals", finals, len(c.Finals)))
		}
		if message != "" {
			out = append(out, fmt.Sprintf("%s (%s: %s)", a.CellName(c.Variant, c.Topology), strings.Join(points, ", "), message))
		}
	}
	return out
}

func cpuThrottled(a campaign.Assessment) []Doubt {
	return doubtAbout(v1alpha1.ReasonCPUThrottled, boundCells(a, a.CPULimited),
		"the CPU limit slowed down OpenSearch in these cells: %s; raise spec.opensearch.resources.cpu, or set spec.opensearch.resources.limits to Memory, which removes the CPU limit")
}

func memoryLocks(a campaign.Assessment) []Doubt {
	var cells []string
	for _, c := range a.Unlocked {
		cells = append(cells, a.CellName(c.Variant, c.Topology))
	}
	return doubtAbout(v1alpha1.ReasonMemoryNotLocked, cells,
		v1alpha1.MemoryLockSetting+" is true, but OpenSearch did not lock its memory in these cells: %s; set LimitMEMLOCK=infinity for the container runtime on the Kubernetes nodes, or remove bootstrap.memory_lock from spec.opensearch.settings")
}
