// Package rbac tests the rights of the real manager. The manager runs as a process with the rights and the flags of the
// manifests in config, and a real API server writes an audit log.
package rbac_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/kubernetes"
)

var (
	ctx         context.Context
	environment *envtest.Environment
	cluster     client.Client // with the rights of an administrator
	folder      string        // for the files of this run
)

func TestRBAC(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(120 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	RunSpecs(t, "RBAC")
}

const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
`

var _ = BeforeSuite(func() {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())
	folder = GinkgoT().TempDir()
	build := exec.CommandContext(ctx, "go", "build", "-o", program(), "../../cmd/manager")
	out, err := build.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "build the manager: %s", out)

	policy := filepath.Join(folder, "audit.yaml")
	Expect(os.WriteFile(policy, []byte(auditPolicy), 0o600)).To(Succeed())
	environment = &envtest.Environment{ControlPlaneStartTimeout: 2 * time.Minute}
	environment.ControlPlane.GetAPIServer().Configure().
		Set("audit-policy-file", policy).
		Set("audit-log-path", auditLog()).
		Set("audit-log-mode", "blocking"). // a request is logged before it is answered
		// With this plugin, only an account that may update the owner's finalizers can create objects that block the
		// owner's deletion.
		Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	config, err := environment.Start()
	Expect(err).NotTo(HaveOccurred(), "a real API server: `make test` sets KUBEBUILDER_ASSETS")
	DeferCleanup(environment.Stop)
	stopControllers, err := kubernetes.StartControllers(environment, folder, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(stopControllers)

	cluster, err = client.New(config, client.Options{Scheme: scheme.New()})
	Expect(err).NotTo(HaveOccurred())
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme.New(), Metrics: server.Options{BindAddress: "0"}})
	Expect(err).NotTo(HaveOccurred())
	Expect((&kubernetes.Node{Client: mgr.GetClient()}).SetupWithManager(mgr)).To(Succeed())
	stopped := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(stopped)
		Expect(mgr.Start(ctx)).To(Succeed())
	}()
	DeferCleanup(func() { // runs before the API server stops, because its stop waits for open watches
		cancel()
		Eventually(stopped).Should(BeClosed(), "the fake node ends")
	})
})

func program() string  { return filepath.Join(folder, "manager") }
func auditLog() string { return filepath.Join(folder, "audit.log") }

// kubeconfigOf returns a kubeconfig for a user. A client certificate with the user's name replaces the token of a
// service account.
func kubeconfigOf(name string, groups ...string) string {
	GinkgoHelper()
	user, err := environment.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	Expect(err).NotTo(HaveOccurred())
	kubeconfig, err := user.KubeConfig()
	Expect(err).NotTo(HaveOccurred())
	f, err := os.CreateTemp(folder, "kubeconfig-")
	Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	_, err = f.Write(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	return f.Name()
}

// kubectl runs the real kubectl as an administrator.
func kubectl(args ...string) {
	GinkgoHelper()
	admin := filepath.Join(folder, "admin")
	Expect(os.WriteFile(admin, environment.KubeConfig, 0o600)).To(Succeed())
	out, err := exec.CommandContext(ctx, environment.ControlPlane.KubectlPath, append([]string{"--kubeconfig", admin}, args...)...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "kubectl %v: %s", args, out)
}
