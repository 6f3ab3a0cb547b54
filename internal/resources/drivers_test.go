package resources_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers/bulk/bulkconfig"
	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/stream/streamconfig"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// made returns the Job of an attempt, and the configuration that its agent gets after the kubelet has expanded the
// variables.
func made(t *testing.T, w *wrappers.Campaign, phase record.Phase) (*batchv1.Job, record.Config) {
	t.Helper()
	p, cell := cellOf(w)
	job, err := resources.Job(w.Obj(), p, cell, attemptOf(cell, phase), resources.Running{}, options)
	if err != nil {
		t.Fatal(err)
	}
	var cfg record.Config
	text := expanded(env(job.Spec.Template.Spec.Containers[0], record.ConfigEnv), map[string]string{"KNEE_HOST": "a node", "KNEE_CLIENTS": "wrong"})
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		t.Fatal(err)
	}
	if cfg.Attempt != attemptOf(cell, phase) {
		t.Errorf("of another attempt: %+v", cfg.Attempt)
	}
	return job, cfg
}

func TestConfig_drivers(t *testing.T) {
	bulk := func(change func(*v1alpha1.Bulk)) *wrappers.Campaign {
		w := wrappers.MakeCampaign("x").Variant("a").Bulk(1000)
		change(w.Spec.Workload.Bulk)
		return w
	}
	variants := wrappers.MakeCampaign("x").Variant("a").Stream(map[string]v1alpha1.ParamValue{"rows": "100", "use_stream_transport": "true"})
	variants.Spec.Variants[0].Params = map[string]v1alpha1.ParamValue{"use_stream_transport": "false"}
	command := wrappers.MakeCampaign("x").Variant("a").Command("ozone:1", "sh", "-c", "freon -t $(KNEE_CLIENTS) $$HOME $(SIZE)")
	command.Spec.Workload.Command.Args = []string{"$(KNEE_ENDPOINT)", "$KNEE_TRIAL", "$(KNEE_HOST)"}
	command.Spec.Workload.Command.Env = map[string]v1alpha1.ParamValue{"THREADS": "$(KNEE_CLIENTS)"}
	command.Spec.Workload.Command.Params = map[string]v1alpha1.ParamValue{"SIZE": "0", "FLOW": "old"}
	command.Spec.Variants[0].Params = map[string]v1alpha1.ParamValue{"FLOW": "new"}
	figures := wrappers.MakeCampaign("x").Variant("a").Command("a:1", "a")
	figures.Spec.Workload.Command.Preset = ""
	figures.Spec.Workload.Command.JSON = &v1alpha1.JSONFigures{
		Throughput: v1alpha1.JSONFigure{Path: "$.rate", Unit: "calls/s"}, Failures: "$.failed",
		Latency: &v1alpha1.JSONLatency{Unit: "ms", P99: "$.p99", Mean: "$.mean"},
		Metrics: []v1alpha1.JSONMetric{{Name: "gc", JSONFigure: v1alpha1.JSONFigure{Path: "$.gc", Unit: "ms"}}},
	}
	figures.Spec.Workload.Command.Prometheus = &v1alpha1.Prometheus{URL: "http://p:9090", Queries: []v1alpha1.PrometheusQuery{
		{Name: "cpu", Query: "avg_over_time(cpu[$(KNEE_WINDOW)])", Unit: "%"},
	}}
	for name, tc := range map[string]struct {
		campaign *wrappers.Campaign
		want     record.DriverConfig
	}{
		"bulk, documents of each client": {bulk(func(*v1alpha1.Bulk) {}),
			record.NewDriverConfig(bulkconfig.Name, bulkconfig.Config{Dataset: "small", Documents: 16_000, FlushBytes: 3_000_000})},
		"bulk, documents over all": {bulk(func(b *v1alpha1.Bulk) {
			b.Documents, b.DocumentsPerClient, b.FlushBytes = ptr.To[int64](5), nil, "2Mi"
		}), record.NewDriverConfig(bulkconfig.Name, bulkconfig.Config{Dataset: "small", Documents: 5, FlushBytes: 2 << 20})},
		"bulk for a time": {bulk(func(b *v1alpha1.Bulk) {
			b.DurationSeconds, b.DocumentsPerClient, b.FlushDocuments = ptr.To[int32](60), nil, ptr.To[int32](4000)
		}), record.NewDriverConfig(bulkconfig.Name, bulkconfig.Config{Dataset: "small", DurationSeconds: 60, FlushDocuments: 4000})},
		"bulk of a volume's files": {bulk(func(b *v1alpha1.Bulk) {
			b.Dataset, b.Files = "", &v1alpha1.DocumentFiles{
				From: v1alpha1.WorkloadSource{Volume: &v1alpha1.VolumeSource{ClaimName: "c", Path: "corpora"}}, Names: []string{"a/b.json.bz2"},
			}
		}), record.NewDriverConfig(bulkconfig.Name, bulkconfig.Config{Files: []string{"/knee/workload/corpora/a/b.json.bz2"}, Documents: 16_000, FlushBytes: 3_000_000})},
		"bulk of a ConfigMap's files": {bulk(func(b *v1alpha1.Bulk) {
			b.Dataset, b.Files = "", &v1alpha1.DocumentFiles{From: v1alpha1.WorkloadSource{ConfigMap: "c"}, Names: []string{"a/b.json"}}
		}), record.NewDriverConfig(bulkconfig.Name, bulkconfig.Config{Files: []string{"/knee/workload/a__b.json"}, Flat: true, Documents: 16_000, FlushBytes: 3_000_000})},
		"stream": {variants, record.NewDriverConfig(streamconfig.Name, streamconfig.Config{Params: map[string]string{
			"rows": "100", "use_stream_transport": "false", "parallel_requests": "16",
		}})},
		"command, verbatim": {command, record.NewDriverConfig(commandconfig.Name, commandconfig.Config{
			Command: []string{"sh", "-c", "freon -t $(KNEE_CLIENTS) $$HOME $(SIZE)"},
			Args:    []string{"$(KNEE_ENDPOINT)", "$KNEE_TRIAL", "$(KNEE_HOST)"},
			Env:     map[string]string{"THREADS": "$(KNEE_CLIENTS)"},
			Params:  map[string]string{"SIZE": "0", "FLOW": "new"}, Preset: "freon",
		})},
		"command with figures in JSON": {figures, record.NewDriverConfig(commandconfig.Name, commandconfig.Config{
			Command: []string{"a"}, Args: []string{"-t", "$(KNEE_CLIENTS)"},
			JSON: &commandconfig.Figures{
				Throughput: commandconfig.Figure{Selector: "$.rate", Unit: "calls/s"}, Failures: "$.failed", LatencyUnit: "ms",
				Latency: map[string]string{"p99": "$.p99", "mean": "$.mean"}, Metrics: []commandconfig.Figure{{Name: "gc", Selector: "$.gc", Unit: "ms"}},
			},
			Prometheus: &commandconfig.Prometheus{URL: "http://p:9090", Queries: []commandconfig.PrometheusQuery{
				{Name: "cpu", Query: "avg_over_time(cpu[$(KNEE_WINDOW)])", Unit: "%"},
			}},
		})},
	} {
		_, cfg := made(t, tc.campaign, record.Sweep)
		if diff := cmp.Diff(tc.want, cfg.Driver); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestJob_containersOfDrivers checks the containers of each driver. The agent is copied into an image that is not Knee's
// own; Knee's own image already contains it.
func TestJob_containersOfDrivers(t *testing.T) {
	files := wrappers.MakeCampaign("x").Variant("a").Bulk(1)
	files.Spec.Workload.Bulk.Files = &v1alpha1.DocumentFiles{
		From: v1alpha1.WorkloadSource{Image: &v1alpha1.ImageSource{Image: "corpus:1", Path: "/data"}}, Names: []string{"a.json"},
	}
	variant := wrappers.MakeCampaign("x").Variant("a").Command("ozone:1", "ozone")
	variant.Spec.Variants[0].Image = "ozone:2"
	for name, tc := range map[string]struct {
		campaign *wrappers.Campaign
		image    string
		agent    string
		inits    []string
		mounts   []string
	}{
		"osb":                    {wrappers.MakeCampaign("x").Variant("a"), "osb:2.4.0", "/knee/bin/knee-agent", []string{"agent"}, []string{"agent", "work", "cache"}},
		"bulk":                   {wrappers.MakeCampaign("x").Variant("a").Bulk(1), "knee:1", "/knee-agent", nil, []string{"work", "cache"}},
		"bulk of an image":       {files, "knee:1", "/knee-agent", []string{"agent", "workload"}, []string{"work", "cache", "workload"}},
		"stream":                 {wrappers.MakeCampaign("x").Variant("a").Stream(nil), "knee:1", "/knee-agent", nil, []string{"work", "cache"}},
		"command":                {wrappers.MakeCampaign("x").Variant("a").Command("ozone:1", "ozone"), "ozone:1", "/knee/bin/knee-agent", []string{"agent"}, []string{"agent", "work", "cache"}},
		"command of a variant's": {variant, "ozone:2", "/knee/bin/knee-agent", []string{"agent"}, []string{"agent", "work", "cache"}},
	} {
		job, _ := made(t, tc.campaign, record.Sweep)
		pod := job.Spec.Template.Spec
		c := pod.Containers[0]
		if c.Image != tc.image || !cmp.Equal(c.Command, []string{tc.agent, "trial"}) {
			t.Errorf("%s: image %s runs %v", name, c.Image, c.Command)
		}
		var inits, mounts, volumes []string
		for _, c := range pod.InitContainers {
			inits = append(inits, c.Name)
		}
		for _, m := range c.VolumeMounts {
			mounts = append(mounts, m.Name)
		}
		for _, v := range pod.Volumes {
			volumes = append(volumes, v.Name)
		}
		if !cmp.Equal(inits, tc.inits) || !cmp.Equal(mounts, tc.mounts) {
			t.Errorf("%s: init containers %v, want %v; mounts %v, want %v", name, inits, tc.inits, mounts, tc.mounts)
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			for _, m := range c.VolumeMounts {
				if !slices.Contains(volumes, m.Name) {
					t.Errorf("%s: container %s mounts %s, which is no volume of %v", name, c.Name, m.Name, volumes)
				}
			}
		}
		if own := tc.agent == "/knee-agent"; *c.SecurityContext.ReadOnlyRootFilesystem != own {
			t.Errorf("%s: the root file system is read-only: %v", name, !own)
		}
	}
}

func TestConfig_indexOfTopology(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a").Bulk(1)
	w.Spec.Workload.Index.DataStream = ptr.To(true)
	w.Spec.Topologies[0].Replication = "SEGMENT"
	w.Spec.Topologies[0].ISMPolicyFrom = &v1alpha1.ConfigMapKey{Name: "policies", Key: "rollover.json"}
	job, cfg := made(t, w, record.Sweep)
	want := record.IndexConfig{
		Name: "nyc_taxis", DataStream: true, Primaries: 1, RefreshInterval: "1s", Replication: "SEGMENT", ISMPolicyFile: "/knee/ism/rollover.json",
	}
	if diff := cmp.Diff(want, cfg.Index); diff != "" {
		t.Errorf("index (-want +got):\n%s", diff)
	}
	pod := job.Spec.Template.Spec
	mounted := slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
		return v.Name == "ism" && v.ConfigMap != nil && v.ConfigMap.Name == "policies"
	}) && slices.ContainsFunc(pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool {
		return m.Name == "ism" && m.MountPath == "/knee/ism" && m.ReadOnly
	})
	if !mounted {
		t.Errorf("the policy is not mounted: %+v", pod.Volumes)
	}
}

func TestMounts_listsEverySource(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a").Bulk(1)
	w.Spec.Workload.Index.BodyFrom = &v1alpha1.ConfigMapKey{Name: "bodies", Key: "body.json"}
	w.Spec.Topologies[0].ISMPolicyFrom = &v1alpha1.ConfigMapKey{Name: "policies", Key: "rollover.json"}
	w.Spec.Workload.Bulk.Files = &v1alpha1.DocumentFiles{From: v1alpha1.WorkloadSource{Volume: &v1alpha1.VolumeSource{ClaimName: "corpora"}}}
	w.Spec.Artifacts = &v1alpha1.Artifacts{ClaimName: "raw"}
	_, cell := cellOf(w)
	want := []resources.Mount{
		{Field: "spec.workload.index.bodyFrom", ConfigMap: "bodies", Key: "body.json", Pinned: true},
		{Field: "spec.topologies[1p0r].ismPolicyFrom", ConfigMap: "policies", Key: "rollover.json", Pinned: true},
		{Field: "spec.workload.bulk.files.from.volume.claimName", Claim: "corpora"},
		{Field: "spec.artifacts.claimName", Claim: "raw"},
	}
	if diff := cmp.Diff(want, resources.Mounts(w.Obj(), cell)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConfig_commandWithoutCluster(t *testing.T) {
	job, cfg := made(t, wrappers.MakeCampaign("x").Variant("a").Command("ozone:1", "ozone"), record.Sweep)
	if cfg.Endpoint != "" || cfg.Nodes != 0 || cfg.Probes != nil || cfg.External != nil {
		t.Errorf("the agent is told of a cluster: %+v", cfg)
	}
	if got := job.Spec.Template.Annotations[resources.AnnotationEndpoint]; got != "-" {
		t.Errorf("other campaigns see the load of %q", got)
	}
	at := wrappers.MakeCampaign("x").Variant("a").Command("ozone:1", "ozone")
	at.Spec.Variants[0].Endpoint = &v1alpha1.Endpoint{URL: "https://one", CredentialsSecret: "login"}
	job, cfg = made(t, at, record.Sweep)
	if cfg.Endpoint != "https://one:443" || cfg.External == nil || cfg.External.CredentialsDir != record.CredentialsPath {
		t.Errorf("at an endpoint: %q, %+v", cfg.Endpoint, cfg.External)
	}
	if !slices.ContainsFunc(job.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool { return v.Secret != nil && v.Secret.SecretName == "login" }) {
		t.Error("its Secret is not mounted")
	}
	on := wrappers.MakeCampaign("x").Variant("a").Command("ozone:1", "ozone")
	on.Spec.OpenSearch.Version = "3.1.0"
	if _, cfg = made(t, on, record.Sweep); cfg.Endpoint == "" || cfg.Nodes != 1 || len(cfg.Probes) != 1 {
		t.Errorf("on a cluster of its own: %+v", cfg)
	}
}
