// Package kubernetes runs a real API server and Kubernetes' own controllers of StatefulSets, Jobs, volumes and garbage
// collection, for tests. Node replaces the scheduler and the kubelet.
package kubernetes

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/config/crd"
)

// Start starts the API server with the CRD of campaigns, and the controllers. stop ends them. The files of the run are
// written to dir.
func Start(dir string, log io.Writer) (config *rest.Config, stop func() error, err error) {
	var campaigns apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(crd.BenchmarkCampaigns, &campaigns); err != nil {
		return nil, nil, err
	}
	env := &envtest.Environment{CRDs: []*apiextensionsv1.CustomResourceDefinition{&campaigns}, ControlPlaneStartTimeout: 2 * time.Minute}
	config, err = env.Start()
	if err != nil {
		return nil, nil, err
	}
	stopControllers, err := StartControllers(env, dir, log)
	if err != nil {
		return nil, nil, errors.Join(err, env.Stop())
	}
	return config, func() error { return errors.Join(stopControllers(), env.Stop()) }, nil
}

// StartControllers starts the controllers for a running API server. stop ends them.
func StartControllers(env *envtest.Environment, dir string, log io.Writer) (stop func() error, err error) {
	user, err := env.AddUser(envtest.User{Name: "kcm", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		return nil, err
	}
	kcm := exec.CommandContext(context.Background(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kube-controller-manager"),
		"--kubeconfig="+path, "--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000",
		"--controllers=statefulset-controller,job-controller,garbage-collector-controller,disruption-controller,persistentvolumeclaim-protection-controller")
	kcm.Stdout, kcm.Stderr = log, log
	if err := kcm.Start(); err != nil {
		return nil, err
	}
	return func() error {
		err := kcm.Process.Kill()
		_ = kcm.Wait() // the error only reports that it was killed
		return err
	}, nil
}
