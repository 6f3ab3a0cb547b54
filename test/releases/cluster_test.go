package releases_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/kubernetes"
)

// testCluster is an API server with the controllers of Kubernetes and a fake node. Its CRD and its manager are those of the release that
// was installed last.
type testCluster struct {
	client.Client
	*WithT
	t    *testing.T
	node *kubernetes.Node
	env  *envtest.Environment
	dir  string

	mu   sync.Mutex
	jobs map[client.ObjectKey]int // number of Jobs that were created with this name
}

func newCluster(t *testing.T) *testCluster {
	t.Helper()
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	c := &testCluster{WithT: NewWithT(t), t: t, dir: t.TempDir(), env: &envtest.Environment{}, jobs: map[client.ObjectKey]int{}}
	c.SetDefaultEventuallyTimeout(time.Minute)
	c.SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	config, err := c.env.Start()
	c.Expect(err).NotTo(HaveOccurred(), "a real API server: `make test` sets KUBEBUILDER_ASSETS")
	t.Cleanup(func() { c.Expect(c.env.Stop()).To(Succeed()) })
	stopControllers, err := kubernetes.StartControllers(c.env, c.dir, io.Discard)
	c.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = stopControllers() })

	c.Client, err = client.New(config, client.Options{Scheme: scheme.New()})
	c.Expect(err).NotTo(HaveOccurred())
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme.New(), Metrics: server.Options{BindAddress: "0"}})
	c.Expect(err).NotTo(HaveOccurred())
	c.node = &kubernetes.Node{Client: mgr.GetClient()}
	c.Expect(c.node.SetupWithManager(mgr)).To(Succeed())
	informer, err := mgr.GetCache().GetInformer(t.Context(), &batchv1.Job{})
	c.Expect(err).NotTo(HaveOccurred())
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(added any) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.jobs[client.ObjectKeyFromObject(added.(*batchv1.Job))]++
	}})
	c.Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	t.Cleanup(func() { // runs before the API server stops, because its stop waits for open watches
		cancel()
		c.Expect(<-stopped).To(Succeed())
	})
	return c
}

// created returns the names of the Jobs that were created in a namespace, and how often.
func (c *testCluster) created(namespace string) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]int{}
	for key, n := range c.jobs {
		if key.Namespace == namespace {
			out[key.Name] = n
		}
	}
	return out
}

// install applies the manifests of a release as a user does, and starts its manager with the rights and the flags of its Deployment.
// stop ends the manager.
func (c *testCluster) install(r release) (stop func()) {
	c.t.Helper()
	c.kubectl("apply", "--server-side", "--force-conflicts", "-k", r.config+"/default")
	c.kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd/benchmarkcampaigns.knee.dev")
	var deployment appsv1.Deployment
	c.Expect(c.Get(c.t.Context(), client.ObjectKey{Namespace: "knee-system", Name: "knee-manager"}, &deployment)).To(Succeed())
	pod := deployment.Spec.Template.Spec
	user, err := c.env.AddUser(envtest.User{
		Name:   "system:serviceaccount:knee-system:" + pod.ServiceAccountName,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:knee-system"},
	}, nil)
	c.Expect(err).NotTo(HaveOccurred())
	kubeconfig, err := user.KubeConfig()
	c.Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(c.dir, "manager-kubeconfig")
	c.Expect(os.WriteFile(path, kubeconfig, 0o600)).To(Succeed())
	args := []string{"--kubeconfig=" + path, "--leader-elect-namespace=knee-system"}
	for _, arg := range pod.Containers[0].Args {
		if !strings.HasPrefix(arg, "--metrics-bind-address=") {
			args = append(args, arg)
		}
	}
	var output bytes.Buffer
	manager := exec.CommandContext(context.Background(), r.manager, append(args, "--health-probe-bind-address=0", "--metrics-bind-address=0")...)
	manager.Stdout, manager.Stderr = &output, &output
	c.Expect(manager.Start()).To(Succeed())
	stop = sync.OnceFunc(func() {
		c.Expect(manager.Process.Signal(syscall.SIGTERM)).To(Succeed())
		err := manager.Wait()
		if c.t.Failed() || err != nil {
			c.t.Logf("manager %s: %s", r.manager, output.String())
		}
		c.Expect(err).NotTo(HaveOccurred(), "the manager ends when it is asked to")
	})
	c.t.Cleanup(stop)
	return stop
}

func (c *testCluster) kubectl(args ...string) {
	c.t.Helper()
	admin := filepath.Join(c.dir, "admin")
	c.Expect(os.WriteFile(admin, c.env.KubeConfig, 0o600)).To(Succeed())
	run(c.t, ".", c.env.ControlPlane.KubectlPath, append([]string{"--kubeconfig", admin}, args...)...)
}
