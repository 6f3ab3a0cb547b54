package api

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestSamples_appliedAgain_haveNoDifference checks that a GitOps tool does not report a campaign as changed: Knee and the API server set
// nothing in the parts of the spec that the manifest owns. It checks the server-side apply of the manifest, and the merge patch with which
// Argo CD predicts the object that an apply would give. A merge patch replaces whole lists, so a default inside a list item is a
// difference. Both are checked before and after the manager has written a status.
func TestSamples_appliedAgain_haveNoDifference(t *testing.T) {
	files, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		for _, document := range strings.Split(string(read(t, filepath.Base(file))), "\n---\n") {
			if !strings.Contains(document, "kind: BenchmarkCampaign") {
				continue
			}
			checked++
			manifest := merged(t, []byte(document), `metadata: {name: applied, namespace: default}`)
			live := applyManifest(t, manifest)
			assertNoDifference(t, file+" after its creation", manifest, live)
			live.Object["status"] = map[string]any{
				"observedGeneration": int64(1), "progress": "3/9",
				"conditions": []any{map[string]any{
					"type": "Ready", "status": "Unknown", "reason": "Progressing", "message": "3/9 trials done",
					"lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": int64(1),
				}},
			}
			if err := server.Status().Update(t.Context(), live); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			assertNoDifference(t, file+" with a status", manifest, live)
			if err := server.Delete(t.Context(), live); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
	}
	if checked < 8 {
		t.Errorf("only %d campaigns among the samples", checked)
	}
}

// applyManifest applies a manifest by a server-side apply, and returns the object.
func applyManifest(t *testing.T, manifest *unstructured.Unstructured, options ...client.ApplyOption) *unstructured.Unstructured {
	t.Helper()
	applied := manifest.DeepCopy()
	options = append(options, client.FieldOwner("argocd-controller"))
	if err := server.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), options...); err != nil {
		t.Fatalf("%s: %v", manifest.GetName(), err)
	}
	return applied
}

// assertNoDifference fails if applying the manifest again would change the object.
func assertNoDifference(t *testing.T, what string, manifest, live *unstructured.Unstructured) {
	t.Helper()
	again := applyManifest(t, manifest, client.DryRunAll)
	if diff := cmp.Diff(live.Object["spec"], again.Object["spec"]); diff != "" {
		t.Errorf("%s: a server-side apply changes the spec (-live +applied):\n%s", what, diff)
	}
	if again.GetResourceVersion() != live.GetResourceVersion() {
		t.Errorf("%s: a server-side apply writes the object", what)
	}
	predicted, err := jsonpatch.MergePatch(encode(t, live.Object["spec"]), encode(t, manifest.Object["spec"]))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var want any
	if err := json.Unmarshal(predicted, &want); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var is any
	if err := json.Unmarshal(encode(t, live.Object["spec"]), &is); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := cmp.Diff(want, is); diff != "" {
		t.Errorf("%s: the object differs from its manifest (-predicted +live):\n%s", what, diff)
	}
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
