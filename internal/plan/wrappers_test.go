package plan

import (
	"github.com/knee-bench/knee/api/v1alpha1"
)

func p[T any](v T) *T { return &v }

// study returns a campaign that sets every field of an identity.
func study() *v1alpha1.BenchmarkCampaign {
	c := &v1alpha1.BenchmarkCampaign{}
	c.Name, c.Namespace, c.UID = "arm-against-intel", "benchmarks", "5f0c9a52-6d0b-4a51-9a5e-0a4c1d2e3f40"
	c.Spec = v1alpha1.BenchmarkCampaignSpec{
		Baseline: "intel",
		OpenSearch: v1alpha1.OpenSearch{
			Version: "3.1.0", Heap: "31Gi",
			JavaOptions: []string{"-XX:+UseG1GC", "-XX:G1ReservePercent=15"},
			Settings:    map[string]v1alpha1.ParamValue{"action.auto_create_index": "false", "bootstrap.memory_lock": "true"},
			Resources:   v1alpha1.Resources{CPU: "14", Memory: "50Gi"},
			Storage:     v1alpha1.Storage{Size: "1Ti", StorageClassName: "hyperdisk-balanced"},
		},
		Variants: []v1alpha1.Variant{
			{Name: "arm", Architecture: "arm64", PricePerHour: v1alpha1.ToDecimal("0.72"),
				NodePool: v1alpha1.NodePool{NodeSelector: map[string]v1alpha1.LabelValue{"pool": "axion"}}},
			{Name: "intel", Architecture: "amd64", PricePerHour: v1alpha1.ToDecimal("0.80"),
				NodePool: v1alpha1.NodePool{
					NodeSelector: map[string]v1alpha1.LabelValue{"pool": "spr"},
					Tolerations:  []v1alpha1.Toleration{{Key: "bench", Operator: "Exists", Effect: "NoSchedule"}},
				}},
		},
		Topologies: []v1alpha1.Topology{{Name: "6p0r", Nodes: p(int32(1)), Primaries: 6, Replicas: p(int32(0)), RefreshInterval: "30s"}},
		Loader: v1alpha1.Loader{
			NodePool:  v1alpha1.NodePool{NodeSelector: map[string]v1alpha1.LabelValue{"pool": "loaders"}},
			Placement: v1alpha1.LoaderDedicated, Resources: v1alpha1.Resources{CPU: "8"},
		},
		Workload: v1alpha1.Workload{
			Index: v1alpha1.Index{Name: "nyc_taxis"}, Measure: v1alpha1.MeasureWhole,
			Drivers: v1alpha1.Drivers{OSB: &v1alpha1.OSB{
				Version: "2.4.0", Workload: "nyc_taxis", Params: map[string]v1alpha1.ParamValue{"bulk_size": "10000"},
				ClientsParam: "bulk_indexing_clients", SetupTasks: []string{"type:delete-index", "type:create-index"},
				IngestTasks: []string{"index"}, SearchTasks: []string{"type:search"},
			}},
		},
		Sweep: v1alpha1.Sweep{Clients: []int32{8, 12, 16, 20, 24, 32, 40, 48}},
		Knee:  v1alpha1.Knee{PercentOfPeak: v1alpha1.ToDecimal("97")},
		Gates: v1alpha1.Gates{MaxRejections: p(int64(0)), MaxIOWaitPercent: v1alpha1.ToDecimal("10")},
		Final: v1alpha1.Final{Repetitions: p(int32(4)), Search: p(true)},
	}
	return c
}

// pools returns a campaign of the given variants on the given topologies. Each variant runs on the nodes that its
// label selects.
func pools(topologies []string, variants ...[]string) *v1alpha1.BenchmarkCampaign {
	c := study()
	c.Spec.Variants, c.Spec.Topologies = nil, nil
	for _, v := range variants {
		variant := v1alpha1.Variant{Name: v1alpha1.Name(v[0]), NodePool: v1alpha1.NodePool{NodeSelector: map[string]v1alpha1.LabelValue{}}}
		for i := 1; i+1 < len(v); i += 2 {
			variant.NodePool.NodeSelector[v[i]] = v1alpha1.LabelValue(v[i+1])
		}
		c.Spec.Variants = append(c.Spec.Variants, variant)
	}
	for _, t := range topologies {
		c.Spec.Topologies = append(c.Spec.Topologies, v1alpha1.Topology{Name: v1alpha1.Name(t), Primaries: 1, RefreshInterval: "1s"})
	}
	return c
}
