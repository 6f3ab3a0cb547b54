package apply

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/knee-bench/knee/controllers/observe"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestApply_conflictInDeletion_isAnError checks that Apply returns a conflict of a deletion. Services
// are not watched, so no event would cause another Reconcile. The API server is an in-memory fake:
// the real one reports a conflict of a deletion only if the UID differs.
func TestApply_conflictInDeletion_isAnError(t *testing.T) {
	c := wrappers.MakeCampaign("mine").Namespace("a").UID("uid-mine").Variant("v").Obj()
	p := plan.Build(c)
	api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(resources.Service(c, p.Cells[0])).WithInterceptorFuncs(interceptor.Funcs{
		Delete: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.DeleteOption) error {
			if _, is := o.(*corev1.Service); !is {
				t.Errorf("%T is deleted", o)
			}
			return apierrors.NewConflict(schema.GroupResource{Resource: "services"}, o.GetName(), nil)
		},
	}).Build()
	a := &Applier{Client: api, Uncached: api, Operator: &observe.Operator{Uncached: api}}
	_, err := a.Apply(t.Context(), c, p, []decide.Action{{Kind: decide.DeleteCluster, Cell: p.Cells[0].Name}})
	if !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
}
