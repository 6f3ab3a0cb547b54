package controllers_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/knee-bench/knee/controllers"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/invariants"
	"github.com/knee-bench/knee/test/kubernetes"
)

var (
	ctx     context.Context
	cluster client.WithWatch
	nodes   *kubernetes.Node
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	os.Exit(m.Run())
}

// apart lists the test files whose specs run in a second process. Their specs take half of the total time.
var apart = []string{"drivers_test.go", "opensearchcluster_test.go", "refusals_test.go"}

// TestControllers runs the two halves of the specs in parallel, each with its own API server. If flags of ginkgo
// select specs, it runs only the selected specs in this process.
func TestControllers(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(3 * time.Minute)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	suite, reporter := GinkgoConfiguration()
	if all := len(suite.FocusStrings)+len(suite.FocusFiles)+len(suite.SkipStrings)+len(suite.SkipFiles) == 0 && suite.LabelFilter == ""; all {
		suite.SkipFiles = apart
		defer runApart(t)()
	}
	RunSpecs(t, "Controllers", suite, reporter)
}

// runApart starts the second half of the specs in another process. The returned function waits for the end of that
// process.
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

// ranSpecs matches ginkgo's output if any spec ran.
var ranSpecs = regexp.MustCompile(`Ran [1-9][0-9]* of [0-9]+ Specs`)

var _ = BeforeSuite(func() {
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())

	config, stop, err := kubernetes.Start(GinkgoT().TempDir(), GinkgoWriter)
	Expect(err).NotTo(HaveOccurred(), "a real API server: `make test` sets KUBEBUILDER_ASSETS")
	DeferCleanup(stop)

	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme.New(), Cache: controllers.CacheOptions(""), Metrics: server.Options{BindAddress: "0"},
	})
	Expect(err).NotTo(HaveOccurred())
	recorder := &invariants.Events{EventRecorder: mgr.GetEventRecorder("knee")}
	reconciler := &controllers.CampaignReconciler{
		Client: mgr.GetClient(), Uncached: mgr.GetAPIReader(), Recorder: recorder,
		Clock:   clock.RealClock{},
		Options: resources.Options{OpenSearchImage: "opensearch", OSBImage: "osb", AgentImage: "knee:test"},
	}
	Expect(reconciler.SetupWithManager(mgr)).To(Succeed())
	nodes = &kubernetes.Node{Client: mgr.GetClient()}
	Expect(nodes.SetupWithManager(mgr)).To(Succeed())
	cluster, err = client.NewWithWatch(config, client.Options{Scheme: scheme.New()})
	Expect(err).NotTo(HaveOccurred())
	rules, err := invariants.Watch(ctx, mgr.GetCache())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { // runs after the manager has ended
		Expect(rules.Violations("")).To(BeEmpty(), "what every status has to obey")
		Expect(rules.Seen()).To(BeNumerically(">", 0), "statuses were looked at")
		Expect(recorder.Violations()).To(BeEmpty(), "Events report transitions only")
	})
	stopped := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(stopped)
		Expect(mgr.Start(ctx)).To(Succeed())
	}()
	DeferCleanup(func() { // runs before the API server stops, because its stop waits for open watches
		cancel()
		Eventually(stopped).Should(BeClosed(), "the manager ends")
	})
})

// newNamespace creates a namespace for one spec, so specs do not share objects.
func newNamespace() string {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "knee-"}}
	Expect(cluster.Create(ctx, ns)).To(Succeed())
	return ns.Name
}
