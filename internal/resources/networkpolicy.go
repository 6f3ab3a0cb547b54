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

// dnsPorts are where cluster DNS answers: 53, and 5353 where its pods do (OpenShift). To whom is left open, since a
// node's own cache has an address that no selector matches.
var dnsPorts = []int32{53, 5353}

// OpenSearchPolicy says who reaches the OpenSearch of a cell, which runs without authentication unless opensearch.security
// is on: only the cell's own trials reach its REST API and its probes, and only its own nodes its transport, and beyond them
// it reaches DNS alone.
func OpenSearchPolicy(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) *networkingv1.NetworkPolicy {
	nodes, trials := peer(c, cell, ComponentOpenSearch), peer(c, cell, ComponentLoader)
	return policy(c, cell, cell.Name, ComponentOpenSearch, networkingv1.NetworkPolicySpec{
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
		Ingress: []networkingv1.NetworkPolicyIngressRule{
			{From: trials, Ports: tcp(HTTPPort, record.ProbePort)},
			{From: nodes, Ports: tcp(transportPort)},
		},
		Egress: []networkingv1.NetworkPolicyEgressRule{
			{To: nodes, Ports: tcp(transportPort)},
			{Ports: dns()},
		},
	})
}

// LoaderPolicy lets nothing reach the trials of a cell: opensearch-benchmark's own processes listen on the pod's address
// without authentication. Where a trial may have several pods they reach the one that coordinates them. Where trials may
// go is left open, since workloads and their corpora come from anywhere.
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
	spec.PodSelector = metav1.LabelSelector{MatchLabels: selector(c, cell, component)}
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: meta(c, name, component, cell),
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
