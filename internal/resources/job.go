package resources

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// deadlineGrace is what the pod's own deadline adds to the agent's: the agent writes its record itself, the
// pod's deadline is for an agent that cannot.
const deadlineGrace = 2 * time.Minute

// Running is the OpenSearch that a Job loads.
type Running struct {
	JVM    string            // identifies its processes
	Images map[string]string // digest of its image, by pod, where the pod's status says
}

// Job runs one attempt of a trial. Its name is the fence against a second run, so it has no TTL; it has no
// deadline of its own, since that would delete the pod and the record with it.
func Job(c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, attempt record.Trial, under Running, o Options) (*batchv1.Job, error) {
	cfg, err := json.Marshal(Config(c, p, cell, attempt, under))
	if err != nil {
		return nil, fmt.Errorf("encode the trial's config: %w", err)
	}
	m := meta(c, cell.AttemptName(attempt), ComponentLoader, cell)
	m.Labels[LabelPhase] = string(attempt.Phase)
	pod := podMeta(m)
	tellEndpoint(&pod, cell.Spec.Endpoint)
	m.Annotations[AnnotationTrial] = trialJSON(attempt)
	m.Annotations[AnnotationJVM] = under.JVM
	return &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: m,
		Spec: batchv1.JobSpec{
			BackoffLimit:         ptr.To[int32](0),
			PodReplacementPolicy: ptr.To(batchv1.Failed),
			Template:             corev1.PodTemplateSpec{ObjectMeta: pod, Spec: trialPod(c, p, cell, string(cfg), o)},
		},
	}, nil
}

func trialJSON(t record.Trial) string {
	b, err := json.Marshal(t)
	if err != nil {
		panic("resources: a trial is strings and integers: " + err.Error())
	}
	return string(b)
}

// Config is what the agent of one attempt is told.
func Config(c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, attempt record.Trial, under Running) record.Config {
	t := cell.Spec.Topology
	cfg := record.Config{
		Trial:           attempt,
		Endpoint:        fmt.Sprintf("http://%s.%s.svc:%d", cell.Name, c.Namespace, HTTPPort),
		Nodes:           t.Nodes,
		DeadlineSeconds: int32(p.TrialTimeout.Seconds()),
		SettleSeconds:   int32(p.SettleTimeout.Seconds()),
		ActivitySeconds: int32(p.ActivityTimeout.Seconds()),
		Measure:         string(cell.Spec.Measure),
		Index: record.IndexConfig{
			Name: cell.Spec.Index.Name, Primaries: t.Primaries, Replicas: t.Replicas, RefreshInterval: t.RefreshInterval,
		},
		OSB: osbConfig(c.Spec, cell.Spec, attempt),
	}
	if from := cell.Spec.Index.BodyFrom; from != nil {
		cfg.Index.BodyFile = record.IndexPath + "/" + from.Key
	}
	if c.Spec.Artifacts != nil {
		cfg.Artifacts = path.Join(record.ArtifactsPath, artifactsFolder(c), cell.AttemptName(attempt))
	}
	if cell.External() {
		external(&cfg, *cell.Spec.Endpoint)
		return cfg
	}
	for i := range t.Nodes {
		pod := PodName(cell, i)
		cfg.Probes = append(cfg.Probes, record.Probe{
			Node: pod, URL: fmt.Sprintf("http://%s.%s.%s.svc:%d", pod, cell.Name, c.Namespace, record.ProbePort),
			Image: under.Images[pod],
		})
	}
	return cfg
}

// artifactsFolder is a campaign's own folder on a volume that other campaigns, of other namespaces too, may use.
func artifactsFolder(c *v1alpha1.BenchmarkCampaign) string {
	uid := string(c.UID)
	return fmt.Sprintf("%s-%s-%s", c.Namespace, c.Name, uid[:min(len(uid), 8)])
}

func osbConfig(campaign v1alpha1.BenchmarkCampaignSpec, spec plan.CellSpec, attempt record.Trial) *record.OSBConfig {
	osb := spec.OSB
	cfg := &record.OSBConfig{
		Workload: osb.Workload, TestProcedure: osb.TestProcedure,
		Params: params(spec, attempt), SetupTasks: osb.SetupTasks, IngestTasks: osb.IngestTasks,
	}
	switch {
	case attempt.Phase == record.Final && ptr.Deref(campaign.Final.Search, false):
		cfg.SearchTasks = osb.SearchTasks
	case attempt.Phase == record.OpenLoop:
		cfg.TargetThroughputParam = campaign.Workload.OSB.TargetThroughputParam
	}
	if from := osb.From; from != nil {
		switch {
		case from.Git != nil:
			cfg.GitURL, cfg.GitRef = from.Git.URL, from.Git.Ref
		case from.Volume != nil:
			cfg.Path = record.WorkloadPath + "/" + from.Volume.Path
		default:
			cfg.Path = record.WorkloadPath
			cfg.Flat = from.ConfigMap != ""
		}
	}
	return cfg
}

// params are the workload's parameters, complete: the topology and the client count win.
func params(spec plan.CellSpec, attempt record.Trial) map[string]string {
	out := map[string]string{}
	for k, v := range spec.OSB.Params {
		out[k] = string(v)
	}
	if attempt.Phase == record.Warmup {
		for k, v := range spec.OSB.WarmupParams {
			out[k] = string(v)
		}
	}
	maps.Copy(out, map[string]string{
		spec.OSB.ClientsParam: strconv.Itoa(int(attempt.Clients)),
		"number_of_shards":    strconv.Itoa(int(spec.Topology.Primaries)),
		"number_of_replicas":  strconv.Itoa(int(spec.Topology.Replicas)),
		"refresh_interval":    spec.Topology.RefreshInterval,
	})
	return out
}

func trialPod(c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, cfg string, o Options) corev1.PodSpec {
	loader := cell.Spec.Loader
	spec := corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		AutomountServiceAccountToken: ptr.To(false),
		EnableServiceLinks:           ptr.To(false),
		ActiveDeadlineSeconds:        ptr.To(int64((p.TrialTimeout + p.ProvisioningTimeout + deadlineGrace).Seconds())),
		// The agent writes its record at once; ending the driver and leaving the raw files takes up to 30 s more.
		TerminationGracePeriodSeconds: ptr.To[int64](60),
		SecurityContext:               restrictedPod(),
		NodeSelector:                  labels(loader.NodePool.NodeSelector),
		Tolerations:                   tolerations(loader.NodePool.Tolerations),
		InitContainers: []corev1.Container{{
			Name: "agent", Image: o.AgentImage, Command: []string{agentInImage, "install", record.AgentPath},
			SecurityContext:          restrictedContainer(true),
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			VolumeMounts:             []corev1.VolumeMount{{Name: "agent", MountPath: "/knee/bin"}},
		}},
		Containers: []corev1.Container{{
			Name:    ContainerTrial,
			Image:   image(cell.Spec.OSB.Image, o.OSBImage, cell.Spec.OSB.Version),
			Command: []string{record.AgentPath, "trial"},
			Env: []corev1.EnvVar{
				{Name: record.ConfigEnv, Value: verbatim(cfg)},
				hostEnv(),
			},
			Resources:              requirements(loader.Resources),
			SecurityContext:        restrictedContainer(false), // OSB writes beside its own code
			TerminationMessagePath: record.TerminationPath,
			VolumeMounts: []corev1.VolumeMount{
				{Name: "agent", MountPath: "/knee/bin", ReadOnly: true},
				{Name: "work", MountPath: record.WorkPath},
				{Name: "cache", MountPath: record.CachePath},
			},
		}},
		Volumes: []corev1.Volume{emptyDir("agent"), emptyDir("work"), cacheVolume(cell)},
	}
	if Dedicated(cell) {
		spec.Affinity = awayFrom(true, ComponentOpenSearch)
	}
	addWorkload(&spec, cell.Spec.OSB.From)
	if from := cell.Spec.Index.BodyFrom; from != nil {
		addVolume(&spec, "index", record.IndexPath, corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: from.Name},
		}})
	}
	addSecrets(&spec, cell.Spec.Endpoint)
	if a := c.Spec.Artifacts; a != nil {
		addArtifacts(&spec, *a)
	}
	return spec
}

// addArtifacts mounts the volume, or a folder of it, on which the agent leaves its raw files.
func addArtifacts(spec *corev1.PodSpec, a v1alpha1.Artifacts) {
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "artifacts", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: a.ClaimName},
	}})
	spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts,
		corev1.VolumeMount{Name: "artifacts", MountPath: record.ArtifactsPath, SubPath: a.Path})
}

// addVolume mounts a volume in the trial's container: a source of its own, not a copy, is read-only.
func addVolume(spec *corev1.PodSpec, name, at string, source corev1.VolumeSource) {
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
	spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts,
		corev1.VolumeMount{Name: name, MountPath: at, ReadOnly: source.EmptyDir == nil})
}

// addWorkload brings the workload's files into the pod. An image needs no shell and no volume feature: the
// agent, which is static, runs in it and copies the folder.
func addWorkload(spec *corev1.PodSpec, from *v1alpha1.WorkloadSource) {
	switch {
	case from == nil || from.Git != nil:
	case from.Image != nil:
		addVolume(spec, "workload", record.WorkloadPath, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
		spec.InitContainers = append(spec.InitContainers, corev1.Container{
			Name: "workload", Image: from.Image.Image,
			Command:                  []string{record.AgentPath, "install", "--tree", from.Image.Path, record.WorkloadPath},
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
		addVolume(spec, "workload", record.WorkloadPath, corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: from.ConfigMap},
		}})
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

// CacheName names the volume that keeps a cell's loader's downloads.
func CacheName(cell plan.Cell) string { return cell.Name + "-cache" }

// CacheClaim is the volume that keeps the loader's downloads from one trial of a cell to the next; nil when the
// campaign keeps none.
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
