package controllers_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

var _ = Describe("a campaign with opensearch.security", func() {
	It("creates one Secret, keeps it for every cell, and measures with it", func() {
		ns := newNamespace()
		w := wrappers.MakeCampaign("secured").Namespace(ns).VariantOnAnyNode("plain").VariantOnAnyNode("one").VariantOnAnyNode("two").
			Clients(1).Repetitions(1)
		for i := range w.Spec.Variants[1:] {
			w.Spec.Variants[1+i].OpenSearch.Security = ptr.To(true)
		}
		w.Spec.Variants[2].OpenSearch.Heap = "300Mi" // makes this variant a different cell
		c := start(w)
		name := resources.SecuritySecretName(c)
		key := client.ObjectKey{Namespace: ns, Name: name}
		var first corev1.Secret
		Eventually(func() error { return cluster.Get(ctx, key, &first) }).Should(Succeed())
		Expect(metav1.IsControlledBy(&first, c)).To(BeTrue())
		Expect(first.Data).To(And(HaveKey("username"), HaveKey("password"), HaveKey("ca.crt"), HaveKey("tls.crt"), HaveKey("tls.key"), HaveKey("internal_users.yml")))
		Eventually(ready(c)).Should(Equal("True/Finished"))

		var secrets corev1.SecretList
		Expect(cluster.List(ctx, &secrets, client.InNamespace(ns))).To(Succeed())
		Expect(secrets.Items).To(HaveLen(1))
		Expect(secrets.Items[0].ResourceVersion).To(Equal(first.ResourceVersion), "the password of clusters that run does not change")
		Expect(get(c).Status.Cells).To(HaveLen(3))
	})
})
