package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// observed is what the cluster holds of one campaign.
type observed struct {
	world       decide.World
	memo        *memo // of the records
	contents    plan.Contents
	contentsErr error // why contents is not complete
}

// observe reads a campaign's children, by the campaign's UID: those of an earlier campaign of the same name
// are not its own.
func (r *CampaignReconciler) observe(ctx context.Context, c *v1alpha1.BenchmarkCampaign) (observed, error) {
	var (
		sets    appsv1.StatefulSetList
		jobs    batchv1.JobList
		pods    corev1.PodList
		maps    corev1.ConfigMapList
		claims  corev1.PersistentVolumeClaimList
		options = []client.ListOption{client.InNamespace(c.Namespace), client.MatchingLabels{resources.LabelCampaign: string(c.UID)}}
	)
	for _, list := range []client.ObjectList{&sets, &jobs, &pods, &claims} {
		if err := r.List(ctx, list, options...); err != nil {
			return observed{}, fmt.Errorf("list the campaign's children: %w", err)
		}
	}
	// There may be thousands of records, which are only read: no copies.
	if err := r.List(ctx, &maps, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return observed{}, fmt.Errorf("list the campaign's records: %w", err)
	}
	operated, err := r.listOperated(ctx, c)
	if err != nil {
		return observed{}, err
	}
	memo := r.memos.of(c)
	records := memo.readRecords(ctx, maps.Items)
	w := decide.World{
		Jobs:      map[string]decide.Job{},
		Clusters:  clusters(ownSets(slices.Clone(sets.Items), c), pods.Items, claims.Items, maps.Items, operated),
		Recorded:  map[record.Trial]bool{},
		Records:   memo.holders,
		Suspended: ptr.Deref(c.Spec.Suspend, false),
	}
	for i := range operated {
		awaitOperator(w.Clusters, &operated[i], sets.Items)
	}
	for _, rec := range records {
		w.Recorded[rec.Trial] = true
	}
	for _, j := range jobs.Items {
		job, err := jobOf(j, pods.Items)
		if err != nil {
			log.FromContext(ctx).Error(err, "ignoring a Job that is not readable as a trial", "job", j.Name)
			continue
		}
		w.Jobs[job.Name] = job
	}
	sinceTrials(w.Clusters, jobs.Items)
	r.askWhy(ctx, &w, sets.Items, jobs.Items, pods.Items)
	if err := r.observeRivals(ctx, c, &w); err != nil {
		return observed{}, err
	}
	contents, contentsErr := r.observeContents(ctx, c, records, w.Jobs)
	return observed{world: w, memo: memo, contents: contents, contentsErr: contentsErr}, nil
}

func jobOf(j batchv1.Job, pods []corev1.Pod) (decide.Job, error) {
	attempt, err := attemptOf(&j)
	if err != nil {
		return decide.Job{}, err
	}
	job := decide.Job{
		Name: j.Name, Cell: j.Labels[resources.LabelCellName], JVM: j.Annotations[resources.AnnotationJVM],
		Attempt: attempt, State: jobState(j), Created: j.CreationTimestamp.Time,
	}
	if job.State == decide.JobDeleting {
		job.Ending, job.Left = j.DeletionTimestamp.Time, leaving(&j)
	}
	addLoaders(&job, &j, pods)
	return job, nil
}

// attemptOf reads off a Job, or a record's ConfigMap, which attempt it is of.
func attemptOf(o client.Object) (attempt record.Trial, err error) {
	if err := json.Unmarshal([]byte(o.GetAnnotations()[resources.AnnotationTrial]), &attempt); err != nil {
		return attempt, fmt.Errorf("annotation %s: %w", resources.AnnotationTrial, err)
	}
	return attempt, nil
}

func jobState(j batchv1.Job) decide.JobState {
	if !j.DeletionTimestamp.IsZero() {
		return decide.JobDeleting
	}
	if jobEnded(j) && j.Status.Active == 0 && ptr.Deref(j.Status.Terminating, 0) == 0 {
		return decide.JobFinished
	}
	return decide.JobLive
}

func jobEnded(j batchv1.Job) bool {
	_, ended := jobEnd(j)
	return ended
}

// jobEnd is when a Job ended, if it did.
func jobEnd(j batchv1.Job) (time.Time, bool) {
	for _, c := range j.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return c.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}

// sinceTrials lets no cluster be waited for since earlier than the end of its last trial: while one runs nobody waits, and
// a pod that is gone and not made again tells no time.
func sinceTrials(clusters map[string]decide.Cluster, jobs []batchv1.Job) {
	for _, j := range jobs {
		name := j.Labels[resources.LabelCellName]
		end, ended := jobEnd(j)
		if c, there := clusters[name]; there && ended {
			c.Since = later(c.Since, end)
			clusters[name] = c
		}
	}
}

// clusters are the cells of which anything is left: a StatefulSet or an OpenSearchCluster, pods, volumes, or settings.
func clusters(sets []appsv1.StatefulSet, pods []corev1.Pod, claims []corev1.PersistentVolumeClaim, maps []corev1.ConfigMap, operated []unstructured.Unstructured) map[string]decide.Cluster {
	out := map[string]decide.Cluster{}
	for i := range claims {
		if !isKept(claims[i]) {
			addRemains(out, &claims[i])
		}
	}
	for i := range maps {
		if maps[i].Labels[resources.LabelComponent] == resources.ComponentOpenSearch {
			addRemains(out, &maps[i])
		}
	}
	for i := range sets {
		s := &sets[i]
		addRemains(out, s)
		c := out[s.Name]
		c.Deleting = !s.DeletionTimestamp.IsZero()
		c.Made, c.Placement = true, placement(s)
		c.Replicas = ptr.Deref(s.Spec.Replicas, 1)
		c.Since = later(c.Since, since(s))
		c.Problem = decide.Problem{Message: "StatefulSet " + s.Name + " has no pod yet"}
		out[s.Name] = c
	}
	for i := range operated {
		addOperated(out, &operated[i])
	}
	pods = slices.SortedFunc(slices.Values(pods), func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	for _, pod := range pods {
		if pod.Labels[resources.LabelComponent] == resources.ComponentOpenSearch {
			addPod(out, pod)
		}
	}
	for i := range claims {
		if _, seen := out[claims[i].Labels[resources.LabelCellName]]; !seen {
			addRemains(out, &claims[i]) // all that is left
		}
	}
	return out
}

// isKept tells of the loader's cache while it is not deleted: it outlives the clusters of a cell's placements, and does
// not keep one that is deleted from being so.
func isKept(claim corev1.PersistentVolumeClaim) bool {
	return isCache(claim) && claim.DeletionTimestamp.IsZero()
}

// addRemains notes that an object of a cell is there. A cell is being deleted when all that is left of it is.
func addRemains(out map[string]decide.Cluster, o client.Object) {
	name := o.GetLabels()[resources.LabelCellName]
	c, seen := out[name]
	going := !o.GetDeletionTimestamp().IsZero()
	c.Name = name
	c.Deleting = going && (c.Deleting || !seen)
	if going {
		c.Since = later(c.Since, o.GetDeletionTimestamp().Time)
		c.Left = addLeft(c.Left, leaving(o))
	}
	out[name] = c
}

func addPod(out map[string]decide.Cluster, pod corev1.Pod) {
	name := pod.Labels[resources.LabelCellName]
	c := out[name]
	if c.Pods == 0 {
		c.Problem = decide.Problem{}
	}
	c.Name = name
	c.Pods++
	if !pod.DeletionTimestamp.IsZero() {
		c.Left = addLeft(c.Left, leaving(&pod))
	}
	c.JVM += jvm(pod)
	if image := imageDigest(pod); image != "" {
		if c.Images == nil {
			c.Images = map[string]string{}
		}
		c.Images[pod.Name] = image
	}
	if podReady(pod) {
		c.Ready++
	} else {
		c.Since = later(c.Since, unreadySince(pod))
		if problem := podProblem(pod); c.Problem.Message == "" || problem.Definite {
			c.Problem = problem
		}
	}
	out[name] = c
}

// jvm identifies the process of a pod's OpenSearch.
func jvm(pod corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == resources.ContainerOpenSearch {
			return fmt.Sprintf("%s/%d ", pod.UID, s.RestartCount)
		}
	}
	return ""
}

// imageDigest is the digest of the image that a pod's OpenSearch runs, as the node's runtime says: a registry's name
// before it says nothing of what is in the image.
func imageDigest(pod corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == resources.ContainerOpenSearch {
			return s.ImageID[strings.LastIndex(s.ImageID, "@")+1:]
		}
	}
	return ""
}

// unreadySince is since when a pod has not been ready. One that is being deleted may call itself ready to its end: of it,
// since when it should be gone.
func unreadySince(pod corev1.Pod) time.Time {
	if t := pod.DeletionTimestamp; !t.IsZero() {
		return t.Time
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// since is when a StatefulSet, or an OpenSearchCluster, was last asked to run, or to stop.
func since(s client.Object) time.Time {
	t, err := time.Parse(time.RFC3339, s.GetAnnotations()[resources.AnnotationSince])
	if err != nil {
		return s.GetCreationTimestamp().Time
	}
	return t
}

// placement is the placement that a StatefulSet, or an OpenSearchCluster, was made for, as trials name it.
func placement(s client.Object) int32 {
	n, err := strconv.ParseInt(s.GetAnnotations()[resources.AnnotationPlacement], 10, 32)
	if err != nil || n <= 1 {
		return 0
	}
	return int32(n)
}
