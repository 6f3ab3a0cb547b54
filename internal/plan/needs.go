package plan

import (
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// Needs are the pools that no other campaign may use while the cell is measured: its own, and the loader's where that is
// not kept off the nodes of other campaigns' OpenSearch.
func (s CellSpec) Needs() []Pool {
	needs := []Pool{s.Pool}
	if s.Loader.Placement == v1alpha1.LoaderShared {
		needs = append(needs, pool(v1alpha1.Variant{NodePool: s.Loader.NodePool}))
	}
	return needs
}

// Needs are those of all cells of a campaign, which a plan would say at the cost of their identities.
func Needs(c *v1alpha1.BenchmarkCampaign) []Pool {
	var needs []Pool
	for _, v := range c.Spec.Variants {
		if slices.ContainsFunc(Topologies(c.Spec), func(t v1alpha1.Topology) bool { return HasCell(c.Spec.Matrix, v.Name, t.Name) }) {
			needs = append(needs, effective(c, v, v1alpha1.Topology{}).Needs()...)
		}
	}
	return needs
}

// MayShare says whether some pool of a and some pool of b may have a node, or an endpoint, in common.
func MayShare(a, b []Pool) bool {
	return slices.ContainsFunc(a, func(p Pool) bool {
		return slices.ContainsFunc(b, func(q Pool) bool { return !Apart(p, q) })
	})
}
