package resources

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

const (
	openSearchHome = "/usr/share/opensearch"
	agentInImage   = "/knee-agent" // path in Knee's own image
	probeLogs      = "/logs"       // where the probe's container mounts OpenSearch's logs
	maxHeap        = 31 << 30      // with a larger heap, the JVM does not compress pointers
	transportPort  = 9300          // for connections between OpenSearch nodes

	disableSecurity = "DISABLE_SECURITY_PLUGIN" // variable of OpenSearch's images that switches security off
)

// Service returns the headless Service of a cell. With this Service, nodes and trials find a node by name before the node is ready.
func Service(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta(c, cell.Name, ComponentOpenSearch, cell),
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			PublishNotReadyAddresses: true,
			Selector:                 selector(c, cell, ComponentOpenSearch),
			Ports: []corev1.ServicePort{
				{Name: "http", Port: HTTPPort, TargetPort: intstr.FromInt32(HTTPPort)},
				{Name: "transport", Port: transportPort, TargetPort: intstr.FromInt32(transportPort)},
				{Name: "probe", Port: record.ProbePort, TargetPort: intstr.FromInt32(record.ProbePort)},
			},
		},
	}
}

// selector returns the labels of the pods of a cell's component: OpenSearch or the loader.
func selector(c *v1alpha1.BenchmarkCampaign, cell plan.Cell, component string) map[string]string {
	return map[string]string{LabelCampaign: string(c.UID), LabelCell: cell.Hash, LabelComponent: component}
}

// SettingsConfigMap returns the ConfigMap with a cell's opensearch.yml.
func SettingsConfigMap(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: meta(c, cell.Name, ComponentOpenSearch, cell),
		Immutable:  ptr.To(true),
		Data:       map[string]string{"opensearch.yml": Settings(cell)},
	}
}

// Settings returns a cell's opensearch.yml. Knee's own settings override the campaign's settings. The API server refuses
// settings that collide with Knee's settings.
func Settings(cell plan.Cell) string {
	s := map[string]any{}
	for k, v := range cell.Spec.OpenSearch.Settings {
		s[k] = string(v)
	}
	if cell.Secured() {
		maps.Copy(s, securitySettings())
	}
	s["cluster.name"] = cell.Name
	s["node.name"] = "${HOSTNAME}"
	s["network.host"] = "0.0.0.0"
	s["http.port"] = HTTPPort
	if cell.Spec.Topology.Nodes == 1 {
		s["discovery.type"] = "single-node"
	} else {
		var nodes []string
		for i := range cell.Spec.Topology.Nodes {
			nodes = append(nodes, PodName(cell, i))
		}
		s["discovery.seed_hosts"] = []string{cell.Name}
		s["cluster.initial_cluster_manager_nodes"] = nodes
	}
	out, err := yaml.Marshal(s)
	if err != nil {
		panic("resources: cannot encode the OpenSearch settings as YAML: " + err.Error())
	}
	return string(out)
}

// PodName returns the name of a cell's i-th OpenSearch node, counted from 0.
func PodName(cell plan.Cell, i int32) string { return fmt.Sprintf("%s-%d", cell.Name, i) }

// Placement defines the nodes on which a cell's OpenSearch runs.
type Placement struct {
	Number record.Placement
	Avoid  []string // nodes of the cell's earlier placements; the pods avoid them if the pool has other nodes
}

// StatefulSet returns a cell's OpenSearch. After Knee has created the StatefulSet, it never applies a new template: an upgrade
// of the manager must not restart a cell that is measured. The StatefulSet has no liveness probe, because saturation must not
// restart the system under test.
func StatefulSet(c *v1alpha1.BenchmarkCampaign, cell plan.Cell, on Placement, o Options, startup time.Duration, now time.Time) *appsv1.StatefulSet {
	m := meta(c, cell.Name, ComponentOpenSearch, cell)
	pod := podMeta(m)
	m.Annotations[AnnotationSince] = now.UTC().Format(time.RFC3339)
	m.Annotations[AnnotationPlacement] = strconv.Itoa(int(on.Number))
	sts := &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: m,
		Spec: appsv1.StatefulSetSpec{
			Replicas:            ptr.To(cell.Spec.Topology.Nodes),
			ServiceName:         cell.Name,
			PodManagementPolicy: appsv1.ParallelPodManagement,
			UpdateStrategy:      appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
			},
			Selector: &metav1.LabelSelector{MatchLabels: selector(c, cell, ComponentOpenSearch)},
			Template: corev1.PodTemplateSpec{ObjectMeta: templateMeta(pod, cell.OpenSearchPod), Spec: openSearchPod(cell, o, startup)},
		},
	}
	sts.Spec.Template.Spec.Affinity.NodeAffinity = awayFromNodes(on.Avoid)
	sts.Spec.Template.Spec.TopologySpreadConstraints = spreadOverZones(c, cell)
	addPodTemplate(&sts.Spec.Template.Spec, cell.OpenSearchPod, selector(c, cell, ComponentOpenSearch))
	if cell.Secured() {
		secure(&sts.Spec.Template.Spec, c)
	}
	if storage := cell.Spec.OpenSearch.Storage; storage.Size != "" {
		sts.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: pod.Labels, Annotations: pod.Annotations},
			Spec:       claim(storage),
		}}
	} else {
		sts.Spec.Template.Spec.Volumes = append(sts.Spec.Template.Spec.Volumes, emptyDir("data"))
	}
	return sts
}

func openSearchPod(cell plan.Cell, o Options, startup time.Duration) corev1.PodSpec {
	return corev1.PodSpec{
		AutomountServiceAccountToken:  ptr.To(false),
		EnableServiceLinks:            ptr.To(false),
		ShareProcessNamespace:         ptr.To(true), // the probe reads the memory and the CPU quota of OpenSearch's process
		TerminationGracePeriodSeconds: ptr.To[int64](60),
		SecurityContext:               restrictedPod(o),
		NodeSelector:                  cell.Spec.Pool.NodeSelector,
		Tolerations:                   poolTolerations(cell.Spec.Pool),
		Affinity:                      awayFrom(Dedicated(cell), ComponentOpenSearch, ComponentLoader),
		InitContainers:                append(sysctlInit(cell, o), preflight(cell, o), probe(o)),
		Containers:                    []corev1.Container{openSearch(cell, o, startup)},
		Volumes: []corev1.Volume{
			{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: cell.Name},
			}}},
			emptyDir("logs"),
		},
	}
}

// sysctlInit returns the init container that raises the node's vm.max_map_count. It returns nil unless both the campaign and
// the manager allow this container. It is the only privileged container, and it ends before any other container of the pod
// starts.
func sysctlInit(cell plan.Cell, o Options) []corev1.Container {
	if !o.AllowSysctlInit || !ptr.Deref(cell.Spec.OpenSearch.SysctlInit, false) {
		return nil
	}
	return []corev1.Container{{
		Name: "sysctl", Image: o.AgentImage, Command: []string{agentInImage, "sysctl"},
		SecurityContext: &corev1.SecurityContext{
			Privileged:             ptr.To(true), // for all other containers, /proc/sys is read-only
			RunAsUser:              ptr.To[int64](0),
			RunAsGroup:             ptr.To[int64](0),
			RunAsNonRoot:           ptr.To(false),
			ReadOnlyRootFilesystem: ptr.To(true),
		},
		Resources:                initResources(),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}}
}

func preflight(cell plan.Cell, o Options) corev1.Container {
	c := corev1.Container{
		Name: "preflight", Image: o.AgentImage, Command: []string{agentInImage, "preflight", "--data=" + openSearchHome + "/data"},
		Resources:                initResources(),
		SecurityContext:          restrictedContainer(true),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             []corev1.VolumeMount{{Name: "data", MountPath: openSearchHome + "/data"}},
	}
	if cell.Spec.Topology.Nodes == 1 {
		c.Command = append(c.Command, "--single-node")
	}
	if cell.Spec.OpenSearch.LocksMemory() {
		c.Command = append(c.Command, "--memory-lock")
	}
	return c
}

func probe(o Options) corev1.Container {
	return corev1.Container{
		Name: "probe", Image: o.AgentImage, Command: []string{agentInImage, "probe", "--gc-log=" + probeLogs + "/gc.log"},
		RestartPolicy:   ptr.To(corev1.ContainerRestartPolicyAlways),
		Env:             []corev1.EnvVar{hostEnv()},
		Ports:           []corev1.ContainerPort{{Name: "probe", ContainerPort: record.ProbePort}},
		Resources:       probeResources(),
		SecurityContext: restrictedContainer(true),
		VolumeMounts:    []corev1.VolumeMount{{Name: "logs", MountPath: probeLogs, ReadOnly: true}},
	}
}

func openSearch(cell plan.Cell, o Options, startup time.Duration) corev1.Container {
	get := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/_cluster/health?local=true", Port: intstr.FromInt32(HTTPPort)}}
	return corev1.Container{
		Name:  ContainerOpenSearch,
		Image: image(cell.Spec.OpenSearch.Image, o.OpenSearchImage, cell.Spec.OpenSearch.Version),
		Env: append([]corev1.EnvVar{
			{Name: "OPENSEARCH_JAVA_OPTS", Value: verbatim(javaOptions(cell.Spec.OpenSearch))},
			{Name: disableSecurity, Value: "true"},
			{Name: "DISABLE_INSTALL_DEMO_CONFIG", Value: "true"},
		}, javaHome(cell.Spec.OpenSearch)...),
		Ports: []corev1.ContainerPort{
			{Name: "http", ContainerPort: HTTPPort},
			{Name: "transport", ContainerPort: transportPort},
		},
		Resources:                requirements(cell.Spec.OpenSearch.Resources),
		SecurityContext:          restrictedContainer(false), // writable: OpenSearch creates its keystore in its config folder
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		StartupProbe: &corev1.Probe{
			ProbeHandler: get, PeriodSeconds: 1, TimeoutSeconds: 1, FailureThreshold: int32(max(startup.Seconds(), 1)),
		},
		ReadinessProbe: &corev1.Probe{ProbeHandler: get, PeriodSeconds: 10, TimeoutSeconds: 5, FailureThreshold: 3},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "data", MountPath: openSearchHome + "/data"},
			{Name: "logs", MountPath: openSearchHome + "/logs"},
			{Name: "settings", MountPath: openSearchHome + "/config/opensearch.yml", SubPath: "opensearch.yml", ReadOnly: true},
		},
	}
}

func image(full, repository, tag string) string {
	if full != "" {
		return full
	}
	return repository + ":" + tag
}

// javaOptions returns the heap options, followed by the campaign's options. If an option occurs more than once, the JVM uses
// the last one.
func javaOptions(os v1alpha1.OpenSearch) string {
	var out []string
	if heap := heapBytes(os); heap > 0 {
		size := jvmSize(heap)
		out = append(out, "-Xms"+size, "-Xmx"+size)
	}
	return strings.Join(append(out, os.JavaOptions...), " ")
}

// javaHome returns the variables that select the JDK. OpenSearch's start script reads OPENSEARCH_JAVA_HOME. Other programs of
// the image read JAVA_HOME.
func javaHome(os v1alpha1.OpenSearch) []corev1.EnvVar {
	if os.JavaHome == "" {
		return nil
	}
	return []corev1.EnvVar{{Name: "OPENSEARCH_JAVA_HOME", Value: os.JavaHome}, {Name: "JAVA_HOME", Value: os.JavaHome}}
}

// heapBytes returns the campaign's heap, or half of the memory, at most 31 GiB. It returns 0 for the image's default.
func heapBytes(os v1alpha1.OpenSearch) int64 {
	if os.Heap != "" {
		q := resource.MustParse(string(os.Heap))
		return q.Value()
	}
	if os.Resources.Memory != "" {
		q := resource.MustParse(string(os.Resources.Memory))
		return min(q.Value()/2, maxHeap)
	}
	return 0
}

func jvmSize(bytes int64) string {
	switch {
	case bytes%(1<<30) == 0:
		return strconv.FormatInt(bytes>>30, 10) + "g"
	case bytes%(1<<20) == 0:
		return strconv.FormatInt(bytes>>20, 10) + "m"
	}
	return strconv.FormatInt(bytes>>10, 10) + "k"
}
