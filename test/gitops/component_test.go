package gitops

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// TestComponent_argocdCM_getsCustomizations builds a kustomization that installs Argo CD with the component of Knee.
func TestComponent_argocdCM_getsCustomizations(t *testing.T) {
	files := filesys.MakeFsInMemory()
	write := func(name, text string) {
		if err := files.WriteFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write("/argocd/kustomization.yaml", "resources: [cm.yaml]\ncomponents: [../component]\n")
	write("/argocd/cm.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: argocd-cm}, data: {admin.enabled: \"true\"}}\n")
	for _, name := range []string{"kustomization.yaml", "argocd-cm.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../config/argocd", name))
		if err != nil {
			t.Fatal(err)
		}
		write("/component/"+name, string(text))
	}
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, "/argocd")
	if err != nil {
		t.Fatal(err)
	}
	if resources.Size() != 1 {
		t.Fatalf("%d objects, want only argocd-cm", resources.Size())
	}
	data := resources.Resources()[0].GetDataMap()
	want := []string{"admin.enabled", "resource.customizations.actions.knee.dev_BenchmarkCampaign", "resource.customizations.health.knee.dev_BenchmarkCampaign"}
	for _, key := range want {
		if data[key] == "" {
			t.Errorf("argocd-cm has no %s", key)
		}
	}
	for key := range data {
		if !slices.Contains(want, key) {
			t.Errorf("argocd-cm has %s", key)
		}
	}
}
