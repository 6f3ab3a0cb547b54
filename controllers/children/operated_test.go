package children

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/resources"
)

// TestAwaitOperator_waitsForTheRollingRestart checks a cluster whose pods are all ready. The cluster does not count as
// ready while the opensearch-k8s-operator is about to restart the pods.
func TestAwaitOperator_waitsForTheRollingRestart(t *testing.T) {
	complete := map[string]any{"phase": "RUNNING", "health": "green", "initialized": true, "availableNodes": int64(3)}
	set := func(change func(*appsv1.StatefulSet)) []appsv1.StatefulSet {
		s := appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "x-nodes", Generation: 2, OwnerReferences: []metav1.OwnerReference{{UID: "o", Controller: ptr.To(true)}}},
			Spec:       appsv1.StatefulSetSpec{Replicas: ptr.To[int32](3)},
			Status:     appsv1.StatefulSetStatus{ObservedGeneration: 2, UpdatedReplicas: 3, ReadyReplicas: 3},
		}
		change(&s)
		return []appsv1.StatefulSet{s}
	}
	for name, tt := range map[string]struct {
		status map[string]any
		sets   []appsv1.StatefulSet
		ready  int32
		says   string
	}{
		"complete":              {complete, set(func(*appsv1.StatefulSet) {}), 3, ""},
		"not initialized":       {map[string]any{"phase": "RUNNING", "health": "green"}, set(func(*appsv1.StatefulSet) {}), 2, "not initialized yet"},
		"template changed":      {complete, set(func(s *appsv1.StatefulSet) { s.Status.UpdatedReplicas = 0 }), 2, "StatefulSet x-nodes: 0 of 3 pods have its newest template"},
		"restart under way":     {complete, set(func(s *appsv1.StatefulSet) { s.Status.UpdatedReplicas = 2 }), 2, "2 of 3 pods have its newest template"},
		"change not observed":   {complete, set(func(s *appsv1.StatefulSet) { s.Generation = 3 }), 2, "StatefulSet x-nodes"},
		"no StatefulSet":        {complete, nil, 2, "its StatefulSet does not exist"},
		"another's StatefulSet": {complete, set(func(s *appsv1.StatefulSet) { s.OwnerReferences[0].UID = "other" }), 2, "its StatefulSet does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"name": "x", "labels": map[string]any{resources.LabelCellName: "x"}},
				"spec":     map[string]any{"nodePools": []any{map[string]any{"replicas": int64(3)}}},
				"status":   tt.status,
			}}
			o.SetUID(types.UID("o"))
			clusters := map[string]decide.Cluster{"x": {Name: "x", Made: true, Replicas: 3, Pods: 3, Ready: 3}}
			awaitOperator(clusters, o, tt.sets)
			got := clusters["x"]
			if got.Ready != tt.ready || !strings.Contains(got.Problem.Message, tt.says) || (got.Problem.Message == "") != (tt.says == "") {
				t.Errorf("ready %d, %q; want %d, %q", got.Ready, got.Problem.Message, tt.ready, tt.says)
			}
		})
	}
}
