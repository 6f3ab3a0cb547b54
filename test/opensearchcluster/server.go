package opensearchcluster

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/config/crd"
	"github.com/knee-bench/knee/internal/scheme"
)

// StartServer starts a real API server with the CRD of campaigns. The environment variable KUBEBUILDER_ASSETS names the
// folder of its programs. The caller stops the server with stop.
func StartServer() (api client.Client, stop func() error, err error) {
	var campaigns apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(crd.BenchmarkCampaigns, &campaigns); err != nil {
		return nil, nil, err
	}
	env := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{&campaigns}}
	config, err := env.Start()
	if err != nil {
		return nil, nil, fmt.Errorf("start an API server (KUBEBUILDER_ASSETS names its programs): %w", err)
	}
	s := scheme.New()
	if err := apiextensionsv1.AddToScheme(s); err != nil {
		return nil, env.Stop, err
	}
	api, err = client.New(config, client.Options{Scheme: s})
	return api, env.Stop, err
}
