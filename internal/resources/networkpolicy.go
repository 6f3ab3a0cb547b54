package resources

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// dnsPorts are the ports of cluster DNS: 53, and 5353 for the DNS pods of OpenShift. The policy does not restrict the peer,
// because no selector matches the address of a node-local cache.
var dnsPorts = []int32{53, 5353}

// OpenSearchPolicy restricts access to the OpenSearch of a cell, because OpenSearch has no authentication unless
// opensearch.security is true. Only trials of the cell can reach its REST API and its probes. Only nodes of the cell can reach
// its transport. The nodes can reach only each other and DNS.
func OpenSearchPolicy(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) *networkingv1.NetworkPolicy {
	nodes, trials := peer(c, cell, ComponentOpenSearch), peer(c, cell, ComponentLoader)
	between := tcp(append([]int32{transportPort}, cell.Spec.Driver().NodePorts()...)...)
	return policy(c, cell, cell.Name, ComponentOpenSearch, networkingv1.NetworkPolicySpec{
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
		Ingress: []networkingv1.NetworkPolicyIngressRule{
			{From: trials, Ports: tcp(HTTPPort, record.ProbePort)},
			{From: nodes, Ports: between},
		},
		Egress: []networkingv1.NetworkPolicyEgressRule{
			{To: nodes, Ports: between},
			{Ports: dns()},
		},
	})
}

// LoaderPolicy denies access to the trials of a cell, because the processes of opensearch-benchmark listen on the pod's address
// without authentication. Only the cell's loader pods can reach the coordinator, which is one of them. Egress is not
// restricted, because workloads and their corpora may come from any address.
func LoaderPolicy(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) *networkingv1.NetworkPolicy {
	spec := networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}}
	if cell.Spec.PerPod > 0 {
		spec.Ingress = []networkingv1.NetworkPolicyIngressRule{
			{From: peer(c, cell, ComponentLoader), Ports: tcp(record.CoordinatorPort)},
		}
	}
	return policy(c, cell, cell.Name+"-loader", ComponentLoader, spec)
}

func policy(c *v1alpha1.BenchmarkCampaign, cell plan.Cell, name, component string, spec networkingv1.NetworkPolicySpec) *networkingv1.NetworkPolicy {
	m := meta(c, name, component, cell)
	m.OwnerReferences = nil // the garbage collector would delete the policy before the pods; the manager deletes it after the last pod
	spec.PodSelector = metav1.LabelSelector{MatchLabels: selector(c, cell, component)}
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: m,
		Spec:       spec,
	}
}

func peer(c *v1alpha1.BenchmarkCampaign, cell plan.Cell, component string) []networkingv1.NetworkPolicyPeer {
	return []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: selector(c, cell, component)}}}
}

func tcp(ports ...int32) []networkingv1.NetworkPolicyPort {
	var out []networkingv1.NetworkPolicyPort
	for _, p := range ports {
		out = append(out, networkingv1.NetworkPolicyPort{Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(intstr.FromInt32(p))})
	}
	return out
}

func dns() []networkingv1.NetworkPolicyPort {
	out := tcp(dnsPorts...)
	for _, p := range dnsPorts {
		out = append(out, networkingv1.NetworkPolicyPort{Protocol: ptr.To(corev1.ProtocolUDP), Port: ptr.To(intstr.FromInt32(p))})
	}
	return out
}
