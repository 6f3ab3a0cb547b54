package children

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/resources"
)

// addOpenSearchCluster adds the OpenSearchCluster of a cell to the cell's cluster. The opensearch-k8s-operator creates the pods
// of this cluster.
func addOpenSearchCluster(out map[string]decide.Cluster, o *unstructured.Unstructured) {
	addObject(out, o)
	name := o.GetLabels()[resources.LabelCellName]
	c := out[name]
	c.Deleting = !o.GetDeletionTimestamp().IsZero()
	c.Made, c.Placement = true, placement(o)
	c.Replicas = resources.OperatedNodes(o)
	c.Since = Later(c.Since, LastScaled(o))
	c.Problem = decide.Problem{Message: resources.ReadOpenSearchCluster(o).Says}
	out[name] = c
}

// awaitOperator reduces the number of ready pods by one until the opensearch-k8s-operator has finished. So no trial starts before that.
// The opensearch-k8s-operator changes the pod template of its StatefulSet after it created the first pods. After the bootstrap, it
// deletes these pods one by one. The parameter sets contains the StatefulSets of all clusters.
func awaitOperator(out map[string]decide.Cluster, o *unstructured.Unstructured, sets []appsv1.StatefulSet) {
	name := o.GetLabels()[resources.LabelCellName]
	c, state := out[name], resources.ReadOpenSearchCluster(o)
	message := state.Says
	if state.Running {
		message = describeOutdatedSet(o, sets)
	}
	if message == "" {
		return
	}
	c.Ready = min(c.Ready, c.Replicas-1)
	if c.Problem.Message == "" {
		c.Problem = decide.Problem{Message: message}
	}
	out[name] = c
}

// describeOutdatedSet names a StatefulSet of an OpenSearchCluster whose pods do not all have the newest template, or whose last change
// the StatefulSet controller has not processed yet. If the OpenSearchCluster has no StatefulSet, the text reports this. The text is empty
// if all pods have the newest template.
func describeOutdatedSet(o *unstructured.Unstructured, sets []appsv1.StatefulSet) string {
	found := false
	for i := range sets {
		s := &sets[i]
		if !metav1.IsControlledBy(s, o) {
			continue
		}
		found = true
		if want := ptr.Deref(s.Spec.Replicas, 1); s.Status.ObservedGeneration != s.Generation || s.Status.UpdatedReplicas != want {
			return fmt.Sprintf("StatefulSet %s: %d of %d pods have its newest template; the opensearch-k8s-operator restarts the other pods", s.Name, s.Status.UpdatedReplicas, want)
		}
	}
	if !found {
		return fmt.Sprintf("%s %s: its StatefulSet does not exist", resources.OpenSearchClusterKind, o.GetName())
	}
	return ""
}
