package controllers

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// awaitedSecrets names the Secrets that a pod mounts while none of its containers has started. Only an event of the kubelet
// says which Secret is missing, and the manager may not read Secrets: it can only list those that must exist.
func awaitedSecrets(pod corev1.Pod) decide.Problem {
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
	return decide.Problem{Message: fmt.Sprintf("pod %s has not begun (ContainerCreating); in namespace %s it needs %s: is it all there?",
		pod.Name, pod.Namespace, strings.Join(awaited, ", "))}
}

// awaitedKeys returns the keys that a mounted Secret must have. A loader pod mounts a Secret without naming keys only if the
// keys sign requests, because their session token is optional. The Secrets of the opensearch-k8s-operator's pods have keys
// that Knee does not know.
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
