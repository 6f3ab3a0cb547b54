package controllers

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxLeft bounds the list of what is being deleted, in bytes.
const maxLeft = 512

// leaving names an object that is being deleted, and what may keep it: a pod's node, or the finalizers of anything.
func leaving(o client.Object) string {
	kind := o.GetObjectKind().GroupVersionKind().Kind // of what the cache has as it came: typed objects have none
	switch o := o.(type) {
	case *corev1.Pod:
		if o.Spec.NodeName != "" {
			return fmt.Sprintf("pod %s on node %s is being deleted", o.Name, o.Spec.NodeName)
		}
		kind = "pod"
	case *corev1.PersistentVolumeClaim:
		kind = "PersistentVolumeClaim"
	case *corev1.ConfigMap:
		kind = "ConfigMap"
	case *appsv1.StatefulSet:
		kind = "StatefulSet"
	case *batchv1.Job:
		kind = "Job"
	}
	text := fmt.Sprintf("%s %s is being deleted", kind, o.GetName())
	if finalizers := o.GetFinalizers(); len(finalizers) > 0 {
		text += fmt.Sprintf(" (finalizers %s)", strings.Join(finalizers, ", "))
	}
	return text
}

// addLeft adds to a list of what is being deleted.
func addLeft(list, more string) string {
	if list == "" {
		return shorten(more, maxLeft)
	}
	return shorten(list+", "+more, maxLeft)
}
