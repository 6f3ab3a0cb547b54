package apply

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/resources"
)

// Policies deletes the NetworkPolicies of cells after the last pod of the cell. A NetworkPolicy has no owner: the garbage collector
// deletes the objects of an owner in any order, and so would delete a NetworkPolicy before the pods that it protects.
type Policies struct {
	Reader   client.Reader // the cache
	Uncached client.Reader // the API server
	Writer   client.Writer
}

// cellKey identifies a cell among the cells of all campaigns of a namespace.
type cellKey struct {
	campaign types.UID
	cell     string // name of the cell
}

// DeleteUnused deletes the NetworkPolicies of the campaigns with the name key, if no pod, StatefulSet or Job of the cell exists. It keeps
// those of cells for which isInUse returns true. Campaigns of this name that are deleted are included, so no memory of them is needed.
func (p *Policies) DeleteUnused(ctx context.Context, key types.NamespacedName, isInUse func(campaign types.UID, cell string) bool) error {
	var list networkingv1.NetworkPolicyList
	if err := p.Reader.List(ctx, &list, client.UnsafeDisableDeepCopy, client.InNamespace(key.Namespace),
		client.MatchingLabels{resources.LabelManagedBy: resources.ManagedBy}); err != nil {
		return fmt.Errorf("cannot list the NetworkPolicies of campaign %s: %w", key, err)
	}
	needed := map[cellKey]bool{}
	for i := range list.Items {
		policy := &list.Items[i]
		of := cellKey{types.UID(policy.Labels[resources.LabelCampaign]), policy.Labels[resources.LabelCellName]}
		if policy.Annotations[resources.AnnotationCampaignName] != key.Name || isInUse(of.campaign, of.cell) {
			continue
		}
		if _, known := needed[of]; !known {
			var err error
			if needed[of], err = p.mayHavePods(ctx, key.Namespace, of); err != nil {
				return err
			}
		}
		if needed[of] {
			continue
		}
		err := client.IgnoreNotFound(p.Writer.Delete(ctx, policy.DeepCopy(), client.Preconditions{UID: &policy.UID}))
		if err != nil {
			return children.ClassifyError(err, "NetworkPolicy "+policy.Name)
		}
	}
	return nil
}

// mayHavePods reports whether a cell has pods, or an object whose controller may create pods. If the cache shows no such object,
// mayHavePods asks the API server, because the cache may lack new objects.
func (p *Policies) mayHavePods(ctx context.Context, namespace string, of cellKey) (bool, error) {
	for _, reader := range []client.Reader{p.Reader, p.Uncached} {
		for _, list := range []client.ObjectList{&appsv1.StatefulSetList{}, &batchv1.JobList{}, &corev1.PodList{}} {
			if err := reader.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{
				resources.LabelManagedBy: resources.ManagedBy, resources.LabelCampaign: string(of.campaign), resources.LabelCellName: of.cell,
			}); err != nil {
				return false, fmt.Errorf("cannot list the StatefulSets, Jobs and pods of cell %s: %w", of.cell, err)
			}
			if meta.LenList(list) > 0 {
				return true, nil
			}
		}
	}
	return false, nil
}
