package argocd

import (
	"os"
	"strings"
	"testing"

	appv1 "github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	kustomize "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"
)

// page is the page of the documentation about GitOps tools.
const page = "../../docs/argocd.md"

// TestPage_manifests_haveKnownFields checks the objects of Argo CD, Flux and kustomize in the documentation with the types of their API.
func TestPage_manifests_haveKnownFields(t *testing.T) {
	kinds := map[string]func() any{
		"argoproj.io/v1alpha1":            func() any { return &appv1.Application{} },
		"kustomize.toolkit.fluxcd.io/v1":  func() any { return &kustomizev1.Kustomization{} },
		"kustomize.config.k8s.io/v1beta1": func() any { return &kustomize.Kustomization{} },
	}
	checked := map[string]bool{}
	for _, document := range documents(t) {
		o := decode(t, []byte(document))
		typed, isForeign := kinds[o.GetAPIVersion()]
		if !isForeign {
			continue // the tests of test/api check these objects
		}
		checked[o.GetAPIVersion()] = true
		if err := yaml.UnmarshalStrict([]byte(document), typed()); err != nil {
			t.Errorf("%s: %v in\n%s", page, err, document)
		}
	}
	for version := range kinds {
		if !checked[version] {
			t.Errorf("%s has no object of %s", page, version)
		}
	}
}

// documents returns the YAML documents in the page that have a kind.
func documents(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	blocks := strings.Split(string(text), "```yaml\n")
	for _, block := range blocks[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, document := range strings.Split(block, "\n---\n") {
			if strings.Contains(document, "kind: ") {
				out = append(out, document)
			}
		}
	}
	return out
}
