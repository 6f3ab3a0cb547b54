package resources_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// TestStatefulSet_probe_seesOpenSearchReadOnly checks that the probe can see OpenSearch's process and read its garbage collection log,
// and can change neither.
func TestStatefulSet_probe_seesOpenSearchReadOnly(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("arm")
	_, cell := cellOf(w)
	pod := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now).Spec.Template.Spec
	if pod.ShareProcessNamespace == nil || !*pod.ShareProcessNamespace {
		t.Error("the probe cannot see OpenSearch's process")
	}
	logs := func(c corev1.Container) corev1.VolumeMount {
		t.Helper()
		at := slices.IndexFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == "logs" })
		if at < 0 {
			t.Fatalf("%s does not mount the logs", c.Name)
		}
		return c.VolumeMounts[at]
	}
	at := slices.IndexFunc(pod.InitContainers, func(c corev1.Container) bool { return c.Name == "probe" })
	if at < 0 {
		t.Fatal("no probe")
	}
	probe := pod.InitContainers[at]
	if own, want := logs(probe), "--gc-log="+logs(probe).MountPath+"/gc.log"; !own.ReadOnly || !slices.Contains(probe.Command, want) {
		t.Errorf("the probe mounts %+v and runs %q, want %s", own, probe.Command, want)
	}
	if m := logs(pod.Containers[0]); m.ReadOnly || !strings.HasSuffix(m.MountPath, "/opensearch/logs") {
		t.Errorf("OpenSearch mounts %+v", m)
	}
	if !slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "logs" && v.EmptyDir != nil }) {
		t.Errorf("volumes %+v", pod.Volumes)
	}
}
