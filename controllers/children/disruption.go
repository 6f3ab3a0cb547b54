package children

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/resources"
)

// podEvicted is the reason in the status of a pod that the kubelet ended because its node lacked memory, disk or process IDs.
const podEvicted = "Evicted"

// disruption describes why Kubernetes ended a pod that the trial of a Job needs: a loader pod of the Job, or an OpenSearch pod that the Job
// loads. It returns an empty text if it finds no such pod. An OpenSearch pod that was deleted and created again has another UID, so it no
// longer shows the disruption.
func disruption(j *batchv1.Job, pods []corev1.Pod) string {
	for i := range pods {
		pod := &pods[i]
		if why, isDisrupted := disruptionOf(pod); isDisrupted && (metav1.IsControlledBy(pod, j) || loadsPod(j, pod)) {
			return why
		}
	}
	return ""
}

// loadsPod reports whether the trial of a Job loads an OpenSearch pod. The annotation contains the UIDs of these pods, see jvm.
func loadsPod(j *batchv1.Job, pod *corev1.Pod) bool {
	return pod.Labels[resources.LabelComponent] == resources.ComponentOpenSearch && strings.Contains(j.Annotations[resources.AnnotationJVM], string(pod.UID)+"/")
}

// disruptionOf returns why Kubernetes ends or has ended a pod: a drain, a preemption, a taint or the loss of the node. It returns false if
// the pod itself may be the cause, as when its node lacks memory.
func disruptionOf(pod *corev1.Pod) (why string, isDisrupted bool) {
	if pod.Status.Reason == podEvicted || pod.DeletionTimestamp.IsZero() && pod.Status.Phase != corev1.PodFailed {
		return "", false // without a deletion, the condition only announces one, which may fail
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return fmt.Sprintf("Kubernetes ended pod %s (%s): %s", pod.Name, c.Reason, c.Message), true
		}
	}
	return "", false
}

// ReadBudgets returns the PodDisruptionBudgets of a campaign, by name. The budget of a trial's Job has the name of the Job.
func ReadBudgets(budgets []policyv1.PodDisruptionBudget) []decide.Budget {
	var out []decide.Budget
	for _, b := range budgets {
		budget := decide.Budget{Name: b.Name, UID: b.UID, Cell: b.Labels[resources.LabelCellName]}
		if b.Labels[resources.LabelComponent] == resources.ComponentLoader {
			budget.Job = b.Name
		}
		out = append(out, budget)
	}
	slices.SortFunc(out, func(a, b decide.Budget) int { return strings.Compare(a.Name, b.Name) })
	return out
}
