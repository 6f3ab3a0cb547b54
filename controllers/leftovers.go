package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// reasonLeftBehind is the reason of the event that lists what the operator leaves behind and Knee cannot delete.
const reasonLeftBehind = "SecretsLeftBehind"

// leftovers remembers the campaigns whose clusters the opensearch-k8s-operator makes. This operator leaves the volumes and a
// Secret of each cluster behind. They have no owner, so they outlive a deleted campaign. leftovers is a cache that each reconcile
// fills: when a campaign is deleted while no manager runs, its volumes stay.
type leftovers struct {
	mu        sync.Mutex
	campaigns map[types.UID]operatedCells // by UID: the next campaign may have the same name
}

// operatedCells holds the cells of a campaign whose clusters the operator makes.
type operatedCells struct {
	campaign types.UID
	key      types.NamespacedName // of the campaign
	nodes    map[string]int32     // number of nodes, by name of the cell
	names    []string             // in the order of the plan
}

// remember notes a campaign's cells by the operator. Cells of an earlier version of the campaign stay noted.
func (l *leftovers) remember(c *v1alpha1.BenchmarkCampaign, p plan.Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, isNoted := l.campaigns[c.UID]
	if !isNoted {
		known = operatedCells{campaign: c.UID, key: client.ObjectKeyFromObject(c), nodes: map[string]int32{}}
	}
	for _, cell := range p.Cells {
		if !cell.Operated() {
			continue
		}
		if _, noted := known.nodes[cell.Name]; !noted {
			known.names = append(known.names, cell.Name)
		}
		known.nodes[cell.Name] = cell.Spec.Topology.Nodes
	}
	if len(known.names) == 0 {
		return
	}
	if l.campaigns == nil {
		l.campaigns = map[types.UID]operatedCells{}
	}
	l.campaigns[c.UID] = known
}

// get returns what is noted of a campaign.
func (l *leftovers) get(campaign types.UID) (operatedCells, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.campaigns[campaign]
	return known, ok
}

// deleted returns what is noted of the campaigns of a name that are gone: all except the present one, whose UID is empty if
// there is none.
func (l *leftovers) deleted(key types.NamespacedName, present types.UID) []operatedCells {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []operatedCells
	for uid, known := range l.campaigns {
		if known.key == key && uid != present {
			out = append(out, known)
		}
	}
	return out
}

// forget drops what is noted of a campaign.
func (l *leftovers) forget(campaign types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.campaigns, campaign)
}

// deleteLeftoversOfDeleted deletes the leftovers of the campaigns of a name that are gone. present is the UID of the campaign
// that has the name now, empty if there is none.
func (r *CampaignReconciler) deleteLeftoversOfDeleted(ctx context.Context, key types.NamespacedName, present types.UID) error {
	var errs []error
	for _, cells := range r.leftovers.deleted(key, present) {
		errs = append(errs, r.deleteLeftovers(ctx, cells))
	}
	return errors.Join(errs...)
}

// deleteLeftovers deletes the volumes that the operator leaves behind of a campaign that is gone, and lists the Secrets in an
// event. While an OpenSearchCluster of the campaign exists, the operator may make volumes: deleteLeftovers then does nothing.
// The deletion of the OpenSearchCluster causes the next call, since the watch queues its owner by name.
func (r *CampaignReconciler) deleteLeftovers(ctx context.Context, cells operatedCells) error {
	key := cells.key
	orphaned, err := r.findOrphanedCells(ctx, key.Namespace, cells.campaign)
	if err != nil {
		return err
	}
	for _, isOrphaned := range orphaned {
		if !isOrphaned {
			return nil
		}
	}
	var errs []error
	for name, nodes := range cells.nodes {
		if orphaned[name] {
			continue
		}
		errs = append(errs, r.deleteVolumes(ctx, key.Namespace, name, nodes))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("delete the volumes of campaign %s, which is deleted: %w", key, err)
	}
	r.leftovers.forget(cells.campaign)
	cells.names = slices.DeleteFunc(slices.Clone(cells.names), func(name string) bool { return orphaned[name] }) // these clusters still use their Secrets
	gone := &v1alpha1.BenchmarkCampaign{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: cells.campaign}}
	r.reportLeftBehind(gone, cells, "the campaign is deleted, and the volumes of its OpenSearchClusters with it")
	return nil
}

// findOrphanedCells returns the cells of a deleted campaign whose OpenSearchClusters are still there. The value is true if the
// OpenSearchCluster stays because somebody deleted the campaign with --cascade=orphan: the garbage collector has removed its
// owner.
func (r *CampaignReconciler) findOrphanedCells(ctx context.Context, namespace string, campaign types.UID) (map[string]bool, error) {
	of, known, err := r.knownOperator(ctx)
	if err != nil || !known {
		return nil, err
	}
	objects, err := r.operatedIn(ctx, of, client.InNamespace(namespace), client.MatchingLabels{resources.LabelCampaign: string(campaign)})
	if err != nil && !unserved(err) {
		return nil, fmt.Errorf("list the OpenSearchClusters of a deleted campaign: %w", err)
	}
	out := map[string]bool{}
	for i := range objects {
		out[objects[i].GetName()] = metav1.GetControllerOf(&objects[i]) == nil
	}
	return out, nil
}

// reportLeftBehind writes an event that lists the Secrets that the operator leaves behind. Operators of the older group leave
// none.
func (r *CampaignReconciler) reportLeftBehind(c *v1alpha1.BenchmarkCampaign, cells operatedCells, after string) {
	r.operator.mu.Lock()
	kind := r.operator.kind
	r.operator.mu.Unlock()
	if kind == nil || !resources.LeavesSecret(*kind) || len(cells.names) == 0 {
		return
	}
	var names []string
	for _, cell := range cells.names {
		names = append(names, resources.OperatedSecret(cell))
	}
	note := fmt.Sprintf("%s; the opensearch-k8s-operator leaves Secrets behind, which Knee cannot delete: kubectl -n %s delete secret --ignore-not-found %s", after, c.Namespace, strings.Join(names, " "))
	if len(note) > maxNote { // a shortened command would end in half a name
		note = fmt.Sprintf("%s; the opensearch-k8s-operator leaves %d Secrets behind, which Knee cannot delete: delete the Secret %s in namespace %s for each of the campaign's OpenSearchClusters NAME",
			after, len(names), resources.OperatedSecret("NAME"), c.Namespace)
	}
	r.Recorder.Eventf(c, nil, corev1.EventTypeNormal, reasonLeftBehind, "Reconcile", "%s", shorten(note, maxNote))
}
