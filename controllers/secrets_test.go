package controllers

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/internal/resources"
)

func TestAwaitedSecretsAreNamed(t *testing.T) {
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "bench"},
		Spec: corev1.PodSpec{Volumes: []corev1.Volume{
			{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "credentials", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "login",
				Items: []corev1.KeyToPath{{Key: "username", Path: "username"}, {Key: "password", Path: "password"}}}}},
			{Name: "ca", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "authority",
				Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}}},
		}},
		Status: corev1.PodStatus{
			Phase:                 corev1.PodPending,
			Conditions:            []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}},
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "agent", State: waiting}},
			ContainerStatuses:     []corev1.ContainerStatus{{Name: "trial", State: waiting}},
		},
	}
	p := podProblem(pod)
	for _, want := range []string{"pod p ", "ContainerCreating", "namespace bench", "Secret login with username and password", "Secret authority with ca.crt"} {
		if !strings.Contains(p.Message, want) {
			t.Errorf("%q does not say %q", p.Message, want)
		}
	}
	if p.Definite || p.Reason != "" {
		t.Errorf("%+v: the Secret may still be made", p)
	}

	pulling := *pod.DeepCopy()
	pulling.Status.InitContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}
	if p := podProblem(pulling); !strings.Contains(p.Message, "no such image") {
		t.Errorf("an image that cannot be had: %q", p.Message)
	}
	mounted := *pod.DeepCopy()
	mounted.Status.InitContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	if p := podProblem(mounted); p.Message != "" {
		t.Errorf("its volumes are mounted: %q", p.Message)
	}
	without := *pod.DeepCopy()
	without.Spec.Volumes = without.Spec.Volumes[:1]
	if p := podProblem(without); p.Message != "" {
		t.Errorf("it mounts no Secret: %q", p.Message)
	}
}

// The keys that sign requests are mounted whole, as their session token is optional. So are the operator's Secrets, whose
// keys are not Knee's.
func TestPodProblem_secretMountedWhole_keysOfLoaderPodsOnly(t *testing.T) {
	for component, want := range map[string]string{
		resources.ComponentLoader:     "it needs Secret bench-keys with accessKeyID and secretAccessKey: is it all there?",
		resources.ComponentOpenSearch: "it needs Secret bench-keys: is it all there?",
	} {
		pod := corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "bench", Labels: map[string]string{resources.LabelComponent: component}},
			Spec: corev1.PodSpec{Volumes: []corev1.Volume{
				{Name: "credentials", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "bench-keys"}}},
			}},
		}
		if p := podProblem(pod); !strings.HasSuffix(p.Message, want) {
			t.Errorf("%s: %q does not say %q", component, p.Message, want)
		}
	}
}
