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
	campaigns map[types.NamespacedName]operatedCells
}

// operatedCells holds the cells of a campaign whose clusters the operator makes.
type operatedCells struct {
	campaign types.UID
	nodes    map[string]int32 // number of nodes, by name of the cell
	names    []string         // in the order of the plan
}

// remember notes a campaign's cells by the operator. Cells of an earlier version of the campaign stay noted.
func (l *leftovers) remember(c *v1alpha1.BenchmarkCampaign, p plan.Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := client.ObjectKeyFromObject(c)
	known := l.campaigns[key]
	if known.campaign != c.UID {
		known = operatedCells{campaign: c.UID, nodes: map[string]int32{}}
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
		l.campaigns = map[types.NamespacedName]operatedCells{}
	}
	l.campaigns[key] = known
}

// of returns what is noted of a campaign.
func (l *leftovers) of(key types.NamespacedName) (operatedCells, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.campaigns[key]
	return known, ok
}

// forget drops what is noted of a campaign.
func (l *leftovers) forget(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.campaigns, key)
}

// cleanUp deletes the volumes that the operator leaves behind of a campaign that is gone, and lists the Secrets in an event.
func (r *CampaignReconciler) cleanUp(ctx context.Context, key types.NamespacedName) error {
	cells, known := r.leftovers.of(key)
	if !known {
		return nil
	}
	orphaned, err := r.orphaned(ctx, key.Namespace, cells.campaign)
	if err != nil {
		return err
	}
	var errs []error
	for name, nodes := range cells.nodes {
		if orphaned[name] {
			continue
		}
		for i := range nodes {
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: resources.OperatedClaim(name, i)}}
			if err := client.IgnoreNotFound(r.Delete(ctx, claim)); err != nil {
				errs = append(errs, refusal(err, "PersistentVolumeClaim "+claim.Name))
			}
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("delete the volumes of campaign %s, which is deleted: %w", key, errors.Join(errs...))
	}
	r.leftovers.forget(key)
	cells.names = slices.DeleteFunc(slices.Clone(cells.names), func(name string) bool { return orphaned[name] }) // these clusters still use their Secrets
	gone := &v1alpha1.BenchmarkCampaign{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: cells.campaign}}
	r.tellLeftBehind(gone, cells, "the campaign is deleted, and the volumes of its OpenSearchClusters with it")
	return nil
}

// orphaned returns the cells whose OpenSearchClusters stay because somebody deleted their campaign with --cascade=orphan:
// the garbage collector has taken the owner off them.
func (r *CampaignReconciler) orphaned(ctx context.Context, namespace string, campaign types.UID) (map[string]bool, error) {
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

// tellLeftBehind writes an event that lists the Secrets that the operator leaves behind. Operators of the older group leave none.
func (r *CampaignReconciler) tellLeftBehind(c *v1alpha1.BenchmarkCampaign, cells operatedCells, after string) {
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
