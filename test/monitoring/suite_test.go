// Package monitoring runs a real Prometheus that scrapes the real manager. It checks that each expression of the alerts and of the dashboard
// returns data, and tests the alerts with promtool.
package monitoring_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/loopback"
)

// deadline limits each wait.
const deadline = 2 * time.Minute

// eventually repeats a check until it succeeds.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %s: %v", what, deadline, err)
		case <-ticker.C:
		}
	}
}

// program starts a program, and ends it with the test. It returns the file of the output, which is printed if the test fails.
func program(t *testing.T, path string, args ...string) string {
	t.Helper()
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(context.Background(), path, args...)
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatalf("%s: %v; make test-prometheus installs what is missing", path, err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // the error only reports that it was killed
		if text, err := os.ReadFile(output.Name()); t.Failed() {
			t.Logf("output of %s (error %v), the last 20,000 bytes:\n%s", path, err, text[max(0, len(text)-20_000):])
		}
		output.Close()
	})
	return output.Name()
}

// environment is a real API server with the controllers of Kubernetes, a fake node and the real manager.
type environment struct {
	client.Client
	nodes   *kubernetes.Node
	metrics string // host:port of the manager's metrics
	token   string // file with the token of an account that may read the metrics
	log     string // file with the log of the manager
}

func start(t *testing.T) environment {
	t.Helper()
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	dir := t.TempDir()
	logs, err := os.Create(filepath.Join(dir, "controllers.log"))
	if err != nil {
		t.Fatal(err)
	}
	config, stop, err := kubernetes.Start(dir, logs)
	if err != nil {
		t.Fatalf("a real API server: %v; make test-prometheus sets KUBEBUILDER_ASSETS", err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	api, err := client.New(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		t.Fatal(err)
	}
	e := environment{Client: api, nodes: startNode(t, config), metrics: loopback.Address()}
	e.token = filepath.Join(dir, "token")
	if err := os.WriteFile(e.token, []byte(readerToken(t, api)), 0o600); err != nil {
		t.Fatal(err)
	}
	manager := filepath.Join(dir, "manager")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", manager, "../../cmd/manager").CombinedOutput(); err != nil {
		t.Fatalf("cannot build the manager: %v\n%s", err, out)
	}
	e.log = program(t, manager, "--kubeconfig="+filepath.Join(dir, "kubeconfig"), "--leader-elect", "--leader-elect-namespace=default",
		"--metrics-bind-address="+e.metrics, "--health-probe-bind-address="+loopback.Address())
	return e
}

// startNode starts the fake node, and a scheduler that gives every pod the same Kubernetes node.
func startNode(t *testing.T, config *rest.Config) *kubernetes.Node {
	t.Helper()
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme.New(), Metrics: server.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)}, // go test -count=2 starts it again
	})
	if err != nil {
		t.Fatal(err)
	}
	nodes := &kubernetes.Node{Client: mgr.GetClient()}
	if err := nodes.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	scheduler := reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
		return ctrl.Result{}, schedule(ctx, mgr.GetClient(), req)
	})
	if err := ctrl.NewControllerManagedBy(mgr).Named("fake-scheduler").For(&corev1.Pod{}).Complete(scheduler); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() { // runs before the API server stops, because its stop waits for open watches
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return nodes
}

// schedule binds a pod to a node. It also ends the deletion of a bound pod, as the kubelet of the node would.
func schedule(ctx context.Context, api client.Client, req ctrl.Request) error {
	var pod corev1.Pod
	if err := api.Get(ctx, req.NamespacedName, &pod); err != nil {
		return client.IgnoreNotFound(err)
	}
	var err error
	switch {
	case !pod.DeletionTimestamp.IsZero():
		err = api.Delete(ctx, &pod, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
	case pod.Spec.NodeName == "":
		err = api.SubResource("binding").Create(ctx, &pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "machine"}})
	}
	if err != nil {
		log.FromContext(ctx).Info("the next event tries again", "error", err.Error())
	}
	return client.IgnoreNotFound(err)
}

// readerToken returns a token of a service account that is bound to the role for readers of the metrics.
func readerToken(t *testing.T, api client.Client) string {
	t.Helper()
	manifests, err := os.ReadFile("../../config/metrics/rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var reader rbacv1.ClusterRole
	for _, text := range strings.Split(string(manifests), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(text), &role); err != nil {
			t.Fatal(err)
		}
		if role.Name == "knee-metrics-reader" {
			reader = role
		}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "prometheus"}}
	for _, o := range []client.Object{&reader, account, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "prometheus-knee"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: reader.Name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: account.Namespace, Name: account.Name}},
	}} {
		if err := api.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	var request authenticationv1.TokenRequest
	if err := api.SubResource("token").Create(t.Context(), account, &request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// namespace creates a namespace whose pods behave in the given way.
func (e environment) namespace(t *testing.T, name string, b kubernetes.Behaviour) {
	t.Helper()
	e.nodes.Behave(name, b)
	if err := e.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(fmt.Errorf("namespace %s: %w", name, err))
	}
}
