package controllers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/resources"
)

// loadersOf are the pods of a trial's Job, by index.
func loadersOf(j *batchv1.Job, pods []corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range pods {
		if metav1.IsControlledBy(&pods[i], j) {
			out = append(out, &pods[i])
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int { return cmp.Compare(indexOf(a), indexOf(b)) })
	return out
}

// indexOf is a loader pod's index in its Job; 0 where its Job has one pod.
func indexOf(pod *corev1.Pod) int {
	i, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return 0
	}
	return i
}

// wanted is how many loader pods a Job's trial has.
func wanted(j *batchv1.Job) int { return int(ptr.Deref(j.Spec.Completions, 1)) }

// missingLoader is the lowest index of a Job without a pod, when one is to come: none of the others has ended, which would
// end all. The index of one that has ended may be without its pod.
func missingLoader(j *batchv1.Job, loaders []*corev1.Pod) (index int, missing bool) {
	if len(loaders) >= wanted(j) || len(loaders) > 0 && j.Status.Failed+j.Status.Succeeded > 0 {
		return 0, false
	}
	for i := range wanted(j) {
		if !slices.ContainsFunc(loaders, func(pod *corev1.Pod) bool { return indexOf(pod) == i }) {
			return i, true
		}
	}
	return 0, false
}

// addLoaders says of a trial's pods whether all have begun, what keeps the first from it that has not, and which of them
// are going.
func addLoaders(job *decide.Job, j *batchv1.Job, pods []corev1.Pod) {
	loaders := loadersOf(j, pods)
	if len(loaders) == 0 {
		job.Problem = decide.Problem{Message: "Job " + j.Name + " has no pod yet"}
		return
	}
	job.Started = true
	if i, missing := missingLoader(j, loaders); missing {
		job.Started = false
		job.Problem = decide.Problem{Message: fmt.Sprintf("Job %s has %d of %d pods: the one of index %d is not there yet", j.Name, len(loaders), wanted(j), i)}
	}
	for _, pod := range loaders {
		if !containerStarted(*pod, resources.ContainerTrial) {
			job.Started = false
			if problem := podProblem(*pod); job.Problem.Message == "" || problem.Definite && !job.Problem.Definite {
				job.Problem = problem
			}
		}
		if t := pod.DeletionTimestamp; !t.IsZero() {
			job.Ending, job.Left = later(job.Ending, t.Time), addLeft(job.Left, leaving(pod))
		}
	}
}
