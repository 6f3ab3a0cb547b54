package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// Machines counts the placements of a cell's Measured Finals at a client count whose machines are known, and on how
// many different ones they were. Fewer machines than placements say that some were placed on the same.
func (c Cell) Machines(clients int32) (placements, machines int) {
	var sets, hosts []string
	for _, placement := range finalsAt(c, clients) {
		of := hostsOf(placement)
		if len(of) == 0 {
			continue
		}
		placements++
		sets, hosts = append(sets, strings.Join(of, " ")), append(hosts, of...)
	}
	// Of cells of several nodes, sets of machines are what differs.
	return placements, min(distinct(sets), distinct(hosts))
}

// hostsOf are the machines of a placement's OpenSearch nodes that are known, sorted.
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

func distinct(of []string) int {
	of = slices.Clone(of)
	slices.Sort(of)
	return len(slices.Compact(of))
}

// placementsShared finds cells whose placements were on the same machines: their spread is not that from machine to
// machine, which is what placements are for.
func (a Assessment) placementsShared() []Doubt {
	var cells []string
	for _, c := range a.Cells {
		for _, clients := range c.FinalClients() {
			placements, machines := c.Machines(clients)
			if placements <= machines {
				continue
			}
			plural := "s"
			if machines == 1 {
				plural = ""
			}
			cells = append(cells, fmt.Sprintf("%s (%d placements on %d machine%s)", a.cellName(c), placements, machines, plural))
			break
		}
	}
	return each(v1alpha1.ReasonPlacementsShared, cells,
		"placements share machines in %s, so that no interval covers the variation from machine to machine: add nodes to the pool (spec.variants[].nodePool), or ask for as many spec.final.placements as it has machines")
}
