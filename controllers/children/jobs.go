package children

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// ReadJob returns the facts about a trial's Job that package decide needs.
func ReadJob(j batchv1.Job, pods []corev1.Pod) (decide.Job, error) {
	attempt, err := AttemptOf(&j)
	if err != nil {
		return decide.Job{}, err
	}
	job := decide.Job{
		Name: j.Name, UID: j.UID, Cell: j.Labels[resources.LabelCellName], JVM: j.Annotations[resources.AnnotationJVM],
		Attempt: attempt, State: jobState(j), Created: j.CreationTimestamp.Time, Stopping: IsStopping(j), Disrupted: disruption(&j, pods),
	}
	if job.State == decide.JobLive && isTrialOver(&j, LoaderPods(&j, pods)) {
		job.State = decide.JobOver
	}
	job.Ended, _ = jobEnd(j)
	if job.State == decide.JobDeleting {
		job.Ending, job.Left = j.DeletionTimestamp.Time, describeDeletion(&j)
	}
	addLoaderPods(&job, &j, pods)
	return job, nil
}

// AttemptOf reads the attempt from the annotation of a Job or of a record's ConfigMap.
func AttemptOf(o client.Object) (attempt record.Attempt, err error) {
	if err := json.Unmarshal([]byte(o.GetAnnotations()[resources.AnnotationTrial]), &attempt); err != nil {
		return attempt, fmt.Errorf("annotation %s: %w", resources.AnnotationTrial, err)
	}
	return attempt, nil
}

func jobState(j batchv1.Job) decide.JobState {
	if !j.DeletionTimestamp.IsZero() {
		return decide.JobDeleting
	}
	if JobEnded(j) && j.Status.Active == 0 && ptr.Deref(j.Status.Terminating, 0) == 0 {
		return decide.JobFinished
	}
	return decide.JobLive
}

// JobEnded reports whether a Job is complete or failed.
func JobEnded(j batchv1.Job) bool {
	_, ended := jobEnd(j)
	return ended
}

// IsStopping reports whether Knee has requested the end of a Job's pods. No other Job of Knee has a deadline.
func IsStopping(j batchv1.Job) bool { return j.Spec.ActiveDeadlineSeconds != nil }

// isTrialOver reports whether the trial's container has terminated in all loader pods, but another container of a pod still runs. A
// sidecar that was injected into the pod has no reason to end, so the Job may not end by itself. Kubernetes itself ends native sidecars,
// which are init containers.
func isTrialOver(j *batchv1.Job, loaders []*corev1.Pod) bool {
	if len(loaders) < loaderCount(j) {
		return false
	}
	hasSidecar := false
	for _, pod := range loaders {
		for _, s := range pod.Status.ContainerStatuses {
			hasSidecar = hasSidecar || s.Name != resources.ContainerTrial && s.State.Terminated == nil
		}
		if !containerTerminated(*pod, resources.ContainerTrial) {
			return false
		}
	}
	return hasSidecar
}

// jobEnd returns when a Job ended. It returns false if the Job has not ended.
func jobEnd(j batchv1.Job) (time.Time, bool) {
	for _, c := range j.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return c.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}

// LoaderPods returns the pods of a trial's Job, by index.
func LoaderPods(j *batchv1.Job, pods []corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range pods {
		if metav1.IsControlledBy(&pods[i], j) {
			out = append(out, &pods[i])
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int { return cmp.Compare(LoaderIndex(a), LoaderIndex(b)) })
	return out
}

// LoaderIndex returns the index of a loader pod in its Job. The index is 0 in a Job with one pod.
func LoaderIndex(pod *corev1.Pod) int {
	i, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return 0
	}
	return i
}

// loaderCount returns how many loader pods the trial of a Job has.
func loaderCount(j *batchv1.Job) int { return int(ptr.Deref(j.Spec.Completions, 1)) }

// MissingLoader returns the lowest index for which a Job has no pod. It returns false if the Job creates no more pods: the Job has all
// pods, or one of its pods has ended, which ends the Job. A user may delete a pod that has ended.
func MissingLoader(j *batchv1.Job, loaders []*corev1.Pod) (index int, isMissing bool) {
	if len(loaders) >= loaderCount(j) || len(loaders) > 0 && j.Status.Failed+j.Status.Succeeded > 0 {
		return 0, false
	}
	for i := range loaderCount(j) {
		if !slices.ContainsFunc(loaders, func(pod *corev1.Pod) bool { return LoaderIndex(pod) == i }) {
			return i, true
		}
	}
	return 0, false
}

// addLoaderPods sets three fields of job: whether all loader pods of the trial have started, the problem of the first pod that
// has not started, and which pods are being deleted.
func addLoaderPods(job *decide.Job, j *batchv1.Job, pods []corev1.Pod) {
	loaders := LoaderPods(j, pods)
	if len(loaders) == 0 {
		job.Problem = decide.Problem{Message: "Job " + j.Name + " has no pod yet"}
		return
	}
	job.Started = true
	if i, isMissing := MissingLoader(j, loaders); isMissing {
		job.Started = false
		job.Problem = decide.Problem{Message: fmt.Sprintf("Job %s has %d of %d pods: loader pod %d is missing", j.Name, len(loaders), loaderCount(j), i)}
	}
	for _, pod := range loaders {
		if !containerStarted(*pod, resources.ContainerTrial) {
			job.Started = false
			if problem := podProblem(*pod); job.Problem.Message == "" || problem.Definite && !job.Problem.Definite {
				job.Problem = problem
			}
		}
		if t := pod.DeletionTimestamp; !t.IsZero() {
			job.Ending, job.Left = Later(job.Ending, t.Time), appendDeletion(job.Left, describeDeletion(pod))
		}
	}
}
