package resources_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/driverconfig"
	"github.com/knee-bench/knee/test/wrappers"
)

func TestArtifacts(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	p, cell := cellOf(w)
	attempt := attemptOf(cell, record.Sweep)
	for name, tc := range map[string]struct {
		artifacts *v1alpha1.Artifacts
		mount     *corev1.VolumeMount
		folder    string
	}{
		"nowhere": {nil, nil, ""},
		"a volume": {&v1alpha1.Artifacts{ClaimName: "raw"}, &corev1.VolumeMount{Name: "artifacts", MountPath: "/knee/artifacts"},
			"/knee/artifacts/default-x-uid-1/" + cell.AttemptName(attempt)},
		"a folder of it": {&v1alpha1.Artifacts{ClaimName: "raw", Path: "bench/knee"},
			&corev1.VolumeMount{Name: "artifacts", MountPath: "/knee/artifacts", SubPath: "bench/knee"},
			"/knee/artifacts/default-x-uid-1/" + cell.AttemptName(attempt)},
	} {
		w.Spec.Artifacts = tc.artifacts
		if got := resources.Config(w.Obj(), p, cell, attempt, resources.Running{}).Artifacts; got != tc.folder {
			t.Errorf("%s: the agent is told %q, want %q", name, got, tc.folder)
		}
		job, err := resources.Job(w.Obj(), p, cell, attempt, resources.Running{}, options)
		if err != nil {
			t.Fatal(err)
		}
		var mount *corev1.VolumeMount
		for _, m := range job.Spec.Template.Spec.Containers[0].VolumeMounts {
			if m.Name == "artifacts" {
				mount = &m
			}
		}
		claim := ""
		for _, v := range job.Spec.Template.Spec.Volumes {
			if v.Name == "artifacts" {
				claim = v.PersistentVolumeClaim.ClaimName
			}
		}
		if !cmp.Equal(mount, tc.mount) || claim != "" != (tc.artifacts != nil) || claim != "" && claim != "raw" {
			t.Errorf("%s: mount %+v of claim %q", name, mount, claim)
		}
	}
}

// TestArtifacts_campaignsOfSameName_haveOwnFolders checks that campaigns with the same name use different folders of one volume.
// They may exist one after the other, or in two namespaces.
func TestArtifacts_campaignsOfSameName_haveOwnFolders(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range []*wrappers.Campaign{
		wrappers.MakeCampaign("x").UID("11111111-aaaa"), wrappers.MakeCampaign("x").UID("22222222-aaaa"),
		wrappers.MakeCampaign("x").UID("11111111-aaaa").Namespace("other"),
	} {
		w.Spec.Artifacts = &v1alpha1.Artifacts{ClaimName: "raw"}
		uid := string(w.BenchmarkCampaign.UID)
		p, cell := cellOf(w.Variant("a"))
		folder := resources.Config(w.UID(uid).Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{}).Artifacts
		seen[folder[:strings.LastIndex(folder, "/")]] = true
	}
	if len(seen) != 3 {
		t.Errorf("folders %v, want three", seen)
	}
}

func TestConfig_runningImages_reachProbes(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	p, cell := cellOf(w)
	under := resources.Running{Images: map[string]string{resources.PodName(cell, 0): "sha256:12", "another": "sha256:34"}}
	if probes := resources.Config(w.Obj(), p, cell, attemptOf(cell, record.Sweep), under).Probes; len(probes) != 1 || probes[0].Image != "sha256:12" {
		t.Errorf("probes %+v", probes)
	}
}

func TestConfig_targetThroughputParam_onlyForOpenLoop(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	w.Spec.Workload.OSB.TargetThroughputParam = "rate"
	p, cell := cellOf(w)
	for phase, want := range map[record.Phase]string{record.Warmup: "", record.Sweep: "", record.Final: "", record.OpenLoop: "rate"} {
		cfg := resources.Config(w.Obj(), p, cell, attemptOf(cell, phase), resources.Running{})
		if got := driverconfig.Of[osbconfig.Config](cfg).TargetThroughputParam; got != want {
			t.Errorf("%s: %q, want %q", phase, got, want)
		}
	}
}

func TestStatefulSet_laterPlacement_avoidsEarlierNodes(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	_, cell := cellOf(w)
	first := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now)
	if first.Annotations[resources.AnnotationPlacement] != "1" || first.Spec.Template.Spec.Affinity.NodeAffinity != nil {
		t.Errorf("the first placement: %v, %+v", first.Annotations, first.Spec.Template.Spec.Affinity)
	}
	third := resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 3, Avoid: []string{"n1", "n2"}}, options, time.Minute, now)
	affinity := third.Spec.Template.Spec.Affinity
	not := func(name string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{name}}
	}
	want := &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
		{Weight: 100, Preference: corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{not("n1"), not("n2")}}},
	}}
	if diff := cmp.Diff(want, affinity.NodeAffinity); diff != "" || third.Annotations[resources.AnnotationPlacement] != "3" {
		t.Errorf("%v (-want +got):\n%s", third.Annotations, diff)
	}
	if !cmp.Equal(affinity.PodAntiAffinity, first.Spec.Template.Spec.Affinity.PodAntiAffinity) {
		t.Errorf("what keeps the loader away is lost: %+v", affinity.PodAntiAffinity)
	}
}
