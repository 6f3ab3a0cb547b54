package controllers_test

import (
	"maps"
	"slices"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
)

// The opensearch-k8s-operator in these tests is a fake. As far as Knee can see, it behaves like the real one;
// docs/opensearchcluster.md describes the run in which the real one was observed. Its StatefulSet and pods carry the
// labels and annotations of the pool of nodes. It creates all pods at once and changes their template afterwards. So
// it has to restart every node.

// accept does what the opensearch-k8s-operator does at once with a new OpenSearchCluster. It sets the phase RUNNING
// and creates the StatefulSet and a Secret without an owner. Then it changes the template of the pods. The pods are
// restarted one by one only after the bootstrap.
func accept(o *unstructured.Unstructured) *appsv1.StatefulSet {
	setStatus(o, map[string]any{"phase": "RUNNING", "componentsStatus": []any{}})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName() + "-dashboards-password"}}
	Expect(cluster.Create(ctx, secret)).To(Succeed())
	set := operatorSet(o)
	Expect(cluster.Create(ctx, set)).To(Succeed())
	Eventually(func() int64 { return observedSet(set).Status.ObservedGeneration }).Should(Equal(set.Generation), "its pods have the first template")
	before := set.DeepCopy()
	set.Spec.Template.Annotations = maps.Clone(set.Spec.Template.Annotations)
	set.Spec.Template.Annotations["opster.io/config"] = "changed"
	Expect(cluster.Patch(ctx, set, client.MergeFrom(before))).To(Succeed())
	return set
}

// operatorSet returns the StatefulSet that the opensearch-k8s-operator creates for an OpenSearchCluster.
func operatorSet(o *unstructured.Unstructured) *appsv1.StatefulSet {
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
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations},
				Spec:       corev1.PodSpec{NodeSelector: selector, Containers: []corev1.Container{{Name: resources.ContainerOpenSearch, Image: "opensearch"}}},
			},
		},
	}
}

// restart deletes the pods of a StatefulSet one by one and waits for each new pod, as the opensearch-k8s-operator does
// after the bootstrap.
func restart(o *unstructured.Unstructured, set *appsv1.StatefulSet, meanwhile func()) {
	report(o, "green", "InProgress")
	for _, pod := range runningPods(o.GetNamespace()) {
		Expect(cluster.Delete(ctx, &pod)).To(Succeed())
		Eventually(func() bool {
			return slices.ContainsFunc(runningPods(o.GetNamespace()), func(p corev1.Pod) bool { return p.Name == pod.Name && p.UID != pod.UID })
		}).Should(BeTrue(), "pod %s is there again", pod.Name)
		meanwhile()
	}
	Eventually(func() int32 { return observedSet(set).Status.UpdatedReplicas }).Should(Equal(int32(3)))
	meanwhile()
	report(o, "green", "Finished")
}

// report writes the status of a bootstrapped cluster as the opensearch-k8s-operator does. The parameter restart is the
// status of the rolling restart; empty: there is no such status.
func report(o *unstructured.Unstructured, health, restart string) {
	components := []any{}
	if restart != "" {
		components = append(components, map[string]any{"component": "RollingRestart", "status": restart})
	}
	setStatus(o, map[string]any{"phase": "RUNNING", "health": health, "initialized": true, "availableNodes": int64(3), "componentsStatus": components})
}

func setStatus(o *unstructured.Unstructured, status map[string]any) {
	o.Object["status"] = status
	Expect(cluster.Status().Update(ctx, o)).To(Succeed())
}

func observedSet(set *appsv1.StatefulSet) *appsv1.StatefulSet {
	var now appsv1.StatefulSet
	Expect(cluster.Get(ctx, client.ObjectKeyFromObject(set), &now)).To(Succeed())
	return &now
}

// runningPods returns the pods of a namespace that run and are not being deleted.
func runningPods(ns string) []corev1.Pod {
	var pods corev1.PodList
	Expect(cluster.List(ctx, &pods, client.InNamespace(ns))).To(Succeed())
	return slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning || !p.DeletionTimestamp.IsZero() })
}

// eventNotes returns the notes of a namespace's events with the given reason.
func eventNotes(ns, reason string) []string {
	var list eventsv1.EventList
	Expect(cluster.List(ctx, &list, client.InNamespace(ns))).To(Succeed())
	var out []string
	for _, e := range list.Items {
		if e.Reason == reason {
			out = append(out, e.Note)
		}
	}
	return out
}
