package resources_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

func TestRequirements_limits(t *testing.T) {
	list := func(cpu, memory string) corev1.ResourceList {
		out := corev1.ResourceList{}
		if cpu != "" {
			out[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
		if memory != "" {
			out[corev1.ResourceMemory] = resource.MustParse(memory)
		}
		return out
	}
	for _, tt := range []struct {
		name string
		in   v1alpha1.Resources
		want corev1.ResourceRequirements
	}{
		{"nothing", v1alpha1.Resources{}, corev1.ResourceRequirements{}},
		{"unset", v1alpha1.Resources{CPU: "14", Memory: "50Gi"}, corev1.ResourceRequirements{Requests: list("14", "50Gi"), Limits: list("14", "50Gi")}},
		{"both", v1alpha1.Resources{CPU: "14", Memory: "50Gi", Limits: v1alpha1.LimitCPUAndMemory}, corev1.ResourceRequirements{Requests: list("14", "50Gi"), Limits: list("14", "50Gi")}},
		{"memory alone", v1alpha1.Resources{CPU: "14", Memory: "50Gi", Limits: v1alpha1.LimitMemory}, corev1.ResourceRequirements{Requests: list("14", "50Gi"), Limits: list("", "50Gi")}},
		{"none", v1alpha1.Resources{CPU: "14", Memory: "50Gi", Limits: v1alpha1.LimitNone}, corev1.ResourceRequirements{Requests: list("14", "50Gi")}},
		{"cpu alone without a limit", v1alpha1.Resources{CPU: "14", Limits: v1alpha1.LimitMemory}, corev1.ResourceRequirements{Requests: list("14", "")}},
	} {
		if got := podOf(v1alpha1.OpenSearch{Resources: tt.in}).Containers[0].Resources; !equality.Semantic.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestOpenSearchPod_javaHomeAndMemoryLock(t *testing.T) {
	const home = "/usr/lib/jvm/java-21-openjdk-amd64"
	if pod := podOf(v1alpha1.OpenSearch{}); len(pod.Containers[0].Env) != 3 || slices.Contains(pod.InitContainers[0].Command, "--memory-lock") {
		t.Errorf("nothing was asked for: %+v, %v", pod.Containers[0].Env, pod.InitContainers[0].Command)
	}
	pod := podOf(v1alpha1.OpenSearch{JavaHome: home, Settings: map[string]v1alpha1.ParamValue{v1alpha1.MemoryLockSetting: "true"}})
	for _, name := range []string{"OPENSEARCH_JAVA_HOME", "JAVA_HOME"} {
		if !slices.Contains(pod.Containers[0].Env, corev1.EnvVar{Name: name, Value: home}) {
			t.Errorf("no %s in %+v", name, pod.Containers[0].Env)
		}
	}
	if !slices.Contains(pod.InitContainers[0].Command, "--memory-lock") {
		t.Errorf("the preflight does not look at the memory lock: %v", pod.InitContainers[0].Command)
	}
}

// podOf returns the OpenSearch pod of a campaign with these settings.
func podOf(os v1alpha1.OpenSearch) corev1.PodSpec {
	c := wrappers.MakeCampaign("x").Variant("a")
	os.Version = "3.1.0"
	c.Spec.OpenSearch = os
	_, cell := cellOf(c)
	return resources.StatefulSet(c.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now).Spec.Template.Spec
}
