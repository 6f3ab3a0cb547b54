package controllers_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/kubernetes"
	"github.com/knee-bench/knee/test/opensearchcluster"
	"github.com/knee-bench/knee/test/wrappers"
)

// operatorCRD returns a fake CRD of the opensearch-k8s-operator, with the fields of a release that serves the group.
func operatorCRD(group string) *unstructured.Unstructured {
	release := opensearchcluster.Release{Name: "3.0", Group: group}
	if group == "opensearch.opster.io" {
		release.Name = "2.8"
	}
	crd, err := opensearchcluster.CRD(release)
	Expect(err).NotTo(HaveOccurred())
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	Expect(err).NotTo(HaveOccurred())
	return &unstructured.Unstructured{Object: content}
}

// operated returns a campaign whose cluster is created by the opensearch-k8s-operator.
func operated(name, ns string) *wrappers.Campaign {
	w := wrappers.MakeCampaign(name).Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0)
	w.Spec.OpenSearch.Version = "3.4.0"
	w.Spec.OpenSearch.Provisioner = v1alpha1.ProvisionOpenSearchCluster
	w.Spec.Topologies[0].Nodes = ptr.To[int32](3)
	return w
}

// asked waits until a namespace has one OpenSearchCluster of the group and returns it.
func asked(ns, group string) unstructured.Unstructured {
	GinkgoHelper()
	var list unstructured.UnstructuredList
	list.SetAPIVersion(group + "/v1")
	list.SetKind("OpenSearchClusterList")
	Eventually(func() int {
		if err := cluster.List(ctx, &list, client.InNamespace(ns)); err != nil {
			return 0 // the kind is not served yet
		}
		return len(list.Items)
	}).Should(Equal(1))
	return list.Items[0]
}

var _ = Describe("a cluster by the opensearch-k8s-operator", Ordered, func() {
	var (
		ns string
		c  *v1alpha1.BenchmarkCampaign
		o  unstructured.Unstructured
	)
	jobs := func() []batchv1.Job {
		var list batchv1.JobList
		Expect(cluster.List(ctx, &list, client.InNamespace(ns))).To(Succeed())
		return list.Items
	}

	// claims returns the volumes of the StatefulSet that the opensearch-k8s-operator creates. Its releases before 3.0
	// create the volumes without Knee's labels.
	claims := func() []*corev1.PersistentVolumeClaim {
		var out []*corev1.PersistentVolumeClaim
		for i := range 3 {
			out = append(out, &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("data-%s-nodes-%d", o.GetName(), i)},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				},
			})
		}
		return out
	}

	It("is Stalled until the operator is installed", func() {
		ns = newNamespace()
		w := operated("operated", ns)
		w.Spec.OpenSearch.Storage.Size = "1Gi"
		c = start(w)
		Eventually(ready(c)).Should(Equal("False/OperatorMissing"))
		Expect(cluster.Create(ctx, operatorCRD("opensearch.opster.io"))).To(Succeed())
		o = asked(ns, "opensearch.opster.io")
		Eventually(ready(c)).Should(Equal("Unknown/Progressing"))
	})

	It("is loaded once the operator has restarted every node, and not before", func() {
		set := accept(&o)
		for _, claim := range claims() {
			Expect(cluster.Create(ctx, claim)).To(Succeed())
		}
		Eventually(func() string { return message(c) }).Should(ContainSubstring("phase RUNNING, not initialized yet"), "RUNNING means nothing")
		Eventually(func() int { return len(runningPods(ns)) }).Should(Equal(3))
		report(&o, "yellow", "")
		Eventually(func() string { return message(c) }).Should(ContainSubstring("health yellow"))
		report(&o, "green", "")
		Eventually(func() string { return message(c) }).Should(ContainSubstring("StatefulSet " + set.Name + ": 0 of 3 pods have its newest template"))
		restart(&o, set, func() { Expect(jobs()).To(BeEmpty(), "not while the nodes are restarted") })
		Eventually(func() int { return len(jobs()) }).Should(BeNumerically(">", 0), "its object is watched")
		pod := jobs()[0].Spec.Template
		cfg, err := kubernetes.TrialConfig(corev1.Pod{Spec: pod.Spec})
		Expect(err).NotTo(HaveOccurred())
		Expect(cfg.Endpoint).To(Equal("https://" + o.GetName() + "." + ns + ".svc:9200"))
		Expect(*cfg.External).To(Equal(record.External{
			CredentialsDir: record.CredentialsPath, CAFile: record.CAPath + "/" + record.CAKey, AllowIndexDeletion: true,
			CredentialsSecret: o.GetName() + "-admin-password", CASecret: o.GetName() + "-http-cert",
		}))
		var secrets []string
		for _, v := range pod.Spec.Volumes {
			if v.Secret != nil {
				secrets = append(secrets, v.Secret.SecretName)
			}
		}
		Expect(secrets).To(ConsistOf(o.GetName()+"-admin-password", o.GetName()+"-http-cert"))
	})

	It("is deleted when it is no longer needed", func() {
		Eventually(ready(c)).WithTimeout(3 * time.Minute).Should(Equal("True/Finished"))
		Expect(cluster.Get(ctx, client.ObjectKeyFromObject(&o), &o)).NotTo(Succeed())
		for _, claim := range claims() {
			err := cluster.Get(ctx, client.ObjectKeyFromObject(claim), claim)
			Expect(apierrors.IsNotFound(err) || !claim.DeletionTimestamp.IsZero()).To(BeTrue(), "volume %s: %v", claim.Name, err)
		}
	})

	It("is Stalled when the API server refuses the pods of the operator's StatefulSet", func() {
		ns := newNamespace()
		q := quota(ns, list("pods", 0), list("pods", 0))
		c := start(operated("nopods", ns))
		o := asked(ns, "opensearch.opster.io")
		set := accept(&o)
		Eventually(ready(c)).Should(Equal("False/Forbidden"))
		Expect(message(c)).To(And(ContainSubstring("StatefulSet "+set.Name), ContainSubstring("exceeded quota: small")))
		Expect(cluster.Delete(ctx, q)).To(Succeed())
		Eventually(ready(c)).Should(Equal("Unknown/Progressing"))
	})

	It("is Stalled when the operator is removed, holds up no other campaign, and continues with the next operator", func() {
		ns := newNamespace()
		c := start(operated("removed", ns))
		o := asked(ns, "opensearch.opster.io")
		for _, group := range []string{"opensearch.opster.io", "opensearch.org"} { // first the same release of the opensearch-k8s-operator again, then a newer release
			By("removing the operator before that of " + group)
			Expect(cluster.Delete(ctx, operatorCRD(o.GroupVersionKind().Group))).To(Succeed())
			Eventually(ready(c)).Should(Equal("False/OperatorMissing"))
			other := start(wrappers.MakeCampaign("other").Namespace(newNamespace()).VariantOnAnyNode("a").Clients(1).Repetitions(0))
			Eventually(ready(other)).Should(Equal("True/Finished"))
			Eventually(func() error { return cluster.Create(ctx, operatorCRD(group)) }).Should(Succeed(), "the old one goes first")
			o = asked(ns, group)
			report(&o, "yellow", "")
			Eventually(func() string { return message(c) }).Should(ContainSubstring("health yellow"), "its object is watched")
			Expect(ready(c)()).To(Equal("Unknown/Progressing"))
		}
		By("deleting the campaign while it runs")
		accept(&o)
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("data-%s-nodes-0", o.GetName())},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}
		finalize := func(finalizers ...string) {
			GinkgoHelper()
			before := o.DeepCopy()
			o.SetFinalizers(finalizers)
			Expect(cluster.Patch(ctx, &o, client.MergeFrom(before))).To(Succeed())
		}
		finalize("knee.dev/test")
		Expect(cluster.Delete(ctx, c)).To(Succeed())
		Eventually(func() bool {
			return cluster.Get(ctx, client.ObjectKeyFromObject(&o), &o) == nil && !o.GetDeletionTimestamp().IsZero()
		}).Should(BeTrue(), "the campaign is gone, its OpenSearchCluster is not")
		Expect(cluster.Create(ctx, claim)).To(Succeed(), "the operator may still create volumes")
		finalize()
		Eventually(func() bool {
			err := cluster.Get(ctx, client.ObjectKeyFromObject(claim), claim)
			return apierrors.IsNotFound(err) || !claim.DeletionTimestamp.IsZero()
		}).Should(BeTrue(), "the operator leaves the volume, and Knee deletes it")
		Eventually(func() []string { return eventNotes(ns, "SecretsLeftBehind") }).Should(ConsistOf(
			ContainSubstring("delete secret --ignore-not-found " + o.GetName() + "-dashboards-password"),
		))
		Expect(cluster.Get(ctx, client.ObjectKey{Namespace: ns, Name: o.GetName() + "-dashboards-password"}, &corev1.Secret{})).To(Succeed(), "Knee deletes no Secret")
	})
})
