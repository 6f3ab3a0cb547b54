package controllers

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
