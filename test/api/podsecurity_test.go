package api

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	psapi "k8s.io/pod-security-admission/api"
	pspolicy "k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/resources"
)

// beyondSamples are changes to the sample arm-vs-intel.yaml. They add features that no sample has.
var beyondSamples = map[string]string{
	"workload from an image":     `spec: {workload: {osb: {from: {image: {image: "example.com/w@sha256:00"}}}}}`,
	"workload from a volume":     `spec: {workload: {osb: {from: {volume: {claimName: w, path: a/b}}}}}`,
	"workload from a ConfigMap":  `spec: {workload: {osb: {from: {configMap: w}}}}`,
	"workload from git":          `spec: {workload: {osb: {from: {git: {url: "https://example.com/w"}}}}}`,
	"an index body":              `spec: {workload: {index: {bodyFrom: {name: a, key: b}}}}`,
	"artifacts":                  `spec: {artifacts: {claimName: a, path: b/c}}`,
	"volumes that are not there": `spec: {opensearch: {storage: null}, loader: {cache: null}}`,
	"many nodes":                 `spec: {topologies: [{name: a, nodes: 3, primaries: 3, replicas: 1}]}`,
	"every taint is tolerated":   `spec: {loader: {nodePool: {tolerations: [{operator: Exists}]}}}`,
	"an endpoint": `spec: {gates: null, variants: [{name: arm}, {name: intel, endpoint: {url: "https://search.example.org:9200",
  credentialsSecret: a, caSecret: b, clientCertificateSecret: c, allowIndexDeletion: true}}]}`,
	"pod templates":       `spec: {opensearch: {podTemplate: ` + podTemplate + `}, loader: {podTemplate: ` + podTemplate + `}}`,
	"several loader pods": `spec: {loader: {cache: null}, workload: {clientsPerPod: 1}}`,
	"an ISM policy":       `spec: {topologies: [{name: a, primaries: 1, ismPolicyFrom: {name: a, key: b}}]}`,
	"bulk":                `spec: {` + bulk + `}}`,
	"bulk of an image": `spec: {` + plain + `, workload: {measure: null, osb: null, bulk: {documents: 5, files: {
  from: {image: {image: "example.com/w@sha256:00"}}, names: [a.json]}}}}`,
	"stream":                     `spec: {` + stream + `}}`,
	"command":                    `spec: {` + command + `}}`,
	"command without OpenSearch": `spec: {` + command + `}` + nothing + `}`,
}

// podTemplate uses the fields of a template that a restricted pod may have.
const podTemplate = `{labels: {team: search}, annotations: {sidecar.istio.io/inject: "false"}, imagePullSecrets: [{name: a}],
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: ScheduleAnyway}],
  env: [{name: A, value: b}, {name: B, valueFrom: {configMapKeyRef: {name: a, key: b}}}],
  volumes: [{name: a, mountPath: /a, configMap: {name: a}}, {name: b, mountPath: /b, persistentVolumeClaim: {claimName: a}}, {name: c, mountPath: /c, emptyDir: {sizeLimit: 1Gi}}]}`

// TestPods_meetRestrictedSecurityStandard checks that every pod that Knee makes passes the restricted Pod Security Standard and has no
// access to the API server or the node. The only exception is the sysctl init container. It exists only if the
// manager's flag allows it and the campaign requests it.
func TestPods_meetRestrictedSecurityStandard(t *testing.T) {
	campaigns := map[string]*v1alpha1.BenchmarkCampaign{}
	files, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := filepath.Base(file); name != "kustomization.yaml" {
			campaigns[name] = admitted(t, read(t, name), `{}`)
		}
	}
	for name, change := range beyondSamples {
		campaigns[name] = admitted(t, read(t, "arm-vs-intel.yaml"), change)
	}
	for name, campaign := range campaigns {
		t.Run(name, func(t *testing.T) {
			for _, asked := range []*bool{nil, ptr.To(true)} {
				campaign.Spec.OpenSearch.SysctlInit = asked
				for _, allow := range []bool{false, true} {
					for _, noUserIDs := range []bool{false, true} {
						for _, pod := range podsOf(t, campaign, resources.Options{AgentImage: "knee:1", AllowSysctlInit: allow, NoUserIDs: noUserIDs}) {
							privileged := asked != nil && allow && pod.Labels[resources.LabelComponent] == resources.ComponentOpenSearch
							checkPod(t, pod, privileged)
							checkUser(t, pod.Spec, noUserIDs)
						}
					}
				}
			}
		})
	}
}

// admitted returns a sample with a change. The API server has filled in its defaults.
func admitted(t *testing.T, sample []byte, change string) *v1alpha1.BenchmarkCampaign {
	t.Helper()
	object := merged(t, sample, change)
	if err := server.Create(context.Background(), object, client.DryRunAll); err != nil {
		t.Fatalf("%s: %v", change, err)
	}
	var c v1alpha1.BenchmarkCampaign
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &c); err != nil {
		t.Fatal(err)
	}
	return &c
}

// podsOf returns the templates of all kinds of pods of a campaign.
func podsOf(t *testing.T, c *v1alpha1.BenchmarkCampaign, o resources.Options) []corev1.PodTemplateSpec {
	t.Helper()
	var pods []corev1.PodTemplateSpec
	p := plan.Build(c)
	for _, cell := range p.Cells {
		if cell.Provisioned() {
			pods = append(pods, resources.StatefulSet(c, cell, resources.Placement{Number: 1}, o, time.Minute, time.Now()).Spec.Template)
		}
		for _, phase := range []record.Phase{record.Warmup, record.Sweep, record.Final, record.OpenLoop} {
			job, err := resources.Job(c, p, cell, record.Attempt{Trial: record.Trial{Phase: phase, Clients: 8, Repetition: 1, Placement: 1}, N: 1}, resources.Running{}, o)
			if err != nil {
				t.Fatal(err)
			}
			pods = append(pods, job.Spec.Template)
		}
	}
	if len(pods) == 0 {
		t.Fatal("no pod to look at")
	}
	return pods
}

// checkUser checks that a pod never runs as root, and that it leaves the user and the groups to admission if unset is true. The sysctl init
// container is the exception.
func checkUser(t *testing.T, spec corev1.PodSpec, unset bool) {
	t.Helper()
	s := spec.SecurityContext
	if !ptr.Deref(s.RunAsNonRoot, false) || (s.RunAsUser == nil) != unset || (s.RunAsGroup == nil) != unset || (s.FSGroup == nil) != unset {
		t.Errorf("user %v, group %v, group of volumes %v; unset is %v", s.RunAsUser, s.RunAsGroup, s.FSGroup, unset)
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if c.Name != "sysctl" && (c.SecurityContext.RunAsUser != nil || c.SecurityContext.RunAsGroup != nil) {
			t.Errorf("container %s has a user of its own", c.Name)
		}
	}
}

// writableRoots are the containers whose root file system is writable, because their program writes files next to the
// program's own files; see internal/resources.
var writableRoots = []string{resources.ContainerOpenSearch, resources.ContainerTrial}

func checkPod(t *testing.T, pod corev1.PodTemplateSpec, privileged bool) {
	t.Helper()
	what := pod.Labels[resources.LabelComponent]
	evaluator, err := pspolicy.NewEvaluator(pspolicy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := psapi.LevelVersion{Level: psapi.LevelRestricted, Version: psapi.LatestVersion()}
	result := pspolicy.AggregateCheckResults(evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
	if result.Allowed == privileged {
		t.Errorf("%s: restricted is %v, privileged was asked for and allowed is %v: %s", what, result.Allowed, privileged, result.ForbiddenDetail())
	}
	s := pod.Spec
	if s.ServiceAccountName != "" || ptr.Deref(s.AutomountServiceAccountToken, true) || ptr.Deref(s.EnableServiceLinks, true) {
		t.Errorf("%s: it must have no service account of its own, no token and no service links", what)
	}
	if s.HostNetwork || s.HostPID || s.HostIPC || s.PriorityClassName != "" || s.RuntimeClassName != nil {
		t.Errorf("%s: it shares the host's namespaces, or ranks above other pods", what)
	}
	for _, v := range s.Volumes {
		if v.HostPath != nil || v.Projected != nil || v.CSI != nil {
			t.Errorf("%s: volume %s", what, v.Name)
		}
	}
	for _, c := range slices.Concat(s.InitContainers, s.Containers) {
		if !slices.Contains(writableRoots, c.Name) && !ptr.Deref(c.SecurityContext.ReadOnlyRootFilesystem, false) {
			t.Errorf("%s: container %s writes to its image", what, c.Name)
		}
		if ptr.Deref(c.SecurityContext.Privileged, false) != (privileged && c.Name == "sysctl") {
			t.Errorf("%s: container %s: privileged is %v", what, c.Name, c.SecurityContext.Privileged)
		}
		for _, m := range c.VolumeMounts {
			if m.SubPathExpr != "" || m.MountPropagation != nil || strings.Contains(m.SubPath, "..") {
				t.Errorf("%s: container %s: mount %+v", what, c.Name, m)
			}
		}
	}
}

// TestImages_pinnedByDigest_areAdmitted checks that every image that a campaign names may be pinned by digest.
func TestImages_pinnedByDigest_areAdmitted(t *testing.T) {
	digest := "registry.example.com:5000/a/b@sha256:" + strings.Repeat("0123456789abcdef", 4)
	c := admitted(t, read(t, "arm-vs-intel.yaml"), `spec: {opensearch: {image: "`+digest+`"}, variants: [
  {name: arm}, {name: intel, opensearch: {image: "`+digest+`"}}],
  workload: {osb: {image: "`+digest+`", from: {image: {image: "`+digest+`"}}}}}`)
	for _, pod := range podsOf(t, c, resources.Options{AgentImage: digest}) {
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if container.Image != digest {
				t.Errorf("container %s runs %s", container.Name, container.Image)
			}
		}
	}
}
