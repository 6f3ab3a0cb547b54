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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/test/opensearchcluster"
)

// The opensearch-k8s-operator in these tests is a fake. As far as Knee can see, it behaves like the real one;
// docs/opensearchcluster.md describes the run in which the real one was observed. Its StatefulSet and pods carry the
// labels and annotations of the pool of nodes. It creates all pods at once and changes their template afterwards. So
// it has to restart every node.

// accept does what the opensearch-k8s-operator does at once with a new OpenSearchCluster. It sets the phase RUNNING
// and creates the StatefulSet and a Secret without an owner. Then it changes the template of the pods. The pods are
// restarted one by one only after the bootstrap.
func accept(o *unstructured.Unstructured) *appsv1.StatefulSet {
	setStatus(o, opensearchcluster.Status(3, "", ""))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName() + "-dashboards-password"}}
	Expect(cluster.Create(ctx, secret)).To(Succeed())
	set := opensearchcluster.StatefulSet(o)
	Expect(cluster.Create(ctx, set)).To(Succeed())
	Eventually(func() int64 { return observedSet(set).Status.ObservedGeneration }).Should(Equal(set.Generation), "its pods have the first template")
	before := set.DeepCopy()
	set.Spec.Template.Annotations = maps.Clone(set.Spec.Template.Annotations)
	set.Spec.Template.Annotations["opster.io/config"] = "changed"
	Expect(cluster.Patch(ctx, set, client.MergeFrom(before))).To(Succeed())
	return set
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
	setStatus(o, opensearchcluster.Status(3, health, restart))
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
