package controllers_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
)

var (
	ctx     context.Context
	cluster client.WithWatch
	nodes   *fakeNode
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	os.Exit(m.Run())
}

// apart are the files whose specs, half of the whole by the time that they take, run in a process of their own.
var apart = []string{"drivers_test.go", "operator_test.go", "refused_test.go"}

// The specs mostly wait, and TestFaults mostly computes, each with a Kubernetes of its own: they run side by side. So do the
// two halves of the specs, unless some are chosen by ginkgo's flags.
func TestControllers(t *testing.T) {
	t.Parallel()
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(60 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	suite, reporter := GinkgoConfiguration()
	if all := len(suite.FocusStrings)+len(suite.FocusFiles)+len(suite.SkipStrings)+len(suite.SkipFiles) == 0 && suite.LabelFilter == ""; all {
		suite.SkipFiles = apart
		defer runApart(t)()
	}
	RunSpecs(t, "Controllers", suite, reporter)
}

// runApart begins to run the other half of the specs. The function that it gives waits for their end.
func runApart(t *testing.T) func() {
	args := []string{"-test.run=^TestControllers$"}
	for _, file := range apart {
		args = append(args, "-ginkgo.focus-file="+file)
	}
	if deadline, limited := t.Deadline(); limited {
		args = append(args, "-test.timeout="+time.Until(deadline).String())
	}
	var output bytes.Buffer
	specs := exec.CommandContext(t.Context(), os.Args[0], args...)
	specs.Stdout, specs.Stderr = &output, &output
	if err := specs.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := specs.Wait(); err != nil {
			t.Errorf("specs of %v: %v\n%s", apart, err, output.String())
		} else if !ranSpecs.Match(output.Bytes()) {
			t.Errorf("no specs of %v ran:\n%s", apart, output.String())
		}
	}
}

// ranSpecs is in what ginkgo prints of a run in which any spec ran.
var ranSpecs = regexp.MustCompile(`Ran [1-9][0-9]* of [0-9]+ Specs`)

var _ = BeforeSuite(func() {
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())

	config, stop, err := startKubernetes(GinkgoT().TempDir(), GinkgoWriter)
	Expect(err).NotTo(HaveOccurred(), "a real API server: `make test` sets KUBEBUILDER_ASSETS")
	DeferCleanup(stop)

	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme.New(), Cache: controllers.CacheOptions(""), Metrics: server.Options{BindAddress: "0"},
	})
	Expect(err).NotTo(HaveOccurred())
	recorder := &transitionsOnly{EventRecorder: mgr.GetEventRecorder("knee"), last: map[types.UID]string{}}
	reconciler := &controllers.CampaignReconciler{
		Client: mgr.GetClient(), Uncached: mgr.GetAPIReader(), Recorder: recorder,
		Clock:   clock.RealClock{},
		Options: resources.Options{OpenSearchImage: "opensearch", OSBImage: "osb", AgentImage: "knee:test"},
	}
	Expect(reconciler.SetupWithManager(mgr)).To(Succeed())
	nodes = &fakeNode{Client: mgr.GetClient()}
	Expect(nodes.SetupWithManager(mgr)).To(Succeed())
	cluster, err = client.NewWithWatch(config, client.Options{Scheme: scheme.New()})
	Expect(err).NotTo(HaveOccurred())
	rules, err := watchInvariants(ctx, mgr.GetCache())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { // after the manager ended
		broken, seen := rules.violations()
		Expect(broken).To(BeEmpty(), "what every status has to obey")
		Expect(seen).To(BeNumerically(">", 0), "statuses were looked at")
		Expect(recorder.violations()).To(BeEmpty(), "events tell transitions only")
	})
	stopped := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(stopped)
		Expect(mgr.Start(ctx)).To(Succeed())
	}()
	DeferCleanup(func() { // before the API server stops, which waits for open watches
		cancel()
		Eventually(stopped).Should(BeClosed(), "the manager ends")
	})
})

// startKubernetes runs a real API server, and Kubernetes' own controllers of StatefulSets, Jobs, volumes and garbage,
// so that only the scheduler and the kubelet are missing.
func startKubernetes(dir string, log io.Writer) (*rest.Config, func() error, error) {
	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	config, err := env.Start()
	if err != nil {
		return nil, nil, err
	}
	kcm, err := startControllerManager(env, dir, log)
	if err != nil {
		return nil, nil, errors.Join(err, env.Stop())
	}
	stop := func() error {
		err := kcm.Process.Kill()
		_ = kcm.Wait() // it was killed: its error says just that
		return errors.Join(err, env.Stop())
	}
	return config, stop, nil
}

func startControllerManager(env *envtest.Environment, dir string, log io.Writer) (*exec.Cmd, error) {
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
	kcm := exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kube-controller-manager"),
		"--kubeconfig="+path, "--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=1000",
		"--controllers=statefulset-controller,job-controller,garbage-collector-controller,persistentvolumeclaim-protection-controller")
	kcm.Stdout, kcm.Stderr = log, log
	return kcm, kcm.Start()
}

// newNamespace makes a namespace for one spec, so that specs do not meet.
func newNamespace() string {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "knee-"}}
	Expect(cluster.Create(ctx, ns)).To(Succeed())
	return ns.Name
}
