package apply

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/controllers/observe"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// startCluster creates the objects of a cell, or scales an existing cluster up. It creates the StatefulSet or the
// OpenSearchCluster last: if this object exists, all objects exist.
func (a *Applier) startCluster(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, action decide.Action) error {
	if err := observe.CheckMounts(ctx, a.Uncached, c, cell); err != nil { // check before the nodes cause costs
		return err
	}
	placement := resources.Placement{Number: action.Placement, Avoid: action.Avoid}
	if cell.Operated() {
		return a.createOpenSearchCluster(ctx, c, cell, placement)
	}
	if cell.Secured() {
		if err := a.createSecuritySecret(ctx, c); err != nil {
			return err
		}
	}
	objects := []client.Object{resources.Service(c, cell), resources.SettingsConfigMap(c, cell)}
	if !a.Options.NoPolicies {
		objects = append(objects, resources.OpenSearchPolicy(c, cell))
	}
	objects = append(objects, a.loaderObjects(c, cell)...)
	if err := a.createAll(ctx, c, objects); err != nil {
		return err
	}
	created, err := a.create(ctx, c, resources.StatefulSet(c, cell, placement, a.Options, p.ProvisioningTimeout, a.Clock.Now()))
	if err != nil || created {
		return err
	}
	return a.scale(ctx, c, cell.Name, cell.Spec.Topology.Nodes)
}

// createOpenSearchCluster creates the objects that the trials of a cell need. Then it creates the OpenSearchCluster. From this object,
// the opensearch-k8s-operator creates the cluster.
func (a *Applier) createOpenSearchCluster(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell plan.Cell, on resources.Placement) error {
	kind, found, err := a.Operator.Find(ctx)
	if err != nil {
		return err
	}
	if !found {
		return observe.NewOperatorMissing()
	}
	if err := a.createAll(ctx, c, a.loaderObjects(c, cell)); err != nil {
		return err
	}
	_, err = a.create(ctx, c, resources.OpenSearchCluster(c, cell, kind, on, a.Options, a.Clock.Now()))
	if apierrors.IsNotFound(err) && !children.NeedsUserAction(err) {
		return observe.NewOperatorMissing() // the API server served the kind before; the kind was removed since
	}
	return err
}

// stopCluster stops the OpenSearch nodes of a cell. If the cell has an OpenSearchCluster, stopCluster deletes this object, because the
// opensearch-k8s-operator cannot scale a cluster to zero. Otherwise it scales the StatefulSet to zero. It does nothing while the cache
// lacks a Job of the cell, because that Job may still send load.
func (a *Applier) stopCluster(ctx context.Context, c *v1alpha1.BenchmarkCampaign, action decide.Action) error {
	if stale, err := a.isCacheStale(ctx, c, action); stale || err != nil {
		return err
	}
	if exists, err := a.deleteOpenSearchClusters(ctx, c, action.Cell); exists || err != nil {
		return err
	}
	return a.scale(ctx, c, action.Cell, 0)
}

func (a *Applier) scale(ctx context.Context, c *v1alpha1.BenchmarkCampaign, name string, replicas int32) error {
	var s appsv1.StatefulSet
	if err := a.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &s); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(&s, c) || ptr.Deref(s.Spec.Replicas, 1) == replicas {
		return nil
	}
	before := s.DeepCopy()
	s.Spec.Replicas = ptr.To(replicas)
	if s.Annotations == nil {
		s.Annotations = map[string]string{}
	}
	s.Annotations[resources.AnnotationSince] = a.Clock.Now().UTC().Format(time.RFC3339)
	err := a.Client.Patch(ctx, &s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	return children.ClassifyError(err, "StatefulSet "+name)
}
