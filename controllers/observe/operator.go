package observe

import (
	"context"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/resources"
)

// Operator finds the kind OpenSearchCluster of the opensearch-k8s-operator, which may be installed or removed at any time. It looks the
// kind up when the first campaign is observed. While the kind is unknown, it looks the kind up again whenever a campaign needs it.
// OpenSearchClusters are watched until the API server no longer serves the kind.
type Operator struct {
	Uncached  client.Reader
	Namespace string // the only namespace that the manager watches; empty: all namespaces

	mu         sync.Mutex
	isLookedUp bool                 // false: the manager has just started
	kind       *schema.GroupVersion // nil: at the last look-up, the API server did not serve the kind
	watches    OperatorWatches
}

// OperatorWatches start and stop watching OpenSearchClusters.
type OperatorWatches struct {
	Start func(schema.GroupVersion) error
	Stop  func(context.Context, schema.GroupVersion) error
}

// SetWatches sets the functions that start and stop the watches of OpenSearchClusters. It does not look the kind up. If a kind were found
// before the controller starts, and removed before its objects are listed, the controller could not start.
func (o *Operator) SetWatches(w OperatorWatches) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watches, o.isLookedUp = w, false
}

// Find returns the kind OpenSearchCluster in the first group that the API server serves. It tries the newer group before the older group.
func (o *Operator) Find(ctx context.Context) (schema.GroupVersion, bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.findLocked(ctx)
}

// findLocked does the work of Find. The caller holds the lock.
func (o *Operator) findLocked(ctx context.Context) (schema.GroupVersion, bool, error) {
	if o.kind != nil {
		return *o.kind, true, nil
	}
	for _, kind := range resources.OpenSearchClusterGroups {
		switch _, err := o.List(ctx, kind, client.InNamespace(o.Namespace), client.Limit(1)); {
		case IsNotServed(err):
			continue
		case err != nil:
			return schema.GroupVersion{}, false, fmt.Errorf("cannot check whether the API server serves the kind %s in the API version %s: %w", resources.OpenSearchClusterKind, kind, err)
		}
		if o.watches.Start != nil {
			if err := o.watches.Start(kind); err != nil {
				return schema.GroupVersion{}, false, fmt.Errorf("cannot watch the kind %s of the API version %s: %w", resources.OpenSearchClusterKind, kind, err)
			}
		}
		o.kind, o.isLookedUp = &kind, true
		return kind, true, nil
	}
	o.isLookedUp = true
	return schema.GroupVersion{}, false, nil
}

// Known returns the kind OpenSearchCluster if it is known. Only the first call after the start of the manager makes API requests:
// campaigns without OpenSearchClusters must not look the kind up repeatedly.
func (o *Operator) Known(ctx context.Context) (schema.GroupVersion, bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.isLookedUp {
		return o.findLocked(ctx)
	}
	return ptr.Deref(o.kind, schema.GroupVersion{}), o.kind != nil, nil
}

// LeavesSecrets reports whether the installed version of the opensearch-k8s-operator leaves a Secret of each deleted cluster. It returns
// false if the opensearch-k8s-operator is not known to be installed. It makes no API request.
func (o *Operator) LeavesSecrets() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kind != nil && resources.LeavesSecret(*o.kind)
}

// forget removes a kind that is no longer served, and stops its watch. The next Find then tries the kinds of all groups again.
func (o *Operator) forget(ctx context.Context, kind schema.GroupVersion) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kind == nil || *o.kind != kind {
		return // another worker has already removed the kind
	}
	o.kind = nil
	if o.watches.Stop != nil {
		if err := o.watches.Stop(ctx, kind); err != nil {
			log.FromContext(ctx).Error(err, "cannot stop the watch of a kind that the API server no longer serves", "kind", resources.OpenSearchClusterKind, "group", kind)
		}
	}
}

// List lists the OpenSearchClusters of a group. It reads from the API server, because a RESTMapper keeps kinds that were
// removed.
func (o *Operator) List(ctx context.Context, kind schema.GroupVersion, options ...client.ListOption) ([]unstructured.Unstructured, error) {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(kind.WithKind(resources.OpenSearchClusterKind + "List"))
	err := o.Uncached.List(ctx, &list, options...)
	return list.Items, err
}

// ListClusters lists the OpenSearchClusters of a campaign, or of one of its cells. If the API server no longer serves the kind,
// the list is empty.
func (o *Operator) ListClusters(ctx context.Context, c *v1alpha1.BenchmarkCampaign, cell ...string) ([]unstructured.Unstructured, error) {
	kind, isKnown, err := o.Known(ctx)
	if err != nil || !isKnown {
		return nil, err
	}
	labels := client.MatchingLabels{resources.LabelCampaign: string(c.UID)}
	if len(cell) > 0 {
		labels[resources.LabelCellName] = cell[0]
	}
	items, err := o.List(ctx, kind, client.InNamespace(c.Namespace), labels)
	switch {
	case IsNotServed(err):
		o.forget(ctx, kind)
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot list the campaign's objects of kind %s: %w", resources.OpenSearchClusterKind, err)
	}
	return items, nil
}

// IsNotServed reports whether the API server does not serve the kind of a request.
func IsNotServed(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// NewOpenSearchCluster returns an empty object of the kind, for watches.
func NewOpenSearchCluster(kind schema.GroupVersion) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind.WithKind(resources.OpenSearchClusterKind))
	return o
}

// NewOperatorMissing returns the error of a campaign that requires the opensearch-k8s-operator.
func NewOperatorMissing() error {
	var groups []string
	for _, kind := range resources.OpenSearchClusterGroups {
		groups = append(groups, kind.String())
	}
	return fmt.Errorf("%w: the API server does not serve the kind %s of the API version %s: install the operator (https://github.com/opensearch-project/opensearch-k8s-operator), or remove provisioner: OpenSearchCluster from spec.opensearch and from the variants",
		children.ErrOperatorMissing, resources.OpenSearchClusterKind, strings.Join(groups, " or "))
}
