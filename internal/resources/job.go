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
	tellEndpoint(&pod, cell.Spec.Pool)
	m.Annotations[AnnotationTrial] = trialJSON(attempt)
	m.Annotations[AnnotationJVM] = under.JVM
	job := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: m,
		Spec: batchv1.JobSpec{
			BackoffLimit:         ptr.To[int32](0),
			PodReplacementPolicy: ptr.To(batchv1.Failed),
			Template:             corev1.PodTemplateSpec{ObjectMeta: pod, Spec: trialPod(c, p, cell, string(cfg), o)},
		},
	}
	several(&job.Spec, c, cell, cell.Spec.Loaders(attempt.Clients), p.LoadersReady(cell.Spec, attempt.Clients))
	return job, nil
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
		WaitSeconds:     cell.Spec.Wait,
		ActivitySeconds: int32(p.ActivityTimeout.Seconds()),
		Measure:         string(cell.Spec.Measure),
		Index: record.IndexConfig{
			Name: cell.Spec.Index.Name, Primaries: t.Primaries, Replicas: t.Replicas, RefreshInterval: t.RefreshInterval,
			DataStream: ptr.Deref(cell.Spec.Index.DataStream, false), Replication: string(t.Replication),
		},
		Sources: cell.Spec.Contents,
	}
	driverOf(cell.Spec).configure(&cfg, c.Spec)
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

// artifactsFolder is a campaign's own folder on a volume that other campaigns, of other namespaces too, may use.
func artifactsFolder(c *v1alpha1.BenchmarkCampaign) string {
	uid := string(c.UID)
	return fmt.Sprintf("%s-%s-%s", c.Namespace, c.Name, uid[:min(len(uid), 8)])
}

func trialPod(c *v1alpha1.BenchmarkCampaign, p plan.Plan, cell plan.Cell, cfg string, o Options) corev1.PodSpec {
	loader, d := cell.Spec.Loader, driverOf(cell.Spec)
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
		Containers:                    []corev1.Container{trialContainer(cell, d, cfg, o)},
		Volumes:                       []corev1.Volume{emptyDir("work"), cacheVolume(cell)},
	}
	from, _ := d.from()
	if !d.hasAgent() || from != nil && from.Image != nil {
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
	return spec
}
