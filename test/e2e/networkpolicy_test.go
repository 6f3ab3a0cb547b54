package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

var _ = Describe("the network of a campaign", func() {
	It("lets its own trials reach OpenSearch, and nobody else", func(ctx SpecContext) {
		outcome, err := os.ReadFile(filepath.Join(node.Folder, "network-policies"))
		Expect(err).NotTo(HaveOccurred(), "was the embedded cluster started by an older knee-cluster? make cluster-down; make cluster-up")
		if text := strings.TrimSpace(string(outcome)); text != "enforced" {
			Skip("on this machine network policies are " + text)
		}
		ns := newNamespace(ctx)
		w := campaign("shut", ns).VariantOnAnyNode("one").Clients(1, 2)
		w.Spec.Workload.OSB.Params["time_period"] = "90" // seconds; OpenSearch must still run when the last check below runs
		c := start(ctx, w)
		stranger := knocker(ctx, newNamespace(ctx), nil)

		// A trial loads OpenSearch now. So the loader pod can reach OpenSearch; otherwise there would be no documents.
		_, loader := loadOf(ctx, ns, HaveField("Phase", record.Warmup))
		target := pod(ctx, ns, resources.ComponentOpenSearch)
		Expect(target).NotTo(BeNil())
		for _, port := range []int{resources.HTTPPort, 9300} {
			Consistently(knock(ctx, stranger, target.Status.PodIP, port)).WithTimeout(5*time.Second).Should(Equal("silence"), "port %d", port)
		}
		neighbour := knocker(ctx, ns, nil)
		Expect(knock(ctx, neighbour, target.Status.PodIP, resources.HTTPPort)()).To(Equal("silence"), "of the same namespace, not of the campaign")
		// Check that the policy is the reason: a pod with the loader's labels gets an answer. Every user who may create
		// pods in the namespace may set these labels.
		own := map[string]string{}
		for key, value := range loader.Labels {
			if strings.HasPrefix(key, "knee.dev/") || strings.HasPrefix(key, "app.kubernetes.io/") {
				own[key] = value
			}
		}
		insider := knocker(ctx, ns, own)
		Eventually(knock(ctx, insider, target.Status.PodIP, resources.HTTPPort)).Should(Equal("answer"))
		Expect(client.IgnoreNotFound(cluster.Delete(ctx, c))).To(Succeed())
	}, SpecTimeout(10*time.Minute))
})

// knocker makes a pod that can try connections, and waits until it runs.
func knocker(ctx context.Context, ns string, labels map[string]string) *corev1.Pod {
	GinkgoHelper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "knocker-", Namespace: ns, Labels: labels},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To[int64](0),
			AutomountServiceAccountToken:  ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](1000),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "knocker", Image: "knee.local/opensearch-benchmark:2.4.0", Command: []string{"sleep", "1200"},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
	Expect(cluster.Create(ctx, p)).To(Succeed())
	Eventually(func(g Gomega) {
		g.Expect(cluster.Get(ctx, client.ObjectKeyFromObject(p), p)).To(Succeed())
		g.Expect(p.Status.Phase).To(Equal(corev1.PodRunning))
	}).Should(Succeed())
	return p
}

// knock returns a function that reports the result of a connection from a pod: an answer, a refusal (no process
// listens), or silence.
func knock(ctx context.Context, from *corev1.Pod, address string, port int) func() string {
	script := fmt.Sprintf(`import socket
try:
    socket.create_connection((%q, %d), 3).close(); print("answer")
except TimeoutError: print("silence")
except ConnectionRefusedError: print("refusal")`, address, port)
	return func() string {
		return strings.TrimSpace(kubectl(ctx, "-n", from.Namespace, "exec", from.Name, "--", "python3", "-c", script))
	}
}
