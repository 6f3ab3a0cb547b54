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

// OpenSearchClusterKind is that of the opensearch-k8s-operator, whose Go module cannot be imported: what of it is used is here. Its fields are
// the same in both groups.
const OpenSearchClusterKind = "OpenSearchCluster"

// openSearchOrg is the newer API group. Only here the volumes of nodes can have labels, and the volume of the bootstrap pod
// a storage class. Operators before 3.0 know the older group alone, and their bootstrap pod has no volume claim.
var openSearchOrg = schema.GroupVersion{Group: "opensearch.org", Version: "v1"}

// OpenSearchClusterGroups are the API groups that the operator's kind is or was in, the newer first.
var OpenSearchClusterGroups = []schema.GroupVersion{openSearchOrg, {Group: "opensearch.opster.io", Version: "v1"}}

// nodesComponent is the name of the one pool of nodes of an OpenSearchCluster; its pods are NAME-nodes-0 and so on.
const nodesComponent = "nodes"

// OperatedClaim is the name of the volume of a node of an OpenSearchCluster, with the labels of its pod or without.
func OperatedClaim(cluster string, node int32) string {
	return fmt.Sprintf("data-%s-%s-%d", cluster, nodesComponent, node)
}

// OperatedSecret is the name of the Secret that the operator makes for Dashboards, also where there is none, and leaves behind.
func OperatedSecret(cluster string) string { return cluster + "-dashboards-password" }

// LeavesSecret reports whether operators of a group make that Secret: those before 3.0, which know the older group alone, do
// not.
func LeavesSecret(of schema.GroupVersion) bool { return of == openSearchOrg }

// livenessFailures keeps the operator's liveness probe, which cannot be turned off, from restarting a node that is
// saturated: at 20 s each, an hour.
const livenessFailures = 180

// OperatedNodesMin is the lowest number of nodes that the operator bootstraps: its bootstrap pod is a voter until it is
// deleted, and fewer nodes may be left without a majority.
const OperatedNodesMin = 3

// OpenSearchCluster returns a cell's OpenSearch as an object of the opensearch-k8s-operator in the group of. Every node is
// cluster manager and data node, as in Knee's own StatefulSet. The operator turns security on and makes the certificates
// and the password of admin. The field dashboards is left out: operators up to 2.8 require a version in it.
func OpenSearchCluster(c *v1alpha1.BenchmarkCampaign, cell plan.Cell, of schema.GroupVersion, on Placement, o Options, now time.Time) *unstructured.Unstructured {
	m := meta(c, cell.Name, ComponentOpenSearch, cell)
	pod := podMeta(m)
	m.Annotations[AnnotationSince] = now.UTC().Format(time.RFC3339)
	m.Annotations[AnnotationPlacement] = strconv.Itoa(int(max(on.Number, 1)))
	os := cell.Spec.OpenSearch
	general := map[string]any{
		"serviceName":        cell.Name,
		"setVMMaxMapCount":   len(sysctlInit(cell, o)) > 0,
		"drainDataNodes":     false,
		"additionalConfig":   clusterSettings(os),
		"podSecurityContext": operatedPodSecurity(),
		"securityContext":    operatedContainerSecurity(),
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
		"tolerations":  tolerations(cell.Spec.Pool.Tolerations),
		"affinity":     affinity,
		"labels":       pod.Labels,
		"annotations":  pod.Annotations,
		"probes":       map[string]any{"liveness": map[string]any{"failureThreshold": livenessFailures}},
	}
	if env := javaHome(os); env != nil {
		pool["env"] = env
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
		"nodeSelector": cell.Spec.Pool.NodeSelector, "tolerations": tolerations(cell.Spec.Pool.Tolerations), "jvm": javaOptions(os),
	}
	if of == openSearchOrg && os.Storage.StorageClassName != "" {
		bootstrap["storageClass"] = os.Storage.StorageClassName
	}
	spec := map[string]any{
		"general":   general,
		"nodePools": []any{pool},
		"bootstrap": bootstrap,
		"security": map[string]any{"tls": map[string]any{
			"transport": map[string]any{"generate": true, "perNode": true},
			"http":      map[string]any{"generate": true},
		}},
	}
	out := &unstructured.Unstructured{Object: plain(map[string]any{"metadata": m, "spec": spec})}
	out.SetGroupVersionKind(of.WithKind(OpenSearchClusterKind))
	return out
}

// operatedPodSecurity is the part of the restricted security context that every container of the operator's pods accepts.
// The user is not in it: the operator's own init containers must run as root.
func operatedPodSecurity() *corev1.PodSecurityContext {
	s := restrictedPod()
	s.RunAsNonRoot, s.RunAsUser, s.RunAsGroup = nil, nil, nil
	return s
}

// operatedContainerSecurity is the security context of OpenSearch's container, with the user.
func operatedContainerSecurity() *corev1.SecurityContext {
	s, pod := restrictedContainer(false), restrictedPod()
	s.RunAsNonRoot, s.RunAsUser, s.RunAsGroup = pod.RunAsNonRoot, pod.RunAsUser, pod.RunAsGroup
	return s
}

// clusterSettings are the campaign's lines of opensearch.yml.
func clusterSettings(os v1alpha1.OpenSearch) map[string]string {
	out := map[string]string{}
	for k, v := range os.Settings {
		out[k] = string(v)
	}
	return out
}

// plain gives typed values the shape of decoded JSON, without what is empty.
func plain(object map[string]any) map[string]any {
	b, err := json.Marshal(object)
	if err != nil {
		panic("resources: an object is plain data: " + err.Error())
	}
	var out map[string]any
	if err := json.Unmarshal(b, &out); err != nil {
		panic("resources: what was encoded can be decoded: " + err.Error())
	}
	return prune(out).(map[string]any)
}

// prune leaves out null, which an API server would refuse where it wants a list or an object.
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
			return int64(v) // an unstructured object has no other whole numbers
		}
	}
	return value
}

// OpenSearchClusterState is what an OpenSearchCluster's status tells.
type OpenSearchClusterState struct {
	Running bool   // bootstrapped, all nodes available, green, and no rolling restart is under way
	Nodes   int32  // nodes that are available
	Says    string // the status in words, for people; empty when Running
}

// ReadOpenSearchCluster reads an OpenSearchCluster's status. The operator writes phase RUNNING as soon as it has created
// the StatefulSet, and initialized before it deletes the bootstrap pod, so neither means that the cluster is complete.
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
		says = append(says, "it has no status yet: does the opensearch-k8s-operator run, and does it watch this namespace?")
	}
	s.Says = OpenSearchClusterKind + " " + o.GetName() + ": " + strings.Join(says, ", ")
	return s
}

// componentsOf returns what the operator says of its components, and whether one of them restarts the nodes.
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

// OperatedNodes returns how many nodes an OpenSearchCluster asks for.
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

// endpointOf is how trials reach a cell's cluster where that takes more than an address: the variant's endpoint, a secured
// cluster of Knee's own, or what the operator makes: a Service of the cell's name, a Secret of the user admin, one of the
// REST API's certificate. Nil: an open cluster of Knee's own, or the load needs no cluster.
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
