package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// TestDefaults_equalMarkers compares the constants with the defaults that the API server fills in.
func TestDefaults_equalMarkers(t *testing.T) {
	spec := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	for path, want := range map[string]any{
		"retries":                         v1alpha1.DefaultRetries,
		"seed":                            v1alpha1.DefaultSeed,
		"sweep.repetitions":               v1alpha1.DefaultSweepRepetitions,
		"knee.percentOfPeak":              v1alpha1.DefaultPercentOfPeak,
		"final.repetitions":               v1alpha1.DefaultRepetitions,
		"final.placements":                v1alpha1.DefaultPlacements,
		"final.freshJVM":                  v1alpha1.DefaultFreshJVM,
		"final.smallestDifferencePercent": v1alpha1.DefaultSmallestDifferencePercent,
		"final.openLoop.percentOfKnee":    v1alpha1.DefaultPercentOfKnee,
		"timeouts.provisioningSeconds":    v1alpha1.DefaultProvisioningSeconds,
		"timeouts.trialSeconds":           v1alpha1.DefaultTrialSeconds,
		"timeouts.settleSeconds":          v1alpha1.DefaultSettleSeconds,
		"timeouts.activitySeconds":        v1alpha1.DefaultActivitySeconds,
	} {
		schema := spec
		for _, name := range strings.Split(path, ".") {
			schema = schema.Properties[name]
			if schema.Items != nil {
				schema = *schema.Items.Schema
			}
		}
		if schema.Default == nil || string(schema.Default.Raw) != fmt.Sprint(want) {
			t.Errorf("spec.%s: the marker's default is %v, the constant %v", path, schema.Default, want)
		}
	}
}

// TestDefaults_listItems_haveNoMarker checks that the API server sets no default inside an item of a list or of a map.
func TestDefaults_listItems_haveNoMarker(t *testing.T) {
	seen := 0
	var check func(path string, schema apiextensionsv1.JSONSchemaProps, inItem bool)
	check = func(path string, schema apiextensionsv1.JSONSchemaProps, inItem bool) {
		if inItem {
			seen++
			if schema.Default != nil {
				t.Errorf("%s has the default %s in the schema: set it in defaults.go", path, schema.Default.Raw)
			}
		}
		for name, property := range schema.Properties {
			check(path+"."+name, property, inItem)
		}
		if schema.Items != nil {
			check(path+"[]", *schema.Items.Schema, true)
		}
		if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
			check(path+"{}", *schema.AdditionalProperties.Schema, true)
		}
	}
	check("spec", readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], false)
	if seen < 50 {
		t.Errorf("only %d fields in items of lists", seen)
	}
}
