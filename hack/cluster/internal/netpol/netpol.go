// Package netpol enforces the cluster's NetworkPolicies with iptables. Traffic between pods crosses the bridge.
// br_netfilter passes the bridge's frames through the chain FORWARD. Traffic to the node itself (DNS, the API server)
// passes the chain INPUT.
//
// The rules are in the table mangle. kube-proxy does not use this table, and in it the address of a Service is already
// replaced by the address of a pod. The rules follow the pods in the API server. So no policy applies to a new pod
// until the API server has the pod's address. For the same reason, the first connection of a new pod may need a
// repeated SYN.
package netpol

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

const (
	chain = "KNEE-POLICY"
	// Enforced is the content of the outcome file if policies are enforced. Otherwise the file contains the reason.
	Enforced = "enforced"
	// settle is how long Run waits for further changes after a change.
	settle = 20 * time.Millisecond
)

// Run enforces policies until the context ends. It writes the outcome to the file. If the kernel cannot enforce
// policies, the cluster runs without them.
func Run(ctx context.Context, kubeconfig, nodeIP, file string) error {
	if err := hook(ctx); err != nil {
		klog.ErrorS(err, "NetworkPolicies are not enforced")
		if err := state.WriteFile(file, fmt.Appendf(nil, "not enforced: %v\n", err), 0o644); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods, namespaces := factory.Core().V1().Pods(), factory.Core().V1().Namespaces()
	policies := factory.Networking().V1().NetworkPolicies()
	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default: // a notification is already pending
		}
	}
	for _, informer := range []cache.SharedIndexInformer{pods.Informer(), namespaces.Informer(), policies.Informer()} {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { notify() }, UpdateFunc: func(any, any) { notify() }, DeleteFunc: func(any) { notify() },
		})
		if err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	notify()
	for last := ""; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		time.Sleep(settle)
		w := world{nodeIP: nodeIP, namespaces: map[string]labels.Set{}}
		// The listers read from memory and return no errors.
		w.pods, _ = pods.Lister().List(labels.Everything())
		w.policies, _ = policies.Lister().List(labels.Everything())
		all, _ := namespaces.Lister().List(labels.Everything())
		for _, ns := range all {
			w.namespaces[ns.Name] = ns.Labels
		}
		rules := compile(w)
		if rules == last {
			continue
		}
		// iptables-restore replaces all rules in one step, so there is no moment without rules. After an error the
		// daemon ends, and the supervisor restarts it.
		if err := iptables(ctx, rules, "iptables-restore", "-w", "10", "--noflush"); err != nil {
			return err
		}
		if last == "" {
			if err := state.WriteFile(file, []byte(Enforced+"\n"), 0o644); err != nil {
				return err
			}
		}
		last = rules
	}
}

// hook makes the chain and inserts it into FORWARD and INPUT. It returns an error if the kernel lacks a feature.
func hook(ctx context.Context) error {
	// Test a rule of every kind that is used. The kernel rejects rules that it does not support.
	err := iptables(ctx, "*mangle\n:"+chain+"-TRY - [0:0]\n-A "+chain+"-TRY -p tcp --dport 1:2 -m conntrack --ctstate ESTABLISHED,RELATED -j DROP\n-F "+chain+
		"-TRY\n-X "+chain+"-TRY\nCOMMIT\n", "iptables-restore", "-w", "10", "--noflush")
	if err != nil {
		return err
	}
	if iptables(ctx, "", "iptables", "-w", "10", "-t", "mangle", "-S", chain) != nil {
		if err := iptables(ctx, "", "iptables", "-w", "10", "-t", "mangle", "-N", chain); err != nil {
			return err
		}
	}
	for _, builtin := range []string{"FORWARD", "INPUT"} {
		if iptables(ctx, "", "iptables", "-w", "10", "-t", "mangle", "-C", builtin, "-j", chain) == nil {
			continue
		}
		if err := iptables(ctx, "", "iptables", "-w", "10", "-t", "mangle", "-A", builtin, "-j", chain); err != nil {
			return err
		}
	}
	return nil
}

func iptables(ctx context.Context, input, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Stdin = strings.NewReader(input)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(string(out)))
	}
	return nil
}
