package controllers_test

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// operatorCRD stands in for the opensearch-k8s-operator's own, which takes these fields and more: it takes any.
func operatorCRD(group string) *unstructured.Unstructured {
	crd, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "opensearchclusters." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "OpenSearchCluster", ListKind: "OpenSearchClusterList", Plural: "opensearchclusters", Singular: "opensearchcluster"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: ptr.To(true),
				}},
			}},
		},
	})
	Expect(err).NotTo(HaveOccurred())
	out := &unstructured.Unstructured{Object: crd}
	out.SetAPIVersion("apiextensions.k8s.io/v1")
	out.SetKind("CustomResourceDefinition")
	return out
}

// operate does what the opensearch-k8s-operator does of an OpenSearchCluster, as far as Knee sees it: it is a fake. The
// StatefulSet and its pods carry the labels and annotations of the pool of nodes (its pkg/builders, NewSTSForNodePool).
func operate(o *unstructured.Unstructured) *appsv1.StatefulSet {
	pools, _, err := unstructured.NestedSlice(o.Object, "spec", "nodePools")
	Expect(err).NotTo(HaveOccurred())
	pool := pools[0].(map[string]any)
	labels, _, _ := unstructured.NestedStringMap(pool, "labels")
	annotations, _, _ := unstructured.NestedStringMap(pool, "annotations")
	selector, _, _ := unstructured.NestedStringMap(pool, "nodeSelector")
	nodes, _, _ := unstructured.NestedInt64(pool, "replicas")
	component, _, _ := unstructured.NestedString(pool, "component")
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.GetNamespace(), Name: o.GetName() + "-" + component, Labels: labels, Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID(), Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
			}},
		},
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(int32(nodes)), PodManagementPolicy: appsv1.ParallelPodManagement, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations},
				Spec:       corev1.PodSpec{NodeSelector: selector, Containers: []corev1.Container{{Name: resources.ContainerOpenSearch, Image: "opensearch"}}},
			},
		},
	}
}

// report writes what the operator says of its object.
func report(o *unstructured.Unstructured, health string) {
	o.Object["status"] = map[string]any{"phase": "RUNNING", "health": health, "initialized": true, "availableNodes": int64(3)}
	Expect(cluster.Status().Update(ctx, o)).To(Succeed())
}

// operated is a campaign whose cluster the operator makes.
func operated(name, ns string) *wrappers.Campaign {
	w := wrappers.MakeCampaign(name).Namespace(ns).VariantOnAnyNode("a").Clients(1).Repetitions(0)
	w.Spec.OpenSearch.Provisioner = v1alpha1.ProvisionOpenSearchCluster
	w.Spec.Topologies[0].Nodes = ptr.To[int32](3)
	return w
}

// asked waits for a namespace's OpenSearchCluster in a group.
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

	// claims are the volumes of the operator's StatefulSet, without labels of Knee's, as operators before 3.0 make them.
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

	It("is waited for until the operator is installed, and the campaign says so", func() {
		ns = newNamespace()
		w := operated("operated", ns)
		w.Spec.OpenSearch.Storage.Size = "1Gi"
		c = start(w)
		Eventually(ready(c)).Should(Equal("False/OperatorMissing"))
		Expect(cluster.Create(ctx, operatorCRD("opensearch.opster.io"))).To(Succeed())
		o = asked(ns, "opensearch.opster.io")
		Eventually(ready(c)).Should(Equal("Unknown/Progressing"))
	})

	It("is loaded once it is green and nothing of it is under way", func() {
		Expect(cluster.Create(ctx, operate(&o))).To(Succeed())
		for _, claim := range claims() {
			Expect(cluster.Create(ctx, claim)).To(Succeed())
		}
		Eventually(func() int {
			var pods corev1.PodList
			Expect(cluster.List(ctx, &pods, client.InNamespace(ns))).To(Succeed())
			return len(slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning }))
		}).Should(Equal(3))
		report(&o, "yellow")
		Eventually(func() string { return message(c) }).Should(ContainSubstring("health yellow"))
		Expect(jobs()).To(BeEmpty(), "not before it is green")
		report(&o, "green")
		Eventually(func() int { return len(jobs()) }).Should(BeNumerically(">", 0), "its object is watched")
		pod := jobs()[0].Spec.Template
		cfg, err := trialConfig(corev1.Pod{Spec: pod.Spec})
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

	It("goes when it is no longer needed", func() {
		Eventually(ready(c)).WithTimeout(3 * time.Minute).Should(Equal("True/Finished"))
		Expect(cluster.Get(ctx, client.ObjectKeyFromObject(&o), &o)).NotTo(Succeed())
		for _, claim := range claims() {
			err := cluster.Get(ctx, client.ObjectKeyFromObject(claim), claim)
			Expect(apierrors.IsNotFound(err) || !claim.DeletionTimestamp.IsZero()).To(BeTrue(), "volume %s: %v", claim.Name, err)
		}
	})

	It("is told of when the API server refuses the pods of the operator's StatefulSet", func() {
		ns := newNamespace()
		q := quota(ns, list("pods", 0), list("pods", 0))
		c := start(operated("nopods", ns))
		o := asked(ns, "opensearch.opster.io")
		set := operate(&o)
		Expect(cluster.Create(ctx, set)).To(Succeed())
		Eventually(ready(c)).Should(Equal("False/Forbidden"))
		Expect(message(c)).To(And(ContainSubstring("StatefulSet "+set.Name), ContainSubstring("exceeded quota: small")))
		Expect(cluster.Delete(ctx, q)).To(Succeed())
		Eventually(ready(c)).Should(Equal("Unknown/Progressing"))
	})

	It("is waited for when the operator is removed, keeps no other campaign from going on, and goes on with the next operator", func() {
		ns := newNamespace()
		c := start(operated("removed", ns))
		o := asked(ns, "opensearch.opster.io")
		for _, group := range []string{"opensearch.opster.io", "opensearch.org"} { // the same again, and the newer one
			By("removing the operator before that of " + group)
			Expect(cluster.Delete(ctx, operatorCRD(o.GroupVersionKind().Group))).To(Succeed())
			Eventually(ready(c)).Should(Equal("False/OperatorMissing"))
			other := start(wrappers.MakeCampaign("other").Namespace(newNamespace()).VariantOnAnyNode("a").Clients(1).Repetitions(0))
			Eventually(ready(other)).Should(Equal("True/Finished"))
			Eventually(func() error { return cluster.Create(ctx, operatorCRD(group)) }).Should(Succeed(), "the old one goes first")
			o = asked(ns, group)
			report(&o, "yellow")
			Eventually(func() string { return message(c) }).Should(ContainSubstring("health yellow"), "its object is watched")
			Expect(ready(c)()).To(Equal("Unknown/Progressing"))
		}
	})
})
