package chart_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const (
	crdKey  = "CustomResourceDefinition /benchmarkcampaigns.knee.dev"
	keepKey = "helm.sh/resource-policy"
)

// TestChart_eachVariant_equalsKustomize compares the objects of the chart with those of kustomize. Only the namespace and the annotation
// that keeps the CRD may differ.
func TestChart_eachVariant_equalsKustomize(t *testing.T) {
	for name, test := range map[string]struct {
		kustomization object
		edit          *strings.Replacer
		namespace     string
		values        []string
		omitted       []string // objects of config that the chart does not have
	}{
		"default": {
			kustomization: object{"resources": []any{"default"}},
			namespace:     "knee-system",
			omitted:       []string{"Namespace /knee-system"},
		},
		"another namespace": {
			kustomization: object{"resources": []any{"default"}},
			edit:          strings.NewReplacer("knee-system", "benchmarks"),
			namespace:     "benchmarks",
			omitted:       []string{"Namespace /benchmarks"},
		},
		"no metrics": {
			kustomization: defaultWithoutMetrics(t),
			namespace:     "knee-system",
			values:        []string{"metrics.enabled=false"},
			omitted:       []string{"Namespace /knee-system"},
		},
		"namespaced": {
			kustomization: object{"resources": []any{"namespaced"}},
			namespace:     "knee",
			values:        []string{"namespaced=true", "crd.install=false"},
		},
		"policy for authors": {
			kustomization: object{"resources": []any{"default", "policies/authors"}},
			namespace:     "knee-system",
			values:        []string{"policies.authors.enabled=true"},
			omitted:       []string{"Namespace /knee-system"},
		},
		"ServiceMonitor": {
			kustomization: object{"resources": []any{"default"}, "components": []any{"prometheus"}},
			namespace:     "knee-system",
			values:        []string{"metrics.serviceMonitor.enabled=true"},
			omitted:       []string{"Namespace /knee-system", "PrometheusRule knee-system/knee", "ConfigMap knee-system/knee-dashboard"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := kustomize(t, test.kustomization)
			if test.edit != nil {
				text = test.edit.Replace(text)
			}
			want := objects(t, text)
			for _, key := range test.omitted {
				if want[key] == nil {
					t.Errorf("kustomize does not make %s", key)
				}
				delete(want, key)
			}
			got := render(t, test.namespace, test.values...)
			if crd := got[crdKey]; crd != nil {
				annotations := crd["metadata"].(object)["annotations"].(object)
				if annotations[keepKey] != "keep" {
					t.Errorf("the CRD has the annotations %v: helm uninstall would delete all campaigns", annotations)
				}
				delete(annotations, keepKey)
			}
			for _, key := range slices.Sorted(maps.Keys(want)) {
				if diff := cmp.Diff(want[key], got[key]); diff != "" {
					t.Errorf("%s differs (-kustomize +chart):\n%s", key, diff)
				}
				delete(got, key)
			}
			if len(got) > 0 {
				t.Errorf("only the chart has %v", slices.Sorted(maps.Keys(got)))
			}
		})
	}
}

// defaultWithoutMetrics returns the kustomization of config/default without its components.
func defaultWithoutMetrics(t *testing.T) object {
	t.Helper()
	text, err := os.ReadFile(root + "/config/default/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var kustomization object
	if err := yaml.Unmarshal(text, &kustomization); err != nil {
		t.Fatal(err)
	}
	delete(kustomization, "components")
	resources := kustomization["resources"].([]any)
	for i := range resources {
		resources[i] = strings.TrimPrefix(resources[i].(string), "../")
	}
	return kustomization
}

// TestChart_namespaced_hasOnlyCRDClusterScoped also turns on what needs cluster-wide rights.
func TestChart_namespaced_hasOnlyCRDClusterScoped(t *testing.T) {
	crds := 0
	for key, o := range render(t, "team", "namespaced=true", "metrics.enabled=true", "policies.manager.enabled=true") {
		if key == crdKey {
			crds++
		} else if field(o, "metadata", "namespace") != "team" {
			t.Errorf("%s is not in the namespace of the release", key)
		}
	}
	if crds != 1 {
		t.Errorf("%d CRDs, want 1", crds)
	}
}

// TestChart_switchedOff_omitsObjects turns each switch off that is on by default.
func TestChart_switchedOff_omitsObjects(t *testing.T) {
	for value, omitted := range map[string][]string{
		"crd.install=false":              {crdKey},
		"networkPolicies.manager=false":  {"NetworkPolicy knee-system/knee-manager", "NetworkPolicy knee-system/knee-metrics"},
		"policies.manager.enabled=false": {"ValidatingAdmissionPolicy /knee-manager", "ValidatingAdmissionPolicyBinding /knee-manager"},
	} {
		want := render(t, "knee-system")
		for _, key := range omitted {
			if want[key] == nil {
				t.Errorf("the default has no %s", key)
			}
			delete(want, key)
		}
		if diff := cmp.Diff(want, render(t, "knee-system", value)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", value, diff)
		}
	}
}
