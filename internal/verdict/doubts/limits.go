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
			cells = append(cells, fmt.Sprintf("%s (%d clients: opensearch-benchmark reached %.0f docs/s, Knee's loader %.0f, %.2fx)",
				a.CellName(c.Variant, c.Topology), c.Clients, c.Driver, c.Loader, c.Ratio))
		}
	}
	return doubtAbout(v1alpha1.ReasonClientBound, cells,
		"%s: opensearch-benchmark was the limit and not OpenSearch, because Knee's own loader reached more docs/s with the same load. "+
			"Give opensearch-benchmark more CPU (spec.loader), or measure with Knee's own loader (workload.bulk), or spread the clients over several loader pods (workload.clientsPerPod, which requires that clientBoundCheck is removed)")
}

// unitOf returns the unit of rates, escaped for use in a format string.
func unitOf(a campaign.Assessment) string {
	return strings.ReplaceAll(cmp.Or(a.Unit, "docs/s"), "%", "%%")
}

func clientBounds(a campaign.Assessment) []Doubt {
	return doubtAbout(v1alpha1.ReasonClientBound, boundCells(a, a.ClientBound),
		"%s: the loader was the limit, so "+unitOf(a)+" is the limit of the loader and not of OpenSearch: give the loader more CPU (spec.loader.resources) or a machine with more CPU (spec.loader.nodePool)")
}

func diskBounds(a campaign.Assessment) []Doubt {
	return doubtAbout(v1alpha1.ReasonDiskBound, boundCells(a, a.DiskBound),
		"%s: the disk may have been the limit: provision a faster disk (spec.opensearch.storage), or correct diskLimits, which Knee compares with the traffic of all disks of the machine")
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
		"%s: the CPU limit slowed down OpenSearch: raise spec.opensearch.resources.cpu, or set resources.limits to Memory, so that OpenSearch may use every core of the Kubernetes node")
}

func memoryLocks(a campaign.Assessment) []Doubt {
	var cells []string
	for _, c := range a.Unlocked {
		cells = append(cells, a.CellName(c.Variant, c.Topology))
	}
	return doubtAbout(v1alpha1.ReasonMemoryNotLocked, cells,
		v1alpha1.MemoryLockSetting+" is true, but OpenSearch did not lock its memory in these cells: %s; set LimitMEMLOCK=infinity for the container runtime on the Kubernetes nodes, or remove bootstrap.memory_lock from spec.opensearch.settings")
}
