package plan

import (
	"slices"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
)

// mergePodTemplates overrides the campaign's template with a variant's template. Labels and annotations are merged by key, variables and
// volumes by name. Any other field that is set replaces the default.
func mergePodTemplates(base, over v1alpha1.PodTemplate) v1alpha1.PodTemplate {
	out := *base.DeepCopy()
	out.Labels = drivers.Merge(out.Labels, over.Labels)
	out.Annotations = drivers.Merge(out.Annotations, over.Annotations)
	out.PriorityClassName = first(over.PriorityClassName, out.PriorityClassName)
	out.RuntimeClassName = first(over.RuntimeClassName, out.RuntimeClassName)
	if over.ImagePullSecrets != nil {
		out.ImagePullSecrets = over.ImagePullSecrets
	}
	if over.TopologySpreadConstraints != nil {
		out.TopologySpreadConstraints = over.TopologySpreadConstraints
	}
	out.Env = mergeNamed(out.Env, over.Env, func(e v1alpha1.EnvVar) string { return e.Name })
	out.Volumes = mergeNamed(out.Volumes, over.Volumes, func(v v1alpha1.PodVolume) string { return string(v.Name) })
	return out
}

// mergeNamed replaces the elements of base that have the name of an element of over, and appends the other elements of over.
func mergeNamed[T any](base, over []T, name func(T) string) []T {
	out := slices.Clone(base)
	for _, o := range over {
		if i := slices.IndexFunc(out, func(b T) bool { return name(b) == name(o) }); i >= 0 {
			out[i] = o
		} else {
			out = append(out, o)
		}
	}
	return out
}

// measuredPart returns the fields of a template that can change the measurement. Empty lists have the same meaning as unset ones.
func measuredPart(t v1alpha1.PodTemplate) v1alpha1.PodTemplate {
	out := v1alpha1.PodTemplate{RuntimeClassName: t.RuntimeClassName}
	if len(t.TopologySpreadConstraints) > 0 {
		out.TopologySpreadConstraints = t.TopologySpreadConstraints
	}
	if len(t.Env) > 0 {
		out.Env = t.Env
	}
	if len(t.Volumes) > 0 {
		out.Volumes = t.Volumes
	}
	return out
}
