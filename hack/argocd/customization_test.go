// Package argocd tests the files for Argo CD in config/argocd with Argo CD's own code: its Lua VM, its diff and its sync waves. It also
// tests the status of campaigns with the code of Flux. The tests need campaigns that the tests of test/gitops and test/gitopsdiff write; make test-argocd runs
// both.
package argocd

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appv1 "github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/settings"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write config/argocd/argocd-cm.yaml and health_test.yaml")

const (
	// customization is the folder of the Lua files, in the layout of resource_customizations in Argo CD's repository.
	customization = "../../config/argocd/knee.dev/BenchmarkCampaign"
	// patch is the file with the same Lua files for the ConfigMap argocd-cm.
	patch = "../../config/argocd/argocd-cm.yaml"
	kind  = "knee.dev_BenchmarkCampaign"
)

// actionNames are the actions in the order of the file patch.
var actionNames = []string{"rerun", "suspend", "resume"}

// TestPatch_luaFiles_areTheSame checks that the patch of argocd-cm has the Lua files as they are.
func TestPatch_luaFiles_areTheSame(t *testing.T) {
	actions := appv1.ResourceActions{ActionDiscoveryLua: read(t, "actions/discovery.lua")}
	for _, name := range actionNames {
		actions.Definitions = append(actions.Definitions, appv1.ResourceActionDefinition{Name: name, ActionLua: read(t, "actions/"+name+"/action.lua")})
	}
	var data strings.Builder
	data.WriteString("# Generated from the files in knee.dev/BenchmarkCampaign by make update-argocd.\n")
	data.Write(encode(t, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "argocd-cm"},
		"data": map[string]string{
			"resource.customizations.health." + kind:  read(t, "health.lua"),
			"resource.customizations.actions." + kind: string(encode(t, actions)),
		},
	}))
	compareFile(t, patch, data.String())
}

// compareFile compares a file with its generated text, or writes it.
func compareFile(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run make update-argocd", err)
	}
	if diff := cmp.Diff(text, string(is)); diff != "" {
		t.Errorf("%s is stale: run make update-argocd (-generated +file):\n%s", file, diff)
	}
}

// overrides returns the customizations of resources that Argo CD reads from its ConfigMap with the patch.
func overrides(t *testing.T) map[string]appv1.ResourceOverride {
	t.Helper()
	var cm corev1.ConfigMap
	text, err := os.ReadFile(patch)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, &cm); err != nil {
		t.Fatalf("%s: %v", patch, err)
	}
	cm.Namespace, cm.Labels = "argocd", map[string]string{"app.kubernetes.io/part-of": "argocd"}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "argocd-secret", Namespace: "argocd", Labels: cm.Labels}}
	out, err := settings.NewSettingsManager(t.Context(), fake.NewClientset(&cm, secret), "argocd").GetResourceOverrides()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// read returns a file of the customization.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(customization, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readObject returns an object in a file of the customization.
func readObject(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	return decode(t, []byte(read(t, name)))
}

// decode returns an object with the types that Argo CD's cache gives: an integer is an int64.
func decode(t *testing.T, text []byte) *unstructured.Unstructured {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	var o unstructured.Unstructured
	if err := o.UnmarshalJSON(asJSON); err != nil {
		t.Fatal(err)
	}
	return &o
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// states returns the names of the campaigns in the folder testdata. Each begins with the health that it must have.
func states(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(customization, "testdata", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no campaign in testdata: %v", err)
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".yaml"))
	}
	return names
}

// healthIn returns the health that the name of a state says.
func healthIn(state string) string {
	health, _, _ := strings.Cut(state, "_")
	return strings.ToUpper(health[:1]) + health[1:]
}
