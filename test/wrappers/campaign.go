// Package wrappers builds campaigns and records for tests with short chained calls.
package wrappers

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// Campaign builds a BenchmarkCampaign.
type Campaign struct{ v1alpha1.BenchmarkCampaign }

// MakeCampaign returns a campaign with one topology "1p0r", client counts 1, 2 and 4, two Final repetitions without a
// restart of the JVM, and a shared loader. The API server admits it once it has a variant.
func MakeCampaign(name string) *Campaign {
	return &Campaign{v1alpha1.BenchmarkCampaign{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkCampaign"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: v1alpha1.BenchmarkCampaignSpec{
			OpenSearch: v1alpha1.OpenSearch{Version: "3.1.0"},
			Topologies: []v1alpha1.Topology{{Name: "1p0r", Primaries: 1, RefreshInterval: "1s"}},
			Loader:     v1alpha1.Loader{Placement: v1alpha1.LoaderShared},
			Workload: v1alpha1.Workload{
				Index:   v1alpha1.Index{Name: "nyc_taxis"},
				Measure: v1alpha1.MeasureWhole,
				Drivers: v1alpha1.Drivers{OSB: &v1alpha1.OSB{
					Workload: "nyc_taxis", Version: "2.4.0", ClientsParam: "bulk_indexing_clients",
					SetupTasks: []string{"type:create-index"}, IngestTasks: []string{"index"},
				}},
			},
			Sweep: v1alpha1.Sweep{Clients: []int32{1, 2, 4}},
			Final: v1alpha1.Final{Repetitions: ptr.To[int32](2), FreshJVM: ptr.To(false)},
		},
	}}
}

// Namespace sets the namespace of the campaign.
func (c *Campaign) Namespace(ns string) *Campaign { c.BenchmarkCampaign.Namespace = ns; return c }

// UID sets the UID, as if the API server had created the campaign.
func (c *Campaign) UID(uid string) *Campaign { c.BenchmarkCampaign.UID = types.UID(uid); return c }

// Variant adds a variant with its own node pool. The first variant is the baseline.
func (c *Campaign) Variant(name string) *Campaign {
	return c.variant(name, map[string]v1alpha1.LabelValue{"pool": v1alpha1.LabelValue(name)})
}

// VariantOnAnyNode adds a variant that may run on any node, together with every other variant.
func (c *Campaign) VariantOnAnyNode(name string) *Campaign { return c.variant(name, nil) }

func (c *Campaign) variant(name string, selector map[string]v1alpha1.LabelValue) *Campaign {
	c.Spec.Variants = append(c.Spec.Variants, v1alpha1.Variant{
		Name: v1alpha1.Name(name), NodePool: v1alpha1.NodePool{NodeSelector: selector},
	})
	if c.Spec.Baseline == "" {
		c.Spec.Baseline = name
	}
	return c
}

// OnNodes restricts the variants and the loader to nodes with the given name. So the campaign does not wait for
// campaigns on other nodes. Call it after the variants were added.
func (c *Campaign) OnNodes(name string) *Campaign {
	for i := range c.Spec.Variants {
		keepTo(&c.Spec.Variants[i].NodePool, name)
	}
	keepTo(&c.Spec.Loader.NodePool, name)
	return c
}

func keepTo(pool *v1alpha1.NodePool, name string) {
	selector := map[string]v1alpha1.LabelValue{"nodes": v1alpha1.LabelValue(name)}
	maps.Copy(selector, pool.NodeSelector)
	pool.NodeSelector = selector
}

// Topology adds a topology of one node with the given number of primaries.
func (c *Campaign) Topology(name string, primaries int32) *Campaign {
	c.Spec.Topologies = append(c.Spec.Topologies, v1alpha1.Topology{Name: v1alpha1.Name(name), Primaries: primaries, RefreshInterval: "1s"})
	return c
}

// Clients sets the client counts of the sweep.
func (c *Campaign) Clients(n ...int32) *Campaign { c.Spec.Sweep.Clients = n; return c }

// Repetitions sets the Final repetitions.
func (c *Campaign) Repetitions(n int32) *Campaign { c.Spec.Final.Repetitions = &n; return c }

// OnAnyDisk sets options of a real OpenSearch: it creates indices only on request, and ignores how full the disk is.
func (c *Campaign) OnAnyDisk() *Campaign {
	c.Spec.OpenSearch.Settings = map[string]v1alpha1.ParamValue{
		"action.auto_create_index":                          "false",
		"cluster.routing.allocation.disk.threshold_enabled": "false",
	}
	return c
}

// Retries sets how often an Errored trial is measured again.
func (c *Campaign) Retries(n int32) *Campaign { c.Spec.Retries = &n; return c }

// Parallelism sets how many cells may run at the same time.
func (c *Campaign) Parallelism(n int32) *Campaign { c.Spec.Parallelism = &n; return c }

// Suspend suspends the campaign.
func (c *Campaign) Suspend() *Campaign { c.Spec.Suspend = ptr.To(true); return c }

// Obj returns the campaign.
func (c *Campaign) Obj() *v1alpha1.BenchmarkCampaign { return &c.BenchmarkCampaign }
