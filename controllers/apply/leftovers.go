package apply

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
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/controllers/observe"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
)

// reasonLeftBehind is the reason of the Event that lists Secrets of the opensearch-k8s-operator. The opensearch-k8s-operator does not
// delete these Secrets, and Knee has no right to delete them.
const reasonLeftBehind = "SecretsLeftBehind"

// MaxNote is the longest note of an Event that the API server accepts, in bytes.
const MaxNote = 1024

// Leftovers deletes the volumes of OpenSearchClusters after their campaign was deleted. The opensearch-k8s-operator keeps the volumes and
// a Secret of each cluster. The volumes and Secrets have no owner, so they outlive the campaign. Leftovers remembers campaigns only in
// memory: if a campaign is deleted while no manager runs, its volumes stay.
type Leftovers struct {
	Writer   client.Writer
	Operator *observe.Operator
	Recorder events.EventRecorder

	mu        sync.Mutex
	campaigns map[types.UID]operatedCells // by UID, because a new campaign may have the name of a deleted one
}

// operatedCells holds those cells of one campaign whose OpenSearch clusters are created by the opensearch-k8s-operator.
type operatedCells struct {
	campaign types.UID
	key      types.NamespacedName // namespace and name of the campaign
	nodes    map[string]int32     // number of nodes, by name of the cell
	names    []string             // in the order of the plan
}

// Remember stores those cells of a campaign whose OpenSearch clusters are created by the opensearch-k8s-operator. Cells of an earlier
// version of the campaign stay stored.
func (l *Leftovers) Remember(c *v1alpha1.BenchmarkCampaign, p plan.Plan) {
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

// get returns the stored cells of a campaign.
func (l *Leftovers) get(campaign types.UID) (operatedCells, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.campaigns[campaign]
	return known, ok
}

// deleted returns the stored cells of all deleted campaigns with the name key. The parameter present is the UID of the campaign that has
// this name now. It is empty if there is no such campaign.
func (l *Leftovers) deleted(key types.NamespacedName, present types.UID) []operatedCells {
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

// forget deletes the stored cells of a campaign.
func (l *Leftovers) forget(campaign types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.campaigns, campaign)
}

// Delete deletes the leftovers of the deleted campaigns with the name key. The parameter present is the UID of the campaign that has this
// name now. It is empty if there is no such campaign.
func (l *Leftovers) Delete(ctx context.Context, key types.NamespacedName, present types.UID) error {
	var errs []error
	for _, cells := range l.deleted(key, present) {
		errs = append(errs, l.deleteOf(ctx, cells))
	}
	return errors.Join(errs...)
}

// deleteOf deletes the volumes that the opensearch-k8s-operator kept after a campaign was deleted, and lists the Secrets in an Event. It
// does nothing while the garbage collector has not deleted all OpenSearchClusters of the campaign, because the opensearch-k8s-operator
// may still create volumes. When an OpenSearchCluster is deleted, the watch queues the campaign's name, and deleteOf is called again.
// OpenSearchClusters that stay after a deletion with --cascade=orphan do not delay deleteOf, and keep their volumes.
func (l *Leftovers) deleteOf(ctx context.Context, cells operatedCells) error {
	key := cells.key
	orphaned, err := l.findOrphanedCells(ctx, key.Namespace, cells.campaign)
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
		errs = append(errs, deleteVolumes(ctx, l.Writer, key.Namespace, name, nodes))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cannot delete the volumes of the deleted campaign %s: %w", key, err)
	}
	l.forget(cells.campaign)
	cells.names = slices.DeleteFunc(slices.Clone(cells.names), func(name string) bool { return orphaned[name] }) // orphaned clusters still need their Secrets
	gone := &v1alpha1.BenchmarkCampaign{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: cells.campaign}}
	l.report(gone, cells, "the campaign and the volumes of its OpenSearchClusters are deleted")
	return nil
}

// findOrphanedCells returns the names of the OpenSearchClusters of a deleted campaign that still exist. The value is true if
// the campaign was deleted with --cascade=orphan: the OpenSearchCluster then stays, because the garbage collector has removed
// its owner reference.
func (l *Leftovers) findOrphanedCells(ctx context.Context, namespace string, campaign types.UID) (map[string]bool, error) {
	kind, known, err := l.Operator.Known(ctx)
	if err != nil || !known {
		return nil, err
	}
	objects, err := l.Operator.List(ctx, kind, client.InNamespace(namespace), client.MatchingLabels{resources.LabelCampaign: string(campaign)})
	if err != nil && !observe.IsNotServed(err) {
		return nil, fmt.Errorf("cannot list the OpenSearchClusters of a deleted campaign: %w", err)
	}
	out := map[string]bool{}
	for i := range objects {
		out[objects[i].GetName()] = metav1.GetControllerOf(&objects[i]) == nil
	}
	return out, nil
}

// ReportFinished records an Event for a finished campaign. The Event lists the Secrets that the opensearch-k8s-operator does not delete.
func (l *Leftovers) ReportFinished(c *v1alpha1.BenchmarkCampaign) {
	if cells, known := l.get(c.UID); known {
		l.report(c, cells, "the campaign is finished")
	}
}

// report records an Event that lists the Secrets that the opensearch-k8s-operator does not delete. Versions of the
// opensearch-k8s-operator that serve only the older API group leave no Secrets.
func (l *Leftovers) report(c *v1alpha1.BenchmarkCampaign, cells operatedCells, after string) {
	if len(cells.names) == 0 || !l.Operator.LeavesSecrets() {
		return
	}
	var names []string
	for _, cell := range cells.names {
		names = append(names, resources.OperatedSecret(cell))
	}
	note := fmt.Sprintf("%s; the opensearch-k8s-operator does not delete its Secrets, and Knee may not delete them; to delete the Secrets, run: kubectl -n %s delete secret --ignore-not-found %s", after, c.Namespace, strings.Join(names, " "))
	if len(note) > MaxNote { // the note ends with a command: if it were cut off, it could end within a name
		note = fmt.Sprintf("%s; the opensearch-k8s-operator does not delete its %d Secrets, and Knee may not delete them; for each OpenSearchCluster NAME of the campaign, delete Secret %s in namespace %s",
			after, len(names), resources.OperatedSecret("NAME"), c.Namespace)
	}
	l.Recorder.Eventf(c, nil, corev1.EventTypeNormal, reasonLeftBehind, "Reconcile", "%s", children.Shorten(note, MaxNote))
}
