package plan

import (
	"testing"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// storageService returns a campaign that runs a program against a system that Knee does not know.
func storageService() *v1alpha1.BenchmarkCampaign {
	c := study()
	c.Spec.OpenSearch = v1alpha1.OpenSearch{}
	c.Spec.Variants = []v1alpha1.Variant{
		{Name: "old", Params: map[string]v1alpha1.ParamValue{"FLOW": "old"}},
		{Name: "new", Image: "ozone:2"},
	}
	c.Spec.Baseline, c.Spec.Topologies, c.Spec.Final = "old", nil, v1alpha1.Final{}
	c.Spec.Workload = v1alpha1.Workload{Measure: v1alpha1.MeasureWhole, Drivers: v1alpha1.Drivers{Command: &v1alpha1.Command{
		Image: "ozone:1", Command: []string{"ozone"}, Args: []string{"-t", "$(KNEE_CLIENTS)"}, Preset: v1alpha1.PresetFreon,
		Params: map[string]v1alpha1.ParamValue{"FLOW": "any", "SIZE": "0"},
	}}}
	return c
}

func TestBuild_commandWithoutOpenSearch(t *testing.T) {
	c := storageService()
	if errs := Validate(c); len(errs) > 0 {
		t.Fatal(errs)
	}
	built := Build(c)
	if len(built.Cells) != 2 || built.Cells[0].Topology() != "default" {
		t.Fatalf("%v", names(built))
	}
	before, after := built.Cells[0], built.Cells[1]
	if before.Provisioned() || before.Spec.Endpoint != nil {
		t.Errorf("Knee would make it a cluster: %+v", before.Spec)
	}
	if len(built.Groups) != 1 {
		t.Errorf("cells of one system may run at once: %v", built.Groups)
	}
	if a := before.Spec.Params(); a["FLOW"] != "old" || a["SIZE"] != "0" || before.Spec.Command.Image != "ozone:1" {
		t.Errorf("old: %v, image %s", a, before.Spec.Command.Image)
	}
	if a := after.Spec.Params(); a["FLOW"] != "any" || after.Spec.Command.Image != "ozone:2" {
		t.Errorf("new: %v, image %s", a, after.Spec.Command.Image)
	}
	if c.Spec.Workload.Command.Image != "ozone:1" || c.Spec.Workload.Command.Params["FLOW"] != "any" {
		t.Error("the campaign itself was changed")
	}
	if !MayShare(Needs(c), Needs(storageService())) || MayShare(Needs(c), Needs(study())) {
		t.Error("two campaigns of unknown systems must wait for each other, and for none with nodes of its own")
	}
}

// TestBuild_commandWithEndpoint_isApart checks that a named endpoint separates cells and campaigns from programs at other endpoints,
// and that it changes no identity.
func TestBuild_commandWithEndpoint_isApart(t *testing.T) {
	at := func(endpoint string) *v1alpha1.BenchmarkCampaign {
		c := storageService()
		c.Spec.Workload.Command.Endpoint = endpoint
		return c
	}
	c := at("OM-$(FLOW).ozone:9862")
	built := Build(c)
	if len(built.Groups) != 2 || built.Cells[0].Provisioned() || built.Cells[0].Spec.Pool.Endpoint != "om-old.ozone:9862" || built.Cells[1].Spec.Pool.Endpoint != "om-any.ozone:9862" {
		t.Errorf("groups %v, %+v", built.Groups, built.Cells[0].Spec.Pool)
	}
	if c.Spec.Workload.Command.Endpoint != "OM-$(FLOW).ozone:9862" {
		t.Error("the campaign itself was changed")
	}
	if other := Needs(at("s3.example:443")); MayShare(Needs(c), other) || MayShare(Needs(storageService()), other) || !MayShare(other, Needs(at("S3.example:443"))) {
		t.Error("two campaigns must wait for each other if and only if they name the same endpoint")
	}
	for i, unnamed := range Build(storageService()).Cells {
		if built.Cells[i].Hash != unnamed.Hash {
			t.Errorf("%s: its endpoint changes its identity", unnamed.Name)
		}
	}
	if cell := Build(at("$(EMPTY)")).Cells[0]; cell.Provisioned() {
		t.Errorf("%+v", cell.Spec.Pool)
	}
	empty := at("$(EMPTY)")
	empty.Spec.Workload.Command.Params["EMPTY"] = ""
	if cell := Build(empty).Cells[0]; cell.Provisioned() || cell.Spec.Pool.Endpoint != unknown {
		t.Errorf("an empty endpoint: %+v", cell.Spec.Pool)
	}
	for endpoint, valid := range map[string]bool{"": true, "s3": true, "om-$(FLOW)": true, "om-$(FLOWS)": false, "om-$(KNEE_CLIENTS)": false, "$$(FLOW)": false} {
		if errs := Validate(at(endpoint)); (len(errs) == 0) != valid {
			t.Errorf("%s: %v", endpoint, errs)
		}
	}
}

func TestBuild_commandOnOpenSearch(t *testing.T) {
	provisioned, known := storageService(), storageService()
	provisioned.Spec.OpenSearch.Version = "3.1.0"
	if cell := Build(provisioned).Cells[0]; !cell.Provisioned() || cell.Spec.Topology.Nodes != 1 {
		t.Errorf("%+v", cell.Spec)
	}
	known.Spec.Variants[0].Endpoint = &v1alpha1.Endpoint{URL: "http://one"}
	cells := Build(known).Cells
	if cells[0].Spec.Pool.Endpoint != "one:80" || cells[0].Provisioned() || !Apart(cells[0].Spec.Pool, cells[1].Spec.Pool) {
		t.Errorf("%+v and %+v", cells[0].Spec.Pool, cells[1].Spec.Pool)
	}
}

func TestIdentity_fieldsOfDrivers(t *testing.T) {
	bulk := func() *v1alpha1.BenchmarkCampaign {
		c := study()
		c.Spec.Workload.OSB = nil
		c.Spec.Workload.Bulk = &v1alpha1.Bulk{Dataset: v1alpha1.DatasetSmall, Documents: p(int64(1000))}
		return c
	}
	before := Build(bulk()).Cells[0]
	for _, tt := range []struct {
		what    string
		change  func(*v1alpha1.BenchmarkCampaignSpec)
		another bool
	}{
		{"dataset", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.Bulk.Dataset = v1alpha1.DatasetHTTPLog }, true},
		{"documents", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.Bulk.Documents = p(int64(2000)) }, true},
		{"clients of a pod", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.ClientsPerPod = p(int32(8)) }, true},
		{"data stream", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.Index.DataStream = p(true) }, true},
		{"no data stream", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Workload.Index.DataStream = p(false) }, false},
		{"replication", func(s *v1alpha1.BenchmarkCampaignSpec) { s.Topologies[0].Replication = "SEGMENT" }, true},
		{"policy", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Topologies[0].ISMPolicyFrom = &v1alpha1.ConfigMapKey{Name: "a", Key: "b"}
		}, true},
		{"the matrix", func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Matrix = &v1alpha1.Matrix{Exclude: []v1alpha1.CellSelector{{Variant: "intel"}}}
		}, false},
	} {
		c := bulk()
		tt.change(&c.Spec)
		if another := Build(c).Cells[0].Hash != before.Hash; another != tt.another {
			t.Errorf("%s: another identity is %v, want %v", tt.what, another, tt.another)
		}
	}
}

// TestIdentityGolden_drivers checks stored identities. If they change, every measurement that users have made with
// the driver becomes invalid.
func TestIdentityGolden_drivers(t *testing.T) {
	stream := study()
	stream.Spec.Workload = v1alpha1.Workload{Measure: v1alpha1.MeasureWhole, Drivers: v1alpha1.Drivers{Stream: &v1alpha1.Stream{Params: map[string]v1alpha1.ParamValue{"rows": "100"}}}}
	stream.Spec.Topologies = []v1alpha1.Topology{{Name: "pair", Nodes: p(int32(2)), RefreshInterval: "1s"}}
	stream.Spec.Variants[0].Params = map[string]v1alpha1.ParamValue{"use_stream_transport": "false"}
	bulk := study()
	bulk.Spec.Workload = v1alpha1.Workload{
		Index: v1alpha1.Index{Name: "logs", DataStream: p(true)}, Measure: v1alpha1.MeasureWhole, ClientsPerPod: p(int32(1)),
		Drivers: v1alpha1.Drivers{Bulk: &v1alpha1.Bulk{Dataset: v1alpha1.DatasetOTelLogs, DocumentsPerClient: p(int64(3_000_000)), FlushDocuments: p(int32(4000))}},
	}
	withJSON := storageService() // the identities of commands date from the time when the API had the field parser
	withJSON.Spec.Workload.Command.Preset = ""
	withJSON.Spec.Workload.Command.JSON = &v1alpha1.JSONFigures{Throughput: v1alpha1.JSONFigure{Path: "$.rate", Unit: "calls/s"}, Operations: "$.n"}
	for what, tt := range map[string]struct {
		c    *v1alpha1.BenchmarkCampaign
		hash string
	}{
		"command with json": {withJSON, "sl3xntynkdx5hrcw"},
		"bulk":              {bulk, "wmox5lalklbmq43f"},
		"stream":            {stream, "ogxcniyazcpjdnbk"},
		"command":           {storageService(), "gdvw4w2bsg3pgdhc"},
	} {
		if got := Build(tt.c).Cells[0].Hash; got != tt.hash {
			t.Errorf("%s: identity %s, want %s", what, got, tt.hash)
		}
	}
}

// TestLoadersReady checks how long a trial waits for its loader pods: 5 minutes more than the provisioning timeout,
// but at least 15 minutes. A single pod waits for no other pod.
func TestLoadersReady(t *testing.T) {
	for _, tt := range []struct {
		provisioning, want time.Duration
		perPod, clients    int32
	}{
		{15 * time.Minute, 0, 0, 64},
		{15 * time.Minute, 0, 64, 64},
		{15 * time.Minute, 20 * time.Minute, 16, 64},
		{time.Hour, 65 * time.Minute, 16, 64},
		{10 * time.Second, 15 * time.Minute, 16, 64},
	} {
		p := Plan{ProvisioningTimeout: tt.provisioning}
		if got := p.LoadersReady(CellSpec{LoadSpec: LoadSpec{PerPod: tt.perPod}}, tt.clients); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

func TestLoaders(t *testing.T) {
	for _, tt := range []struct{ perPod, clients, want int32 }{
		{0, 10000, 1}, {8, 1, 1}, {8, 8, 1}, {8, 9, 2}, {1, 75, 75}, {16, 48, 3},
	} {
		if got := (CellSpec{LoadSpec: LoadSpec{PerPod: tt.perPod}}).Loaders(tt.clients); got != tt.want {
			t.Errorf("%d clients, %d a pod: %d pods, want %d", tt.clients, tt.perPod, got, tt.want)
		}
	}
}
