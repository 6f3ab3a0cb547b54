package plan

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
)

func TestValidate_zonesAndWarmups(t *testing.T) {
	endpoint := func(s *v1alpha1.BenchmarkCampaignSpec) {
		s.Baseline = "mock"
		s.Variants = []v1alpha1.Variant{{Name: "mock", Endpoint: &v1alpha1.Endpoint{URL: "http://mock:9200"}}}
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.BenchmarkCampaignSpec)
		want   string // part of the error; empty: no error
	}{
		"zones of a StatefulSet": {func(s *v1alpha1.BenchmarkCampaignSpec) { s.Topologies[0].Zones = p(int32(2)) }, ""},
		"zones of an OpenSearchCluster": {func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Topologies[0].Zones, s.Variants[1].OpenSearch.Provisioner = p(int32(2)), v1alpha1.ProvisionOpenSearchCluster
		}, "spec.topologies[0].zones: Forbidden: with opensearch.provisioner OpenSearchCluster, Knee cannot spread the OpenSearch pods over zones"},
		"three Warmups":         {func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.WarmupTrials = p(int32(3)) }, ""},
		"no Warmup of a JVM":    {func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.WarmupTrials = p(int32(0)) }, "spec.workload.warmupTrials: Invalid value: 0: must be at least 1 if Knee starts OpenSearch"},
		"no Warmup, endpoint":   {func(s *v1alpha1.BenchmarkCampaignSpec) { endpoint(s); s.Workload.WarmupTrials = p(int32(0)) }, ""},
		"zones, at an endpoint": {func(s *v1alpha1.BenchmarkCampaignSpec) { endpoint(s); s.Topologies[0].Zones = p(int32(2)) }, ""},
	} {
		campaign := study()
		c.change(&campaign.Spec)
		var text string
		if err := Validate(campaign).ToAggregate(); err != nil {
			text = err.Error()
		}
		if (c.want == "") != (text == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// TestIdentity_zonesAtAnEndpoint_areIgnored checks that zones do not change the identity of a cell at an endpoint:
// they apply only to Knee's pods.
func TestIdentity_zonesAtAnEndpoint_areIgnored(t *testing.T) {
	c := study()
	c.Spec.Variants = []v1alpha1.Variant{{Name: "domain", Endpoint: &v1alpha1.Endpoint{URL: "http://domain:9200"}}}
	before := Build(c).Cells[0]
	c.Spec.Topologies[0].Zones = p(int32(2))
	if after := Build(c).Cells[0]; after.Hash != before.Hash || after.Spec.Topology.Zones != 0 {
		t.Errorf("%+v", after.Spec.Topology)
	}
}
