package apply

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// UpdateRecords applies spec.recordsWhenDeleted to the campaign's records, and adopts the records of deleted campaigns of the same name.
// It reports whether it changed an object: then the cache does not show the records as they are now, and nothing may be decided.
func (a *Applier) UpdateRecords(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, w decide.World) (changed bool, err error) {
	var list corev1.ConfigMapList
	if err := a.Client.List(ctx, &list, client.UnsafeDisableDeepCopy, client.InNamespace(c.Namespace), client.MatchingLabels{
		resources.LabelManagedBy: resources.ManagedBy, resources.LabelComponent: resources.ComponentRecord,
	}); err != nil {
		return false, fmt.Errorf("cannot list the records in namespace %s: %w", c.Namespace, err)
	}
	cells := map[string]plan.Cell{}
	for _, cell := range p.Cells {
		cells[cell.Hash] = cell
	}
	var own, adoptable []*corev1.ConfigMap
	for i := range list.Items {
		cm := &list.Items[i]
		switch {
		case !cm.DeletionTimestamp.IsZero():
		case cm.Labels[resources.LabelCampaign] == string(c.UID):
			own = append(own, cm)
			isUpdated, err := a.setRecordOwner(ctx, c, cm)
			if err != nil {
				return changed, err
			}
			changed = changed || isUpdated
		case isAdoptable(c, cells, cm):
			adoptable = append(adoptable, cm)
		}
	}
	if len(adoptable) == 0 {
		return changed, nil
	}
	adoption := newAdoption(c, cells, own, w)
	slices.SortFunc(adoptable, func(a, b *corev1.ConfigMap) int { // the oldest record of an attempt is adopted
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for _, cm := range adoptable {
		isAdopted, err := a.adopt(ctx, c, adoption, cm)
		if err != nil {
			return changed, err
		}
		changed = changed || isAdopted
	}
	return changed, nil
}

// setRecordOwner adds or removes the owner of a record according to spec.recordsWhenDeleted.
func (a *Applier) setRecordOwner(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cm *corev1.ConfigMap) (changed bool, err error) {
	owners := resources.RecordOwners(c)
	if metav1.IsControlledBy(cm, c) == (len(owners) > 0) {
		return false, nil
	}
	if len(owners) > 0 && metav1.GetControllerOf(cm) != nil {
		return false, nil // somebody gave the record to another object
	}
	updated := cm.DeepCopy()
	updated.OwnerReferences = append(slices.DeleteFunc(updated.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == c.UID }), owners...)
	if err := a.Client.Update(ctx, updated); err != nil {
		return false, fmt.Errorf("cannot apply spec.recordsWhenDeleted to record %s: %w", cm.Name, children.ClassifyError(err, "ConfigMap "+cm.Name))
	}
	return true, nil
}

// isAdoptable reports whether a record of another UID belongs to a deleted campaign of the same name, and to one of the cells. A record
// with an owner is not adoptable: if the owner does not exist, the garbage collector is about to delete the record.
func isAdoptable(c *v1alpha1.BenchmarkCampaign, cells map[string]plan.Cell, cm *corev1.ConfigMap) bool {
	_, isPlanned := cells[cm.Labels[resources.LabelCell]]
	return isPlanned && cm.Annotations[resources.AnnotationCampaignName] == c.Name && len(cm.OwnerReferences) == 0
}

// adoption decides which records a campaign adopts.
type adoption struct {
	campaign string               // UID
	cells    map[string]plan.Cell // by identity
	taken    map[record.Attempt]bool
	own      map[record.Attempt]*corev1.ConfigMap
}

// newAdoption returns the adoption of a campaign with the given records. An attempt is taken if the campaign has a record or a Job of it.
func newAdoption(c *v1alpha1.BenchmarkCampaign, cells map[string]plan.Cell, own []*corev1.ConfigMap, w decide.World) *adoption {
	out := &adoption{campaign: string(c.UID), cells: cells, taken: maps.Clone(w.Recorded), own: map[record.Attempt]*corev1.ConfigMap{}}
	if out.taken == nil {
		out.taken = map[record.Attempt]bool{}
	}
	for _, job := range w.Jobs {
		out.taken[job.Attempt] = true
	}
	for _, cm := range own {
		if attempt, err := children.AttemptOf(cm); err == nil {
			out.taken[attempt], out.own[attempt] = true, cm
		}
	}
	return out
}

// hasCopy reports whether the campaign has a record with the same content.
func (d *adoption) hasCopy(rec record.Record) bool {
	cm, exists := d.own[rec.Attempt]
	if !exists {
		return false
	}
	own, err := record.Decode([]byte(cm.Data[resources.RecordKey]))
	return err == nil && reflect.DeepEqual(own, rec)
}

// adopt copies a record to the campaign and deletes the original. It does nothing if the record is damaged, if its cell has another
// identity, or if the campaign has its own record or Job of the attempt. If the manager dies after the copy, the next Reconcile finds an
// equal record of the campaign and deletes the original.
func (a *Applier) adopt(ctx context.Context, c *v1alpha1.BenchmarkCampaign, d *adoption, cm *corev1.ConfigMap) (changed bool, err error) {
	data, err := record.SetCampaign([]byte(cm.Data[resources.RecordKey]), d.campaign)
	if err != nil {
		return false, nil // the trial is measured again; the damaged record stays for its reader
	}
	rec, err := record.Decode(data)
	cell, isPlanned := d.cells[rec.Attempt.Cell]
	if err != nil || !isPlanned {
		return false, nil
	}
	if !d.hasCopy(rec) {
		if d.taken[rec.Attempt] {
			return false, nil
		}
		copied := resources.RecordConfigMap(c, cell.AttemptName(rec.Attempt), rec.Attempt, data)
		isCreated, err := a.create(ctx, c, copied)
		if err != nil {
			return false, fmt.Errorf("cannot adopt record %s of a deleted campaign: %w", cm.Name, err)
		}
		if !isCreated {
			return true, nil // the cache lacks the campaign's record: the next Reconcile compares the two
		}
		d.taken[rec.Attempt], d.own[rec.Attempt] = true, copied
	}
	log.FromContext(ctx).Info("adopted a record of a deleted campaign of the same name", "record", cm.Name, "cell", cell.Name)
	err = a.Client.Delete(ctx, cm.DeepCopy(), client.Preconditions{UID: &cm.UID})
	if client.IgnoreNotFound(err) != nil {
		return true, fmt.Errorf("cannot delete record %s after its adoption: %w", cm.Name, children.ClassifyError(err, "ConfigMap "+cm.Name))
	}
	return true, nil
}
