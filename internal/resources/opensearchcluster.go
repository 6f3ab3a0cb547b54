package resources

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// OpenSearchClusterKind is the kind of the opensearch-k8s-operator. The Go module of the opensearch-k8s-operator cannot be imported, so
// this file writes the fields without Go types. The fields are the same in both API groups.
const OpenSearchClusterKind = "OpenSearchCluster"

// openSearchOrg is the newer API group. Only this group supports labels on the volumes of nodes, and a storage class for the volume of
// the bootstrap pod. Versions before 3.0 of the opensearch-k8s-operator serve only the older group, and their bootstrap pod has no volume
// claim.
var openSearchOrg = schema.GroupVersion{Group: "opensearch.org", Version: "v1"}

// OpenSearchClusterGroups lists the API groups of the kind OpenSearchCluster, the newer group first.
var OpenSearchClusterGroups = []schema.GroupVersion{openSearchOrg, {Group: "opensearch.opster.io", Version: "v1"}}

// nodesComponent is the name of the only node pool of an OpenSearchCluster. The pool's pods are NAME-nodes-0 and so on.
const nodesComponent = "nodes"

// OperatedClaim returns the name of the volume claim of a node of an OpenSearchCluster.
func OperatedClaim(cluster string, node int32) string {
	return fmt.Sprintf("data-%s-%s-%d", cluster, nodesComponent, node)
}

// OperatedSecret returns the name of the Secret that the opensearch-k8s-operator creates for OpenSearch Dashboards and does not delete.
// It creates the Secret even if Dashboards is off.
func OperatedSecret(cluster string) string { return cluster + "-dashboards-password" }

// LeavesSecret reports whether versions of the opensearch-k8s-operator that serve this API group create the Secret of OperatedSecret.
// Versions before 3.0 serve only the older group, and do not create this Secret.
func LeavesSecret(of schema.GroupVersion) bool { return of == openSearchOrg }

// livenessFailures is how often the liveness probe of the opensearch-k8s-operator may fail before the pod restarts. The probe runs every
// 20 s, so 180 failures take an hour. The probe cannot be turned off, and it must not restart a saturated node.
const livenessFailures = 180

// OperatedNodesMin is the lowest number of nodes with which the opensearch-k8s-operator can start a cluster. Its bootstrap pod votes
// until this pod is deleted. With fewer nodes, the remaining nodes may have no majority after the deletion.
const OperatedNodesMin = 3

// OpenSearchCluster returns a cell's OpenSearch as an OpenSearchCluster of the given API group. Every node is cluster manager and data
// node, as in Knee's own StatefulSet. The opensearch-k8s-operator switches security on, and creates the certificates and the password of
// the user admin. The field dashboards is not set, because versions up to 2.8 of the opensearch-k8s-operator require a version in it.
func OpenSearchCluster(c *v1alpha1.BenchmarkCampaign, cell plan.Cell, of schema.GroupVersion, on Placement, o Options, now time.Time) *unstructured.Unstructured {
	m := meta(c, cell.Name, ComponentOpenSearch, cell)
	pod := podMeta(m)
	template := templateMeta(pod, cell.OpenSearchPod)
	m.Annotations[AnnotationSince] = now.UTC().Format(time.RFC3339)
	m.Annotations[AnnotationPlacement] = strconv.Itoa(int(on.Number))
	os := cell.Spec.OpenSearch
	general := map[string]any{
		"serviceName":        cell.Name,
		"setVMMaxMapCount":   len(sysctlInit(cell, o)) > 0,
		"drainDataNodes":     false,
		"additionalConfig":   clusterSettings(os),
		"podSecurityContext": operatedPodSecurity(o),
		"securityContext":    operatedContainerSecurity(o),
	}
	if os.Version != "" {
		general["version"] = os.Version
	}
	if os.Image != "" {
		general["image"] = os.Image
	}
	affinity := awayFrom(Dedicated(cell), ComponentOpenSearch, ComponentLoader)
	affinity.NodeAffinity = awayFromNodes(on.Avoid)
	pool := map[string]any{
		"component":    nodesComponent,
		"replicas":     cell.Spec.Topology.Nodes,
		"roles":        []string{"cluster_manager", "data"},
		"jvm":          javaOptions(os),
		"resources":    requirements(os.Resources),
		"nodeSelector": cell.Spec.Pool.NodeSelector,
		"tolerations":  poolTolerations(cell.Spec.Pool),
		"affinity":     affinity,
		"labels":       template.Labels,
		"annotations":  template.Annotations,
		"probes":       map[string]any{"liveness": map[string]any{"failureThreshold": livenessFailures}},
	}
	if env := append(javaHome(os), templateEnv(cell.OpenSearchPod)...); len(env) > 0 {
		pool["env"] = env
	}
	if spread := spreadConstraints(cell.OpenSearchPod, selector(c, cell, ComponentOpenSearch)); spread != nil {
		pool["topologySpreadConstraints"] = spread
	}
	if class := cell.OpenSearchPod.PriorityClassName; class != "" {
		pool["priorityClassName"] = class
	}
	if secrets := imagePullSecrets(cell.OpenSearchPod); secrets != nil {
		general["imagePullSecrets"] = secrets
	}
	if os.Storage.Size != "" {
		pvc := map[string]any{"accessModes": []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}
		if of == openSearchOrg {
			pvc["labels"], pvc["annotations"] = pod.Labels, pod.Annotations
		}
		if os.Storage.StorageClassName != "" {
			pvc["storageClass"] = os.Storage.StorageClassName
		}
		pool["diskSize"], pool["persistence"] = string(os.Storage.Size), map[string]any{"pvc": pvc}
	} else {
		pool["persistence"] = map[string]any{"emptyDir": map[string]any{}}
	}
	bootstrap := map[string]any{
		"nodeSelector": cell.Spec.Pool.NodeSelector, "tolerations": poolTolerations(cell.Spec.Pool), "jvm": javaOptions(os),
	}
	if of == openSearchOrg && os.Storage.StorageClassName != "" {
		bootstrap["storageClass"] = os.Storage.StorageClassName
	}
	spec := map[string]any{
		"general":    general,
		"nodePools":  []any{pool},
		"bootstrap":  bootstrap,
		"initHelper": map[string]any{"resources": initResources()}, // without them, the pods of the nodes are not Guaranteed
		"security": map[string]any{"tls": map[string]any{
			"transport": map[string]any{"generate": true, "perNode": true},
			"http":      map[string]any{"generate": true},
		}},
	}
	out := &unstructured.Unstructured{Object: plain(map[string]any{"metadata": m, "spec": spec})}
	out.SetGroupVersionKind(of.WithKind(OpenSearchClusterKind))
	return out
}

// operatedPodSecurity returns the part of the restricted security context that every container of an OpenSearchCluster's pods accepts. It
// does not set the user, because the init containers of the opensearch-k8s-operator must run as root.
func operatedPodSecurity(o Options) *corev1.PodSecurityContext {
	s := restrictedPod(o)
	s.RunAsNonRoot, s.RunAsUser, s.RunAsGroup = nil, nil, nil
	return s
}

// operatedContainerSecurity returns the security context of OpenSearch's container, including the user.
func operatedContainerSecurity(o Options) *corev1.SecurityContext {
	s, pod := restrictedContainer(false), restrictedPod(o)
	s.RunAsNonRoot, s.RunAsUser, s.RunAsGroup = pod.RunAsNonRoot, pod.RunAsUser, pod.RunAsGroup
	return s
}

// clusterSettings returns the campaign's lines of opensearch.yml.
func clusterSettings(os v1alpha1.OpenSearch) map[string]string {
	out := map[string]string{}
	for k, v := range os.Settings {
		out[k] = string(v)
	}
	return out
}

// plain converts typed values to decoded JSON, without null values.
func plain(object map[string]any) map[string]any {
	b, err := json.Marshal(object)
	if err != nil {
		panic("resources: cannot encode an object as JSON: " + err.Error())
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		panic("resources: cannot decode the encoded object: " + err.Error())
	}
	return prune(out).(map[string]any)
}

// prune removes null values, because the API server refuses null for a list or an object.
func prune(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k, inner := range v {
			if inner == nil {
				delete(v, k)
				continue
			}
			v[k] = prune(inner)
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v) // unstructured objects store integers only as int64
		}
	}
	return value
}

// OpenSearchClusterState is the state of an OpenSearchCluster, read from its status.
type OpenSearchClusterState struct {
	Running bool   // bootstrapped, all nodes available, green, and no rolling restart in progress
	Nodes   int32  // nodes that are available
	Says    string // the status as text for users; empty if Running
}

// ReadOpenSearchCluster reads an OpenSearchCluster's status. Neither the phase RUNNING nor the field initialized means that the cluster
// is complete. The opensearch-k8s-operator writes RUNNING as soon as it has created the StatefulSet, and initialized before it deletes
// the bootstrap pod.
func ReadOpenSearchCluster(o *unstructured.Unstructured) OpenSearchClusterState {
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	health, _, _ := unstructured.NestedString(o.Object, "status", "health")
	initialized, _, _ := unstructured.NestedBool(o.Object, "status", "initialized")
	available, counted, _ := unstructured.NestedInt64(o.Object, "status", "availableNodes")
	want := OperatedNodes(o)
	components, restarting := componentsOf(o)
	s := OpenSearchClusterState{Nodes: int32(available)}
	s.Running = initialized && phase == "RUNNING" && health == "green" && s.Nodes == want && !restarting
	if s.Running {
		return s
	}
	var says []string
	for _, fact := range []struct{ name, value string }{{"phase", phase}, {"health", health}} {
		if fact.value != "" {
			says = append(says, fact.name+" "+fact.value)
		}
	}
	if len(says) > 0 && !initialized {
		says = append(says, "not initialized yet")
	}
	if counted && s.Nodes != want {
		says = append(says, fmt.Sprintf("%d of %d nodes available", s.Nodes, want))
	}
	says = append(says, components...)
	if len(says) == 0 {
		says = append(says, "it has no status yet: check that the opensearch-k8s-operator runs and watches this namespace")
	}
	s.Says = OpenSearchClusterKind + " " + o.GetName() + ": " + strings.Join(says, ", ")
	return s
}

// componentsOf returns the status of the OpenSearchCluster's components as texts. It also reports whether a rolling restart is in
// progress.
func componentsOf(o *unstructured.Unstructured) (says []string, restarting bool) {
	components, _, _ := unstructured.NestedSlice(o.Object, "status", "componentsStatus")
	for _, component := range components {
		fields, _ := component.(map[string]any)
		name, _, _ := unstructured.NestedString(fields, "component")
		status, _, _ := unstructured.NestedString(fields, "status")
		description, _, _ := unstructured.NestedString(fields, "description")
		says = append(says, strings.TrimSpace(name+" "+status+" "+description))
		restarting = restarting || name == "RollingRestart" && status == "InProgress"
	}
	return says, restarting
}

// OperatedNodes returns how many nodes an OpenSearchCluster requests.
func OperatedNodes(o *unstructured.Unstructured) int32 {
	pools, _, _ := unstructured.NestedSlice(o.Object, "spec", "nodePools")
	nodes := int64(0)
	for _, pool := range pools {
		fields, _ := pool.(map[string]any)
		n, _, _ := unstructured.NestedInt64(fields, "replicas")
		nodes += n
	}
	return int32(nodes)
}

// endpointOf returns how trials reach a cell's cluster, if an address is not enough. There are three such cases: the variant's endpoint,
// a secured cluster that Knee runs itself, and a cluster of the opensearch-k8s-operator. The opensearch-k8s-operator creates a Service
// with the cell's name, a Secret with the user admin, and a Secret with the certificate of the REST API. nil means an unsecured cluster
// that Knee runs itself, or no cluster.
func endpointOf(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) *plan.Endpoint {
	switch {
	case cell.Secured():
		return securedEndpoint(c, cell)
	case !cell.Operated():
		return cell.Spec.Endpoint
	}
	return &plan.Endpoint{
		URL: fmt.Sprintf("https://%s.%s.svc:%d", cell.Name, c.Namespace, HTTPPort),
		Access: v1alpha1.Endpoint{
			CredentialsSecret: cell.Name + "-admin-password", CASecret: cell.Name + "-http-cert", AllowIndexDeletion: ptr.To(true),
		},
	}
}
