package resources

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
)

// Annotations with which the usual autoscalers do not remove a pod's node.
const (
	annotationSafeToEvict  = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	annotationDoNotDisrupt = "karpenter.sh/do-not-disrupt"
)

// extraVolume is the prefix of the names of the campaign's own volumes. No volume of Knee has it.
const extraVolume = "extra-"

// templateMeta returns the metadata of a pod template: those of Knee's objects, the campaign's labels and annotations, and the annotations
// that keep autoscalers from removing the pod's node. Knee's own values cannot be changed.
func templateMeta(m metav1.ObjectMeta, t v1alpha1.PodTemplate) metav1.ObjectMeta {
	out := metav1.ObjectMeta{Labels: labels(t.Labels), Annotations: map[string]string{}}
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	for k, v := range t.Annotations {
		out.Annotations[k] = string(v)
	}
	maps.Copy(out.Labels, m.Labels)
	maps.Copy(out.Annotations, m.Annotations)
	out.Annotations[annotationSafeToEvict] = "false"
	out.Annotations[annotationDoNotDisrupt] = "true"
	return out
}

// addPodTemplate adds the campaign's template to a pod. Its variables and volumes belong to the first container, which is that of
// OpenSearch or of the trial. The parameter pods is the labels of the pods that are spread together.
func addPodTemplate(spec *corev1.PodSpec, t v1alpha1.PodTemplate, pods map[string]string) {
	spec.PriorityClassName = t.PriorityClassName
	if t.RuntimeClassName != "" {
		spec.RuntimeClassName = ptr.To(t.RuntimeClassName)
	}
	spec.ImagePullSecrets = imagePullSecrets(t)
	spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, spreadConstraints(t, pods)...)
	container := &spec.Containers[0]
	container.Env = append(container.Env, templateEnv(t)...)
	for _, v := range t.Volumes {
		name := extraVolume + string(v.Name)
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: volumeSource(v)})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: v.MountPath, ReadOnly: ptr.Deref(v.ReadOnly, false)})
	}
}

func imagePullSecrets(t v1alpha1.PodTemplate) []corev1.LocalObjectReference {
	var out []corev1.LocalObjectReference
	for _, s := range t.ImagePullSecrets {
		out = append(out, corev1.LocalObjectReference{Name: s.Name})
	}
	return out
}

func spreadConstraints(t v1alpha1.PodTemplate, pods map[string]string) []corev1.TopologySpreadConstraint {
	var out []corev1.TopologySpreadConstraint
	for _, s := range t.TopologySpreadConstraints {
		out = append(out, corev1.TopologySpreadConstraint{
			MaxSkew: s.MaxSkew, TopologyKey: s.TopologyKey, WhenUnsatisfiable: corev1.UnsatisfiableConstraintAction(s.WhenUnsatisfiable),
			LabelSelector: &metav1.LabelSelector{MatchLabels: pods},
		})
	}
	return out
}

func templateEnv(t v1alpha1.PodTemplate) []corev1.EnvVar {
	var out []corev1.EnvVar
	for _, e := range t.Env {
		if e.ValueFrom == nil {
			out = append(out, corev1.EnvVar{Name: e.Name, Value: verbatim(string(e.Value))})
			continue
		}
		key := e.ValueFrom.ConfigMapKeyRef
		out = append(out, corev1.EnvVar{Name: e.Name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: key.Name}, Key: key.Key,
		}}})
	}
	return out
}

func volumeSource(v v1alpha1.PodVolume) corev1.VolumeSource {
	switch {
	case v.ConfigMap != nil:
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: v.ConfigMap.Name}}}
	case v.PersistentVolumeClaim != nil:
		return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.PersistentVolumeClaim.ClaimName}}
	}
	dir := &corev1.EmptyDirVolumeSource{}
	if v.EmptyDir != nil {
		dir.Medium = corev1.StorageMedium(v.EmptyDir.Medium)
		if v.EmptyDir.SizeLimit != "" {
			dir.SizeLimit = ptr.To(resource.MustParse(string(v.EmptyDir.SizeLimit)))
		}
	}
	return corev1.VolumeSource{EmptyDir: dir}
}

// templateMounts returns the ConfigMaps and claims that the templates of a cell's pods name.
func templateMounts(cell plan.Cell) []Mount {
	var out []Mount
	for _, from := range []struct {
		field    string
		template v1alpha1.PodTemplate
	}{{"opensearch.podTemplate", cell.OpenSearchPod}, {"loader.podTemplate", cell.LoaderPod}} {
		for _, e := range from.template.Env {
			if e.ValueFrom != nil {
				out = append(out, Mount{Field: from.field + ".env[" + e.Name + "]", ConfigMap: e.ValueFrom.ConfigMapKeyRef.Name, Key: e.ValueFrom.ConfigMapKeyRef.Key})
			}
		}
		for _, v := range from.template.Volumes {
			field := from.field + ".volumes[" + string(v.Name) + "]"
			switch {
			case v.ConfigMap != nil:
				out = append(out, Mount{Field: field, ConfigMap: v.ConfigMap.Name})
			case v.PersistentVolumeClaim != nil:
				out = append(out, Mount{Field: field, Claim: v.PersistentVolumeClaim.ClaimName})
			}
		}
	}
	return out
}
