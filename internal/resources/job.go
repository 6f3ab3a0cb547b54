package resources

import (
	"encoding/json"
	"fmt"
	"path"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// deadlineGrace is how much longer the pod's deadline is than the agent's deadlines. Normally the agent writes its record before the
// pod's deadline. The pod's deadline ends an agent that hangs.
const deadlineGrace = 2 * time.Minute

// Running describes the state of the campaign when a Job is created.
type Running struct {
	JVM    string            // identifies the OpenSearch processes
	Images map[string]string // digest of OpenSearch's image by name of the pod, if the pod's status contains the digest

	PlannedRepetitions int32 // repetitions of a Final on each placement that the campaign requires; 0 for other trials
}

// Job returns the Job of one attempt. The Job's name prevents a second run of the attempt, so the Job has no TTL. It has no
// deadline of its own, because such a deadline would delete the pod together with the record.
func Job(c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, attempt record.Attempt, under Running, o Options) (*batchv1.Job, error) {
	cfg, err := json.Marshal(Config(c, p, cell, attempt, under))
	if err != nil {
		return nil, fmt.Errorf("cannot encode the trial's config: %w", err)
	}
	m := meta(c, cell.AttemptName(attempt), ComponentLoader, cell)
	m.Labels[LabelPhase] = string(attempt.Phase)
	pod := podMeta(m)
	annotateEndpoint(&pod, cell.Spec.Pool)
	m.Annotations[AnnotationTrial] = attemptJSON(attempt)
	m.Annotations[AnnotationJVM] = under.JVM
	job := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: m,
		Spec: batchv1.JobSpec{
			BackoffLimit:         ptr.To[int32](0),
			PodReplacementPolicy: ptr.To(batchv1.Failed),
			Template:             corev1.PodTemplateSpec{ObjectMeta: templateMeta(pod, cell.LoaderPod), Spec: trialPod(c, p, cell, string(cfg), o)},
		},
	}
	runSeveralPods(&job.Spec, c, cell, cell.Spec.Loaders(attempt.Clients), p.LoadersReady(cell.Spec, attempt.Clients))
	return job, nil
}

func attemptJSON(a record.Attempt) string {
	b, err := json.Marshal(a)
	if err != nil {
		panic("resources: cannot encode an attempt as JSON: " + err.Error())
	}
	return string(b)
}

// Config returns the configuration of the agent for one attempt.
func Config(c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, attempt record.Attempt, under Running) record.Config {
	t := cell.Spec.Topology
	cfg := record.Config{
		Attempt:         attempt,
		Endpoint:        fmt.Sprintf("http://%s.%s.svc:%d", cell.Name, c.Namespace, HTTPPort),
		Nodes:           t.Nodes,
		DeadlineSeconds: int32(p.TrialTimeout.Seconds()),
		SettleSeconds:   int32(p.SettleTimeout.Seconds()),
		WaitSeconds:     cell.Spec.Wait,
		ActivitySeconds: int32(p.ActivityTimeout.Seconds()),
		Measure:         string(cell.Spec.Measure),
		Index: record.IndexConfig{
			Name: cell.Spec.Index.Name, Primaries: t.Primaries, Replicas: t.Replicas, RefreshInterval: t.RefreshInterval,
			DataStream: ptr.Deref(cell.Spec.Index.DataStream, false), Replication: string(t.Replication),
		},
		Sources:            cell.Spec.Contents,
		PlannedRepetitions: under.PlannedRepetitions,
	}
	if attempt.Phase == record.Final && p.MaxRepetitions > p.Repetitions {
		cfg.MaxRepetitions = p.MaxRepetitions
	}
	cell.Spec.Driver().Configure(&cfg, c.Spec)
	if n := cell.Spec.Loaders(attempt.Clients); n > 1 {
		cfg.Loaders, cfg.Coordinator = n, coordinator(c, cell, cell.AttemptName(attempt))
		cfg.LoadersReadySeconds = int32(p.LoadersReady(cell.Spec, attempt.Clients).Seconds())
	}
	if from := cell.Spec.Index.BodyFrom; from != nil {
		cfg.Index.BodyFile = record.IndexPath + "/" + from.Key
	}
	if from := t.ISMPolicyFrom; from != nil {
		cfg.Index.ISMPolicyFile = record.ISMPath + "/" + from.Key
	}
	if c.Spec.Artifacts != nil {
		cfg.Artifacts = path.Join(record.ArtifactsPath, artifactsFolder(c), cell.AttemptName(attempt))
	}
	if e := endpointOf(c, cell); e != nil || !cell.Provisioned() {
		external(&cfg, e)
	}
	if !cell.Provisioned() || cell.Operated() {
		return cfg
	}
	if cfg.External != nil {
		cfg.External.Own = true
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

// artifactsFolder returns a folder name that is unique for a campaign, because campaigns of other namespaces may use the same
// volume.
func artifactsFolder(c *v1alpha1.BenchmarkCampaign) string {
	uid := string(c.UID)
	return fmt.Sprintf("%s-%s-%s", c.Namespace, c.Name, uid[:min(len(uid), 8)])
}

func trialPod(c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, cfg string, o Options) corev1.PodSpec {
	loader, d := cell.Spec.Loader, cell.Spec.Driver()
	spec := corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		AutomountServiceAccountToken: ptr.To(false),
		EnableServiceLinks:           ptr.To(false),
		ActiveDeadlineSeconds:        ptr.To(int64((p.TrialTimeout + p.ProvisioningTimeout + deadlineGrace).Seconds())),
		// When the pod is stopped, the agent writes its record immediately. Then it needs up to 30 s to end the driver and to store the
		// raw files.
		TerminationGracePeriodSeconds: ptr.To[int64](60),
		SecurityContext:               restrictedPod(o),
		NodeSelector:                  labels(loader.NodePool.NodeSelector),
		Tolerations:                   tolerations(loader.NodePool.Tolerations, string(loader.NodePool.NodeSelector[plan.ArchLabel])),
		Containers:                    []corev1.Container{trialContainer(cell, d, cfg, o)},
		Volumes:                       []corev1.Volume{emptyDir("work"), cacheVolume(cell)},
	}
	from, _ := d.Files()
	if !d.HasAgent() || from != nil && from.Image != nil {
		spec.InitContainers = []corev1.Container{installAgent(o)}
		spec.Volumes = append([]corev1.Volume{emptyDir("agent")}, spec.Volumes...)
	}
	if Dedicated(cell) {
		spec.Affinity = awayFrom(true, ComponentOpenSearch)
	}
	addWorkload(&spec, from)
	if body := cell.Spec.Index.BodyFrom; body != nil {
		addConfigMap(&spec, "index", record.IndexPath, body.Name)
	}
	if policy := cell.Spec.Topology.ISMPolicyFrom; policy != nil {
		addConfigMap(&spec, "ism", record.ISMPath, policy.Name)
	}
	addSecrets(&spec, endpointOf(c, cell))
	if a := c.Spec.Artifacts; a != nil {
		addArtifacts(&spec, *a)
	}
	addPodTemplate(&spec, cell.LoaderPod, selector(c, cell, ComponentLoader))
	return spec
}

// trialContainer returns the container that makes the load.
func trialContainer(cell plan.Cell, d drivers.Spec, cfg string, o Options) corev1.Container {
	c := corev1.Container{
		Name:    ContainerTrial,
		Image:   d.Image(drivers.Images{OSB: o.OSBImage, Agent: o.AgentImage}),
		Command: []string{record.AgentPath, "trial"},
		Env: []corev1.EnvVar{
			{Name: record.ConfigEnv, Value: verbatim(cfg)},
			hostEnv(),
		},
		Resources:              requirements(cell.Spec.Loader.Resources),
		SecurityContext:        restrictedContainer(d.HasAgent()), // other programs need a writable file system: OSB, for example, may write beside its own code
		TerminationMessagePath: record.TerminationPath,
		VolumeMounts: []corev1.VolumeMount{
			{Name: "work", MountPath: record.WorkPath},
			{Name: "cache", MountPath: record.CachePath},
		},
	}
	if d.HasAgent() {
		c.Command[0] = agentInImage
	} else {
		c.VolumeMounts = append([]corev1.VolumeMount{{Name: "agent", MountPath: "/knee/bin", ReadOnly: true}}, c.VolumeMounts...)
	}
	return c
}
