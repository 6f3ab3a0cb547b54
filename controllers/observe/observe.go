// Package observe reads the objects of a campaign. It writes nothing.
package observe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/controllers/children"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// Observer reads the objects of a campaign. It writes nothing.
type Observer struct {
	Reader   client.Reader // the cache
	Uncached client.Reader // the API server: for objects that are not in the cache, or must not be stale
	Operator *Operator
	Clock    clock.PassiveClock
	Records  RecordCache
}

// Observed holds what was read about one campaign.
type Observed struct {
	World       decide.World
	Records     *Records
	Contents    plan.Contents
	ContentsErr error // why Contents is incomplete
}

// Observe reads the objects of a campaign. It selects them by the campaign's UID, so it ignores objects of an earlier campaign
// of the same name.
func (o *Observer) Observe(ctx context.Context, c *v1alpha1.BenchmarkCampaign) (Observed, error) {
	objects, err := o.listObjects(ctx, c)
	if err != nil {
		return Observed{}, err
	}
	records := o.Records.Read(ctx, c, objects.ConfigMaps)
	w := decide.World{
		Jobs:      map[string]decide.Job{},
		Clusters:  children.ReadClusters(c, objects),
		Recorded:  map[record.Attempt]bool{},
		Budgets:   children.ReadBudgets(objects.Budgets),
		Records:   records.Holders,
		Suspended: ptr.Deref(c.Spec.Suspend, false),
	}
	for _, rec := range records.Records {
		w.Recorded[rec.Attempt] = true
	}
	for _, j := range objects.Jobs {
		job, err := children.ReadJob(j, objects.Pods)
		if err != nil {
			log.FromContext(ctx).Error(err, "ignoring a Job without a valid trial annotation", "job", j.Name)
			continue
		}
		w.Jobs[job.Name] = job
	}
	o.explainMissingPods(ctx, &w, objects)
	readStatus(c, &w)
	if err := o.observeClaimants(ctx, c, &w); err != nil {
		return Observed{}, err
	}
	contents, contentsErr := o.observeContents(ctx, c, records.Records, w.Jobs)
	return Observed{World: w, Records: records, Contents: contents, ContentsErr: contentsErr}, nil
}

func (o *Observer) listObjects(ctx context.Context, c *v1alpha1.BenchmarkCampaign) (children.Objects, error) {
	var (
		sets    appsv1.StatefulSetList
		jobs    batchv1.JobList
		pods    corev1.PodList
		maps    corev1.ConfigMapList
		claims  corev1.PersistentVolumeClaimList
		budgets policyv1.PodDisruptionBudgetList
		options = []client.ListOption{client.InNamespace(c.Namespace), client.MatchingLabels{resources.LabelCampaign: string(c.UID)}}
	)
	for _, list := range []client.ObjectList{&sets, &jobs, &pods, &claims, &budgets} {
		if err := o.Reader.List(ctx, list, options...); err != nil {
			return children.Objects{}, fmt.Errorf("cannot list the StatefulSets, Jobs, pods, volume claims and PodDisruptionBudgets of the campaign: %w", err)
		}
	}
	// There may be thousands of records. The code only reads them, so it needs no copies.
	if err := o.Reader.List(ctx, &maps, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return children.Objects{}, fmt.Errorf("cannot list the campaign's records: %w", err)
	}
	clusters, err := o.Operator.ListClusters(ctx, c)
	if err != nil {
		return children.Objects{}, err
	}
	return children.Objects{
		StatefulSets: sets.Items, Jobs: jobs.Items, Pods: pods.Items, ConfigMaps: maps.Items, Claims: claims.Items,
		Budgets: budgets.Items, OpenSearchClusters: clusters,
	}, nil
}

// observeClaimants finds the other campaigns that want or hold nodes. It reads only the cache. The cache contains the campaigns
// of all namespaces, or of the only namespace that the manager watches. Two managers that watch one namespace each do not find
// each other's campaigns.
func (o *Observer) observeClaimants(ctx context.Context, c *v1alpha1.BenchmarkCampaign, w *decide.World) error {
	var (
		campaigns v1alpha1.BenchmarkCampaignList
		sets      appsv1.StatefulSetList
		jobs      batchv1.JobList
		pods      corev1.PodList
	)
	// Each Reconcile lists all campaigns and only reads them, so it needs no copies.
	if err := o.Reader.List(ctx, &campaigns, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("cannot list the campaigns: %w", err)
	}
	ours := client.MatchingLabels{resources.LabelManagedBy: resources.ManagedBy}
	for _, list := range []client.ObjectList{&sets, &jobs, &pods} {
		if err := o.Reader.List(ctx, list, ours, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("cannot list the StatefulSets, Jobs and pods of all campaigns: %w", err)
		}
	}
	claimants := children.FindClaimants(campaigns.Items, sets.Items, jobs.Items, pods.Items)
	w.Self, w.Rivals = children.ReadClaim(c), nil
	w.Self.Holds = claimants[c.UID].Holds
	delete(claimants, c.UID)
	for _, uid := range slices.SortedFunc(maps.Keys(claimants), cmp.Compare) {
		w.Rivals = append(w.Rivals, claimants[uid])
	}
	if len(w.Rivals) > 0 {
		w.Services = children.FindServices(campaigns.Items)
	}
	return nil
}

// readStatus reads the facts that an earlier decision wrote to the status. Facts about an earlier spec do not count.
func readStatus(c *v1alpha1.BenchmarkCampaign, w *decide.World) {
	s := c.Status
	if s.ObservedGeneration != c.Generation {
		return
	}
	if stalled := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionStalled); stalled != nil && stalled.ObservedGeneration == c.Generation {
		w.StalledSince = stalled.LastTransitionTime.Time
	}
	if s.ActiveSince != nil {
		w.ActiveSince = s.ActiveSince.Time
	}
	w.FinishedWith = int(s.FinishedAttempts)
	if meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionReady) {
		w.FinishedWith = max(w.FinishedWith, 1) // earlier versions did not write the number
	}
}
