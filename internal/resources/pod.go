package resources

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// userID is the user of the official OpenSearch and opensearch-benchmark images.
const userID = 1000

// restrictedPod returns the security context of all pods that Knee creates. With NoUserIDs, admission sets the user and the groups.
func restrictedPod(o Options) *corev1.PodSecurityContext {
	out := &corev1.PodSecurityContext{
		RunAsNonRoot:        ptr.To(true),
		FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeOnRootMismatch),
		SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if !o.NoUserIDs {
		out.RunAsUser, out.RunAsGroup, out.FSGroup = ptr.To[int64](userID), ptr.To[int64](userID), ptr.To[int64](userID)
	}
	return out
}

func restrictedContainer(readOnlyRoot bool) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		ReadOnlyRootFilesystem:   ptr.To(readOnlyRoot),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// requirements returns the requests of the campaign, and the limits that resources.limits selects.
func requirements(r v1alpha1.Resources) corev1.ResourceRequirements {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	if r.CPU != "" {
		requests[corev1.ResourceCPU] = resource.MustParse(string(r.CPU))
	}
	if r.Memory != "" {
		requests[corev1.ResourceMemory] = resource.MustParse(string(r.Memory))
	}
	if limit := r.CPULimit(); limit != "" {
		limits[corev1.ResourceCPU] = resource.MustParse(string(limit))
	}
	if limit := r.MemoryLimit(); limit != "" {
		limits[corev1.ResourceMemory] = resource.MustParse(string(limit))
	}
	var out corev1.ResourceRequirements
	if len(requests) > 0 {
		out.Requests = requests
	}
	if len(limits) > 0 {
		out.Limits = limits
	}
	return out
}

// tolerations returns the taints that a pod tolerates: those of the spec and, if the pod is pinned to a CPU architecture, the taint of nodes
// with this architecture. GKE adds that taint to its Arm nodes.
func tolerations(in []v1alpha1.Toleration, architecture string) []corev1.Toleration {
	var out []corev1.Toleration
	for _, t := range in {
		out = append(out, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect),
		})
	}
	implied := corev1.Toleration{Key: plan.ArchLabel, Operator: corev1.TolerationOpEqual, Value: architecture, Effect: corev1.TaintEffectNoSchedule}
	if architecture != "" && !slices.Contains(out, implied) {
		out = append(out, implied)
	}
	return out
}

// poolTolerations returns the taints that the OpenSearch pods of a pool tolerate.
func poolTolerations(p plan.Pool) []corev1.Toleration {
	return tolerations(p.Tolerations, p.NodeSelector[plan.ArchLabel])
}

func labels(in map[string]v1alpha1.LabelValue) map[string]string {
	var out map[string]string
	for k, v := range in {
		if out == nil {
			out = map[string]string{}
		}
		out[k] = string(v)
	}
	return out
}

// awayFrom keeps a pod away from nodes that run one of the components, of any campaign. If strictly is false, the pod only prefers other
// nodes.
func awayFrom(strictly bool, components ...string) *corev1.Affinity {
	term := corev1.PodAffinityTerm{
		TopologyKey:       corev1.LabelHostname,
		NamespaceSelector: &metav1.LabelSelector{},
		LabelSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{LabelManagedBy: ManagedBy},
			MatchExpressions: []metav1.LabelSelectorRequirement{{
				Key: LabelComponent, Operator: metav1.LabelSelectorOpIn, Values: components,
			}},
		},
	}
	anti := &corev1.PodAntiAffinity{}
	if strictly {
		anti.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{term}
	} else {
		anti.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term}}
	}
	return &corev1.Affinity{PodAntiAffinity: anti}
}

// awayFromNodes makes a pod prefer other nodes. It matches the node's name, as records contain it, because the label
// kubernetes.io/hostname may differ from the name.
func awayFromNodes(names []string) *corev1.NodeAffinity {
	if len(names) == 0 {
		return nil
	}
	var others corev1.NodeSelectorTerm
	for _, name := range names { // a requirement on a field allows only one value
		others.MatchFields = append(others.MatchFields, corev1.NodeSelectorRequirement{
			Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{name},
		})
	}
	return &corev1.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 100, Preference: others}},
	}
}

func emptyDir(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}

func hostEnv() corev1.EnvVar {
	return corev1.EnvVar{Name: record.HostEnv, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}
}

// verbatim escapes the value of an environment variable, so the kubelet does not expand $(NAME) in it.
func verbatim(value string) string { return strings.ReplaceAll(value, "$", "$$") }

// claim returns the spec of a PersistentVolumeClaim for the campaign's storage.
func claim(s v1alpha1.Storage) corev1.PersistentVolumeClaimSpec {
	spec := corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(string(s.Size))},
		},
	}
	if s.StorageClassName != "" {
		spec.StorageClassName = ptr.To(s.StorageClassName)
	}
	return spec
}

// Dedicated reports whether the loader and OpenSearch must not share a node.
func Dedicated(cell plan.Cell) bool { return cell.Spec.Loader.Placement != v1alpha1.LoaderShared }

// The containers of Knee beside OpenSearch and the trial have equal requests and limits. So a quota on compute resources admits
// them, and a pod is Guaranteed if the campaign's requests equal its limits.
const (
	// The probe runs next to OpenSearch during each measurement. A sample took 2.4 ms of CPU on a machine with 109 processes, and the
	// kernel grants probeCPU as 10 ms in each period of 100 ms. So a sample every second is not throttled.
	probeCPU = "100m"
	// A probe that had just started used 14 MiB of memory. The samples of six hours add 8 MiB, and Go's garbage collector may double them.
	probeMemory = "128Mi"

	// Init containers end before OpenSearch or the trial starts. Kubernetes reserves the larger of their requests and those of the other
	// containers. So these values reserve nothing beside a larger container, and they let a copy of files run faster.
	initCPU    = "500m"
	initMemory = "128Mi"
)

// probeResources returns the requests and limits of the probe.
func probeResources() corev1.ResourceRequirements { return guaranteed(probeCPU, probeMemory) }

// initResources returns the requests and limits of Knee's own init containers.
func initResources() corev1.ResourceRequirements { return guaranteed(initCPU, initMemory) }

func guaranteed(cpu, memory string) corev1.ResourceRequirements {
	list := func() corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	return corev1.ResourceRequirements{Requests: list(), Limits: list()}
}

// spreadOverZones returns constraints that spread the nodes of a cell evenly over at least as many zones as the topology
// requires. It returns nil if the topology requires no zones. Pods that cannot be spread stay pending, because nodes in fewer
// zones would give a different measurement.
func spreadOverZones(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) []corev1.TopologySpreadConstraint {
	zones := cell.Spec.Topology.Zones
	if zones == 0 {
		return nil
	}
	return []corev1.TopologySpreadConstraint{{
		TopologyKey:       plan.ZoneLabel,
		MaxSkew:           1,
		MinDomains:        ptr.To(zones),
		WhenUnsatisfiable: corev1.DoNotSchedule,
		NodeTaintsPolicy:  ptr.To(corev1.NodeInclusionPolicyHonor), // only zones with nodes whose taints the pods tolerate count
		LabelSelector:     &metav1.LabelSelector{MatchLabels: selector(c, cell, ComponentOpenSearch)},
	}}
}
