package resources_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/driverconfig"
	"github.com/knee-bench/knee/test/wrappers"
)

var (
	now     = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	options = resources.Options{OpenSearchImage: "os", OSBImage: "osb", AgentImage: "knee:1"}
)

// cellOf plans a campaign of one variant and returns the plan and its first cell.
func cellOf(c *wrappers.Campaign) (plan.Plan, plan.Cell) {
	p := plan.Build(c.UID("uid-1").Obj())
	return p, p.Cells[0]
}

func attemptOf(cell plan.Cell, phase record.Phase) record.Attempt {
	return record.Attempt{Trial: record.Trial{Campaign: "uid-1", Cell: cell.Hash, Variant: cell.Variant(), Topology: cell.Topology(), Phase: phase, Clients: 16, Repetition: 1, Placement: 1}, N: 2}
}

func TestSettings(t *testing.T) {
	one := wrappers.MakeCampaign("x").Variant("a")
	one.Spec.OpenSearch.Settings = map[string]v1alpha1.ParamValue{"action.auto_create_index": "false"}
	three := wrappers.MakeCampaign("x").Variant("a")
	three.Spec.Topologies[0].Nodes = new(int32)
	*three.Spec.Topologies[0].Nodes = 3
	for name, tc := range map[string]struct {
		campaign *wrappers.Campaign
		want     func(plan.Cell) map[string]any
	}{
		"one node": {one, func(c plan.Cell) map[string]any {
			return map[string]any{"action.auto_create_index": "false", "cluster.name": c.Name, "node.name": "${HOSTNAME}",
				"network.host": "0.0.0.0", "http.port": 9200.0, "discovery.type": "single-node"}
		}},
		"three nodes": {three, func(c plan.Cell) map[string]any {
			return map[string]any{"cluster.name": c.Name, "node.name": "${HOSTNAME}", "network.host": "0.0.0.0", "http.port": 9200.0,
				"discovery.seed_hosts": []any{c.Name}, "cluster.initial_cluster_manager_nodes": []any{c.Name + "-0", c.Name + "-1", c.Name + "-2"}}
		}},
	} {
		_, cell := cellOf(tc.campaign)
		var got map[string]any
		if err := yaml.Unmarshal([]byte(resources.Settings(cell)), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want(cell), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestHeapAndJavaOptions(t *testing.T) {
	for name, tc := range map[string]struct {
		os   v1alpha1.OpenSearch
		want string
	}{
		"nothing said":        {v1alpha1.OpenSearch{}, ""},
		"a heap":              {v1alpha1.OpenSearch{Heap: "31Gi"}, "-Xms31g -Xmx31g"},
		"an odd heap":         {v1alpha1.OpenSearch{Heap: "1536Mi"}, "-Xms1536m -Xmx1536m"},
		"half of the memory":  {v1alpha1.OpenSearch{Resources: v1alpha1.Resources{Memory: "8Gi"}}, "-Xms4g -Xmx4g"},
		"never above 31 GiB":  {v1alpha1.OpenSearch{Resources: v1alpha1.Resources{Memory: "128Gi"}}, "-Xms31g -Xmx31g"},
		"options after heap":  {v1alpha1.OpenSearch{Heap: "1Gi", JavaOptions: []string{"-XX:+UseG1GC", "-Da=b"}}, "-Xms1g -Xmx1g -XX:+UseG1GC -Da=b"},
		"options without one": {v1alpha1.OpenSearch{JavaOptions: []string{"-XX:+UseG1GC"}}, "-XX:+UseG1GC"},
	} {
		w := wrappers.MakeCampaign("x").Variant("a")
		w.Spec.OpenSearch = tc.os
		_, cell := cellOf(w)
		sts := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now)
		if got := env(sts.Spec.Template.Spec.Containers[0], "OPENSEARCH_JAVA_OPTS"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func env(c corev1.Container, name string) string {
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return "(unset)"
}

// TestTolerations_architecture_impliesItsTaint checks that pods which are pinned to a CPU architecture may run on nodes with the taint of this
// architecture, and that other pods may not.
func TestTolerations_architecture_impliesItsTaint(t *testing.T) {
	arm := v1alpha1.Toleration{Key: "kubernetes.io/arch", Operator: "Equal", Value: "arm64", Effect: "NoSchedule"}
	for what, tt := range map[string]struct {
		change             func(*v1alpha1.BenchmarkCampaignSpec)
		openSearch, loader int // tolerations
	}{
		"no architecture":        {func(*v1alpha1.BenchmarkCampaignSpec) {}, 0, 0},
		"of the variant":         {func(s *v1alpha1.BenchmarkCampaignSpec) { s.Variants[0].Architecture = "arm64" }, 1, 0},
		"in both node selectors": {func(s *v1alpha1.BenchmarkCampaignSpec) { pin(&s.Variants[0].NodePool); pin(&s.Loader.NodePool) }, 1, 1},
		"in the spec, too": {func(s *v1alpha1.BenchmarkCampaignSpec) {
			s.Variants[0].Architecture, s.Variants[0].NodePool.Tolerations = "arm64", []v1alpha1.Toleration{arm}
		}, 1, 0},
	} {
		w := wrappers.MakeCampaign("x").VariantOnAnyNode("a")
		tt.change(&w.Spec)
		p, cell := cellOf(w)
		sts := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now)
		job, err := resources.Job(w.Obj(), p, cell, record.Attempt{Trial: p.SweepTrial(cell, 1, 1), N: 1}, resources.Running{}, options)
		if err != nil {
			t.Fatal(err)
		}
		for pod, n := range map[*corev1.PodSpec]int{&sts.Spec.Template.Spec: tt.openSearch, &job.Spec.Template.Spec: tt.loader} {
			if len(pod.Tolerations) != n || n == 1 && pod.Tolerations[0] != (corev1.Toleration{Key: arm.Key, Operator: corev1.TolerationOpEqual, Value: arm.Value, Effect: corev1.TaintEffectNoSchedule}) {
				t.Errorf("%s: tolerations %+v, want %d", what, pod.Tolerations, n)
			}
		}
	}
}

func pin(p *v1alpha1.NodePool) {
	p.NodeSelector = map[string]v1alpha1.LabelValue{"kubernetes.io/arch": "arm64"}
}

func TestStatefulSet_schedulingAndStorage(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("arm")
	w.Spec.Loader.Placement = v1alpha1.LoaderDedicated
	w.Spec.Variants[0].Architecture = "arm64"
	w.Spec.Variants[0].NodePool.Tolerations = []v1alpha1.Toleration{{Key: "bench", Operator: "Exists", Effect: "NoSchedule"}}
	w.Spec.OpenSearch.Storage = v1alpha1.Storage{Size: "1Ti", StorageClassName: "fast"}
	_, cell := cellOf(w)
	sts := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now)
	pod := sts.Spec.Template.Spec
	if diff := cmp.Diff(map[string]string{"pool": "arm", "kubernetes.io/arch": "arm64"}, pod.NodeSelector); diff != "" {
		t.Errorf("node selector (-want +got):\n%s", diff)
	}
	arm := corev1.Toleration{Key: "kubernetes.io/arch", Operator: "Equal", Value: "arm64", Effect: "NoSchedule"}
	if diff := cmp.Diff([]corev1.Toleration{{Key: "bench", Operator: "Exists", Effect: "NoSchedule"}, arm}, pod.Tolerations); diff != "" {
		t.Errorf("tolerations (-want +got):\n%s", diff)
	}
	if anti := pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution; len(anti) != 1 || anti[0].TopologyKey != corev1.LabelHostname {
		t.Errorf("a dedicated loader: anti-affinity %+v, want one required term by host", anti)
	}
	if pod.Containers[0].LivenessProbe != nil {
		t.Error("a liveness probe would restart a saturated OpenSearch")
	}
	if claims := sts.Spec.VolumeClaimTemplates; len(claims) != 1 || *claims[0].Spec.StorageClassName != "fast" ||
		claims[0].Annotations[resources.AnnotationCampaignName] != "x" {
		t.Errorf("claims %+v, want one of class fast that names its campaign", claims)
	}
	w.Spec.Loader.Placement = v1alpha1.LoaderShared
	_, cell = cellOf(w)
	pod = resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now).Spec.Template.Spec
	if anti := pod.Affinity.PodAntiAffinity; len(anti.RequiredDuringSchedulingIgnoredDuringExecution) != 0 || len(anti.PreferredDuringSchedulingIgnoredDuringExecution) != 1 {
		t.Errorf("a shared loader: anti-affinity %+v, want a preference only", anti)
	}
}

func TestParams(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	w.Spec.Workload.OSB.Params = map[string]v1alpha1.ParamValue{"bulk_size": "1000", "time_period": "60"}
	w.Spec.Workload.OSB.WarmupParams = map[string]v1alpha1.ParamValue{"time_period": "10"}
	w.Spec.Variants[0].Params = map[string]v1alpha1.ParamValue{"bulk_size": "500", "codec": `a,"b":$(c)`}
	w.Spec.Final.Search = new(bool)
	*w.Spec.Final.Search = true
	w.Spec.Workload.OSB.SearchTasks = []string{"type:search"}
	p, cell := cellOf(w)
	for phase, want := range map[record.Phase]struct {
		timePeriod string
		search     []string
	}{record.Warmup: {"10", nil}, record.Sweep: {"60", nil}, record.Final: {"60", []string{"type:search"}}} {
		job, err := resources.Job(w.Obj(), p, cell, attemptOf(cell, phase), resources.Running{JVM: "jvm-1", PlannedRepetitions: 8}, options)
		if err != nil {
			t.Fatal(err)
		}
		var cfg record.Config
		if err := json.Unmarshal([]byte(environmentOf(job.Spec.Template.Spec.Containers[0], record.ConfigEnv)), &cfg); err != nil {
			t.Fatal(err)
		}
		params := map[string]string{
			"bulk_size": "500", "codec": `a,"b":$(c)`, "time_period": want.timePeriod, "bulk_indexing_clients": "16",
			"number_of_shards": "1", "number_of_replicas": "0", "refresh_interval": "1s",
		}
		osb := driverconfig.Of[osbconfig.Config](cfg)
		if diff := cmp.Diff(params, osb.Params); diff != "" {
			t.Errorf("%s params (-want +got):\n%s", phase, diff)
		}
		if !cmp.Equal(osb.SearchTasks, want.search) {
			t.Errorf("%s: search tasks %v, want %v", phase, osb.SearchTasks, want.search)
		}
		if cfg.PlannedRepetitions != 8 {
			t.Errorf("%s: the agent is told of %d planned repetitions, want 8", phase, cfg.PlannedRepetitions)
		}
		if cfg.Attempt != attemptOf(cell, phase) {
			t.Errorf("%s: the agent is told of %+v", phase, cfg.Attempt)
		}
	}
}

func TestWorkloadSource(t *testing.T) {
	for name, tc := range map[string]struct {
		from   *v1alpha1.WorkloadSource
		path   string // path in the configuration of the agent
		flat   bool
		volume func(corev1.VolumeSource) bool // of the volume "workload"; nil: no volume
		inits  int
	}{
		"its own repository": {nil, "", false, nil, 1},
		"git":                {&v1alpha1.WorkloadSource{Git: &v1alpha1.GitSource{URL: "https://example.com/w.git", Ref: "main"}}, "", false, nil, 1},
		"image": {&v1alpha1.WorkloadSource{Image: &v1alpha1.ImageSource{Image: "w:1", Path: "/workload"}}, "/knee/workload", false,
			func(v corev1.VolumeSource) bool { return v.EmptyDir != nil }, 2},
		"volume": {&v1alpha1.WorkloadSource{Volume: &v1alpha1.VolumeSource{ClaimName: "c", Path: "w"}}, "/knee/workload/w", false,
			func(v corev1.VolumeSource) bool {
				return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ReadOnly
			}, 1},
		"ConfigMap": {&v1alpha1.WorkloadSource{ConfigMap: "w"}, "/knee/workload", true,
			func(v corev1.VolumeSource) bool { return v.ConfigMap != nil && v.ConfigMap.Name == "w" }, 1},
	} {
		w := wrappers.MakeCampaign("x").Variant("a")
		w.Spec.Workload.OSB.From = tc.from
		p, cell := cellOf(w)
		job, err := resources.Job(w.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{JVM: "jvm-1"}, options)
		if err != nil {
			t.Fatal(err)
		}
		cfg := resources.Config(w.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{})
		osb := driverconfig.Of[osbconfig.Config](cfg)
		if osb.Path != tc.path || osb.Flat != tc.flat {
			t.Errorf("%s: path %q flat %v, want %q %v", name, osb.Path, osb.Flat, tc.path, tc.flat)
		}
		found := false
		for _, v := range job.Spec.Template.Spec.Volumes {
			if v.Name == "workload" {
				found = true
				if tc.volume == nil || !tc.volume(v.VolumeSource) {
					t.Errorf("%s: volume %+v", name, v.VolumeSource)
				}
			}
		}
		if found != (tc.volume != nil) || len(job.Spec.Template.Spec.InitContainers) != tc.inits {
			t.Errorf("%s: volume %v, %d init containers", name, found, len(job.Spec.Template.Spec.InitContainers))
		}
	}
}

// TestJob_kubernetesRetriesAndCleanup_areDisabled checks that Kubernetes neither deletes, retries nor ends a Job. Otherwise
// a record would be lost, or a trial would be measured twice under one name.
func TestJob_kubernetesRetriesAndCleanup_areDisabled(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	p, cell := cellOf(w)
	job, err := resources.Job(w.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{JVM: "jvm-1"}, options)
	if err != nil {
		t.Fatal(err)
	}
	if *job.Spec.BackoffLimit != 0 || job.Spec.TTLSecondsAfterFinished != nil || job.Spec.ActiveDeadlineSeconds != nil {
		t.Errorf("Job spec %+v", job.Spec)
	}
	if job.Spec.Template.Spec.ActiveDeadlineSeconds == nil {
		t.Error("the pod has no deadline: an agent that hangs would hang the campaign")
	}
}

func TestNames_longestCampaign_fitKubernetesLimits(t *testing.T) {
	w := wrappers.MakeCampaign(strings.Repeat("9.", 126) + "x").Variant(strings.Repeat("v", 32))
	p, cell := cellOf(w)
	attempt := attemptOf(cell, record.Sweep)
	attempt.Clients, attempt.Repetition, attempt.N = 10000, 50, 11
	job, err := resources.Job(w.Obj(), p, cell, attempt, resources.Running{JVM: "jvm-1"}, options)
	if err != nil {
		t.Fatal(err)
	}
	if len(job.Name) > 52 {
		t.Errorf("Job name %s has %d characters", job.Name, len(job.Name))
	}
	if cell.Name[0] >= '0' && cell.Name[0] <= '9' {
		t.Errorf("a Service cannot be named %s", cell.Name)
	}
	if cm := resources.ReportConfigMap(w.Obj(), 12, nil); len(cm.Name) > 253 {
		t.Errorf("report name has %d characters", len(cm.Name))
	}
}

// TestPods_meetRestrictedSecurityStandard checks that every pod meets the restricted pod security standard. The namespaces of the
// end-to-end tests enforce this standard.
func TestPods_meetRestrictedSecurityStandard(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	w.Spec.Workload.OSB.From = &v1alpha1.WorkloadSource{Image: &v1alpha1.ImageSource{Image: "w:1", Path: "/workload"}}
	p, cell := cellOf(w)
	job, err := resources.Job(w.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{JVM: "jvm-1"}, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range []corev1.PodSpec{job.Spec.Template.Spec, resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now).Spec.Template.Spec} {
		if *pod.AutomountServiceAccountToken || !*pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("pod security %+v, token %v", pod.SecurityContext, *pod.AutomountServiceAccountToken)
		}
		for _, c := range append(pod.InitContainers, pod.Containers...) {
			s := c.SecurityContext
			if *s.AllowPrivilegeEscalation || len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL" {
				t.Errorf("container %s: %+v", c.Name, s)
			}
		}
	}
}

// TestStatefulSet_severalNodes_avoidEachOther checks that the nodes of a cell avoid each other, every other OpenSearch and every
// loader. This is required, or only preferred if the campaign allows a shared node. All nodes start in parallel,
// because they form one cluster from the start.
func TestStatefulSet_severalNodes_avoidEachOther(t *testing.T) {
	for _, placement := range []v1alpha1.LoaderPlacement{v1alpha1.LoaderShared, v1alpha1.LoaderDedicated} {
		w := wrappers.MakeCampaign("x").Variant("a").Nodes(6)
		w.Spec.Loader.Placement = placement
		_, cell := cellOf(w)
		sts := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now)
		anti := sts.Spec.Template.Spec.Affinity.PodAntiAffinity
		terms := anti.RequiredDuringSchedulingIgnoredDuringExecution
		if placement == v1alpha1.LoaderShared {
			if len(terms) > 0 {
				t.Fatalf("%s: required: %+v", placement, terms)
			}
			for _, preferred := range anti.PreferredDuringSchedulingIgnoredDuringExecution {
				terms = append(terms, preferred.PodAffinityTerm)
			}
		}
		if len(terms) != 1 || terms[0].TopologyKey != corev1.LabelHostname {
			t.Fatalf("%s: %+v", placement, terms)
		}
		selector, err := metav1.LabelSelectorAsSelector(terms[0].LabelSelector)
		if err != nil || !selector.Matches(labels.Set(sts.Spec.Template.Labels)) {
			t.Errorf("%s: the nodes do not keep off each other: %v (%v)", placement, selector, err)
		}
		if *sts.Spec.Replicas != 6 || sts.Spec.PodManagementPolicy != appsv1.ParallelPodManagement {
			t.Errorf("%s: %d nodes, %s: one that waits for the one before would never find a cluster manager", placement, *sts.Spec.Replicas, sts.Spec.PodManagementPolicy)
		}
	}
}
