// Package controllers reconciles BenchmarkCampaigns: it observes, decides, applies actions and writes the status. Only this
// package and its subpackages make API requests. The packages that plan, decide and judge have no client.
package controllers

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/apply"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/controllers/metrics"
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
	Metrics       *metrics.Recorder // nil: nothing is counted
	Namespace     string            // the only namespace that the manager watches; empty: all namespaces

	// LeaseNamespace is the namespace of the leader election; empty: no leader is elected. Trials at endpoints need it.
	LeaseNamespace string

	setUpOnce sync.Once
	observer  observe.Observer
	applier   apply.Applier
	leftovers apply.Leftovers
	policies  apply.Policies
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
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=get;list;watch;create;delete
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
		r.applier = apply.Applier{Client: r.Client, Uncached: r.Uncached, Operator: operator, Clock: r.Clock, Options: r.Options, Namespace: r.Namespace, LeaseNamespace: r.LeaseNamespace}
		r.policies = apply.Policies{Reader: r.Client, Uncached: r.Uncached, Writer: r.Client}
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
		return ctrl.Result{}, r.deleteLeftovers(ctx, req.NamespacedName, "")
	}
	leftoversErr := r.deleteLeftovers(ctx, req.NamespacedName, c.UID)
	if !c.DeletionTimestamp.IsZero() { // the garbage collector deletes the objects that the campaign owns
		none := func(types.UID, string) bool { return false }
		return ctrl.Result{}, errors.Join(leftoversErr, r.policies.DeleteUnused(ctx, req.NamespacedName, none))
	}
	result, err := r.reconcileCampaign(ctx, &c)
	if leftoversErr != nil {
		return ctrl.Result{}, errors.Join(err, leftoversErr)
	}
	return result, err
}

// deleteLeftovers deletes what is left of the deleted campaigns with the name key. The parameter present is the UID of the campaign that
// has this name now. It is empty if there is no such campaign.
func (r *CampaignReconciler) deleteLeftovers(ctx context.Context, key types.NamespacedName, present types.UID) error {
	return errors.Join(
		r.leftovers.Delete(ctx, key, present),
		r.policies.DeleteUnused(ctx, key, func(campaign types.UID, _ string) bool { return campaign == present }))
}

// deleteUnusedPolicies deletes the NetworkPolicies of the campaign's cells that have no objects left. Cells that start are not included.
func (r *CampaignReconciler) deleteUnusedPolicies(ctx context.Context, c *v1alpha1.BenchmarkCampaign, w decide.World, actions []decide.Action) error {
	used := map[string]bool{}
	for name := range w.Clusters {
		used[name] = true
	}
	for _, job := range w.Jobs {
		used[job.Cell] = true
	}
	for _, action := range actions {
		used[action.Cell] = used[action.Cell] || action.Kind == decide.StartCluster || action.Kind == decide.StartTrial
	}
	return r.policies.DeleteUnused(ctx, client.ObjectKeyFromObject(c), func(campaign types.UID, cell string) bool { return campaign != c.UID || used[cell] })
}

// reconcileCampaign does the next step of a campaign that is not being deleted.
func (r *CampaignReconciler) reconcileCampaign(ctx context.Context, c *v1alpha1.BenchmarkCampaign) (ctrl.Result, error) {
	observed, err := r.observer.Observe(ctx, c)
	if err != nil {
		return ctrl.Result{}, err
	}
	p := plan.BuildWith(c, observed.Contents)
	now := r.Clock.Now()
	invalid := validation.Campaign(c, r.Options)
	finished := decide.StaysFinished(p, observed.World, observed.Records.Records)
	unplanned := func(err error) (ctrl.Result, error) {
		return r.release(ctx, c, p, observed, now, func(d decide.Decision) v1alpha1.BenchmarkCampaignStatus { return status.Unplanned(c, d, err) }, err)
	}
	switch {
	case observed.ContentsErr != nil && observed.World.FinishedWith > 0:
		return requeue(0, false, observed.ContentsErr) // the finished campaign keeps its status
	case invalid == nil && observed.ContentsErr != nil: // the cells of p may have wrong identities
		return unplanned(observed.ContentsErr)
	}
	r.leftovers.Remember(c, p)
	if invalid != nil && !finished { // before Find: an invalid spec may have millions of trials
		return r.release(ctx, c, p, observed, now, func(d decide.Decision) v1alpha1.BenchmarkCampaignStatus { return status.Invalid(c, d, invalid) }, nil)
	}
	found := r.findings.Find(c, p, observed.Records, finished)
	if isStale, err := r.lacksRecords(ctx, c, found, observed.Records); isStale || err != nil {
		return requeue(children.RetryInterval, isStale, err) // usually the event of the missing record causes the next Reconcile earlier
	}
	if changed, err := r.applier.UpdateRecords(ctx, c, p, observed.World); err != nil && !apierrors.IsConflict(err) {
		if finished {
			return requeue(0, false, err) // the finished campaign keeps its status
		}
		return unplanned(err)
	} else if changed || err != nil {
		return ctrl.Result{RequeueAfter: children.RetryInterval}, nil // usually the event of the changed record causes the next Reconcile earlier
	}
	decision := decide.Next(p, found.Assessment, observed.World, c.Spec, now)
	collected, applyErr := r.applier.Apply(ctx, c, p, decision.Actions)
	r.reportCollected(ctx, c, p, observed.Records.Records, collected)
	applyErr = errors.Join(applyErr, r.deleteUnusedPolicies(ctx, c, observed.World, decision.Actions))
	reports, reportErr := r.applier.WriteReports(ctx, c, found.Input, found.MadeOf())
	trouble := errors.Join(applyErr, reportErr)
	decision.Yielded = decision.YieldedAt(decision.Stalled != nil || children.NeedsUserAction(applyErr), now)
	next := status.Next(c, found, decision, reports, trouble, invalid)
	if finished || meta.IsStatusConditionTrue(next.Conditions, v1alpha1.ConditionReady) {
		next.FinishedAttempts = int32(decide.Readable(p, observed.Records.Records))
	}
	if err := r.writeStatus(ctx, c, next, found.Assessment); err != nil {
		trouble = errors.Join(trouble, err)
	}
	wake := decision.WakeAt
	if soon := now.Add(children.RetryInterval); decision.Stalled != nil && (wake.IsZero() || wake.After(soon)) {
		wake = soon // the change that resolves a stall may cause no event
	}
	return requeue(wake.Sub(now), !wake.IsZero(), trouble)
}

// lacksRecords reports whether the cache shows the records as they were before the campaign's last status. The cache shows each kind with a
// different delay. Without this check, the progress and the reports would go back for a moment.
func (r *CampaignReconciler) lacksRecords(ctx context.Context, c *v1alpha1.BenchmarkCampaign, found *status.Findings, records *observe.Records) (bool, error) {
	if !found.HasLessThan(c) {
		return false, nil
	}
	return r.observer.LacksRecords(ctx, c, records)
}

// release does the next step of a campaign that cannot be planned because of cause. The parameter explain returns its status. If cause is
// nil, only a change of the spec can help.
func (r *CampaignReconciler) release(ctx context.Context, c *v1alpha1.BenchmarkCampaign, p plan.Plan, observed observe.Observed, now time.Time,
	explain func(decide.Decision) v1alpha1.BenchmarkCampaignStatus, cause error) (ctrl.Result, error) {
	decision := decide.Release(p, observed.World, c.Spec, now)
	collected, applyErr := r.applier.Apply(ctx, c, p, decision.Actions)
	r.reportCollected(ctx, c, p, observed.Records.Records, collected)
	err := errors.Join(applyErr, r.writeStatus(ctx, c, explain(decision), campaign.Assessment{}), cause)
	return requeue(decision.WakeAt.Sub(now), !decision.WakeAt.IsZero(), err)
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
