package plan

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
)

// indexSettingsParam is the parameter by which the official workloads take the settings of their index; the driver passes it
// as an object.
const indexSettingsParam = "index_settings"

// indexSettings finds settings of the index that are no JSON object, which a workload would fail on in the first trial.
func indexSettings(s v1alpha1.BenchmarkCampaignSpec, path *field.Path) field.ErrorList {
	if s.Workload.OSB == nil {
		return nil
	}
	var errs field.ErrorList
	look := func(params map[string]v1alpha1.ParamValue, at *field.Path) {
		value, set := params[indexSettingsParam]
		var object map[string]any
		if set && (json.Unmarshal([]byte(value), &object) != nil || object == nil) {
			errs = append(errs, field.Invalid(at.Key(indexSettingsParam), string(value),
				"must be a JSON object of settings, such as {\"index.codec\": \"zstd\"}, or {} for the topology's settings only"))
		}
	}
	osb := path.Child("workload", "osb")
	look(s.Workload.OSB.Params, osb.Child("params"))
	look(s.Workload.OSB.WarmupParams, osb.Child("warmupParams"))
	for i, v := range s.Variants {
		look(v.Params, path.Child("variants").Index(i).Child("params"))
	}
	return errs
}
