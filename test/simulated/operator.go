package simulated

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/opensearchcluster"
)

// stepOperator does the next step of the opensearch-k8s-operator for an OpenSearchCluster.
func (c *Cluster) stepOperator() bool {
	for _, k := range c.keys(resources.OpenSearchClusterKind) {
		o := c.items[k].object.(*unstructured.Unstructured)
		if o.GetDeletionTimestamp().IsZero() && c.stepOpenSearchCluster(o) {
			return true
		}
	}
	return false
}

// stepOpenSearchCluster creates the StatefulSet of an OpenSearchCluster, changes the template of its pods, waits until they run,
// reports health, and restarts the pods one by one.
func (c *Cluster) stepOpenSearchCluster(o *unstructured.Unstructured) bool {
	set, secret := operatorSet(o), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: resources.OperatedSecret(o.GetName())}}
	if _, exists := c.items[keyOf(secret)]; !exists {
		return c.must(c.create(secret, false))
	}
	is, exists := c.items[keyOf(set)]
	if !exists {
		return c.must(c.create(set, false))
	}
	set = is.object.(*appsv1.StatefulSet)
	pods := c.pods(set)
	running := slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning || !p.DeletionTimestamp.IsZero() })
	old := slices.DeleteFunc(slices.Clone(running), func(p *corev1.Pod) bool { return p.Labels[revision] == templateHash(set) })
	const changed = "opster.io/config"
	switch {
	case set.Status.ObservedGeneration != set.Generation || len(pods) < int(*set.Spec.Replicas):
		return c.report(o, "", "")
	case set.Spec.Template.Annotations[changed] == "":
		c.change(set, func(s client.Object) {
			template := &s.(*appsv1.StatefulSet).Spec.Template
			template.Annotations = maps.Clone(template.Annotations)
			metav1.SetMetaDataAnnotation(&template.ObjectMeta, changed, "changed")
			s.SetGeneration(s.GetGeneration() + 1)
		})
		return true
	case len(running) < len(pods):
		return c.report(o, "", "")
	case len(old) > 0:
		return c.report(o, "green", "InProgress") || c.must(c.delete(keyOf(old[0]), client.DeleteOptions{}))
	}
	return c.report(o, "green", "Finished")
}

// report writes the status of an OpenSearchCluster. The parameter health is empty before the bootstrap; the parameter restart
// is the status of the rolling restart. A status that was written never becomes earlier than the bootstrap.
func (c *Cluster) report(o *unstructured.Unstructured, health, restart string) bool {
	if was, _, _ := unstructured.NestedString(o.Object, "status", "health"); health == "" && was != "" {
		return false
	}
	next := o.DeepCopy()
	next.Object["status"] = opensearchcluster.Status(int64(resources.OperatedNodes(o)), health, restart)
	before := o.GetResourceVersion()
	c.must(c.update(next, true))
	return next.GetResourceVersion() != before
}

// operatorSet returns the StatefulSet of an OpenSearchCluster, with its volumes.
func operatorSet(o *unstructured.Unstructured) *appsv1.StatefulSet {
	set := opensearchcluster.StatefulSet(o)
	pools, _, _ := unstructured.NestedSlice(o.Object, "spec", "nodePools")
	pool := pools[0].(map[string]any)
	if size, _, _ := unstructured.NestedString(pool, "diskSize"); size != "" {
		labels, _, _ := unstructured.NestedStringMap(pool, "persistence", "pvc", "labels")
		annotations, _, _ := unstructured.NestedStringMap(pool, "persistence", "pvc", "annotations")
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: labels, Annotations: annotations}}}
	}
	return set
}
