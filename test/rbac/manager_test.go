package rbac_test

import (
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// manager is the program, run as a Deployment's service account with its flags.
type manager struct {
	user    string
	health  string // URL
	metrics string // host:port
	ended   chan error
	command *exec.Cmd
}

// startManager runs the program as the kubelet would for the Deployment of a namespace, but on ports of its own. What it
// cannot have outside of a pod (its own namespace) it is told.
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
	probes := freeAddress()
	m.health = "http://" + probes
	args := []string{"--kubeconfig=" + kubeconfig, "--leader-elect-namespace=" + namespace}
	for _, arg := range spec.Containers[0].Args {
		if strings.HasPrefix(arg, "--metrics-bind-address=") {
			m.metrics = freeAddress()
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

// stop asks the program to end, as the kubelet does; it has to.
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

func freeAddress() string {
	GinkgoHelper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer func() { _ = l.Close() }() // it was for its port alone
	return l.Addr().String()
}
