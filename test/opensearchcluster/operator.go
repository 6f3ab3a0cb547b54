package opensearchcluster

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/resources"
)

// StatefulSet returns the StatefulSet that the opensearch-k8s-operator creates for an OpenSearchCluster, without volumes. It and
// its pods carry the labels and annotations of the pool of nodes.
func StatefulSet(o *unstructured.Unstructured) *appsv1.StatefulSet {
	pools, _, _ := unstructured.NestedSlice(o.Object, "spec", "nodePools")
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

// Status returns the status that the opensearch-k8s-operator writes. The parameter health is empty before the bootstrap. The
// parameter restart is the status of the rolling restart; empty: there is no such status.
func Status(nodes int64, health, restart string) map[string]any {
	components := []any{}
	if restart != "" {
		components = append(components, map[string]any{"component": "RollingRestart", "status": restart})
	}
	status := map[string]any{"phase": "RUNNING", "componentsStatus": components}
	if health != "" {
		status["health"], status["initialized"], status["availableNodes"] = health, true, nodes
	}
	return status
}
