package resources_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// pod holds the fields of a pod that a NetworkPolicy uses.
type pod struct {
	namespace string
	labels    labels.Set
}

// allowed evaluates policies as networking.k8s.io/v1 defines them, for the features that Knee's policies use. If no
// policy of a direction selects a pod, all traffic in this direction is allowed. Otherwise a rule of one of the
// selecting policies must allow the traffic.
func allowed(t *testing.T, policies []*networkingv1.NetworkPolicy, from, to pod, protocol corev1.Protocol, port int32) bool {
	t.Helper()
	egress, ingress := verdict{}, verdict{}
	for _, p := range policies {
		for _, kind := range p.Spec.PolicyTypes {
			switch {
			case kind == networkingv1.PolicyTypeEgress && selects(t, p, from):
				egress.selected = true
				for _, rule := range p.Spec.Egress {
					egress.allows(peers(t, p, rule.To, to) && ports(t, rule.Ports, protocol, port))
				}
			case kind == networkingv1.PolicyTypeIngress && selects(t, p, to):
				ingress.selected = true
				for _, rule := range p.Spec.Ingress {
					ingress.allows(peers(t, p, rule.From, from) && ports(t, rule.Ports, protocol, port))
				}
			}
		}
	}
	return egress.passes() && ingress.passes()
}

type verdict struct{ selected, allowed bool }

func (v *verdict) allows(rule bool) { v.allowed = v.allowed || rule }
func (v verdict) passes() bool      { return !v.selected || v.allowed }

func selects(t *testing.T, p *networkingv1.NetworkPolicy, of pod) bool {
	return p.Namespace == of.namespace && matches(t, &p.Spec.PodSelector, of)
}

func peers(t *testing.T, p *networkingv1.NetworkPolicy, list []networkingv1.NetworkPolicyPeer, other pod) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(peer networkingv1.NetworkPolicyPeer) bool {
		if peer.IPBlock != nil || peer.NamespaceSelector != nil || peer.PodSelector == nil {
			t.Fatalf("policy %s: this test knows peers by podSelector only", p.Name)
		}
		return p.Namespace == other.namespace && matches(t, peer.PodSelector, other)
	})
}

func ports(t *testing.T, list []networkingv1.NetworkPolicyPort, protocol corev1.Protocol, port int32) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(p networkingv1.NetworkPolicyPort) bool {
		if p.EndPort != nil || p.Port.StrVal != "" {
			t.Fatal("this test knows single ports by number only")
		}
		return *p.Protocol == protocol && p.Port.IntVal == port
	})
}

func matches(t *testing.T, s *metav1.LabelSelector, of pod) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		t.Fatal(err)
	}
	return selector.Matches(of.labels)
}

// cellPods returns the policies of a cell and its two kinds of pods, as Knee creates them.
func cellPods(t *testing.T, c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell) (policies []*networkingv1.NetworkPolicy, openSearch, trial pod) {
	t.Helper()
	sts := resources.StatefulSet(c, cell, resources.Placement{Number: 1}, options, time.Minute, now)
	job, err := resources.Job(c, p, cell, attemptOf(cell, record.Sweep), resources.Running{}, options)
	if err != nil {
		t.Fatal(err)
	}
	return []*networkingv1.NetworkPolicy{resources.OpenSearchPolicy(c, cell), resources.LoaderPolicy(c, cell)},
		pod{sts.Namespace, sts.Spec.Template.Labels}, pod{job.Namespace, job.Spec.Template.Labels}
}

func TestNetworkPolicies(t *testing.T) {
	mine := wrappers.MakeCampaign("mine").Variant("a").Variant("b").UID("uid-1")
	other := wrappers.MakeCampaign("other").Variant("a").UID("uid-2")
	planned, otherPlanned := plan.Build(mine.Obj()), plan.Build(other.Obj())
	policies, openSearch, trial := cellPods(t, mine.Obj(), planned, planned.Cells[0])
	more, secondOpenSearch, secondTrial := cellPods(t, mine.Obj(), planned, planned.Cells[1])
	policies = append(policies, more...)
	more, otherOpenSearch, otherTrial := cellPods(t, other.Obj(), otherPlanned, otherPlanned.Cells[0])
	policies = append(policies, more...)
	elsewhere := pod{"elsewhere", trial.labels} // another namespace, with labels that imitate those of a trial
	stranger := pod{trial.namespace, labels.Set{"app": "web"}}
	dnsServer := pod{"kube-system", labels.Set{"k8s-app": "kube-dns"}}

	for _, tc := range []struct {
		why      string
		from, to pod
		port     int32
		want     bool
	}{
		{"a trial loads its cell's OpenSearch", trial, openSearch, resources.HTTPPort, true},
		{"a trial reads its cell's probes", trial, openSearch, record.ProbePort, true},
		{"a trial is not a node", trial, openSearch, 9300, false},
		{"nodes form a cluster", openSearch, openSearch, 9300, true},
		{"nodes have no stream transport", openSearch, openSearch, 9400, false},
		{"nodes need no REST API of each other", openSearch, openSearch, resources.HTTPPort, false},
		{"another cell's trial", secondTrial, openSearch, resources.HTTPPort, false},
		{"another cell's nodes", secondOpenSearch, openSearch, 9300, false},
		{"another campaign's trial", otherTrial, openSearch, resources.HTTPPort, false},
		{"another campaign's probe reader", otherTrial, openSearch, record.ProbePort, false},
		{"another campaign's nodes", otherOpenSearch, openSearch, 9300, false},
		{"a stranger of the namespace", stranger, openSearch, resources.HTTPPort, false},
		{"another namespace with the same labels", elsewhere, openSearch, resources.HTTPPort, false},
		{"OpenSearch asks for names", openSearch, dnsServer, 53, true},
		{"OpenSearch goes nowhere else", openSearch, dnsServer, 443, false},
		{"OpenSearch does not call strangers", openSearch, stranger, 8080, false},
		{"OpenSearch does not reach trials", openSearch, trial, 1900, false},
		{"a stranger does not reach opensearch-benchmark's own processes", stranger, trial, 1900, false},
		{"nor does another trial", secondTrial, trial, 1900, false},
		{"a trial asks for names", trial, dnsServer, 53, true},
		{"a trial downloads its workload", trial, stranger, 443, true},
	} {
		if got := allowed(t, policies, tc.from, tc.to, corev1.ProtocolTCP, tc.port); got != tc.want {
			t.Errorf("%s: port %d: allowed is %v, want %v", tc.why, tc.port, got, tc.want)
		}
	}
	if !allowed(t, policies, openSearch, dnsServer, corev1.ProtocolUDP, 53) {
		t.Error("OpenSearch must ask for names over UDP")
	}
	if !allowed(t, nil, stranger, openSearch, corev1.ProtocolTCP, resources.HTTPPort) {
		t.Error("without policies everything is open: the evaluation above would prove nothing")
	}
}

func TestOpenSearchPolicy_streamDriver_opensArrowFlight(t *testing.T) {
	c := wrappers.MakeCampaign("stream").Variant("a").Topology("2n", 0).Stream(nil).UID("uid-1")
	planned := plan.Build(c.Obj())
	policies, openSearch, trial := cellPods(t, c.Obj(), planned, planned.Cells[0])
	for port, want := range map[int32]bool{9300: true, 9400: true, 9401: false} {
		if got := allowed(t, policies, openSearch, openSearch, corev1.ProtocolTCP, port); got != want {
			t.Errorf("between nodes, port %d: allowed is %v, want %v", port, got, want)
		}
		if allowed(t, policies, trial, openSearch, corev1.ProtocolTCP, port) {
			t.Errorf("from a trial, port %d is allowed", port)
		}
	}
}
