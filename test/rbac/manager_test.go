package rbac_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/test/loopback"
)

// manager is the manager's program. It runs with the service account and the flags of the Deployment.
type manager struct {
	user    string
	health  string // URL
	metrics string // host:port; empty: no metrics are served
	ended   chan error
	command *exec.Cmd
}

// startManager runs the program like the kubelet does for the Deployment in a namespace, but on free ports. It passes
// the namespace as a flag, because outside of a pod the program cannot find its own namespace.
func startManager(namespace string) *manager {
	GinkgoHelper()
	var deployment appsv1.Deployment
	Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "knee-manager"}, &deployment)).To(Succeed())
	spec := deployment.Spec.Template.Spec
	m := &manager{
		user:  fmt.Sprintf("system:serviceaccount:%s:%s", namespace, spec.ServiceAccountName),
		ended: make(chan error, 1),
	}
	kubeconfig := kubeconfigOf(m.user, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	probes := loopback.Address()
	m.health = "http://" + probes
	args := []string{"--kubeconfig=" + kubeconfig, "--leader-elect-namespace=" + namespace}
	for _, arg := range spec.Containers[0].Args {
		if strings.HasPrefix(arg, "--metrics-bind-address=") {
			m.metrics = loopback.Address()
			arg = "--metrics-bind-address=" + m.metrics
		}
		args = append(args, strings.ReplaceAll(arg, "$(POD_NAMESPACE)", namespace))
	}
	m.command = exec.Command(program(), append(args, "--health-probe-bind-address="+probes)...)
	m.command.Stdout, m.command.Stderr = GinkgoWriter, GinkgoWriter
	Expect(m.command.Start()).To(Succeed())
	go func() { m.ended <- m.command.Wait() }()
	DeferCleanup(m.stop)
	Eventually(m.ready).Should(Succeed(), "ready to work, or to take over")
	return m
}

func (m *manager) ready() error {
	response, err := http.Get(m.health + "/readyz")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz: %s", response.Status)
	}
	return nil
}

// stop sends SIGTERM, as the kubelet does, and checks that the program ends without an error.
func (m *manager) stop() {
	GinkgoHelper()
	if m.command == nil {
		return
	}
	Expect(m.command.Process.Signal(syscall.SIGTERM)).To(Succeed())
	var err error
	Eventually(m.ended).Should(Receive(&err), "the manager ends when it is asked to")
	Expect(err).NotTo(HaveOccurred())
	m.command = nil
}
