package plan

import (
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// defaultTopology is the name of the only topology of a campaign that lists no topologies.
const defaultTopology = "default"

// Topologies returns the topologies of a campaign. If the campaign lists none, it returns the default topology, which fills no index.
func Topologies(s v1alpha1.BenchmarkCampaignSpec) []v1alpha1.Topology {
	if len(s.Topologies) == 0 {
		return []v1alpha1.Topology{{Name: defaultTopology}}
	}
	out := slices.Clone(s.Topologies)
	for i := range out {
		out[i].RefreshInterval = first(out[i].RefreshInterval, v1alpha1.DefaultRefreshInterval)
	}
	return out
}

// HasCell reports whether a matrix contains the cell of a variant on a topology: the matrix includes the cell and does not
// exclude it.
func HasCell(m *v1alpha1.Matrix, variant, topology v1alpha1.Name) bool {
	selects := func(s v1alpha1.CellSelector) bool {
		return (s.Variant == "" || s.Variant == variant) && (s.Topology == "" || s.Topology == topology)
	}
	return m == nil || (len(m.Include) == 0 || slices.ContainsFunc(m.Include, selects)) && !slices.ContainsFunc(m.Exclude, selects)
}
