// Package components holds the Kubernetes programs that knee-cluster can be
// called as: each is the program of its own name.
package components

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/coredns/coredns/coremain"
	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kubeproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	// What the programs' own main packages import for its side effects.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

var programs = map[string]func(){
	"coredns": coremain.Run,
	"etcd":    func() { etcdmain.Main(os.Args) },
	"kubectl": func() {
		keepCacheHere()
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			kubectlutil.CheckErr(err)
		}
	},
	"kube-apiserver":          cobraProgram(apiserver.NewAPIServerCommand),
	"kube-controller-manager": cobraProgram(controllermanager.NewControllerManagerCommand),
	"kube-proxy":              cobraProgram(kubeproxy.NewProxyCommand),
	"kube-scheduler":          cobraProgram(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kubelet":                 cobraProgram(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
}

// keepCacheHere has kubectl keep what it learns of an API server in .cache beside
// the folder that this program is in, rather than in the user's ~/.kube: a
// cluster that is taken down leaves nothing there. KUBECACHEDIR overrides it.
func keepCacheHere() {
	program, err := os.Executable()
	if err != nil || os.Getenv("KUBECACHEDIR") != "" {
		return
	}
	// Without a place of its own kubectl would still work.
	_ = os.Setenv("KUBECACHEDIR", filepath.Join(filepath.Dir(filepath.Dir(program)), ".cache", "kubectl"))
}

// cobraProgram defers the making of the command until the program is called:
// only one of them is needed in a process.
func cobraProgram(command func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(command())) }
}

// Lookup returns the program of that name, or nil. It reads os.Args itself.
func Lookup(name string) func() {
	return programs[name]
}

// Names lists the programs in alphabetical order.
func Names() []string {
	names := make([]string, 0, len(programs))
	for name := range programs {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
