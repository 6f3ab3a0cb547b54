package controllers

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// withoutKind is an API server that does not know the operator's kind: a fake, which takes everything else.
type withoutKind struct{ client.Client }

func (withoutKind) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	if o.GetObjectKind().GroupVersionKind().Kind == resources.OpenSearchClusterKind {
		return apierrors.NewGenericServerResponse(404, "post", schema.GroupResource{Resource: "opensearchclusters"}, "", "404 page not found", 0, true)
	}
	return nil
}

// lister is an API server that serves the operator's kind in some groups: a fake, which counts the requests.
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

// The kind is looked up when the first campaign is observed, and then only by campaigns that need it.
func TestListOperated_looksTheKindUpOnce(t *testing.T) {
	c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").Obj()
	api := &lister{served: map[schema.GroupVersion]bool{}}
	r := &CampaignReconciler{Uncached: api}
	r.operator.isUnsure = true
	for range 3 {
		if found, err := r.listOperated(t.Context(), c); len(found) > 0 || err != nil {
			t.Fatal(found, err)
		}
	}
	if want := len(resources.OpenSearchClusterGroups); api.requests != want {
		t.Errorf("%d requests, want %d: one a group", api.requests, want)
	}
}

// A kind that vanishes after it was found is "no operator", and its watch ends. A new operator is found.
func TestListOperated_kindVanishes(t *testing.T) {
	c := wrappers.MakeCampaign("x").VariantOnAnyNode("a").Obj()
	older := resources.OpenSearchClusterGroups[1]
	api := &lister{served: map[schema.GroupVersion]bool{older: true}}
	r := &CampaignReconciler{Uncached: api}
	r.operator.isUnsure = true
	var watched, unwatched []schema.GroupVersion
	r.operator.watch = func(of schema.GroupVersion) error {
		watched = append(watched, of)
		api.served[of] = false // before the first list of its objects
		return nil
	}
	r.operator.unwatch = func(_ context.Context, of schema.GroupVersion) error {
		unwatched = append(unwatched, of)
		return nil
	}
	for range 2 {
		if found, err := r.listOperated(t.Context(), c); len(found) > 0 || err != nil {
			t.Fatal(found, err)
		}
	}
	if !slices.Equal(watched, []schema.GroupVersion{older}) || !slices.Equal(unwatched, watched) {
		t.Errorf("watched %v, unwatched %v", watched, unwatched)
	}
	api.served[older] = true
	if _, found, err := r.findOperator(t.Context()); !found || err != nil {
		t.Errorf("the next operator is not found: %v", err)
	}
}

// An operator that was found and is removed later is missing, not an error to try again in silence.
func TestAnOperatorThatIsGoneIsMissing(t *testing.T) {
	w := wrappers.MakeCampaign("x").VariantOnAnyNode("a")
	w.Spec.OpenSearch.Provisioner = v1alpha1.ProvisionOpenSearchCluster
	c := w.Obj()
	r := &CampaignReconciler{Client: withoutKind{}, Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0))}
	r.operator.kind = &resources.OpenSearchClusterGroups[0]
	err := r.startOperated(t.Context(), c, plan.Build(c).Cells[0], resources.Placement{})
	if !errors.Is(err, errOperatorMissing) || !mended(err) {
		t.Errorf("%v", err)
	}
}
