// Package controllers reconciles BenchmarkCampaigns: it observes, decides, applies actions and writes the status. Only this
// package and its subpackages make API requests. The packages that plan, decide and judge have no client.
package controllers

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/apply"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/controllers/observe"
	"github.com/knee-bench/knee/controllers/status"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/validation"
	"github.com/knee-bench/knee/internal/verdict/campaign"
)

// minRequeue is the shortest time until the next Reconcile. It prevents a loop at a deadline that has just passed.
const minRequeue = 100 * time.Millisecond

// CampaignReconciler runs campaigns until they have a verdict. The exported fields are set before the first use.
type CampaignReconciler struct {
	client.Client               // reads from the cache
	Uncached      client.Reader // the API server: for objects that are not in the cache, or must not be stale
	Recorder      events.EventRecorder
	Clock         clock.PassiveClock
	Options       resources.Options
	Namespace     string // the only namespace that the manager watches; empty: all namespaces

	setUpOnce sync.Once
	observer  observe.Observer
	applier   apply.Applier
	leftovers apply.Leftovers
	findings  status.FindingsCache
}

// The markers below list all rights of the manager. The manager reads no Secrets, Nodes or logs, and runs no commands in pods.
// Clusters with the admission plugin OwnerReferencesPermissionEnforcement require update on benchmarkcampaigns/finalizers for
// owner references with blockOwnerDeletion. The manager reads Events because only an Event of a StatefulSet or Job shows why
// the object has no pod.
//
// +kubebuilder:rbac:groups=knee.dev,resources=benchmarkcampaigns,verbs=list;watch
// +kubebuilder:rbac:groups=knee.dev,resources=benchmarkcampaigns/status,verbs=update
// +kubebuilder:rbac:groups=knee.dev,resources=benchmarkcampaigns/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups=opensearch.org;opensearch.opster.io,resources=opensearchclusters,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// setUp creates the parts of the reconciler and gives them their clients.
func (r *CampaignReconciler) setUp() {
	r.setUpOnce.Do(func() {
		operator := &observe.Operator{Uncached: r.Uncached, Namespace: r.Namespace}
		r.observer = observe.Observer{Reader: r.Client, Uncached: r.Uncached, Operator: operator, Clock: r.Clock}
		r.applier = apply.Applier{Client: r.Client, Uncached: r.Uncached, Operator: operator, Clock: r.Clock, Options: r.Options, Namespace: r.Namespace}
		r.leftovers = apply.Leftovers{Writer: r.Client, Operator: operator, Recorder: r.Recorder}
	})
}

// Reconcile does the next step of one campaign, and deletes the leftovers of deleted campaigns of the same name.
func (r *CampaignReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	r.setUp()
	var c v1alpha1.BenchmarkCampaign
	if err := r.Get(ctx, req.NamespacedName, &c); err != nil {
		r.observer.Records.Forget(req.NamespacedName)
		r.findings.Forget(req.NamespacedName)
		if !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, r.leftovers.Delete(ctx, req.NamespacedName, "")
	}
	leftoversErr := r.leftovers.Delete(ctx, req.NamespacedName, c.UID)
	if !c.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, leftoversErr // the garbage collector deletes the objects that the campaign owns
	}
	result, err := r.reconcileCampaign(ctx, &c)
	if leftoversErr != nil {
		return ctrl.Result{}, errors.Join(err, leftoversErr)
	}
	return result, err
}

// reconcileCampaign does the next step of a campaign that is not being deleted.
func (r *CampaignReconciler) reconcileCampaign(ctx context.Context, c *v1alpha1.BenchmarkCampaign) (ctrl.Result, error) {
	observed, err := r.observer.Observe(ctx, c)
	if err != nil {
		return ctrl.Result{}, err
	}
	p := plan.BuildWith(c, observed.Contents)
	invalid := validation.Campaign(c, r.Options)
	if invalid == nil && observed.ContentsErr != nil { // some contents of ConfigMaps are unknown, so the cells of p may have wrong identities
		return requeue(0, false, errors.Join(
			r.applier.Apply(ctx, c, p, decide.Collects(observed.World)),
			r.writeStatus(ctx, c, status.Unplanned(c, observed.ContentsErr), campaign.Assessment{}),
			observed.ContentsErr))
	}
	r.leftovers.Remember(c, p)
	if invalid != nil {
		return requeue(0, false, errors.Join(
			r.applier.Apply(ctx, c, p, decide.Collects(observed.World)),
			r.writeStatus(ctx, c, status.Invalid(c, invalid), campaign.Assessment{})))
	}
	now := r.Clock.Now()
	found := r.findings.Find(c, p, observed.Records)
	decision := decide.Next(p, found.Assessment, observed.World, c.Spec, now)
	applyErr := r.applier.Apply(ctx, c, p, decision.Actions)
	reports, reportErr := r.applier.WriteReports(ctx, c, found.Input, found.MadeOf())
	trouble := errors.Join(applyErr, reportErr)
	next := status.Next(c, found, decision, reports, trouble)
	if err := r.writeStatus(ctx, c, next, found.Assessment); err != nil {
		trouble = errors.Join(trouble, err)
	}
	wake := decision.WakeAt
	if soon := now.Add(children.RetryInterval); decision.Stalled != nil && (wake.IsZero() || wake.After(soon)) {
		wake = soon // the change that resolves a stall may cause no event
	}
	return requeue(wake.Sub(now), !wake.IsZero(), trouble)
}

// requeue returns when to reconcile next. If err needs a user action, this is after RetryInterval. For any other error, the controller's
// backoff decides. Without an error, the first argument is the time until the next Reconcile, but only if hasDeadline is true.
func requeue(after time.Duration, hasDeadline bool, err error) (ctrl.Result, error) {
	switch {
	case children.NeedsUserAction(err):
		return ctrl.Result{RequeueAfter: children.RetryInterval}, nil
	case err != nil:
		return ctrl.Result{}, err
	case hasDeadline:
		return ctrl.Result{RequeueAfter: max(after, minRequeue)}, nil
	}
	return ctrl.Result{}, nil
}
