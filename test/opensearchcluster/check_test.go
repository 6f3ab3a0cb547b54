package opensearchcluster_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/resources"
	"github.com/knee-bench/knee/test/opensearchcluster"
	"github.com/knee-bench/knee/test/wrappers"
)

var api client.Client

func TestMain(m *testing.M) {
	server, stop, err := opensearchcluster.StartServer()
	if err != nil {
		fmt.Fprintln(os.Stderr, "a real API server:", err)
		os.Exit(1)
	}
	api = server
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// everyField returns a campaign that sets every field that Knee copies to the OpenSearchCluster.
func everyField() *v1alpha1.BenchmarkCampaign {
	w := wrappers.MakeCampaign("every-field").Namespace("default").Variant("a")
	w.Spec.OpenSearch = v1alpha1.OpenSearch{
		Provisioner: v1alpha1.ProvisionOpenSearchCluster, Version: "3.4.0", Image: "registry.example.org/opensearch:3.4.0", Heap: "2Gi",
		Settings:  map[string]v1alpha1.ParamValue{"action.auto_create_index": "false"},
		Resources: v1alpha1.Resources{CPU: "2", Memory: "4Gi"}, Storage: v1alpha1.Storage{Size: "10Gi", StorageClassName: "fast"},
		PodTemplate: v1alpha1.PodTemplate{
			Labels: map[string]v1alpha1.LabelValue{"team": "search"}, Annotations: map[string]v1alpha1.AnnotationValue{"example.org/a": "b"},
			PriorityClassName: "high", ImagePullSecrets: []v1alpha1.LocalReference{{Name: "registry"}},
			TopologySpreadConstraints: []v1alpha1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: "DoNotSchedule"}},
			Env:                       []v1alpha1.EnvVar{{Name: "A", Value: "b"}, {Name: "B", ValueFrom: &v1alpha1.EnvSource{ConfigMapKeyRef: v1alpha1.ConfigMapKey{Name: "c", Key: "k"}}}},
		},
	}
	w.Spec.Variants[0].NodePool.Tolerations = []v1alpha1.Toleration{{Key: "pool", Operator: "Equal", Value: "a", Effect: "NoSchedule"}}
	shared := w.Obj().DeepCopy()
	shared.Spec.Loader.Placement = v1alpha1.LoaderShared
	return shared
}

// TestEmitted_isTakenByEachRelease checks that each release of the opensearch-k8s-operator has all fields of the
// objects that Knee makes. It also checks that a wrong field is refused.
func TestEmitted_isTakenByEachRelease(t *testing.T) {
	campaigns, err := opensearchcluster.ReadCampaigns(t.Context(), api, "../../config/samples")
	if err != nil {
		t.Fatal(err)
	}
	campaigns = append(campaigns, everyField())
	for _, release := range opensearchcluster.Releases {
		t.Run(release.Name+" "+release.Group, func(t *testing.T) {
			crd, err := opensearchcluster.CRD(release)
			if err != nil {
				t.Fatal(err)
			}
			of, err := opensearchcluster.Install(t.Context(), api, crd)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := opensearchcluster.Remove(t.Context(), api, crd, of); err != nil {
					t.Error(err)
				}
			}()
			var last *unstructured.Unstructured
			for _, c := range campaigns {
				for _, e := range opensearchcluster.Emit(c, of) {
					if e.Object == nil {
						continue
					}
					last = e.Object
					if err := opensearchcluster.Check(t.Context(), api, e.Object); err != nil {
						t.Errorf("%s, %s: %v", e.Campaign, e.Cell, err)
					}
				}
			}
			refuseWrongFields(t, last, release)
		})
	}
}

// refuseWrongFields checks that the API server refuses a good object after a change of one field.
func refuseWrongFields(t *testing.T, good *unstructured.Unstructured, release opensearchcluster.Release) {
	for _, wrong := range []struct {
		name  string
		value any
		path  []string
		want  string
		skip  bool
	}{
		{"unknown field", true, []string{"spec", "general", "kneeField"}, `unknown field "spec.general.kneeField"`, false},
		{"wrong type", int64(3), []string{"spec", "general", "version"}, "spec.general.version", false},
		{"number as text", "3", []string{"spec", "general", "podSecurityContext", "fsGroup"}, "spec.general.podSecurityContext.fsGroup", false},
		{"dashboards without version", map[string]any{"enable": false, "replicas": int64(0)}, []string{"spec", "dashboards"}, "spec.dashboards.version", release.Name >= "3.0"},
		{"class of the bootstrap volume", "fast", []string{"spec", "bootstrap", "storageClass"}, `unknown field "spec.bootstrap.storageClass"`, release.Group == "opensearch.org"},
	} {
		if wrong.skip {
			continue
		}
		bad := good.DeepCopy()
		if err := unstructured.SetNestedField(bad.Object, wrong.value, wrong.path...); err != nil {
			t.Fatal(err)
		}
		if err := opensearchcluster.Check(t.Context(), api, bad); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%s: %v, want %s", wrong.name, err, wrong.want)
		}
	}
	bad := good.DeepCopy()
	unstructured.RemoveNestedField(bad.Object, "spec", "general", "serviceName")
	if err := opensearchcluster.Check(t.Context(), api, bad); err == nil || !strings.Contains(err.Error(), "spec.general.serviceName") {
		t.Errorf("without a required field: %v", err)
	}
}

func TestInstall_refusesAnotherKind(t *testing.T) {
	crd, err := opensearchcluster.CRD(opensearchcluster.Release{Name: "3.0", Group: "example.org"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opensearchcluster.Install(t.Context(), api, crd); err == nil || !strings.Contains(err.Error(), "want "+resources.OpenSearchClusterKind) {
		t.Error(err)
	}
}
