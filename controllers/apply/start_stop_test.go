package apply

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/controllers/observe"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// kindRemoved is a fake API server. It lists no objects, and it refuses to create an OpenSearchCluster, as if the CRD
// had been removed in the meantime. It accepts all other objects.
type kindRemoved struct{ client.Client }

func (kindRemoved) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	if o.GetObjectKind().GroupVersionKind().Kind == resources.OpenSearchClusterKind {
		return apierrors.NewGenericServerResponse(404, "post", schema.GroupResource{Resource: "opensearchclusters"}, "", "404 page not found", 0, true)
	}
	return nil
}

func (kindRemoved) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// TestStartCluster_operatorRemoved_isMissing checks that the opensearch-k8s-operator is reported as missing if it was
// found and then removed.
func TestStartCluster_operatorRemoved_isMissing(t *testing.T) {
	w := wrappers.MakeCampaign("x").VariantOnAnyNode("a")
	w.Spec.OpenSearch.Provisioner = v1alpha1.ProvisionOpenSearchCluster
	c := w.Obj()
	a := &Applier{Client: kindRemoved{}, Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)), Operator: &observe.Operator{Uncached: kindRemoved{}}}
	err := a.createOpenSearchCluster(t.Context(), c, plan.Build(c).Cells[0], resources.Placement{Number: 1})
	if !errors.Is(err, children.ErrOperatorMissing) || !children.NeedsUserAction(err) {
		t.Errorf("%v", err)
	}
}
