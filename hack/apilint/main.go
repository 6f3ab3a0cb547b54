// Command apilint checks the types of the API with kube-api-linter.
//
//	apilint ./api/...
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/analysis/multichecker"
	"sigs.k8s.io/kube-api-linter/pkg/plugin/base"
	_ "sigs.k8s.io/kube-api-linter/pkg/registration" // registers the checks
)

type values = map[string]any

// settings enables the default checks of kube-api-linter and two more. The disabled checks would require changes of the
// API or of Go types that programs import.
var settings = values{
	"linters": values{
		"enable": []string{"statusoptional", "statussubresource"},
		"disable": []string{
			"arrayofstruct",     // A matrix selector or a toleration without a field matches everything, as in Kubernetes.
			"nonpointerstructs", // The check is for APIs without CEL. Here workload and sweep are required, and CEL rules check their content.
			"nophase",           // status.cells[].phase is what `kubectl get` and people read. No code branches on it.
			"optionalfields",    // The check requires a pointer or a minLength for each optional string: "" would be refused or differ from unset.
			"requiredfields",    // The check requires a pointer or a minLength for each required string that CEL rules check.
		},
	},
	"lintersConfig": values{
		"conditions": values{"useProtobuf": "Forbid", "usePatchStrategy": "Forbid"},
		"defaults":   values{"preferredDefaultMarker": "kubebuilder:default"},
	},
}

func main() {
	plugin, err := base.New(settings)
	if err != nil {
		fail(err)
	}
	analyzers, err := plugin.BuildAnalyzers()
	if err != nil {
		fail(err)
	}
	multichecker.Main(analyzers...)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "apilint:", err)
	os.Exit(1)
}
