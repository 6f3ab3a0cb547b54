package simulated

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/kubernetes"
)

func TestClusterStep_fewerReplicas_deletesHighestOrdinalFirst(t *testing.T) {
	c := New(&kubernetes.Node{})
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}}
	set.Spec.Replicas = ptr.To[int32](12)
	set.Spec.Template.Labels = map[string]string{resources.LabelComponent: resources.ComponentOpenSearch}
	if err := c.create(set, false); err != nil {
		t.Fatal(err)
	}
	for c.Step() {
	}
	var deleted []string
	c.Seen = func(before, after client.Object) {
		if pod, isPod := before.(*corev1.Pod); isPod && after != nil && pod.DeletionTimestamp.IsZero() && !after.GetDeletionTimestamp().IsZero() {
			deleted = append(deleted, pod.Name)
		}
	}
	c.change(All[*appsv1.StatefulSet](c)[0], func(o client.Object) { o.(*appsv1.StatefulSet).Spec.Replicas = ptr.To[int32](8) })
	for c.Step() {
	}
	if diff := cmp.Diff([]string{"set-11", "set-10", "set-9", "set-8"}, deleted); diff != "" {
		t.Error("(-want +got)", diff)
	}
}
