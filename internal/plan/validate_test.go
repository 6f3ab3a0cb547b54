package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
)

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*v1alpha1.BenchmarkCampaignSpec)
		want   []string // names of the fields with errors, in order
	}{
		{"nothing to complain of", func(*v1alpha1.BenchmarkCampaignSpec) {}, nil},
		{"label key of a variant", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Variants[1].NodePool.NodeSelector = map[string]v1alpha1.LabelValue{"a/b/c": "x", "-": "y", "ok.io/pool": "z"}
		}, []string{"spec.variants[1].nodePool.nodeSelector[-]", "spec.variants[1].nodePool.nodeSelector[a/b/c]"}},
		{"label key of the loader", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Loader.NodePool.NodeSelector = map[string]v1alpha1.LabelValue{strings.Repeat("k", 64): "x"}
		}, []string{"spec.loader.nodePool.nodeSelector[" + strings.Repeat("k", 64) + "]"}},
		{"taint key", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Loader.NodePool.Tolerations = []v1alpha1.Toleration{{Operator: "Exists"}, {Key: "a b"}}
		}, []string{"spec.loader.nodePool.tolerations[1].key"}},
		{"storage classes", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.OpenSearch.Storage.StorageClassName = "Fast"
			s.Variants[0].OpenSearch.Storage.StorageClassName = "fast_disk"
			s.Loader.Cache.StorageClassName = "fast/disk"
		}, []string{"spec.opensearch.storage.storageClassName", "spec.variants[0].opensearch.storage.storageClassName", "spec.loader.cache.storageClassName"}},
		{"index body", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.Index.BodyFrom = &v1alpha1.ConfigMapKey{Name: "Body", Key: "a/b"}
		}, []string{"spec.workload.index.bodyFrom.name", "spec.workload.index.bodyFrom.key"}},
		{"settings of the index", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.OSB.Params = map[string]v1alpha1.ParamValue{"index_settings": "{}"}
			s.Variants[0].Params = map[string]v1alpha1.ParamValue{"index_settings": `{"index.codec": "zstd"}`}
		}, nil},
		{"settings of the index that are no object", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.OSB.Params = map[string]v1alpha1.ParamValue{"index_settings": "none"}
			s.Workload.OSB.WarmupParams = map[string]v1alpha1.ParamValue{"index_settings": "null"}
			s.Variants[0].Params = map[string]v1alpha1.ParamValue{"index_settings": `["index.codec"]`}
		}, []string{"spec.workload.osb.params[index_settings]", "spec.workload.osb.warmupParams[index_settings]", "spec.variants[0].params[index_settings]"}},
		{"policy", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Topologies[0].ISMPolicyFrom = &v1alpha1.ConfigMapKey{Name: "Policy", Key: "a/b"}
		}, []string{"spec.topologies[0].ismPolicyFrom.name", "spec.topologies[0].ismPolicyFrom.key"}},
		{"documents' claim", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.OSB, s.Workload.Bulk = nil, &v1alpha1.Bulk{Files: &v1alpha1.DocumentFiles{
				From: v1alpha1.WorkloadSource{Volume: &v1alpha1.VolumeSource{ClaimName: "A"}},
			}}
		}, []string{"spec.workload.bulk.files.from.volume.claimName"}},
		{"as many pods as there may be", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Sweep.Clients, s.Workload.ClientsPerPod = []int32{512}, p(int32(2))
		}, nil},
		{"more pods", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Sweep.Clients, s.Workload.ClientsPerPod = []int32{1, 513}, p(int32(2))
		}, []string{"spec.workload.clientsPerPod"}},
		{"more cells than a matrix may leave", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Topologies, s.Matrix = nil, &v1alpha1.Matrix{}
			for i := range 17 {
				s.Topologies = append(s.Topologies, v1alpha1.Topology{Name: v1alpha1.Name(rune('a' + i))})
			}
		}, []string{"spec.matrix"}},
		{"a program that is told too much", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.OSB, s.Workload.Command = nil, &v1alpha1.Command{Preset: v1alpha1.PresetFreon, Args: slices.Repeat([]string{strings.Repeat("a", 4096)}, 17)}
		}, []string{"spec.workload.command"}},
		{"several indices by default, at an endpoint", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.Index.Name, s.Workload.OSB.Workload, s.Variants[0].Endpoint = "", "http_logs", &v1alpha1.Endpoint{URL: "https://h"}
		}, []string{"spec.workload.index.name"}},
		{"several indices by name, at an endpoint", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.Index.Name, s.Workload.OSB.Workload, s.Variants[0].Endpoint = "logs-*", "http_logs", &v1alpha1.Endpoint{URL: "https://h"}
		}, nil},
		{"several indices by default", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.Index.Name, s.Workload.OSB.Workload = "", "http_logs"
		}, nil},
		{"workload's ConfigMap", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.OSB.From = &v1alpha1.WorkloadSource{ConfigMap: "a_b"}
		}, []string{"spec.workload.osb.from.configMap"}},
		{"workload's claim", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.OSB.From = &v1alpha1.WorkloadSource{Volume: &v1alpha1.VolumeSource{ClaimName: "A"}}
		}, []string{"spec.workload.osb.from.volume.claimName"}},
		{"the most trials", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Topologies = []v1alpha1.Topology{{Name: "t"}}
			s.Sweep.Range = &v1alpha1.ClientRange{Min: 1, Max: 50, Step: 1}
			s.Sweep.Mode, s.Final.Repetitions, s.Final.Placements = v1alpha1.SweepFixed, p(int32(10)), p(int32(10)) // 2 x 50 x 100
		}, nil},
		{"more trials", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Topologies = []v1alpha1.Topology{{Name: "t"}}
			s.Sweep.Range = &v1alpha1.ClientRange{Min: 1, Max: 51, Step: 1}
			s.Sweep.Mode, s.Final.Repetitions, s.Final.Placements = v1alpha1.SweepFixed, p(int32(10)), p(int32(10))
		}, []string{"spec"}},
		{"a wait within the trial's time", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.WaitSeconds, s.Timeouts.TrialSeconds = p(int32(59)), p(int32(60))
		}, nil},
		{"a wait as long as the trial", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.WaitSeconds, s.Timeouts.TrialSeconds = p(int32(60)), p(int32(60))
		}, []string{"spec.workload.waitSeconds"}},
		{"the longest wait in the default time of a trial", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.WaitSeconds = p(int32(3600))
		}, nil},
		{"artifacts' claim", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Artifacts = &v1alpha1.Artifacts{ClaimName: "A_b"}
		}, []string{"spec.artifacts.claimName"}},
		{"a rate set by hand", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.OSB.TargetThroughputParam = "rate"
			set := map[string]v1alpha1.ParamValue{"rate": "5"}
			s.Workload.OSB.Params, s.Workload.OSB.WarmupParams, s.Variants[1].Params = set, set, set
		}, []string{"spec.workload.osb.params[rate]", "spec.workload.osb.warmupParams[rate]", "spec.variants[1].params[rate]"}},
		{"a rate that is the clients", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.OSB.TargetThroughputParam, s.Workload.OSB.ClientsParam = "clients", "clients"
		}, []string{"spec.workload.osb.targetThroughputParam"}},
		{"a rate that is the shards", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Workload.OSB.TargetThroughputParam = "number_of_shards"
		}, []string{"spec.workload.osb.targetThroughputParam"}},
		{"an open loop that knows its bulk size", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Final.OpenLoop = &v1alpha1.OpenLoop{}
			s.Workload.OSB.Params = map[string]v1alpha1.ParamValue{"bulk_size": "many"}
			for i := range s.Variants {
				s.Variants[i].Params = map[string]v1alpha1.ParamValue{"bulk_size": "5000"}
			}
		}, nil},
		{"an open loop without a bulk size", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Final.OpenLoop = &v1alpha1.OpenLoop{}
		}, []string{"spec.workload.osb.params[bulk_size]"}},
		{"an open loop of a bulk size that is none", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Final.OpenLoop = &v1alpha1.OpenLoop{}
			s.Workload.OSB.Params = map[string]v1alpha1.ParamValue{"bulk_size": "10.5"}
			s.Variants[1].Params = map[string]v1alpha1.ParamValue{"bulk_size": "0"}
		}, []string{"spec.workload.osb.params[bulk_size]", "spec.variants[1].params[bulk_size]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &v1alpha1.BenchmarkCampaign{}
			c.Spec.Variants = []v1alpha1.Variant{{Name: "a"}, {Name: "b"}}
			c.Spec.Topologies = []v1alpha1.Topology{{Name: "t"}, {Name: "u"}}
			c.Spec.OpenSearch.Storage.StorageClassName = "fast"
			c.Spec.Workload.OSB = &v1alpha1.OSB{Workload: "nyc_taxis"}
			test.change(&c.Spec)
			var got []string
			for _, err := range Validate(c) {
				if err.BadValue == "" || err.Detail == "" {
					t.Errorf("says neither value nor what to do: %v", err)
				}
				got = append(got, err.Field)
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("complains of %q, want %q", got, test.want)
			}
		})
	}
}
