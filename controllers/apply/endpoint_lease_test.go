package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/scheme"
	"github.com/knee-bench/knee/test/wrappers"
)

// startAtEndpoint starts the first trial of a campaign that loads an endpoint.
func startAtEndpoint(t *testing.T, a *Applier) error {
	t.Helper()
	c := wrappers.MakeCampaign("mine").Namespace("a").UID("uid-mine").Variant("v").Command("ozone:1", "ozone").Obj()
	p := plan.Build(c)
	return a.startTrial(t.Context(), c, p, p.Cells[0], decide.Action{
		Kind: decide.StartTrial, Cell: p.Cells[0].Name, Attempt: record.Attempt{Trial: p.SweepTrial(p.Cells[0], 1, 1), N: 1},
	})
}

func holderOf(t *testing.T, api client.Client) string {
	t.Helper()
	var lease coordinationv1.Lease
	if err := api.Get(t.Context(), client.ObjectKey{Namespace: "knee-system", Name: endpointLease}, &lease); err != nil {
		t.Fatal(err)
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// TestAcquireLease_managerDiedWithoutJob_isTakenOverLater checks a Lease of a manager that died before it created its Job. Another trial
// waits as long as a request of that manager may still take effect.
func TestAcquireLease_managerDiedWithoutJob_isTakenOverLater(t *testing.T) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "knee-system", Name: endpointLease}, Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("b/job")}}
	api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(lease).Build()
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	a := &Applier{Client: api, Uncached: api, Clock: clock, LeaseNamespace: "knee-system"}
	if err := startAtEndpoint(t, a); err == nil || !strings.Contains(err.Error(), "must wait until a manager has started Job b/job") {
		t.Fatalf("error %v, want that the trial waits", err)
	}
	clock.SetTime(time.Unix(0, 0).Add(endpointLeaseTimeout - time.Second))
	if err := startAtEndpoint(t, a); err == nil {
		t.Error("the trial starts too early")
	}
	clock.SetTime(time.Unix(0, 0).Add(endpointLeaseTimeout))
	if err := startAtEndpoint(t, a); err != nil {
		t.Error(err)
	}
	if holder := holderOf(t, api); holder != "" {
		t.Errorf("the Lease is held by %s after the Job was created", holder)
	}
}

// TestAcquireLease_jobOfHolderExists_isTaken checks that the Lease can be taken at once if the Job of its holder exists, because the holder
// has then finished its work.
func TestAcquireLease_jobOfHolderExists_isTaken(t *testing.T) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "knee-system", Name: endpointLease}, Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To("b/job")}}
	api := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(lease, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "job"}}).Build()
	a := &Applier{Client: api, Uncached: api, Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)), LeaseNamespace: "knee-system"}
	if err := startAtEndpoint(t, a); err != nil {
		t.Error(err)
	}
}

// TestCreateOnlyLoad_outcomeUnknown_keepsLease checks a creation that may still take effect, and one that certainly does not. The next
// manager continues with the same Job.
func TestCreateOnlyLoad_outcomeUnknown_keepsLease(t *testing.T) {
	for name, tt := range map[string]struct {
		err   error
		holds bool
	}{
		"time-out":  {apierrors.NewTimeoutError("injected", 0), true},
		"forbidden": {apierrors.NewForbidden(batchv1.Resource("jobs"), "job", nil), false},
	} {
		api := fake.NewClientBuilder().WithScheme(scheme.New()).WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if _, isJob := o.(*batchv1.Job); isJob && tt.err != nil {
					return tt.err
				}
				return c.Create(ctx, o, opts...)
			},
		}).Build()
		newManager := func() *Applier {
			return &Applier{Client: api, Uncached: api, Clock: clocktesting.NewFakePassiveClock(time.Unix(0, 0)), LeaseNamespace: "knee-system"}
		}
		if err := startAtEndpoint(t, newManager()); err == nil {
			t.Errorf("%s: no error", name)
		}
		if holder := holderOf(t, api); (holder != "") != tt.holds {
			t.Errorf("%s: the Lease is held by %q", name, holder)
		}
		tt.err = nil
		if err := startAtEndpoint(t, newManager()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
