package plan

import (
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// defaultTopology is the name of the topology of a campaign that lists none.
const defaultTopology = "default"

// Topologies are those of a campaign: one by default where it lists none.
func Topologies(s v1alpha1.BenchmarkCampaignSpec) []v1alpha1.Topology {
	if len(s.Topologies) == 0 {
		return []v1alpha1.Topology{{Name: defaultTopology}}
	}
	return s.Topologies
}

// HasCell says whether a matrix has the cell of a variant on a topology: one that it includes and does not exclude.
func HasCell(m *v1alpha1.Matrix, variant, topology v1alpha1.Name) bool {
	selects := func(s v1alpha1.CellSelector) bool {
		return (s.Variant == "" || s.Variant == variant) && (s.Topology == "" || s.Topology == topology)
	}
	return m == nil || (len(m.Include) == 0 || slices.ContainsFunc(m.Include, selects)) && !slices.ContainsFunc(m.Exclude, selects)
}
