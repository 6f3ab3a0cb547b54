package argocd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/common"
	argodiff "github.com/argoproj/argo-cd/v3/util/argo/diff"
	"github.com/argoproj/argo-cd/v3/util/argo/normalizers"
	openapi "github.com/google/gnostic-models/openapiv2"
	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/util/proto"
)

// stagesVariable names the folder that test/gitopsdiff has written: openapi.json and a file for each stage of each sample.
const stagesVariable = "KNEE_GITOPS_STAGES"

// TestDiff_eachStage_isEmpty compares the samples with the campaigns on the API server as Argo CD does, without any ignoreDifferences. In
// the stage "changed" the manifest has another seed, which Argo CD must see.
func TestDiff_eachStage_isEmpty(t *testing.T) {
	folder := os.Getenv(stagesVariable)
	if folder == "" {
		t.Fatalf("%s is not set: run make test-argocd", stagesVariable)
	}
	parser := gvkParser(t, filepath.Join(folder, "openapi.json"))
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no stage in %s: run make test-argocd (%v)", folder, err)
	}
	customizations := overrides(t)
	for _, file := range files {
		path := strings.Split(strings.TrimSuffix(file, ".json"), string(filepath.Separator))
		sample, stage := path[len(path)-2], path[len(path)-1]
		for _, by := range []string{"three-way", "structured merge", "server-side"} {
			t.Run(strings.Join([]string{sample, stage, by}, "/"), func(t *testing.T) {
				of := readObjects(t, file)
				config, err := argodiff.NewDiffConfigBuilder().
					WithDiffSettings(nil, customizations, false, normalizers.IgnoreNormalizerOpts{}).
					WithTracking(common.LabelKeyAppInstance, "annotation").WithNoCache().
					WithGVKParser(parser).WithManager(common.ArgoCDSSAManager).
					WithStructuredMergeDiff(by == "structured merge").
					WithServerSideDiff(by == "server-side").WithServerSideDryRunner(predicted{of["predicted"]}).
					Build()
				if err != nil {
					t.Fatal(err)
				}
				result, err := argodiff.StateDiff(&unstructured.Unstructured{Object: of["live"]}, &unstructured.Unstructured{Object: of["config"]}, config)
				if err != nil {
					t.Fatal(err)
				}
				if want := stage == "changed"; result.Modified != want {
					t.Errorf("OutOfSync: %t, want %t (-live +predicted):\n%s", result.Modified, want,
						gocmp.Diff(string(result.NormalizedLive), string(result.PredictedLive)))
				}
			})
		}
	}
}

// predicted is a dry run of a server-side apply whose result is known.
type predicted struct{ object map[string]any }

// Run implements diff.ServerSideDryRunner.
func (p predicted) Run(context.Context, *unstructured.Unstructured, string) (string, error) {
	text, err := (&unstructured.Unstructured{Object: p.object}).MarshalJSON()
	return string(text), err
}

// gvkParser returns the parser of the kinds in a file with an OpenAPI document.
func gvkParser(t *testing.T, file string) *managedfields.GvkParser {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi.ParseDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	models, err := proto.NewOpenAPIData(document)
	if err != nil {
		t.Fatal(err)
	}
	parser, err := managedfields.NewGVKParser(models, false)
	if err != nil {
		t.Fatal(err)
	}
	return parser
}

// readObjects reads a file of objects with the types that Argo CD's cache gives: an integer is an int64.
func readObjects(t *testing.T, file string) map[string]map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var objects map[string]any
	if err := utiljson.Unmarshal(text, &objects); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	out := map[string]map[string]any{}
	for name, object := range objects {
		out[name], _ = object.(map[string]any) // nil: the stage has no such object
	}
	return out
}
