package argocd

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	appv1 "github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/lua"
	jsonpatch "github.com/evanphx/json-patch"
	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// actionTests is the file action_test.yaml. The tests of Argo CD's repository read it, too.
type actionTests struct {
	DiscoveryTests []struct {
		InputPath string                 `json:"inputPath"`
		Result    []appv1.ResourceAction `json:"result"`
	} `json:"discoveryTests"`
	ActionTests []struct {
		Action             string `json:"action"`
		InputPath          string `json:"inputPath"`
		ExpectedOutputPath string `json:"expectedOutputPath"`
	} `json:"actionTests"`
}

func readActionTests(t *testing.T) (tests actionTests) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(read(t, "actions/action_test.yaml")), &tests); err != nil {
		t.Fatal(err)
	}
	return tests
}

// TestDiscovery_eachState_offersActions checks which actions Argo CD offers for a campaign.
func TestDiscovery_eachState_offersActions(t *testing.T) {
	vm := lua.VM{ResourceOverrides: overrides(t)}
	for _, test := range readActionTests(t).DiscoveryTests {
		t.Run(filepath.Base(test.InputPath), func(t *testing.T) {
			campaign := readObject(t, "actions/"+test.InputPath)
			scripts, err := vm.GetResourceActionDiscovery(campaign)
			if err != nil {
				t.Fatal(err)
			}
			got, err := vm.ExecuteResourceActionDiscovery(campaign, scripts)
			if err != nil {
				t.Fatal(err)
			}
			byName := func(a, b appv1.ResourceAction) int { return cmp.Compare(a.Name, b.Name) }
			slices.SortFunc(got, byName)
			slices.SortFunc(test.Result, byName)
			if diff := gocmp.Diff(test.Result, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// tokenPattern is the pattern of spec.rerun in the CRD.
var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$`)

// TestActions_eachResult_isAsInTestdata runs each action in Argo CD's Lua VM.
func TestActions_eachResult_isAsInTestdata(t *testing.T) {
	tested := map[string]bool{}
	for _, test := range readActionTests(t).ActionTests {
		tested[test.Action] = true
		t.Run(test.Action, func(t *testing.T) {
			before := readObject(t, "actions/"+test.InputPath)
			got, want := act(t, test.Action, before), readObject(t, "actions/"+test.ExpectedOutputPath)
			if token := setRerun(t, got, "token"); test.Action == "rerun" && !tokenPattern.MatchString(token) {
				t.Errorf("spec.rerun %q is not valid", token)
			}
			setRerun(t, want, "token")
			if diff := gocmp.Diff(mergePatch(t, before, want), mergePatch(t, before, got)); diff != "" {
				t.Errorf("the patch of the campaign differs (-want +got):\n%s", diff)
			}
		})
	}
	for _, name := range actionNames {
		if !tested[name] {
			t.Errorf("action_test.yaml does not test the action %s", name)
		}
	}
}

// setRerun replaces spec.rerun if it is set, and returns the value before.
func setRerun(t *testing.T, o *unstructured.Unstructured, token string) string {
	t.Helper()
	before, isSet, err := unstructured.NestedString(o.Object, "spec", "rerun")
	if err != nil {
		t.Fatal(err)
	}
	if isSet {
		if err := unstructured.SetNestedField(o.Object, token, "spec", "rerun"); err != nil {
			t.Fatal(err)
		}
	}
	return before
}

// act runs an action on an object and returns the changed object.
func act(t *testing.T, action string, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	vm := lua.VM{ResourceOverrides: overrides(t)}
	definition, err := vm.GetResourceAction(o, action)
	if err != nil {
		t.Fatal(err)
	}
	results, err := vm.ExecuteResourceAction(o.DeepCopy(), definition.ActionLua, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 1 || results[0].K8SOperation != lua.PatchOperation {
		t.Fatalf("%d results, want one patch", len(results))
	}
	return results[0].UnstructuredObj
}

// mergePatch returns the merge patch that Argo CD sends for the result of an action.
func mergePatch(t *testing.T, before, after *unstructured.Unstructured) string {
	t.Helper()
	var texts [2][]byte
	for i, o := range []*unstructured.Unstructured{before, after} {
		var err error
		if texts[i], err = o.MarshalJSON(); err != nil {
			t.Fatal(err)
		}
	}
	patch, err := jsonpatch.CreateMergePatch(texts[0], texts[1])
	if err != nil {
		t.Fatal(err)
	}
	return string(patch)
}
