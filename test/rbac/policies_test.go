package rbac_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

// clientOf returns a client with the rights of the manager of a whole cluster.
func clientOf(user string) client.Client {
	GinkgoHelper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfigOf(user, "system:serviceaccounts", "system:serviceaccounts:knee-system"))
	Expect(err).NotTo(HaveOccurred())
	c, err := client.New(config, client.Options{Scheme: scheme.New()})
	Expect(err).NotTo(HaveOccurred())
	return c
}

// refusedBy matches the error of a request that an admission policy refused.
func refusedBy(policy string) OmegaMatcher {
	return And(
		WithTransform(apierrors.IsForbidden, BeTrue()),
		MatchError(ContainSubstring("ValidatingAdmissionPolicy '"+policy+"'")))
}

// checkManagerPolicy checks that the manager's account can write only the manager's own objects.
func checkManagerPolicy(user string) {
	GinkgoHelper()
	const policy = "knee-manager"
	manager := clientOf(user)
	newNamespace("foreign")
	labels := map[string]string{
		resources.LabelManagedBy: resources.ManagedBy, resources.LabelComponent: resources.ComponentRecord, resources.LabelCampaign: "uid",
	}
	meta := func(name string, labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "foreign", Name: name, Labels: labels}
	}
	foreign := &corev1.ConfigMap{ObjectMeta: meta("foreign", nil)}
	service := &corev1.Service{ObjectMeta: meta("foreign", nil), Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}}
	guard := &networkingv1.NetworkPolicy{ObjectMeta: meta("foreign", nil)}
	own := &corev1.ConfigMap{ObjectMeta: meta("own", labels)}
	for _, o := range []client.Object{foreign, service, guard} {
		Expect(cluster.Create(ctx, o)).To(Succeed())
	}
	Eventually(func() error { return manager.Delete(ctx, foreign.DeepCopy(), client.DryRunAll) }).Should(refusedBy(policy), "the policy is active")

	Expect(manager.Create(ctx, own.DeepCopy())).To(Succeed())
	Expect(cluster.Get(ctx, client.ObjectKeyFromObject(own), own)).To(Succeed())
	for _, o := range []client.Object{foreign, service, guard} {
		Expect(manager.Delete(ctx, o)).To(refusedBy(policy))
	}
	Expect(manager.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("new", nil)})).To(refusedBy(policy))
	changed := foreign.DeepCopy()
	changed.Labels = labels
	Expect(manager.Update(ctx, changed)).To(refusedBy(policy), "labels cannot be added to the object of somebody else")
	given := own.DeepCopy()
	given.Labels[resources.LabelCampaign] = "other"
	Expect(manager.Update(ctx, given)).To(refusedBy(policy))
	own.Data = map[string]string{"a": "1"}
	Expect(manager.Update(ctx, own)).To(Succeed())
	Expect(manager.Delete(ctx, own)).To(Succeed())
	Expect(cluster.Delete(ctx, foreign)).To(Succeed(), "others are not limited")
}

var _ = Describe("the policy for authors of campaigns", Ordered, func() {
	const policy = "knee-campaign-authors"
	limits := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "knee-system", Name: "knee-author-limits"}}
	admit := func(edit func(*v1alpha1.BenchmarkCampaignSpec)) func() error {
		w := wrappers.MakeCampaign("limited").Variant("a").OnNodes("bench")
		edit(&w.Spec)
		return func() error { return cluster.Create(ctx, w.Obj().DeepCopy(), client.DryRunAll) }
	}
	none := func(*v1alpha1.BenchmarkCampaignSpec) {}
	limit := func(data map[string]string) {
		GinkgoHelper()
		limits.Data = data
		Expect(cluster.Update(ctx, limits)).To(Succeed())
	}
	BeforeAll(func() {
		kubectl("apply", "--server-side", "-k", "../../config/crd")
		kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd/benchmarkcampaigns.knee.dev")
		err := cluster.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "knee-system"}})
		Expect(client.IgnoreAlreadyExists(err)).To(Succeed())
		kubectl("apply", "--server-side", "-k", "../../config/policies/authors")
		DeferCleanup(kubectl, "delete", "--ignore-not-found", "-k", "../../config/policies/authors")
		Expect(cluster.Get(ctx, client.ObjectKeyFromObject(limits), limits)).To(Succeed())
	})

	for name, tt := range map[string]struct {
		limits  map[string]string
		allowed func(*v1alpha1.BenchmarkCampaignSpec)
		refused func(*v1alpha1.BenchmarkCampaignSpec)
		message string
	}{
		"images": {
			map[string]string{"imagePrefixes": "registry.example.org/bench/\nghcr.io/knee-bench/\n"},
			func(s *v1alpha1.BenchmarkCampaignSpec) {
				s.OpenSearch.Image = "registry.example.org/bench/opensearch:3"
			},
			func(s *v1alpha1.BenchmarkCampaignSpec) {
				s.Variants[0].OpenSearch.Image = "registry.example.org/other:1"
			},
			"must begin with one of: registry.example.org/bench/, ghcr.io/knee-bench/",
		},
		"images of workloads": {
			map[string]string{"imagePrefixes": "ghcr.io/knee-bench/"},
			none,
			func(s *v1alpha1.BenchmarkCampaignSpec) {
				s.Workload.OSB.From = &v1alpha1.WorkloadSource{Image: &v1alpha1.ImageSource{Image: "other/workload:1"}}
			},
			"must begin with one of: ghcr.io/knee-bench/",
		},
		"node pools of variants": {
			map[string]string{"nodeSelectors": "nodes=bench\nnodes=other=nodes"},
			none,
			func(s *v1alpha1.BenchmarkCampaignSpec) { s.Variants[0].NodePool.NodeSelector["nodes"] = "production" },
			"must contain one of: nodes=bench",
		},
		"node pool of the loader": {
			map[string]string{"nodeSelectors": "nodes=bench"},
			none,
			func(s *v1alpha1.BenchmarkCampaignSpec) { s.Loader.NodePool = v1alpha1.NodePool{} },
			"must contain one of: nodes=bench",
		},
		"provisioners": {
			map[string]string{"provisioners": "StatefulSet"},
			none,
			func(s *v1alpha1.BenchmarkCampaignSpec) {
				s.OpenSearch.Provisioner, s.OpenSearch.Version = v1alpha1.ProvisionOpenSearchCluster, "3.1.0"
				for i := range s.Topologies {
					nodes := int32(3)
					s.Topologies[i].Nodes = &nodes
				}
			},
			"opensearch.provisioner must be one of: StatefulSet",
		},
	} {
		It("limits "+name, func() {
			limit(nil)
			Eventually(admit(tt.refused)).Should(Succeed(), "an empty list is no limit")
			limit(tt.limits)
			Eventually(admit(tt.refused)).Should(And(refusedBy(policy), MatchError(ContainSubstring(tt.message))))
			Expect(admit(tt.allowed)()).To(Succeed())
		})
	}

	It("lets an existing campaign be changed and deleted, except its spec", func() {
		limit(nil)
		w := wrappers.MakeCampaign("existing").Variant("a").Suspend()
		Eventually(func() error { return client.IgnoreAlreadyExists(cluster.Create(ctx, w.Obj())) }).Should(Succeed())
		limit(map[string]string{"nodeSelectors": "nodes=bench"})
		Eventually(admit(func(s *v1alpha1.BenchmarkCampaignSpec) { s.Loader.NodePool = v1alpha1.NodePool{} })).Should(refusedBy(policy))
		c := w.Obj()
		c.Annotations = map[string]string{"changed": "1"}
		Expect(cluster.Update(ctx, c)).To(Succeed())
		c.Spec.Rerun = "again"
		Expect(cluster.Update(ctx, c)).To(refusedBy(policy))
		Expect(cluster.Delete(ctx, w.Obj())).To(Succeed())
	})

	It("admits no campaign without the limits", func() {
		Expect(cluster.Delete(ctx, limits)).To(Succeed())
		Eventually(admit(none)).Should(MatchError(ContainSubstring("no params found")))
	})
})
