package children

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
)

// TestLastOutput_stackTrace_isLeftOut checks that lastOutput removes stack traces. They are most of the output of an
// OpenSearch that cannot start.
func TestLastOutput_stackTrace_isLeftOut(t *testing.T) {
	output, err := os.ReadFile(filepath.Join("testdata", "unknown-setting.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got := lastOutput(string(output), 600)
	want := "uncaught exception in thread [main]\nSettingsException[unknown setting [no.such.setting] please check"
	if !strings.HasPrefix(got, want) || strings.Contains(got, "OpenSearch.java") {
		t.Errorf("got %q", got)
	}
}

func TestLastOutput_longOutput_isCut(t *testing.T) {
	got := lastOutput(strings.Repeat("a line of output\n", 100)+"the cause", 60)
	if len(got) > 60 || !strings.HasSuffix(got, "the cause") || !strings.HasPrefix(got, "a line") {
		t.Errorf("got %q", got)
	}
}

func TestPodProblem(t *testing.T) {
	waiting := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "no heap"}}
	for name, tc := range map[string]struct {
		status   corev1.PodStatus
		reason   string
		says     string
		definite bool
	}{
		"nothing known": {corev1.PodStatus{}, "", "", false},
		"no node": {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes"}}},
			v1alpha1.ReasonUnschedulable, "0/3 nodes", false},
		"being created": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "opensearch", State: waiting("ContainerCreating", "")}}}, "", "", false},
		"no image": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "opensearch", Image: "os:9", State: waiting("ImagePullBackOff", "not found")}}},
			v1alpha1.ReasonImagePullFailed, "not found (image os:9)", false},
		"invalid image name": {corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{Name: "preflight", Image: "A B", State: waiting("InvalidImageName", "bad")}}},
			v1alpha1.ReasonImagePullFailed, "container preflight", true},
		"ended once": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: resources.ContainerOpenSearch, State: ended}}},
			v1alpha1.ReasonProvisioningFailed, "no heap", false},
		"ended repeatedly": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: resources.ContainerOpenSearch, RestartCount: 2,
			State: waiting("CrashLoopBackOff", "back-off"), LastTerminationState: ended}}},
			v1alpha1.ReasonProvisioningFailed, "no heap", true},
		"started after failures": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: resources.ContainerOpenSearch, RestartCount: 2, Ready: true, LastTerminationState: ended}}},
			"", "", false},
	} {
		pod := corev1.Pod{Status: tc.status}
		pod.Name = "os-0"
		got := podProblem(pod)
		if got.Reason != tc.reason || !strings.Contains(got.Message, tc.says) || got.Definite != tc.definite || (got.Message == "") != (tc.says == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestPodProblem_containersNotStarted_namesTheSecrets(t *testing.T) {
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
		t.Errorf("%+v: the Secret may still be created", p)
	}

	pulling := *pod.DeepCopy()
	pulling.Status.InitContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}
	if p := podProblem(pulling); !strings.Contains(p.Message, "no such image") {
		t.Errorf("an image that cannot be pulled: %q", p.Message)
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

// TestPodProblem_secretMountedWhole_keysOfLoaderPodsOnly checks the message about Secrets that are mounted without a
// list of keys. A Secret with signing keys has no list, because the session token is optional; the message names its
// required keys. For a Secret of the opensearch-k8s-operator the message names no keys, because Knee does not know
// them.
func TestPodProblem_secretMountedWhole_keysOfLoaderPodsOnly(t *testing.T) {
	for component, want := range map[string]string{
		resources.ComponentLoader:     "namespace bench has Secret bench-keys with accessKeyID and secretAccessKey",
		resources.ComponentOpenSearch: "namespace bench has Secret bench-keys",
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
