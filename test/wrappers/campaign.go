// Package wrappers makes campaigns and records for tests, so that a test reads as the sentence it proves.
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

// MakeCampaign starts a campaign that the API server admits once it has a variant: one topology "1p0r", clients
// 1, 2 and 4, two Final repetitions, a shared loader.
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
				OSB: &v1alpha1.OSB{
					Workload: "nyc_taxis", Version: "2.4.0", ClientsParam: "bulk_indexing_clients",
					SetupTasks: []string{"type:create-index"}, IngestTasks: []string{"index"},
				},
			},
			Sweep: v1alpha1.Sweep{Clients: []int32{1, 2, 4}},
			Final: v1alpha1.Final{Repetitions: ptr.To[int32](2)},
		},
	}}
}

// Namespace puts the campaign there.
func (c *Campaign) Namespace(ns string) *Campaign { c.BenchmarkCampaign.Namespace = ns; return c }

// UID stands for a campaign that the API server has named.
func (c *Campaign) UID(uid string) *Campaign { c.BenchmarkCampaign.UID = types.UID(uid); return c }

// Variant adds a variant on a node pool of its own; the first is the baseline.
func (c *Campaign) Variant(name string) *Campaign {
	return c.variant(name, map[string]v1alpha1.LabelValue{"pool": v1alpha1.LabelValue(name)})
}

// VariantOnAnyNode adds a variant that may share a node with every other.
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

// OnNodes keeps the campaign to nodes of the given name, its loader too, so that it waits for no campaign on others. It
// comes after the variants.
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

// Topology adds a topology of one node with so many primaries.
func (c *Campaign) Topology(name string, primaries int32) *Campaign {
	c.Spec.Topologies = append(c.Spec.Topologies, v1alpha1.Topology{Name: v1alpha1.Name(name), Primaries: primaries, RefreshInterval: "1s"})
	return c
}

// Clients sets the sweep's client counts.
func (c *Campaign) Clients(n ...int32) *Campaign { c.Spec.Sweep.Clients = n; return c }

// Repetitions sets the Final repetitions.
func (c *Campaign) Repetitions(n int32) *Campaign { c.Spec.Final.Repetitions = &n; return c }

// OnAnyDisk lets a real OpenSearch make its indices by request alone, and however full the machine's disk is.
func (c *Campaign) OnAnyDisk() *Campaign {
	c.Spec.OpenSearch.Settings = map[string]v1alpha1.ParamValue{
		"action.auto_create_index":                          "false",
		"cluster.routing.allocation.disk.threshold_enabled": "false",
	}
	return c
}

// Retries sets how often an Errored trial is measured again.
func (c *Campaign) Retries(n int32) *Campaign { c.Spec.Retries = &n; return c }

// Parallelism sets how many cells may run at once.
func (c *Campaign) Parallelism(n int32) *Campaign { c.Spec.Parallelism = &n; return c }

// Suspend stops the campaign from starting anything.
func (c *Campaign) Suspend() *Campaign { c.Spec.Suspend = ptr.To(true); return c }

// Obj is the campaign.
func (c *Campaign) Obj() *v1alpha1.BenchmarkCampaign { return &c.BenchmarkCampaign }
