package chart_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// podSpec returns the spec of the manager's pod.
func podSpec(t *testing.T, objects map[string]object) object {
	t.Helper()
	for key, o := range objects {
		if strings.HasPrefix(key, "Deployment ") {
			return o["spec"].(object)["template"].(object)["spec"].(object)
		}
	}
	t.Fatal("the chart has no Deployment")
	return nil
}

// container returns the manager's container.
func container(t *testing.T, objects map[string]object) object {
	t.Helper()
	return podSpec(t, objects)["containers"].([]any)[0].(object)
}

// arguments returns the flags of the manager.
func arguments(t *testing.T, objects map[string]object) []string {
	t.Helper()
	var texts []string
	for _, argument := range container(t, objects)["args"].([]any) {
		texts = append(texts, argument.(string))
	}
	return texts
}

// TestLint_strict_passes runs helm lint for the two kinds of installation.
func TestLint_strict_passes(t *testing.T) {
	helm(t, "lint", "--strict", chart)
	helm(t, "lint", "--strict", chart, "--set", "namespaced=true")
}

// TestImage_agentImage_isSame checks that the manager and the agent have the same reference.
func TestImage_agentImage_isSame(t *testing.T) {
	for name, test := range map[string]struct {
		values []string
		want   string
	}{
		"default":        {nil, "ghcr.io/knee-bench/knee:dev"},
		"tag":            {[]string{"image.repository=localhost:5000/knee", "image.tag=v1"}, "localhost:5000/knee:v1"},
		"digest":         {[]string{"image.digest=" + digest}, "ghcr.io/knee-bench/knee@" + digest},
		"tag and digest": {[]string{"image.tag=v1", "image.digest=" + digest}, "ghcr.io/knee-bench/knee@" + digest},
	} {
		t.Run(name, func(t *testing.T) {
			objects := render(t, "knee-system", test.values...)
			if got := container(t, objects)["image"]; got != test.want {
				t.Errorf("the manager's image is %v, want %s", got, test.want)
			}
			if got := arguments(t, objects); !slices.Contains(got, "--agent-image="+test.want) {
				t.Errorf("the flags are %q, want --agent-image=%s", got, test.want)
			}
		})
	}
}

// TestFlags_eachValue_isFlagOfManager checks the flag of each value, and that the real manager accepts the flags.
func TestFlags_eachValue_isFlagOfManager(t *testing.T) {
	manager := filepath.Join(t.TempDir(), "manager")
	if _, stderr, err := run(t, "go", "build", "-o", manager, root+"/cmd/manager"); err != nil {
		t.Fatalf("build the manager: %v\n%s", err, stderr)
	}
	base := arguments(t, render(t, "knee-system"))
	flags := map[string]string{
		"opensearchImage=registry:5000/opensearch": "--opensearch-image=registry:5000/opensearch",
		"osbImage=registry/osb":                    "--osb-image=registry/osb",
		"podUserIDs=false":                         "--pod-user-ids=false",
		"allowSysctlInit=true":                     "--allow-sysctl-init",
		"networkPolicies.cells=false":              "--network-policies=false",
		"log.level=2":                              "--zap-log-level=2",
		"log.encoder=console":                      "--zap-encoder=console",
		"log.stacktraceLevel=panic":                "--zap-stacktrace-level=panic",
		"log.timeEncoding=rfc3339nano":             "--zap-time-encoding=rfc3339nano",
	}
	for value, flag := range flags {
		got := arguments(t, render(t, "knee-system", value))
		if diff := cmp.Diff(append(slices.Clone(base), flag), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", value, diff)
		}
	}
	all := arguments(t, render(t, "knee-system", slices.Collect(maps.Keys(flags))...))
	if _, stderr, err := run(t, manager, append(all, "--version")...); err != nil {
		t.Errorf("the manager refuses %q: %v\n%s", all, err, stderr)
	}
}

// TestPodSpec_values_areCopied sets each value that goes to the manager's pod as it is.
func TestPodSpec_values_areCopied(t *testing.T) {
	values := `
imagePullSecrets: [{name: registry}]
nodeSelector: {pool: control, "1": "2"}
tolerations: [{key: control, operator: Exists, effect: NoSchedule}]
affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {a: b}}}]}}
priorityClassName: system-cluster-critical
`
	container := `
image: {pullPolicy: Never}
resources: {limits: {cpu: 2, memory: 1Gi}, requests: null}
replicas: 2
podUserIDs: false
`
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(values+container), 0o600); err != nil {
		t.Fatal(err)
	}
	rendered := objects(t, helm(t, "template", "knee", chart, "--namespace", "knee-system", "--values", file))
	var want object
	if err := yaml.Unmarshal([]byte(values), &want); err != nil {
		t.Fatal(err)
	}
	pod := podSpec(t, rendered)
	for name, value := range want {
		if diff := cmp.Diff(value, pod[name]); diff != "" {
			t.Errorf("%s (-value +pod):\n%s", name, diff)
		}
	}
	manager := pod["containers"].([]any)[0].(object)
	if diff := cmp.Diff(object{"limits": object{"cpu": 2.0, "memory": "1Gi"}}, manager["resources"]); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
	if manager["imagePullPolicy"] != "Never" {
		t.Errorf("imagePullPolicy is %v", manager["imagePullPolicy"])
	}
	if user, set := pod["securityContext"].(object)["runAsUser"]; set {
		t.Errorf("podUserIDs=false: runAsUser is %v, want none", user)
	}
	if replicas := rendered["Deployment knee-system/knee-manager"]["spec"].(object)["replicas"]; replicas != 2.0 {
		t.Errorf("replicas is %v, want 2", replicas)
	}
}

// TestAuthors_limits_areLines checks that each item of a limit is a line of the ConfigMap that the policy reads.
func TestAuthors_limits_areLines(t *testing.T) {
	got := render(t, "knee-system", "policies.authors.enabled=true", "policies.authors.limits.imagePrefixes={registry/a/,registry/b/}",
		"policies.authors.limits.nodeSelectors={pool=bench}", "policies.authors.limits.provisioners={StatefulSet}")
	want := object{"imagePrefixes": "registry/a/\nregistry/b/", "nodeSelectors": "pool=bench", "provisioners": "StatefulSet"}
	if diff := cmp.Diff(want, got["ConfigMap knee-system/knee-author-limits"]["data"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestServiceMonitor_labels_areAdded checks that the labels of the values are added to those of config.
func TestServiceMonitor_labels_areAdded(t *testing.T) {
	got := render(t, "knee-system", "metrics.serviceMonitor.enabled=true", "metrics.serviceMonitor.labels.release=prometheus")
	labels := got["ServiceMonitor knee-system/knee"]["metadata"].(object)["labels"]
	want := object{"app.kubernetes.io/name": "knee", "app.kubernetes.io/component": "manager", "release": "prometheus"}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
