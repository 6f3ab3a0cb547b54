package resources_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/wrappers"
)

// fullTemplate returns a template that uses every field.
func fullTemplate() v1alpha1.PodTemplate {
	return v1alpha1.PodTemplate{
		Labels:            map[string]v1alpha1.LabelValue{"team": "search", resources.LabelComponent: "mine"},
		Annotations:       map[string]v1alpha1.AnnotationValue{"sidecar.istio.io/inject": "false", resources.AnnotationCampaignName: "mine"},
		PriorityClassName: "high", RuntimeClassName: "kata",
		ImagePullSecrets:          []v1alpha1.LocalReference{{Name: "registry"}},
		TopologySpreadConstraints: []v1alpha1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: "ScheduleAnyway"}},
		Env: []v1alpha1.EnvVar{
			{Name: "A", Value: "$(B)"},
			{Name: "C", ValueFrom: &v1alpha1.EnvSource{ConfigMapKeyRef: v1alpha1.ConfigMapKey{Name: "c", Key: "k"}}},
		},
		Volumes: []v1alpha1.PodVolume{
			{Name: "data", MountPath: "/a", ReadOnly: ptr.To(true), ConfigMap: &v1alpha1.LocalReference{Name: "c"}},
			{Name: "b", MountPath: "/b", PersistentVolumeClaim: &v1alpha1.ClaimReference{ClaimName: "p"}},
			{Name: "e", MountPath: "/e", EmptyDir: &v1alpha1.EmptyDir{Medium: "Memory", SizeLimit: "1Gi"}},
		},
	}
}

// TestPodTemplate_everyField_isAdded checks the pods of OpenSearch and of the loader: each field is there, and Knee's own labels,
// annotations, variables and volumes are unchanged.
func TestPodTemplate_everyField_isAdded(t *testing.T) {
	plain, full := wrappers.MakeCampaign("x").Variant("a"), wrappers.MakeCampaign("x").Variant("a")
	full.Spec.OpenSearch.PodTemplate, full.Spec.Loader.PodTemplate = fullTemplate(), fullTemplate()
	before, after := podsOf(t, plain), podsOf(t, full)
	for what, pod := range after {
		was, spec := before[what], pod.Spec
		if pod.Labels["team"] != "search" || pod.Annotations["sidecar.istio.io/inject"] != "false" {
			t.Errorf("%s: labels %v, annotations %v", what, pod.Labels, pod.Annotations)
		}
		for k, v := range was.Annotations {
			if pod.Annotations[k] != v {
				t.Errorf("%s: annotation %s is %s, was %s", what, k, pod.Annotations[k], v)
			}
		}
		if pod.Labels[resources.LabelComponent] != was.Labels[resources.LabelComponent] {
			t.Errorf("%s: component %s", what, pod.Labels[resources.LabelComponent])
		}
		if spec.PriorityClassName != "high" || *spec.RuntimeClassName != "kata" || !cmp.Equal(spec.ImagePullSecrets, []corev1.LocalObjectReference{{Name: "registry"}}) {
			t.Errorf("%s: %+v", what, spec)
		}
		spread := spec.TopologySpreadConstraints[0]
		if spread.MaxSkew != 2 || spread.TopologyKey != "rack" || spread.WhenUnsatisfiable != corev1.ScheduleAnyway || spread.LabelSelector.MatchLabels[resources.LabelComponent] != pod.Labels[resources.LabelComponent] {
			t.Errorf("%s: %+v", what, spread)
		}
		if got, want := len(spec.Volumes), len(was.Spec.Volumes)+3; got != want {
			t.Errorf("%s: %d volumes, want %d", what, got, want)
		}
		container := spec.Containers[0]
		added := container.Env[len(was.Spec.Containers[0].Env):]
		if len(added) != 2 || added[0].Value != "$$(B)" || added[1].ValueFrom.ConfigMapKeyRef.Name != "c" || added[1].ValueFrom.ConfigMapKeyRef.Key != "k" {
			t.Errorf("%s: env %+v", what, added)
		}
		mounts := container.VolumeMounts[len(was.Spec.Containers[0].VolumeMounts):]
		want := []corev1.VolumeMount{{Name: "extra-data", MountPath: "/a", ReadOnly: true}, {Name: "extra-b", MountPath: "/b"}, {Name: "extra-e", MountPath: "/e"}}
		if !cmp.Equal(mounts, want) {
			t.Errorf("%s: %s", what, cmp.Diff(want, mounts))
		}
	}
}

// TestPodTemplate_identity checks which fields of a template make Knee measure a cell again.
func TestPodTemplate_identity(t *testing.T) {
	hashOf := func(template v1alpha1.PodTemplate) (openSearch, loader string) {
		a, b := wrappers.MakeCampaign("x").Variant("a"), wrappers.MakeCampaign("x").Variant("a")
		a.Spec.OpenSearch.PodTemplate, b.Spec.Loader.PodTemplate = template, template
		_, cell := cellOf(a)
		_, other := cellOf(b)
		return cell.Hash, other.Hash
	}
	none, _ := hashOf(v1alpha1.PodTemplate{})
	all := fullTemplate()
	for name, tc := range map[string]struct {
		template v1alpha1.PodTemplate
		another  bool
	}{
		"labels":                    {v1alpha1.PodTemplate{Labels: all.Labels}, false},
		"annotations":               {v1alpha1.PodTemplate{Annotations: all.Annotations}, false},
		"priorityClassName":         {v1alpha1.PodTemplate{PriorityClassName: "high"}, false},
		"imagePullSecrets":          {v1alpha1.PodTemplate{ImagePullSecrets: all.ImagePullSecrets}, false},
		"empty lists":               {v1alpha1.PodTemplate{Env: []v1alpha1.EnvVar{}, Volumes: []v1alpha1.PodVolume{}}, false},
		"runtimeClassName":          {v1alpha1.PodTemplate{RuntimeClassName: "kata"}, true},
		"topologySpreadConstraints": {v1alpha1.PodTemplate{TopologySpreadConstraints: all.TopologySpreadConstraints}, true},
		"env":                       {v1alpha1.PodTemplate{Env: all.Env}, true},
		"volumes":                   {v1alpha1.PodTemplate{Volumes: all.Volumes}, true},
	} {
		openSearch, loader := hashOf(tc.template)
		if (openSearch != none) != tc.another || (loader != none) != tc.another {
			t.Errorf("%s: another identity: %v for OpenSearch, %v for the loader; want %v", name, openSearch != none, loader != none, tc.another)
		}
	}
}

func TestPodTemplate_variant_isMerged(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	w.Spec.OpenSearch.PodTemplate = fullTemplate()
	w.Spec.Variants[0].OpenSearch.PodTemplate = v1alpha1.PodTemplate{
		Labels: map[string]v1alpha1.LabelValue{"cost": "1"}, PriorityClassName: "low", ImagePullSecrets: []v1alpha1.LocalReference{{Name: "other"}},
		Env:     []v1alpha1.EnvVar{{Name: "A", Value: "1"}, {Name: "D", Value: "2"}},
		Volumes: []v1alpha1.PodVolume{{Name: "e", MountPath: "/f", EmptyDir: &v1alpha1.EmptyDir{}}},
	}
	_, cell := cellOf(w)
	want := fullTemplate()
	want.Labels["cost"], want.PriorityClassName, want.ImagePullSecrets = "1", "low", []v1alpha1.LocalReference{{Name: "other"}}
	want.Env[0].Value = "1"
	want.Env = append(want.Env, v1alpha1.EnvVar{Name: "D", Value: "2"})
	want.Volumes[2] = v1alpha1.PodVolume{Name: "e", MountPath: "/f", EmptyDir: &v1alpha1.EmptyDir{}}
	if diff := cmp.Diff(want, cell.OpenSearchPod); diff != "" {
		t.Error(diff)
	}
	if got := cell.Spec.OpenSearch.PodTemplate; !cmp.Equal(got, v1alpha1.PodTemplate{
		RuntimeClassName: want.RuntimeClassName, TopologySpreadConstraints: want.TopologySpreadConstraints, Env: want.Env, Volumes: want.Volumes,
	}) {
		t.Errorf("the identity contains %+v", got)
	}
}

// TestMounts_podTemplates_areListed checks that Knee looks for the ConfigMaps and claims that templates name.
func TestMounts_podTemplates_areListed(t *testing.T) {
	w := wrappers.MakeCampaign("x").Variant("a")
	w.Spec.OpenSearch.PodTemplate, w.Spec.Loader.PodTemplate = fullTemplate(), fullTemplate()
	_, cell := cellOf(w)
	got := map[string]string{}
	for _, m := range resources.Mounts(w.Obj(), cell) {
		got[m.Field] = m.ConfigMap + m.Claim + m.Key
	}
	want := map[string]string{}
	for _, of := range []string{"opensearch", "loader"} {
		want[of+".podTemplate.env[C]"], want[of+".podTemplate.volumes[data]"], want[of+".podTemplate.volumes[b]"] = "ck", "c", "p"
	}
	if !maps.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestOpenSearchCluster_podTemplate(t *testing.T) {
	c, _ := operated()
	c.Spec.OpenSearch.Provisioner = v1alpha1.ProvisionOpenSearchCluster
	c.Spec.OpenSearch.PodTemplate = fullTemplate()
	cell := plan.Build(c).Cells[0]
	o := resources.OpenSearchCluster(c, cell, resources.OpenSearchClusterGroups[0], resources.Placement{Number: 1}, options, now)
	pool := at(t, o.Object, "spec", "nodePools", 0)
	for field, tc := range map[string]struct{ got, want any }{
		"labels":           {at(t, pool, "labels", "team"), "search"},
		"annotations":      {at(t, pool, "annotations", "sidecar.istio.io/inject"), "false"},
		"priority":         {at(t, pool, "priorityClassName"), "high"},
		"spread":           {at(t, pool, "topologySpreadConstraints", 0, "topologyKey"), "rack"},
		"env":              {at(t, pool, "env", 0, "value"), "$$(B)"},
		"imagePullSecrets": {at(t, o.Object, "spec", "general", "imagePullSecrets", 0, "name"), "registry"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %v, want %v", field, tc.got, tc.want)
		}
	}
}

// podsOf returns the pod templates of OpenSearch and of the loader of a campaign's first cell.
func podsOf(t *testing.T, w *wrappers.Campaign) map[string]corev1.PodTemplateSpec {
	t.Helper()
	p, cell := cellOf(w)
	job, err := resources.Job(w.Obj(), p, cell, attemptOf(cell, record.Sweep), resources.Running{}, options)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]corev1.PodTemplateSpec{
		"OpenSearch": resources.StatefulSet(w.Obj(), cell, resources.Placement{Number: 1}, options, time.Minute, now).Spec.Template,
		"loader":     job.Spec.Template,
	}
}
