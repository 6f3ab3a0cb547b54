// Package controllers reconciles BenchmarkCampaigns: it observes, lets the pure packages decide, and applies.
// It is the one place of effects.
package controllers

import (
	"context"
	"errors"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/internal/validation"
)

const (
	minWake     = 100 * time.Millisecond // a deadline that has just passed is not looked at in a loop
	troubleWake = 10 * time.Second
	workers     = 4 // campaigns that are looked at at once
)

// CampaignReconciler brings campaigns to their verdict.
type CampaignReconciler struct {
	client.Client               // reads from the cache
	Uncached      client.Reader // reads from the API server: for what must not be stale
	Recorder      events.EventRecorder
	Clock         clock.PassiveClock
	Options       resources.Options
	Namespace     string // that it looks after; empty: all

	memos     memos
	operator  operator
	leftovers leftovers
	alone     sync.Mutex // held while a trial begins that needs no nodes of Knee's
}

// What the manager may do, and nothing more: no Secrets, no Nodes, no logs, no exec.
// benchmarkcampaigns/finalizers is for clusters that let only those who may finalize an owner set blockOwnerDeletion
// (OwnerReferencesPermissionEnforcement). Pods are created in dry runs only, to be told why a StatefulSet or a Job gets
// none; who may create Jobs may have pods anyway.
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
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch;create
// +kubebuilder:rbac:groups=opensearch.org;opensearch.opster.io,resources=opensearchclusters,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile moves one campaign on by one step, and cleans up after deleted campaigns of the same name.
func (r *CampaignReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var c v1alpha1.BenchmarkCampaign
	if err := r.Get(ctx, req.NamespacedName, &c); err != nil {
		r.memos.drop(req.NamespacedName)
		if !apierrors.IsNotFound(err) {
			return ctrl.Result{}, err
		}
		return ctrl.Result{}, r.deleteLeftoversOfDeleted(ctx, req.NamespacedName, "")
	}
	cleanUpErr := r.deleteLeftoversOfDeleted(ctx, req.NamespacedName, c.UID)
	if !c.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, cleanUpErr // the children are owned: the garbage collector has them
	}
	result, err := r.reconcileCampaign(ctx, &c)
	if cleanUpErr != nil {
		return ctrl.Result{}, errors.Join(err, cleanUpErr)
	}
	return result, err
}

// reconcileCampaign moves a campaign that is not being deleted on by one step.
func (r *CampaignReconciler) reconcileCampaign(ctx context.Context, c *v1alpha1.BenchmarkCampaign) (ctrl.Result, error) {
	observed, err := r.observe(ctx, c)
	if err != nil {
		return ctrl.Result{}, err
	}
	p := plan.BuildWith(c, observed.contents)
	invalid := validation.Campaign(c, r.Options)
	if invalid == nil && observed.contentsErr != nil { // p may not have the campaign's cells
		return again(0, false, errors.Join(
			r.apply(ctx, c, p, decide.Collects(observed.world)),
			r.writeStatus(ctx, c, unplannedStatus(c, observed.contentsErr)),
			observed.contentsErr))
	}
	r.leftovers.remember(c, p)
	if invalid != nil {
		return again(0, false, errors.Join(
			r.apply(ctx, c, p, decide.Collects(observed.world)),
			r.writeStatus(ctx, c, invalidStatus(c, invalid))))
	}
	now := r.Clock.Now()
	found := observed.memo.findings(c, p)
	decision := decide.Next(p, found.Assessment, observed.world, c.Spec, now)
	applyErr := r.apply(ctx, c, p, decision.Actions)
	reports, reportErr := r.writeReports(ctx, c, found.Input, observed.memo.madeOf())
	trouble := errors.Join(applyErr, reportErr)
	status := nextStatus(c, found, decision, reports, trouble)
	if err := r.writeStatus(ctx, c, status); err != nil {
		trouble = errors.Join(trouble, err)
	}
	wake := decision.WakeAt
	if soon := now.Add(troubleWake); decision.Stalled != nil && (wake.IsZero() || wake.After(soon)) {
		wake = soon // what a person mends may give no event
	}
	return again(wake.Sub(now), !wake.IsZero(), trouble)
}

// again says when to look next. What a person has to mend outside the campaign is mended without an event.
func again(wake time.Duration, wanted bool, trouble error) (ctrl.Result, error) {
	switch {
	case mended(trouble):
		return ctrl.Result{RequeueAfter: troubleWake}, nil
	case trouble != nil:
		return ctrl.Result{}, trouble
	case wanted:
		return ctrl.Result{RequeueAfter: max(wake, minWake)}, nil
	}
	return ctrl.Result{}, nil
}

// SetupWithManager watches campaigns and all that is made for them.
func (r *CampaignReconciler) SetupWithManager(mgr ctrl.Manager) error {
	named := handler.EnqueueRequestsFromMapFunc(campaignOf)
	queued := handler.EnqueueRequestsFromMapFunc(r.queued)
	active := handler.EnqueueRequestsFromMapFunc(r.active)
	c, err := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.BenchmarkCampaign{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&batchv1.Job{}).
		Owns(&corev1.ConfigMap{}).
		Watches(&appsv1.StatefulSet{}, named).
		Watches(&corev1.Pod{}, named).
		Watches(&corev1.PersistentVolumeClaim{}, named).
		Watches(&v1alpha1.BenchmarkCampaign{}, active, builder.WithPredicates(comes())).
		Watches(&v1alpha1.BenchmarkCampaign{}, queued, builder.WithPredicates(stands())).
		Watches(&appsv1.StatefulSet{}, queued, builder.WithPredicates(letsGo())).
		Watches(&batchv1.Job{}, queued, builder.WithPredicates(letsGo())).
		Watches(&corev1.Pod{}, queued, builder.WithPredicates(letsGo())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Build(r)
	if err != nil {
		return err
	}
	r.prepareWatch(mgr, c)
	return nil
}

// campaignOf finds the campaign of a pod, a volume or the operator's StatefulSet, which it does not own itself.
func campaignOf(_ context.Context, o client.Object) []reconcile.Request {
	name := o.GetAnnotations()[resources.AnnotationCampaignName]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
}
