package apply

import (
	"context"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/controllers/children"
)

// endpointLease is the name of the Lease that a manager holds while it creates the Job of a trial at an endpoint. The Lease is in the
// namespace of the leader election, so the replicas of one installation share it.
const endpointLease = "knee-endpoints"

// endpointLeaseTimeout is how long a Lease may stay unchanged without the Job of its holder before another trial takes the Lease over.
// The API server answers a request within 60 s, so a Job that its holder requested exists by then, or will never exist.
const endpointLeaseTimeout = 90 * time.Second

// observedLease is a version of the Lease, and when this manager first saw that version. The time is of this manager's own clock.
type observedLease struct {
	version string
	since   time.Time
}

// acquireLease takes the Lease for the Job of a trial. The Lease names the Job, so a manager that died after it took the Lease continues
// with the same Job. If the Lease names another Job, that Job must exist before the Lease is taken: from then on, each manager finds the
// Job itself. acquireLease returns nil if the manager has no namespace for the Lease.
func (a *Applier) acquireLease(ctx context.Context, job *batchv1.Job) (*coordinationv1.Lease, error) {
	if a.LeaseNamespace == "" {
		return nil, nil
	}
	var lease coordinationv1.Lease
	err := a.Uncached.Get(ctx, client.ObjectKey{Namespace: a.LeaseNamespace, Name: endpointLease}, &lease)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("cannot read Lease %s/%s: %w", a.LeaseNamespace, endpointLease, err)
	}
	exists, me := err == nil, job.Namespace+"/"+job.Name
	if exists {
		if err := a.checkLeaseIsFree(ctx, &lease, me); err != nil {
			return nil, err
		}
	}
	lease.Namespace, lease.Name = a.LeaseNamespace, endpointLease
	lease.Spec.HolderIdentity, lease.Spec.AcquireTime = &me, ptr.To(metav1.NewMicroTime(a.Clock.Now()))
	write := func() error { return a.Client.Create(ctx, &lease) }
	if exists {
		write = func() error { return a.Client.Update(ctx, &lease) } // fails if another manager has changed the Lease
	}
	if err := write(); err != nil {
		return nil, fmt.Errorf("cannot take Lease %s/%s, which allows one manager at a time to start a trial at an endpoint: %s", a.LeaseNamespace, endpointLease, err.Error()) // not wrapped: a conflict must be retried, because no event follows
	}
	return &lease, nil
}

// checkLeaseIsFree returns an error if the Lease names a Job that a manager may still create.
func (a *Applier) checkLeaseIsFree(ctx context.Context, lease *coordinationv1.Lease, me string) error {
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	if holder == "" || holder == me {
		return nil
	}
	namespace, name, _ := strings.Cut(holder, "/")
	if a.Namespace == "" || namespace == a.Namespace { // a manager of one namespace may not read the Jobs of other namespaces
		err := a.Uncached.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &batchv1.Job{})
		if err == nil {
			return nil
		}
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("cannot read Job %s, which holds Lease %s/%s: %w", holder, lease.Namespace, lease.Name, err)
		}
	}
	if a.seenLease.version != lease.ResourceVersion {
		a.seenLease = observedLease{lease.ResourceVersion, a.Clock.Now()}
	}
	if a.Clock.Since(a.seenLease.since) >= endpointLeaseTimeout {
		return nil
	}
	return fmt.Errorf("this trial must wait until a manager has started Job %s: trials at endpoints start one after the other; after %s without the Job, this trial starts", holder, endpointLeaseTimeout)
}

// releaseLease lets the next trial at an endpoint start. A conflict means that another manager has taken the Lease.
func (a *Applier) releaseLease(ctx context.Context, lease *coordinationv1.Lease) error {
	if lease == nil {
		return nil
	}
	lease.Spec.HolderIdentity = nil
	if err := children.IgnoreConflict(a.Client.Update(ctx, lease)); err != nil {
		return fmt.Errorf("cannot release Lease %s/%s: %w", lease.Namespace, lease.Name, err)
	}
	return nil
}

// isOutcomeUnknown reports whether a request that returned err may still take effect.
func isOutcomeUnknown(err error) bool {
	if err == nil || children.NeedsUserAction(err) {
		return false
	}
	return apierrors.ReasonForError(err) == metav1.StatusReasonUnknown || apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsInternalError(err)
}
