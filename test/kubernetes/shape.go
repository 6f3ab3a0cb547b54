package kubernetes

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// Shape returns a text of all parts of an object that matter to the reconciler. It leaves out status fields that
// Kubernetes' controllers write at any time.
func Shape(o client.Object) string {
	id := fmt.Sprint(KindOf(o), o.GetName(), o.GetUID(), !o.GetDeletionTimestamp().IsZero())
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		return fmt.Sprint(id, o.Generation)
	case *batchv1.Job:
		return fmt.Sprint(id, JobEnded(o))
	case *corev1.Pod:
		return fmt.Sprint(id, o.Status.Phase)
	case *corev1.ConfigMap, *v1alpha1.BenchmarkCampaign:
		return fmt.Sprint(id, o.GetResourceVersion())
	}
	return id
}

// ListShape returns the shapes of the objects of a list, in alphabetical order.
func ListShape(list client.ObjectList, shape func(client.Object) string) string {
	var shapes []string
	_ = meta.EachListItem(list, func(o runtime.Object) error { // the function returns no error
		shapes = append(shapes, shape(o.(client.Object)))
		return nil
	})
	slices.Sort(shapes)
	return strings.Join(shapes, "\n")
}

// KindOf returns the kind of an object, or of the objects in a list.
func KindOf(o any) string {
	if unstructured, ok := o.(interface{ GetKind() string }); ok {
		return strings.TrimSuffix(unstructured.GetKind(), "List")
	}
	return strings.TrimSuffix(reflect.TypeOf(o).Elem().Name(), "List")
}

// JobEnded reports whether a Job is complete or failed.
func JobEnded(j *batchv1.Job) bool {
	return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
	})
}
