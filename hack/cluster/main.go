// Command knee-cluster is a single-node Kubernetes in one static binary.
//
// Called by the name of a component (a symlink named kubelet, kubectl, ...) it
// is that component. Under its own name it starts and stops the cluster.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/knee-bench/knee/hack/cluster/internal/components"
	_ "sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

func main() {
	if run := components.Lookup(filepath.Base(os.Args[0])); run != nil {
		run()
		return
	}
	fmt.Println(components.Names())
}
