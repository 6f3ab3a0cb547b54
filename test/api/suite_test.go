// Package api tests the CRD on a real API server: which objects the server admits, which it refuses, and with which
// message.
package api

import (
	"fmt"
	"os"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

var (
	// server is a client of the API server that the tests share.
	server client.Client
	// environment runs the API server of server.
	environment *envtest.Environment
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	environment = &envtest.Environment{CRDDirectoryPaths: []string{"../../config/crd/bases"}, ErrorIfCRDPathMissing: true}
	config, err := environment.Start()
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot start the API server; set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver, or run make test: %v\n", err)
		return 1
	}
	defer func() {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "cannot stop the API server:", err)
		}
	}()
	server, err = client.New(config, client.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
