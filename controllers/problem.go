package controllers

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/decide"
)

// hopelessRestarts is how often a container must have failed at start before waiting longer is pointless.
const hopelessRestarts = 2

func podReady(pod corev1.Pod) bool {
	return pod.DeletionTimestamp.IsZero() && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// containerStarted says whether a container runs or ran: its pod is past everything that could keep it from it.
func containerStarted(pod corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == name && (s.State.Running != nil || s.State.Terminated != nil)
	})
}

// podProblem says what keeps a pod from running, in the words of the scheduler, the kubelet or the container
// itself; the zero Problem when nothing does as far as its status tells.
func podProblem(pod corev1.Pod) decide.Problem {
	if !pod.DeletionTimestamp.IsZero() {
		return decide.Problem{Message: leaving(&pod)} // what it complained of goes with it
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
	return awaitedSecrets(pod)
}

func containerProblem(pod string, s corev1.ContainerStatus) decide.Problem {
	at := fmt.Sprintf("pod %s, container %s: ", pod, s.Name)
	if last := lastFailure(s); last != nil && !s.Ready {
		return decide.Problem{
			Reason:   v1alpha1.ReasonProvisioningFailed,
			Message:  at + describeExit(last),
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

// lastFailure is how a container last ended, if that was not a success.
func lastFailure(s corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	for _, t := range []*corev1.ContainerStateTerminated{s.State.Terminated, s.LastTerminationState.Terminated} {
		if t != nil && t.ExitCode != 0 {
			return t
		}
	}
	return nil
}

// describeExit quotes a container's own last words.
func describeExit(t *corev1.ContainerStateTerminated) string {
	s := fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode)
	if words := lastWords(t.Message, 600); words != "" {
		s += ": " + words
	}
	return s
}

// lastWords is the end of a program's output without the frames of stack traces, at most n bytes, from the start
// of a line where that leaves anything.
func lastWords(output string, n int) string {
	var lines []string
	for line := range strings.Lines(output) {
		if line = strings.TrimRight(line, "\n"); !stackFrame(line) {
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

// stackFrame says whether a line is a frame of a Java stack trace, whole or with its beginning cut off.
func stackFrame(line string) bool {
	return strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "\t... ") || strings.Contains(line, "~[") && strings.HasSuffix(line, "]")
}
