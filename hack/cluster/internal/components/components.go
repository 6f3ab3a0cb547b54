// Package components holds the Kubernetes programs that knee-cluster contains. A call of knee-cluster by the name of a
// program runs that program.
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

	// The programs' own main packages import these packages for their side effects.
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

// keepCacheHere sets the folder in which kubectl caches data of an API server: .cache next to the folder of this
// program. Without this setting, kubectl would use the user's ~/.kube, and files would stay there after the cluster is
// removed. KUBECACHEDIR overrides the folder.
func keepCacheHere() {
	program, err := os.Executable()
	if err != nil || os.Getenv("KUBECACHEDIR") != "" {
		return
	}
	// An error does no harm: kubectl then uses its default folder.
	_ = os.Setenv("KUBECACHEDIR", filepath.Join(filepath.Dir(filepath.Dir(program)), ".cache", "kubectl"))
}

// cobraProgram creates the command only when the program is called, because a process needs only one of the commands.
func cobraProgram(command func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(command())) }
}

// Lookup returns the program with that name, or nil. The program reads os.Args itself.
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
