package children

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/resources"
)

// trialJob returns the Job of a trial that loads OpenSearch pod "os-0" with the UID "os-uid".
func trialJob(loaders int32) batchv1.Job {
	return batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "job-uid", Annotations: map[string]string{
			resources.AnnotationTrial: "{}", resources.AnnotationJVM: "os-uid/0 ",
		}},
		Spec: batchv1.JobSpec{Completions: ptr.To(loaders)},
	}
}

func loaderPod(index string, status corev1.PodStatus) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "job-" + index, Labels: map[string]string{resources.LabelComponent: resources.ComponentLoader},
			Annotations:     map[string]string{batchv1.JobCompletionIndexAnnotation: index},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: "job", UID: "job-uid", Controller: ptr.To(true)}},
		},
		Status: status,
	}
}

var (
	running    = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	terminated = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
)

// withContainers returns the status of a running pod.
func withContainers(trial corev1.ContainerState, others ...corev1.ContainerState) corev1.PodStatus {
	s := corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: resources.ContainerTrial, State: trial}}}
	for _, state := range others {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{Name: "sidecar", State: state})
	}
	return s
}

func TestReadJob_sidecars(t *testing.T) {
	native := withContainers(terminated)
	native.InitContainerStatuses = []corev1.ContainerStatus{{Name: "istio-proxy", State: running}}
	for name, tc := range map[string]struct {
		loaders int32
		pods    []corev1.Pod
		want    decide.JobState
	}{
		"the trial runs":                     {1, []corev1.Pod{loaderPod("0", withContainers(running, running))}, decide.JobLive},
		"the trial has ended":                {1, []corev1.Pod{loaderPod("0", withContainers(terminated, running))}, decide.JobOver},
		"the sidecar has ended, too":         {1, []corev1.Pod{loaderPod("0", withContainers(terminated, terminated))}, decide.JobLive},
		"Kubernetes ends a native sidecar":   {1, []corev1.Pod{loaderPod("0", native)}, decide.JobLive},
		"no sidecar":                         {1, []corev1.Pod{loaderPod("0", withContainers(terminated))}, decide.JobLive},
		"one of two trials runs":             {2, []corev1.Pod{loaderPod("0", withContainers(terminated, running)), loaderPod("1", withContainers(running, running))}, decide.JobLive},
		"one of two pods has a sidecar":      {2, []corev1.Pod{loaderPod("0", withContainers(terminated, running)), loaderPod("1", withContainers(terminated))}, decide.JobOver},
		"one of two pods does not exist yet": {2, []corev1.Pod{loaderPod("0", withContainers(terminated, running))}, decide.JobLive},
	} {
		job, err := ReadJob(trialJob(tc.loaders), tc.pods)
		if err != nil || job.State != tc.want {
			t.Errorf("%s: state %s, error %v; want %s", name, job.State, err, tc.want)
		}
	}
}

func TestReadJob_disruptions(t *testing.T) {
	deleted := &metav1.Time{Time: time.Now()}
	target := func(status corev1.ConditionStatus) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{
			Type: corev1.DisruptionTarget, Status: status, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
		}}}
	}
	openSearch := func(uid types.UID, at *metav1.Time, status corev1.PodStatus) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: "os-0", UID: uid, DeletionTimestamp: at, Labels: map[string]string{resources.LabelComponent: resources.ComponentOpenSearch},
		}, Status: status}
	}
	loader := func(at *metav1.Time, status corev1.PodStatus) corev1.Pod {
		pod := loaderPod("0", status)
		pod.DeletionTimestamp = at
		return pod
	}
	lostNode, lowMemory := target(corev1.ConditionTrue), target(corev1.ConditionTrue)
	lostNode.Phase, lowMemory.Phase, lowMemory.Reason = corev1.PodFailed, corev1.PodFailed, "Evicted"
	for name, tc := range map[string]struct {
		pod  corev1.Pod
		want string
	}{
		"a loader pod is evicted":                 {loader(deleted, target(corev1.ConditionTrue)), "pod job-0 (EvictionByEvictionAPI): Eviction API: evicting"},
		"a loader pod has failed with its node":   {loader(nil, lostNode), "pod job-0"},
		"the condition only announces a deletion": {loader(nil, target(corev1.ConditionTrue)), ""},
		"the condition is False":                  {loader(deleted, target(corev1.ConditionFalse)), ""},
		"a user deletes the pod":                  {loader(deleted, corev1.PodStatus{Phase: corev1.PodRunning}), ""},
		"the kubelet lacks memory":                {loader(nil, lowMemory), ""},
		"an OpenSearch pod is evicted":            {openSearch("os-uid", deleted, target(corev1.ConditionTrue)), "pod os-0"},
		"a pod that the trial does not load":      {openSearch("other-uid", deleted, target(corev1.ConditionTrue)), ""},
	} {
		job, err := ReadJob(trialJob(1), []corev1.Pod{tc.pod})
		if err != nil || (job.Disrupted == "") != (tc.want == "") || !strings.Contains(job.Disrupted, tc.want) {
			t.Errorf("%s: %q, error %v; want %q", name, job.Disrupted, err, tc.want)
		}
	}
}
