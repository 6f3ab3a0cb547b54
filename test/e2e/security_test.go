package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// securedVersion is the version of the OpenSearch image that contains the real security plugin.
const securedVersion = "3.4.0"

// securityCost returns the sample security-cost.yaml, scaled down to one node and a few seconds per trial.
func securityCost(ns string) *wrappers.Campaign {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(root, "config", "samples", "security-cost.yaml"))
	Expect(err).NotTo(HaveOccurred())
	var sample v1alpha1.BenchmarkCampaign
	Expect(yaml.UnmarshalStrict(text, &sample)).To(Succeed())
	small := fixed(sample.Name, ns, 2)
	w := &wrappers.Campaign{BenchmarkCampaign: sample}
	w.Namespace(ns).OnAnyDisk()
	w.Spec.OpenSearch.Heap, w.Spec.OpenSearch.Resources, w.Spec.OpenSearch.Storage = "512Mi", v1alpha1.Resources{}, v1alpha1.Storage{}
	w.Spec.Topologies = small.Spec.Topologies
	w.Spec.Loader, w.Spec.Sweep, w.Spec.Final, w.Spec.Timeouts = small.Spec.Loader, small.Spec.Sweep, small.Spec.Final, small.Spec.Timeouts
	w.Spec.Retries = small.Spec.Retries
	w.Spec.Timeouts.ProvisioningSeconds = ptr.To[int32](300)
	w.Spec.Workload = smallBulk
	return w
}

var _ = Describe("what security costs", func() {
	It("is one campaign: the same image with the real security plugin off and on", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		c := start(ctx, securityCost(ns))
		Eventually(ready(ctx, c)).WithTimeout(9 * time.Minute).Should(Or(HavePrefix("True/"), HavePrefix("False/")))
		Expect(ready(ctx, c)()).To(HavePrefix("True/Finished"))
		byVariant := map[string]int{}
		for _, r := range finals(records(ctx, ns)) {
			byVariant[r.Attempt.Variant]++
			Expect(r.Ingest.Count).To(Equal(r.Ingest.TotalIndexed))
			Expect(r.Nodes).To(HaveLen(1))
			Expect(r.Nodes[0].CPU).NotTo(BeNil(), "the probe runs beside a secured node, too")
		}
		Expect(byVariant).To(Equal(map[string]int{"plain": 1, "secured": 1}))
		result := get(ctx, c).Status.Result
		AddReportEntry("result", result)
		Expect(result).To(MatchRegexp(`^secured [0-9.]+x plain`))

		// The administrator of this test may read the Secret; the manager may not.
		var secret corev1.Secret
		Expect(cluster.Get(ctx, client.ObjectKey{Namespace: ns, Name: resources.SecuritySecretName(c)}, &secret)).To(Succeed())
		Expect(kubectl(ctx, "-n", ns, "get", "bcamp,sts,job,cm,pod,events", "-o", "yaml")).NotTo(ContainSubstring(string(secret.Data["password"])))
		Expect(strings.TrimSpace(kubectl(ctx, "auth", "can-i", "create", "secrets", "-n", ns, "--as=system:serviceaccount:knee-system:knee-manager"))).To(Equal("yes"))
		for _, verb := range []string{"get", "list", "watch", "update", "patch", "delete"} {
			answer, err := kubectlOutput(ctx, "auth", "can-i", verb, "secrets", "-n", ns, "--as=system:serviceaccount:knee-system:knee-manager")
			Expect(err).To(HaveOccurred(), "kubectl auth can-i exits 1 for no")
			Expect(string(answer)).To(HavePrefix("no"), verb)
		}
		Expect(cluster.Delete(ctx, c)).To(Succeed())
		Eventually(func() error { return cluster.Get(ctx, client.ObjectKeyFromObject(&secret), &secret) }).Should(MatchError(ContainSubstring("not found")))
	}, SpecTimeout(11*time.Minute))

	It("needs an image with the plugin, which is said", func(ctx SpecContext) {
		ns := newNamespace(ctx)
		w := campaign("no-plugin", ns).VariantOnAnyNode("a").Clients(1)
		w.Spec.OpenSearch.Security = ptr.To(true)
		c := start(ctx, w)
		Eventually(ready(ctx, c)).WithTimeout(2 * time.Minute).Should(ContainSubstring("the image has no security plugin"))
		Expect(cluster.Delete(ctx, c)).To(Succeed())
	}, SpecTimeout(3*time.Minute))
})
