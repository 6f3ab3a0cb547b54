package chart_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"
)

// startServer starts an API server. It returns a client and a kubeconfig, both of an administrator.
func startServer(t *testing.T) (client.Client, string) {
	t.Helper()
	program(t, "KUBEBUILDER_ASSETS")
	environment := &envtest.Environment{ControlPlaneStartTimeout: 2 * time.Minute}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	server, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, environment.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return server, kubeconfig
}

// newObject returns an object of the kind, namespace and name.
func newObject(version, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func crd() *unstructured.Unstructured {
	return newObject("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "benchmarkcampaigns.knee.dev")
}

// get reads an object from the API server. It reports whether the object exists.
func get(t *testing.T, server client.Client, o *unstructured.Unstructured) bool {
	t.Helper()
	err := server.Get(t.Context(), client.ObjectKeyFromObject(o), o)
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

// TestInstall_realServer_keepsCampaigns installs the release of an older chart, upgrades it, rolls it back, uninstalls it, and installs
// another release. Before that, the API server checks the objects of other values with a dry run.
func TestInstall_realServer_keepsCampaigns(t *testing.T) {
	server, kubeconfig := startServer(t)
	for _, namespace := range []string{"knee-system", "team"} {
		if err := server.Create(t.Context(), newObject("v1", "Namespace", "", namespace)); err != nil {
			t.Fatal(err)
		}
	}
	dryRun(t, server, render(t, "knee-system", "policies.authors.enabled=true", "image.digest="+digest, "podUserIDs=false"))
	dryRun(t, server, render(t, "team", "namespaced=true"))

	release := func(command, chart string, args ...string) {
		t.Helper()
		helm(t, append([]string{command, "knee", chart, "--namespace", "knee-system", "--kubeconfig", kubeconfig}, args...)...)
	}
	const version, old = "controller-gen.kubebuilder.io/version", "v0.0.0"
	release("install", olderChart(t, old))
	definition := crd()
	if !get(t, server, definition) || definition.GetAnnotations()[version] != old {
		t.Fatalf("the older chart did not install its CRD: %v", definition.GetAnnotations())
	}
	campaign := createCampaign(t, server)

	release("upgrade", chart)
	if definition = crd(); !get(t, server, definition) || definition.GetAnnotations()[version] == old {
		t.Errorf("helm upgrade did not upgrade the CRD: %v", definition.GetAnnotations())
	}
	uid := definition.GetUID()
	release("rollback", "1")
	if definition = crd(); !get(t, server, definition) || definition.GetAnnotations()[version] != old || definition.GetUID() != uid {
		t.Errorf("helm rollback did not roll the CRD back: %v", definition.GetAnnotations())
	}
	release("upgrade", chart, "--set", "crd.install=false")
	if !get(t, server, crd()) {
		t.Error("crd.install=false deleted the CRD")
	}
	release("upgrade", chart)

	helm(t, "uninstall", "knee", "--namespace", "knee-system", "--kubeconfig", kubeconfig)
	if get(t, server, newObject("apps/v1", "Deployment", "knee-system", "knee-manager")) {
		t.Error("helm uninstall kept the Deployment")
	}
	if definition = crd(); !get(t, server, definition) || definition.GetUID() != uid || definition.GetDeletionTimestamp() != nil {
		t.Fatal("helm uninstall deleted the CRD, and so all campaigns")
	}
	if !get(t, server, campaign) || campaign.GetDeletionTimestamp() != nil {
		t.Error("helm uninstall deleted the campaign")
	}
	// Another release can take over the CRD, as the chart's README says.
	annotations := definition.GetAnnotations()
	annotations["meta.helm.sh/release-name"] = "other"
	definition.SetAnnotations(annotations)
	if err := server.Update(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	helm(t, "install", "other", chart, "--namespace", "knee-system", "--kubeconfig", kubeconfig)
	if !get(t, server, newObject("apps/v1", "Deployment", "knee-system", "knee-manager")) {
		t.Error("the second helm install did not create the Deployment")
	}
}

// dryRun applies objects with a dry run.
func dryRun(t *testing.T, server client.Client, objects map[string]object) {
	t.Helper()
	for key, o := range objects {
		applied := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: o})
		if err := server.Apply(t.Context(), applied, client.DryRunAll, client.FieldOwner("test")); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// olderChart returns the folder of a copy of the chart. The CRD in the copy has another version.
func olderChart(t *testing.T, version string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "knee")
	if err := os.CopyFS(dir, os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "files/crd/bases/knee.dev_benchmarkcampaigns.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const annotation = "controller-gen.kubebuilder.io/version: "
	before, rest, found := strings.Cut(string(text), annotation)
	_, after, ended := strings.Cut(rest, "\n")
	if !found || !ended {
		t.Fatalf("%s has no annotation %q", file, annotation)
	}
	if err := os.WriteFile(file, []byte(before+annotation+version+"\n"+after), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// createCampaign creates the smallest sample as soon as the API server serves campaigns.
func createCampaign(t *testing.T, server client.Client) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(root + "/config/samples/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	campaign := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &campaign.Object); err != nil {
		t.Fatal(err)
	}
	campaign.SetNamespace("team")
	var last error
	err = wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = server.Create(ctx, campaign)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("create the campaign: %v: %v", err, last)
	}
	return campaign
}
