package netpol

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// world holds the objects that determine the rules.
type world struct {
	nodeIP     string
	pods       []*corev1.Pod
	namespaces map[string]labels.Set
	policies   []*networkingv1.NetworkPolicy
}

// compile returns the policies as input of iptables-restore. A pod that no policy selects gets no rule. Policies apply
// only to the first packet of a connection: an established connection continues if a policy changes.
func compile(w world) string {
	var hooks, rules strings.Builder
	chains := []string{chain}
	for _, pod := range w.addressable() {
		for _, direction := range []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress} {
			policies := w.selecting(pod, direction)
			if len(policies) == 0 {
				continue
			}
			name := fmt.Sprintf("%s-%d", chain, len(chains))
			chains = append(chains, name)
			own, other := "-d", "-s"
			if direction == networkingv1.PolicyTypeEgress {
				own, other = "-s", "-d"
			}
			fmt.Fprintf(&hooks, "-A %s %s %s -j %s\n", chain, own, pod.Status.PodIP, name)
			allowed := []string{fmt.Sprintf("%s %s", other, pod.Status.PodIP)} // the pod itself, through a Service
			if direction == networkingv1.PolicyTypeIngress {
				allowed = append(allowed, fmt.Sprintf("%s %s", other, w.nodeIP))
			}
			for _, policy := range policies {
				allowed = append(allowed, w.allowed(pod, policy, direction, other)...)
			}
			slices.Sort(allowed)
			for _, match := range slices.Compact(allowed) {
				fmt.Fprintf(&rules, "-A %s %s\n", name, strings.TrimSpace(match+" -j RETURN"))
			}
			fmt.Fprintf(&rules, "-A %s -j DROP\n", name)
		}
	}
	var b strings.Builder
	b.WriteString("*mangle\n")
	for _, name := range chains {
		fmt.Fprintf(&b, ":%s - [0:0]\n", name) // this also empties an existing chain
	}
	fmt.Fprintf(&b, "-A %s -m conntrack --ctstate ESTABLISHED,RELATED -j RETURN\n%s%sCOMMIT\n", chain, hooks.String(), rules.String())
	return b.String()
}

// addressable returns the pods that have their own address, sorted by address. Ended pods are left out, because a new
// pod may get their address.
func (w world) addressable() []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range w.pods {
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if pod.Status.PodIP != "" && !pod.Spec.HostNetwork && !ended {
			out = append(out, pod)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int { return strings.Compare(a.Status.PodIP, b.Status.PodIP) })
	return out
}

// selecting returns the policies that apply to a pod in a direction.
func (w world) selecting(pod *corev1.Pod, direction networkingv1.PolicyType) []*networkingv1.NetworkPolicy {
	var out []*networkingv1.NetworkPolicy
	for _, policy := range w.policies {
		// policyTypes is always set: the API server has a default.
		if policy.Namespace == pod.Namespace && slices.Contains(policy.Spec.PolicyTypes, direction) && matches(&policy.Spec.PodSelector, pod.Labels) {
			out = append(out, policy)
		}
	}
	return out
}

// matches reports whether a selector selects the labels. The API server has already validated the selector.
func matches(selector *metav1.LabelSelector, set labels.Set) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(set)
}

// end is a possible other end of a connection: a pod, or a range of addresses.
type end struct {
	match string      // iptables match of the address; empty: any address
	pod   *corev1.Pod // nil: not a pod
}

// allowed returns the iptables matches for the connections that a policy allows to or from a pod. flag is the iptables
// flag for the address of the other end.
func (w world) allowed(pod *corev1.Pod, policy *networkingv1.NetworkPolicy, direction networkingv1.PolicyType, flag string) []string {
	var out []string
	add := func(peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort) {
		for _, other := range w.ends(policy.Namespace, peers, flag) {
			destination := pod
			if direction == networkingv1.PolicyTypeEgress {
				destination = other.pod
			}
			for _, port := range portMatches(ports, destination) {
				out = append(out, strings.TrimSpace(other.match+" "+port))
			}
		}
	}
	if direction == networkingv1.PolicyTypeIngress {
		for _, rule := range policy.Spec.Ingress {
			add(rule.From, rule.Ports)
		}
		return out
	}
	for _, rule := range policy.Spec.Egress {
		add(rule.To, rule.Ports)
	}
	return out
}

func (w world) ends(namespace string, peers []networkingv1.NetworkPolicyPeer, flag string) []end {
	if len(peers) == 0 {
		return []end{{}}
	}
	var out []end
	for _, peer := range peers {
		if peer.IPBlock != nil {
			for _, prefix := range without(peer.IPBlock) {
				out = append(out, end{match: flag + " " + prefix.String()})
			}
			continue
		}
		for _, pod := range w.addressable() {
			inNamespace := pod.Namespace == namespace
			if peer.NamespaceSelector != nil {
				inNamespace = matches(peer.NamespaceSelector, w.namespaces[pod.Namespace])
			}
			if inNamespace && (peer.PodSelector == nil || matches(peer.PodSelector, pod.Labels)) {
				out = append(out, end{match: flag + " " + pod.Status.PodIP, pod: pod})
			}
		}
	}
	return out
}

// without returns the IPv4 prefixes of a block, without its exceptions.
func without(block *networkingv1.IPBlock) []netip.Prefix {
	var split func(netip.Prefix, []netip.Prefix) []netip.Prefix
	split = func(p netip.Prefix, except []netip.Prefix) []netip.Prefix {
		for _, e := range except {
			if e.Bits() <= p.Bits() && e.Contains(p.Addr()) {
				return nil
			}
		}
		if !slices.ContainsFunc(except, p.Overlaps) {
			return []netip.Prefix{p}
		}
		low := netip.PrefixFrom(p.Addr(), p.Bits()+1)
		bytes := p.Addr().As4()
		bytes[p.Bits()/8] |= 0x80 >> (p.Bits() % 8)
		high := netip.PrefixFrom(netip.AddrFrom4(bytes), p.Bits()+1)
		return append(split(low, except), split(high, except)...)
	}
	whole, err := netip.ParsePrefix(block.CIDR)
	if err != nil || !whole.Addr().Is4() {
		return nil // the cluster supports only IPv4
	}
	var except []netip.Prefix
	for _, text := range block.Except {
		if e, err := netip.ParsePrefix(text); err == nil {
			except = append(except, e.Masked())
		}
	}
	return split(whole.Masked(), except)
}

// portMatches returns the iptables matches for ports. A named port is the port with this name in the destination pod.
// If the destination is not a pod, a named port matches nothing.
func portMatches(ports []networkingv1.NetworkPolicyPort, destination *corev1.Pod) []string {
	if len(ports) == 0 {
		return []string{""}
	}
	var out []string
	for _, port := range ports {
		protocol := corev1.ProtocolTCP
		if port.Protocol != nil {
			protocol = *port.Protocol
		}
		match := "-p " + strings.ToLower(string(protocol))
		switch {
		case port.Port == nil:
		case port.Port.Type == intstr.String:
			number := namedPort(destination, protocol, port.Port.StrVal)
			if number == 0 {
				continue
			}
			match += fmt.Sprintf(" --dport %d", number)
		case port.EndPort != nil:
			match += fmt.Sprintf(" --dport %d:%d", port.Port.IntVal, *port.EndPort)
		default:
			match += fmt.Sprintf(" --dport %d", port.Port.IntVal)
		}
		out = append(out, match)
	}
	return out
}

func namedPort(pod *corev1.Pod, protocol corev1.Protocol, name string) int32 {
	if pod == nil {
		return 0
	}
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, port := range container.Ports {
			if port.Name == name && cmp.Or(port.Protocol, corev1.ProtocolTCP) == protocol {
				return port.ContainerPort
			}
		}
	}
	return 0
}
