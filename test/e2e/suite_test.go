// Package e2e runs campaigns on the embedded cluster. The kubelet, containerd, OpenSearch and opensearch-benchmark are
// the real programs, and Knee is deployed as in production. `make test-e2e` does the set-up.
package e2e_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/embedded"
)

var (
	cluster client.Client
	node    embedded.Cluster
	root    string
)

func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(5 * time.Minute)
	SetDefaultEventuallyPollingInterval(500 * time.Millisecond)
	RunSpecs(t, "End to end")
	for _, failure := range failures {
		t.Log(failure)
	}
}

// failures are the failed specs, each with the start of its message. The test prints them last, because Ginkgo's summary has no
// messages.
var failures []string

var _ = ReportAfterEach(func(spec SpecReport) {
	if spec.Failed() {
		failures = append(failures, fmt.Sprintf("%s\n%.1000s", spec.FullText(), spec.FailureMessage()))
	}
})

var _ = ReportAfterSuite("times", func(report Report) {
	ran := slices.DeleteFunc(slices.Clone(report.SpecReports), func(spec SpecReport) bool { return spec.RunTime < time.Second })
	slices.SortFunc(ran, func(a, b SpecReport) int { return cmp.Compare(b.RunTime, a.RunTime) })
	fmt.Println("the slowest specs (s)")
	for _, spec := range ran {
		fmt.Printf("%6.0f  %.120s\n", spec.RunTime.Seconds(), spec.FullText())
	}
})

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	node, err = embedded.Find()
	Expect(err).NotTo(HaveOccurred())
	root = node.Root
	kubeconfig := node.Kubeconfig()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	Expect(err).NotTo(HaveOccurred(), "the embedded cluster: run `make test-e2e`")
	Expect(os.Setenv("KUBECONFIG", kubeconfig)).To(Succeed())
	cluster, err = client.New(config, client.Options{Scheme: scheme.New()})
	Expect(err).NotTo(HaveOccurred())
	watchRights(ctx)
})

// kubectl runs the real kubectl and returns its output.
func kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	out, err := kubectlOutput(ctx, args...)
	Expect(err).NotTo(HaveOccurred(), "kubectl %v: %s", args, out)
	return string(out)
}

func kubectlOutput(ctx context.Context, args ...string) ([]byte, error) {
	return exec.CommandContext(ctx, filepath.Join(root, "bin", "k8s", "kubectl"), args...).CombinedOutput()
}

// newNamespace makes a namespace that enforces the restricted Pod Security Standard, and deletes it at the end of the
// spec. If the spec failed, newNamespace first prints the objects in the namespace.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "knee-e2e-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	Expect(cluster.Create(ctx, ns)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() {
			AddReportEntry("what there is", kubectl(ctx, "-n", ns.Name, "get", "bcamp,sts,job,pod,pvc,events", "-o", "wide"))
			AddReportEntry("campaigns", kubectl(ctx, "-n", ns.Name, "get", "bcamp", "-o", "yaml"))
			AddReportEntry("manager", kubectl(ctx, "-n", "knee-system", "logs", "deploy/knee-manager", "--tail=100"))
		}
		Expect(client.IgnoreNotFound(cluster.Delete(ctx, ns))).To(Succeed())
	})
	return ns.Name
}
