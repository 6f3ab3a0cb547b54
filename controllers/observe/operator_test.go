package observe

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// lister is a fake API server that serves the kind OpenSearchCluster in some API groups. It counts the requests.
type lister struct {
	client.Reader
	served   map[schema.GroupVersion]bool
	requests int
}

func (l *lister) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	l.requests++
	if of := list.GetObjectKind().GroupVersionKind(); !l.served[of.GroupVersion()] {
		return &meta.NoKindMatchError{GroupKind: of.GroupKind()}
	}
	return nil
}

// TestListClusters_kindNotServed_isLookedUpOnce checks that the kind OpenSearchCluster is looked up when the first
// campaign is observed. Later it is looked up only for campaigns that need it.
func TestListClusters_kindNotServed_isLookedUpOnce(t *testing.T) {
	c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").Obj()
	api := &lister{served: map[schema.GroupVersion]bool{}}
	operator := &Operator{Uncached: api}
	operator.SetWatches(OperatorWatches{})
	for range 3 {
		if found, err := operator.ListClusters(t.Context(), c); len(found) > 0 || err != nil {
			t.Fatal(found, err)
		}
	}
	if want := len(resources.OpenSearchClusterGroups); api.requests != want {
		t.Errorf("%d requests, want %d: one a group", api.requests, want)
	}
}

// TestListClusters_kindRemoved_returnsNone checks that the watch ends if the kind OpenSearchCluster is removed after
// it was found. If the kind is served again later, it must be found again.
func TestListClusters_kindRemoved_returnsNone(t *testing.T) {
	c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").Obj()
	older := resources.OpenSearchClusterGroups[1]
	api := &lister{served: map[schema.GroupVersion]bool{older: true}}
	operator := &Operator{Uncached: api}
	var watched, unwatched []schema.GroupVersion
	operator.SetWatches(OperatorWatches{
		Start: func(kind schema.GroupVersion) error {
			watched = append(watched, kind)
			api.served[kind] = false // before the first list of its objects
			return nil
		},
		Stop: func(_ context.Context, kind schema.GroupVersion) error {
			unwatched = append(unwatched, kind)
			return nil
		},
	})
	for range 2 {
		if found, err := operator.ListClusters(t.Context(), c); len(found) > 0 || err != nil {
			t.Fatal(found, err)
		}
	}
	if !slices.Equal(watched, []schema.GroupVersion{older}) || !slices.Equal(unwatched, watched) {
		t.Errorf("watched %v, unwatched %v", watched, unwatched)
	}
	api.served[older] = true
	if _, found, err := operator.Find(t.Context()); !found || err != nil {
		t.Errorf("the next operator is not found: %v", err)
	}
}
