package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// TestDefaults_equalMarkers compares the constants with the defaults that the API server fills in.
func TestDefaults_equalMarkers(t *testing.T) {
	spec := readCRD(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	for path, want := range map[string]any{
		"retries":                         v1alpha1.DefaultRetries,
		"seed":                            v1alpha1.DefaultSeed,
		"topologies.nodes":                v1alpha1.DefaultNodes,
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
