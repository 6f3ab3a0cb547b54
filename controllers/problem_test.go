package controllers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
)

// What OpenSearch leaves behind when it cannot start is nearly all stack trace.
func TestLastWordsOfOpenSearch(t *testing.T) {
	output, err := os.ReadFile(filepath.Join("testdata", "unknown-setting.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got := lastWords(string(output), 600)
	want := "uncaught exception in thread [main]\nSettingsException[unknown setting [no.such.setting] please check"
	if !strings.HasPrefix(got, want) || strings.Contains(got, "OpenSearch.java") {
		t.Errorf("got %q", got)
	}
}

func TestLastWordsAreBounded(t *testing.T) {
	got := lastWords(strings.Repeat("a line of output\n", 100)+"the cause", 60)
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
		"being made": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "opensearch", State: waiting("ContainerCreating", "")}}}, "", "", false},
		"no image": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "opensearch", Image: "os:9", State: waiting("ImagePullBackOff", "not found")}}},
			v1alpha1.ReasonImagePullFailed, "not found (image os:9)", false},
		"not an image": {corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{Name: "preflight", Image: "A B", State: waiting("InvalidImageName", "bad")}}},
			v1alpha1.ReasonImagePullFailed, "container preflight", true},
		"ended once": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: resources.ContainerOpenSearch, State: ended}}},
			v1alpha1.ReasonProvisioningFailed, "no heap", false},
		"ends again and again": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: resources.ContainerOpenSearch, RestartCount: 2,
			State: waiting("CrashLoopBackOff", "back-off"), LastTerminationState: ended}}},
			v1alpha1.ReasonProvisioningFailed, "no heap", true},
		"came up again": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: resources.ContainerOpenSearch, RestartCount: 2, Ready: true, LastTerminationState: ended}}},
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
