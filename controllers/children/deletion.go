package children

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxDeletions limits the text that lists the objects that are being deleted, in bytes.
const maxDeletions = 512

// describeDeletion names an object that is being deleted, and what may block its deletion: the node of a pod, or finalizers.
func describeDeletion(o client.Object) string {
	kind := o.GetObjectKind().GroupVersionKind().Kind // empty for the typed objects below
	switch o := o.(type) {
	case *corev1.Pod:
		if o.Spec.NodeName != "" {
			return fmt.Sprintf("pod %s on Kubernetes node %s is being deleted", o.Name, o.Spec.NodeName)
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

// appendDeletion appends an object to the text that lists the objects that are being deleted.
func appendDeletion(list, more string) string {
	if list == "" {
		return Shorten(more, maxDeletions)
	}
	return Shorten(list+", "+more, maxDeletions)
}

// Shorten cuts a text to at most n bytes.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-3], "") + "..."
}
