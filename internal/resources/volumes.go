package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// addArtifacts mounts the volume, or a folder of the volume, on which the agent stores its raw files.
func addArtifacts(spec *corev1.PodSpec, a v1alpha1.Artifacts) {
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "artifacts", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: a.ClaimName},
	}})
	spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts,
		corev1.VolumeMount{Name: "artifacts", MountPath: record.ArtifactsPath, SubPath: a.Path})
}

// addVolume mounts a volume in the trial's container. The mount is read-only unless the volume is an emptyDir.
func addVolume(spec *corev1.PodSpec, name, at string, source corev1.VolumeSource) {
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
	spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts,
		corev1.VolumeMount{Name: name, MountPath: at, ReadOnly: source.EmptyDir == nil})
}

func addConfigMap(spec *corev1.PodSpec, volume, at, name string) {
	addVolume(spec, volume, at, corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name},
	}})
}

// installAgent returns the init container that copies the agent into a volume of the trial's pod.
func installAgent(o Options) corev1.Container {
	return corev1.Container{
		Name: "agent", Image: o.AgentImage, Command: []string{agentInImage, "install", record.AgentPath},
		Resources:                initResources(),
		SecurityContext:          restrictedContainer(true),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             []corev1.VolumeMount{{Name: "agent", MountPath: "/knee/bin"}},
	}
}

// addWorkload mounts the workload's files. If the source is an image, an init container runs the static agent in this image and
// copies the folder. So the image needs no shell, and the cluster needs no image volumes.
func addWorkload(spec *corev1.PodSpec, from *v1alpha1.WorkloadSource) {
	switch {
	case from == nil || from.Git != nil:
	case from.Image != nil:
		addVolume(spec, "workload", record.WorkloadPath, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
		spec.InitContainers = append(spec.InitContainers, corev1.Container{
			Name: "workload", Image: from.Image.Image,
			Command:                  []string{record.AgentPath, "install", "--tree", from.Image.Path, record.WorkloadPath},
			Resources:                initResources(),
			SecurityContext:          restrictedContainer(true),
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			VolumeMounts: []corev1.VolumeMount{
				{Name: "agent", MountPath: "/knee/bin", ReadOnly: true},
				{Name: "workload", MountPath: record.WorkloadPath},
			},
		})
	case from.Volume != nil:
		addVolume(spec, "workload", record.WorkloadPath, corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
			ClaimName: from.Volume.ClaimName, ReadOnly: true,
		}})
	default:
		addConfigMap(spec, "workload", record.WorkloadPath, from.ConfigMap)
	}
}

func cacheVolume(cell plan.Cell) corev1.Volume {
	if cell.Spec.Loader.Cache.Size == "" {
		return emptyDir("cache")
	}
	return corev1.Volume{Name: "cache", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: CacheName(cell)},
	}}
}

// CacheName returns the name of the volume that keeps the downloads of a cell's loader.
func CacheName(cell plan.Cell) string { return cell.Name + "-cache" }

// CacheClaim returns the volume claim that keeps the loader's downloads from one trial of a cell to the next. It returns nil if
// the campaign has no cache.
func CacheClaim(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) *corev1.PersistentVolumeClaim {
	if cell.Spec.Loader.Cache.Size == "" {
		return nil
	}
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: meta(c, CacheName(cell), ComponentLoader, cell),
		Spec:       claim(cell.Spec.Loader.Cache),
	}
}
