// Command knee-cluster is a single-node Kubernetes in one static binary.
//
// If it is called by the name of a component (a symlink named kubelet, kubectl, ...), it runs that component. Under its
// own name it starts and stops the cluster.
package main

import (
	"os"
	"path/filepath"

	"github.com/knee-bench/knee/hack/cluster/internal/cli"
	"github.com/knee-bench/knee/hack/cluster/internal/components"
)

func main() {
	name := filepath.Base(os.Args[0])
	if run := components.Lookup(name); run != nil {
		run()
		return
	}
	args := os.Args[1:]
	if name == "provisioner" || name == "network-policies" { // these daemons are not Kubernetes components
		args = append([]string{name}, args...)
	}
	os.Exit(cli.Run(args))
}
