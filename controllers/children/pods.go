package children

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// hopelessRestarts is the number of restarts after which Knee no longer waits for a container to start.
const hopelessRestarts = 2

func isPodReady(pod corev1.Pod) bool {
	return pod.DeletionTimestamp.IsZero() && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// unreadySince returns the time since which a pod has not been ready. A pod that is being deleted may stay ready until it ends:
// for such a pod, unreadySince returns the time at which the deletion should have ended.
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

// JVM identifies the OpenSearch processes of a cell's pods.
func JVM(pods []corev1.Pod) string {
	out := ""
	for _, pod := range slices.SortedFunc(slices.Values(pods), func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) }) {
		out += jvm(pod)
	}
	return out
}

// jvm identifies the OpenSearch process of a pod. The value changes at each restart of the container.
func jvm(pod corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == resources.ContainerOpenSearch {
			return fmt.Sprintf("%s/%d ", pod.UID, s.RestartCount)
		}
	}
	return ""
}

// imageDigest returns the digest of the OpenSearch image of a pod, as the node's container runtime reports the digest, without
// the name of the registry.
func imageDigest(pod corev1.Pod) string {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == resources.ContainerOpenSearch {
			return s.ImageID[strings.LastIndex(s.ImageID, "@")+1:]
		}
	}
	return ""
}

// containerStarted reports whether a container is running or has terminated.
func containerStarted(pod corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == name && (s.State.Running != nil || s.State.Terminated != nil)
	})
}

// containerTerminated reports whether a container has terminated.
func containerTerminated(pod corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == name && s.State.Terminated != nil
	})
}

// podProblem returns what keeps a pod from running. It quotes the scheduler, the kubelet or the container. If the status of the
// pod shows no problem, it returns the zero Problem.
func podProblem(pod corev1.Pod) decide.Problem {
	if !pod.DeletionTimestamp.IsZero() {
		return decide.Problem{Message: describeDeletion(&pod)} // problems from before the deletion no longer matter
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return decide.Problem{Reason: v1alpha1.ReasonUnschedulable, Message: fmt.Sprintf("pod %s: %s", pod.Name, c.Message)}
		}
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if p := containerProblem(pod.Name, s); p.Message != "" {
			return p
		}
	}
	return awaitedSecretsProblem(pod)
}

func containerProblem(pod string, s corev1.ContainerStatus) decide.Problem {
	at := fmt.Sprintf("pod %s, container %s: ", pod, s.Name)
	if last := LastFailure(s); last != nil && !s.Ready {
		return decide.Problem{
			Reason:   v1alpha1.ReasonProvisioningFailed,
			Message:  at + DescribeExit(last),
			Definite: s.RestartCount >= hopelessRestarts,
		}
	}
	if w := s.State.Waiting; w != nil && w.Reason != "" && w.Reason != "PodInitializing" && w.Reason != "ContainerCreating" {
		p := decide.Problem{Message: at + w.Reason + ": " + w.Message, Definite: w.Reason == "InvalidImageName"}
		if strings.Contains(w.Reason, "Image") {
			p.Reason = v1alpha1.ReasonImagePullFailed
			p.Message += fmt.Sprintf(" (image %s)", s.Image)
		}
		return p
	}
	return decide.Problem{}
}

// LastFailure returns the last termination of a container with an exit code other than 0. It returns nil if there is no such termination.
func LastFailure(s corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
		if t != nil && t.ExitCode != 0 {
			return t
		}
	}
	return nil
}

// DescribeExit returns the reason, the exit code and the last lines of output of a container that ended.
func DescribeExit(t *corev1.ContainerStateTerminated) string {
	s := fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode)
	if output := lastOutput(t.Message, 600); output != "" {
		s += ": " + output
	}
	return s
}

// lastOutput returns the end of a program's output without the frames of stack traces, at most n bytes. It starts at the
// beginning of a line if at least one line fits.
func lastOutput(output string, n int) string {
	var lines []string
	for line := range strings.Lines(output) {
		if line = strings.TrimRight(line, "\n"); !isStackFrame(line) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	s := strings.TrimSpace(strings.Join(lines, "\n"))
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < len(s)-1 {
		s = s[i+1:]
	}
	return strings.ToValidUTF8(s, "")
}

// isStackFrame reports whether a line is a frame of a Java stack trace. The beginning of the line may be cut off.
func isStackFrame(line string) bool {
	return strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "\t... ") || strings.Contains(line, "~[") && strings.HasSuffix(line, "]")
}

// awaitedSecretsProblem lists the Secrets that a pod mounts, as long as none of its containers has started. Only an Event of
// the kubelet names the missing Secret, and the manager has no right to read Secrets.
func awaitedSecretsProblem(pod corev1.Pod) decide.Problem {
	started := slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.State.Running != nil || s.State.Terminated != nil
	})
	var awaited []string
	for _, v := range pod.Spec.Volumes {
		if v.Secret == nil {
			continue
		}
		text := "Secret " + v.Secret.SecretName
		if keys := awaitedKeys(pod, v.Secret); len(keys) > 0 {
			text += " with " + strings.Join(keys, " and ")
		}
		awaited = append(awaited, text)
	}
	if started || len(awaited) == 0 {
		return decide.Problem{}
	}
	return decide.Problem{Message: fmt.Sprintf("pod %s has not started (ContainerCreating); check that namespace %s has %s",
		pod.Name, pod.Namespace, strings.Join(awaited, ", "))}
}

// awaitedKeys returns the keys that a mounted Secret must have. A loader pod mounts a Secret without a list of keys only if the
// Secret has the keys that sign requests, because their session token is optional. Knee does not know which keys the
// opensearch-k8s-operator's pods need.
func awaitedKeys(pod corev1.Pod, s *corev1.SecretVolumeSource) []string {
	if len(s.Items) == 0 && pod.Labels[resources.LabelComponent] == resources.ComponentLoader {
		return []string{record.AccessKeyIDKey, record.SecretAccessKeyKey}
	}
	var keys []string
	for _, item := range s.Items {
		keys = append(keys, item.Key)
	}
	return keys
}
