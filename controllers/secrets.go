package controllers

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/internal/decide"
	"github.com/knee-bench/knee/internal/record"
)

// awaitedSecrets names the Secrets that a pod mounts while no container of it has begun. That one is missing the kubelet
// tells in an event alone, and the manager may not read Secrets: it can but say which ones there must be.
func awaitedSecrets(pod corev1.Pod) decide.Problem {
	begun := slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.State.Running != nil || s.State.Terminated != nil
	})
	var awaited []string
	for _, v := range pod.Spec.Volumes {
		if v.Secret == nil {
			continue
		}
		awaited = append(awaited, fmt.Sprintf("Secret %s with %s", v.Secret.SecretName, strings.Join(awaitedKeys(v.Secret), " and ")))
	}
	if begun || len(awaited) == 0 {
		return decide.Problem{}
	}
	return decide.Problem{Message: fmt.Sprintf("pod %s has not begun (ContainerCreating); in namespace %s it needs %s: is it all there?",
		pod.Name, pod.Namespace, strings.Join(awaited, ", "))}
}

// awaitedKeys are the keys that a mounted Secret must have. One that is mounted whole is of keys that sign requests, as
// their session token may be absent.
func awaitedKeys(s *corev1.SecretVolumeSource) []string {
	if len(s.Items) == 0 {
		return []string{record.AccessKeyIDKey, record.SecretAccessKeyKey}
	}
	var keys []string
	for _, item := range s.Items {
		keys = append(keys, item.Key)
	}
	return keys
}
