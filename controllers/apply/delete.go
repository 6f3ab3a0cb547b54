package apply

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/resources"
)

// deleteCluster deletes all objects of a cell except its records and its NetworkPolicies, which Policies deletes when the pods are gone.
// It also keeps the loader's cache if the action requires that.
// It deletes the Jobs and the StatefulSet last and in the foreground: as long as one of them exists, Knee continues the
// deletion.
func (a *Applier) deleteCluster(ctx context.Context, c *v1alpha1.BenchmarkCampaign, action decide.Action) error {
	options := []client.ListOption{client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelCampaign: string(c.UID), resources.LabelCellName: action.Cell,
	}}
	lists := []client.ObjectList{
		&corev1.ServiceList{}, &corev1.ConfigMapList{}, &policyv1.PodDisruptionBudgetList{},
		&corev1.PersistentVolumeClaimList{}, &batchv1.JobList{}, &appsv1.StatefulSetList{},
	}
	for _, list := range lists {
		if err := a.Client.List(ctx, list, options...); err != nil {
			return err
		}
		if claims, ok := list.(*corev1.PersistentVolumeClaimList); ok && action.KeepCache {
			claims.Items = slices.DeleteFunc(claims.Items, children.IsCache)
		}
		if sets, ok := list.(*appsv1.StatefulSetList); ok {
			sets.Items = children.OwnStatefulSets(sets.Items, c)
		}
		if err := a.deleteAll(ctx, list); err != nil {
			return err
		}
	}
	_, err := a.deleteOpenSearchClusters(ctx, c, action.Cell)
	return err
}

// deleteJob deletes the Job of an attempt, and its pods.
func (a *Applier) deleteJob(ctx context.Context, c *v1alpha1.BenchmarkCampaign, action decide.Action) error {
	var job batchv1.Job
	if err := a.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: action.Job}, &job); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(&job, c) || !job.DeletionTimestamp.IsZero() {
		return nil
	}
	return children.ClassifyError(deleteInForeground(ctx, a.Client, &job), "Job "+job.Name)
}

// deleteAll deletes the objects of a list that are not being deleted yet. The list never contains records, because their
// ConfigMaps lack the label of the cell's name.
func (a *Applier) deleteAll(ctx context.Context, list client.ObjectList) error {
	return meta.EachListItem(list, func(o runtime.Object) error {
		object := o.(client.Object)
		if !object.GetDeletionTimestamp().IsZero() {
			return nil
		}
		return children.ClassifyError(deleteInForeground(ctx, a.Client, object), object.GetName())
	})
}

// deleteInForeground deletes exactly this object. It does not delete a newer object with the same name.
func deleteInForeground(ctx context.Context, writer client.Writer, o client.Object) error {
	return client.IgnoreNotFound(writer.Delete(ctx, o, &client.DeleteOptions{
		PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
		Preconditions:     &metav1.Preconditions{UID: ptr.To(o.GetUID())},
	}))
}

// deleteOpenSearchClusters deletes the OpenSearchCluster of a cell with its volumes, and reports whether an OpenSearchCluster
// exists. It deletes the volumes first: as long as the OpenSearchCluster exists, Knee continues the deletion.
func (a *Applier) deleteOpenSearchClusters(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell string) (exists bool, err error) {
	objects, err := a.Operator.ListClusters(ctx, c, cell)
	for i := range objects {
		o := &objects[i]
		if !o.GetDeletionTimestamp().IsZero() || !metav1.IsControlledBy(o, c) {
			continue
		}
		if err := deleteVolumes(ctx, a.Client, o.GetNamespace(), o.GetName(), resources.OperatedNodes(o)); err != nil {
			return true, err
		}
		if err := children.ClassifyError(deleteInForeground(ctx, a.Client, o), resources.OpenSearchClusterKind+" "+o.GetName()); err != nil {
			return true, err
		}
	}
	return len(objects) > 0, err
}

// deleteVolumes deletes the volumes of an OpenSearchCluster, because the opensearch-k8s-operator does not delete them. The volumes hold
// the data of the deleted cluster. Nodes that start with this data cannot join a new cluster with the same name.
func deleteVolumes(ctx context.Context, writer client.Writer, namespace, cluster string, nodes int32) error {
	for i := range nodes {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: resources.OperatedClaim(cluster, i)}}
		if err := client.IgnoreNotFound(writer.Delete(ctx, claim)); err != nil {
			return children.ClassifyError(err, "PersistentVolumeClaim "+claim.Name)
		}
	}
	return nil
}

// deleteBudgets deletes exactly the given PodDisruptionBudgets, so that pods can be evicted after a trial. It does nothing while the cache
// lacks a Job of the cell, because the budgets may protect the pods of that Job.
func (a *Applier) deleteBudgets(ctx context.Context, c *v1alpha1.BenchmarkCampaign, action decide.Action) error {
	if stale, err := a.isCacheStale(ctx, c, action); stale || err != nil {
		return err
	}
	for _, b := range action.Budgets {
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: b.Name}}
		err := a.Client.Delete(ctx, budget, client.Preconditions{UID: &b.UID})
		if client.IgnoreNotFound(err) != nil {
			return children.ClassifyError(err, "PodDisruptionBudget "+b.Name)
		}
	}
	return nil
}

// deleteRecords deletes exactly the given ConfigMaps. It keeps a ConfigMap that was created later under the same name.
func (a *Applier) deleteRecords(ctx context.Context, namespace string, records []decide.Record) error {
	for _, record := range records {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: record.Name}}
		err := a.Client.Delete(ctx, cm, client.Preconditions{UID: &record.UID})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("cannot delete ConfigMap %s, which holds an earlier record: %w", record.Name, err)
		}
	}
	return nil
}
