package netpol

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func pod(namespace, app, ip string, phase corev1.PodPhase) *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace, p.Name, p.Labels = namespace, app, map[string]string{"app": app}
	p.Status.PodIP, p.Status.Phase = ip, phase
	p.Spec.Containers = []corev1.Container{{Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 9200}}}}
	return p
}

func selector(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func TestCompile(t *testing.T) {
	port := func(p intstr.IntOrString) []networkingv1.NetworkPolicyPort {
		return []networkingv1.NetworkPolicyPort{{Port: &p}}
	}
	policy := &networkingv1.NetworkPolicy{}
	policy.Namespace = "a"
	policy.Spec = networkingv1.NetworkPolicySpec{
		PodSelector: *selector("search"),
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
		Ingress: []networkingv1.NetworkPolicyIngressRule{
			{From: []networkingv1.NetworkPolicyPeer{{PodSelector: selector("load")}}, Ports: port(intstr.FromString("http"))},
			{From: []networkingv1.NetworkPolicyPeer{{NamespaceSelector: selector("metrics")}}, Ports: port(intstr.FromInt32(9114))},
		},
		Egress: []networkingv1.NetworkPolicyEgressRule{
			{Ports: []networkingv1.NetworkPolicyPort{{Protocol: ptr.To(corev1.ProtocolUDP), Port: ptr.To(intstr.FromInt32(53)), EndPort: ptr.To[int32](54)}}},
			{To: []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "192.0.2.0/24", Except: []string{"192.0.2.128/25"}}}}},
		},
	}
	got := compile(world{
		nodeIP: "10.0.0.1",
		pods: []*corev1.Pod{
			pod("a", "search", "10.0.0.2", corev1.PodRunning), pod("a", "load", "10.0.0.3", corev1.PodRunning),
			pod("b", "load", "10.0.0.4", corev1.PodRunning), pod("c", "any", "10.0.0.5", corev1.PodRunning),
			pod("a", "load", "10.0.0.6", corev1.PodSucceeded), pod("a", "load", "", corev1.PodPending),
		},
		namespaces: map[string]labels.Set{"a": {}, "b": {}, "c": {"app": "metrics"}},
		policies:   []*networkingv1.NetworkPolicy{policy},
	})
	want := `*mangle
:KNEE-POLICY - [0:0]
:KNEE-POLICY-1 - [0:0]
:KNEE-POLICY-2 - [0:0]
-A KNEE-POLICY -m conntrack --ctstate ESTABLISHED,RELATED -j RETURN
-A KNEE-POLICY -d 10.0.0.2 -j KNEE-POLICY-1
-A KNEE-POLICY -s 10.0.0.2 -j KNEE-POLICY-2
-A KNEE-POLICY-1 -s 10.0.0.1 -j RETURN
-A KNEE-POLICY-1 -s 10.0.0.2 -j RETURN
-A KNEE-POLICY-1 -s 10.0.0.3 -p tcp --dport 9200 -j RETURN
-A KNEE-POLICY-1 -s 10.0.0.5 -p tcp --dport 9114 -j RETURN
-A KNEE-POLICY-1 -j DROP
-A KNEE-POLICY-2 -d 10.0.0.2 -j RETURN
-A KNEE-POLICY-2 -d 192.0.2.0/25 -j RETURN
-A KNEE-POLICY-2 -p udp --dport 53:54 -j RETURN
-A KNEE-POLICY-2 -j DROP
COMMIT
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestCompile_policyWithoutRules_dropsAll(t *testing.T) {
	policy := &networkingv1.NetworkPolicy{}
	policy.Namespace = "a"
	policy.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
	got := compile(world{nodeIP: "10.0.0.1", pods: []*corev1.Pod{pod("a", "x", "10.0.0.2", corev1.PodRunning)}, policies: []*networkingv1.NetworkPolicy{policy}})
	if strings.Count(got, "RETURN") != 3 || !strings.Contains(got, "-A KNEE-POLICY-1 -j DROP") {
		t.Error(got)
	}
	policy.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{}}
	got = compile(world{nodeIP: "10.0.0.1", pods: []*corev1.Pod{pod("a", "x", "10.0.0.2", corev1.PodRunning)}, policies: []*networkingv1.NetworkPolicy{policy}})
	if !strings.Contains(got, "-A KNEE-POLICY-1 -j RETURN") {
		t.Errorf("an empty rule lets everything through:\n%s", got)
	}
}

func TestIPBlockExceptions(t *testing.T) {
	for _, test := range []struct {
		block networkingv1.IPBlock
		want  []string
	}{
		{networkingv1.IPBlock{CIDR: "0.0.0.0/0"}, []string{"0.0.0.0/0"}},
		{networkingv1.IPBlock{CIDR: "10.0.0.0/30", Except: []string{"10.0.0.1/32"}}, []string{"10.0.0.0/32", "10.0.0.2/31"}},
		{networkingv1.IPBlock{CIDR: "10.0.0.0/30", Except: []string{"10.0.0.0/30"}}, nil},
		{networkingv1.IPBlock{CIDR: "2001:db8::/32"}, nil},
	} {
		var got []string
		for _, prefix := range without(&test.block) {
			got = append(got, prefix.String())
			if netip.MustParsePrefix(test.block.CIDR).Bits() > prefix.Bits() {
				t.Errorf("%s is wider than %s", prefix, test.block.CIDR)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v: %v, want %v", test.block, got, test.want)
		}
	}
}
