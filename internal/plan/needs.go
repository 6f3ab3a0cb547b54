package plan

import (
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// Needs returns the pools that no other campaign may use while the cell is measured: the pool of the cell, and the pool of the
// loader if the loader may share a node with another campaign's OpenSearch.
func (s CellSpec) Needs() []Pool {
	needs := []Pool{s.Pool}
	if s.Loader.Placement == v1alpha1.LoaderShared {
		needs = append(needs, pool(v1alpha1.Variant{NodePool: s.Loader.NodePool}))
	}
	return needs
}

// Needs returns the pools of all cells of a campaign. Needs is cheaper than Build, because it computes no identities.
func Needs(c *v1alpha1.BenchmarkCampaign) []Pool {
	return NeedsOf(c, func(_, _ v1alpha1.Name) bool { return true })
}

// NeedsOf returns the pools of those cells of a campaign that selects returns true for.
func NeedsOf(c *v1alpha1.BenchmarkCampaign, selects func(variant, topology v1alpha1.Name) bool) []Pool {
	var needs []Pool
	for _, v := range c.Spec.Variants {
		if slices.ContainsFunc(Topologies(c.Spec), func(t v1alpha1.Topology) bool {
			return HasCell(c.Spec.Matrix, v.Name, t.Name) && selects(v.Name, t.Name)
		}) {
			needs = append(needs, effectiveSpec(c, v, v1alpha1.Topology{}).Needs()...)
		}
	}
	return needs
}

// MayShare reports whether a pool of the first list and a pool of the second list may have a node or an endpoint in common.
func MayShare(a, b []Pool) bool {
	return slices.ContainsFunc(a, func(p Pool) bool {
		return slices.ContainsFunc(b, func(q Pool) bool { return !Apart(p, q) })
	})
}
