package supervisor

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/knee-bench/knee/hack/cluster/internal/control"
	"github.com/knee-bench/knee/hack/cluster/internal/image"
	"github.com/knee-bench/knee/hack/cluster/internal/state"
)

// start starts the daemons in the order of their dependencies. It returns when the cluster is ready for pods.
func (s *supervisor) start(ctx context.Context, pause []byte) error {
	config, err := clientcmd.BuildConfigFromFlags("", state.Inside.Path("etc", "admin.kubeconfig"))
	if err != nil {
		return err
	}
	config.QPS = -1 // no limit: the checks poll; the API server has its own limits
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}

	// Start these three daemons first, because they take the longest. A daemon that needs another one waits for it.
	s.keep(etcd, apiserver, containerd)
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.startRuntime(groupCtx, pause) })
	group.Go(func() error { return s.startControlPlane(groupCtx, client, objects) })
	if err := group.Wait(); err != nil {
		return err
	}
	return s.startNode(ctx, client)
}

func (s *supervisor) keep(names ...string) {
	for _, name := range names {
		// Do not use the context of the start: it ends when the start is complete.
		s.daemons[name].keep(context.Background())
	}
}

// startRuntime waits for containerd and imports the image of the pod sandboxes.
func (s *supervisor) startRuntime(ctx context.Context, pause []byte) error {
	err := s.daemons[containerd].waitReady(ctx, func(ctx context.Context) error {
		return dialable(ctx, "unix", state.Inside.Containerd())
	})
	if err != nil {
		return err
	}
	s.event(control.Starting, "containerd runs")
	return s.importPause(ctx, pause)
}

func (s *supervisor) importPause(ctx context.Context, pause []byte) error {
	program, archive := state.Inside.Path("etc", "pause"), state.Inside.Path("etc", "pause.tar")
	stamp := state.Inside.Path("etc", "pause.imported")
	digest := fmt.Sprintf("%x", sha256.Sum256(pause))
	if imported, err := os.ReadFile(stamp); err == nil && string(imported) == digest {
		return nil
	}
	if err := state.WriteFile(program, pause, 0o755); err != nil {
		return err
	}
	file, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	spec := image.Spec{Ref: PauseImage, Files: map[string]string{"/pause": program}, Entrypoint: []string{"/pause"}}
	if err := image.Pack(file, spec); err != nil {
		return err
	}
	ctr, err := exec.LookPath("ctr") // comes with the package containerd
	if err != nil {
		return err
	}
	if _, err := s.reaper.runOnce(ctx, ctr, "ctr", "-a", state.Inside.Containerd(), "-n", "k8s.io", "images", "import", archive); err != nil {
		return fmt.Errorf("importing the pause image: %w", err)
	}
	return state.WriteFile(stamp, []byte(digest), 0o644)
}

// startControlPlane waits for the API server and starts the daemons that need only the API server.
func (s *supervisor) startControlPlane(ctx context.Context, client kubernetes.Interface, objects dynamic.Interface) error {
	if err := s.daemons[etcd].waitReady(ctx, etcdHealthy); err != nil {
		return err
	}
	s.event(control.Starting, "etcd runs")
	if err := s.daemons[apiserver].waitReady(ctx, func(ctx context.Context) error { return apiReady(ctx, client) }); err != nil {
		return err
	}
	s.event(control.Starting, "the API server is ready on the host's 127.0.0.1:%d", s.config.APIPort)
	s.keep(controllerManager, scheduler)
	// The objects include the roles of provision and networkPolicies.
	if err := s.daemons[apiserver].waitReady(ctx, func(ctx context.Context) error { return applyObjects(ctx, objects) }); err != nil {
		return err
	}
	s.keep(coredns, provision, networkPolicies)
	return s.daemons[networkPolicies].waitReady(ctx, func(context.Context) error {
		outcome, err := os.ReadFile(state.Inside.Policies())
		if err == nil {
			s.event(control.Starting, "network policies are %s", strings.TrimSpace(string(outcome)))
		}
		return err
	})
}

// startNode starts the node. It waits until a pod can be scheduled to the node, resolve names, and reach a Service.
func (s *supervisor) startNode(ctx context.Context, client kubernetes.Interface) error {
	s.keep(kubelet)
	if err := s.daemons[kubelet].waitReady(ctx, func(ctx context.Context) error { return nodeExists(ctx, client, s.config.Name) }); err != nil {
		return err
	}
	// Start kube-proxy after the node exists: if kube-proxy does not find the node, it tries again only after a pause.
	s.keep(kubeProxy)
	if err := s.daemons[kubelet].waitReady(ctx, func(ctx context.Context) error { return nodeReady(ctx, client, s.config.Name, s.began) }); err != nil {
		return err
	}
	s.event(control.Starting, "node %s is ready", s.config.Name)
	for _, step := range []struct {
		daemon string
		check  func(context.Context) error
	}{
		{controllerManager, func(ctx context.Context) error { return serviceAccountExists(ctx, client) }},
		{coredns, dnsAnswers},
		{kubeProxy, func(ctx context.Context) error { return dialable(ctx, "tcp", net.JoinHostPort(ServiceIP, "443")) }},
	} {
		if err := s.daemons[step.daemon].waitReady(ctx, step.check); err != nil {
			return err
		}
	}
	return nil
}
