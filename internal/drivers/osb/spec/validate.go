package spec

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	"github.com/knee-bench/knee/internal/workloads"
)

const (
	// bulkSizeParam is the parameter of every official workload for the number of documents in a bulk request.
	bulkSizeParam = "bulk_size"
	// indexSettingsParam is the parameter of the official workloads for the settings of their index. The agent passes its
	// value as a JSON object.
	indexSettingsParam = "index_settings"
)

// topologyParams lists the workload parameters that the topology sets.
var topologyParams = []string{"number_of_shards", "number_of_replicas", "refresh_interval"}

// Validate checks the index and the parameters, including those of variants.
func (o osb) Validate(c drivers.Campaign) field.ErrorList {
	return slices.Concat(o.validateIndex(c.Spec), o.validatePatternAtEndpoint(c.Spec),
		o.validateTargetThroughput(c.Spec), o.validateIndexSettings(c.Spec), o.validateBulkSizes(c))
}

func (o osb) indexName(w v1alpha1.Workload) string { return cmp.Or(w.Index.Name, o.DefaultIndex()) }

// validateIndex rejects a workload whose index is not known. It also rejects a pattern for several indices if another field
// allows only one index.
func (o osb) validateIndex(s v1alpha1.BenchmarkCampaignSpec) field.ErrorList {
	w, name, at := s.Workload, o.indexName(s.Workload), drivers.Path("index", "name")
	isPattern := strings.HasSuffix(name, "*")
	switch {
	case name == "":
		return field.ErrorList{field.Required(at, fmt.Sprintf(
			"set index.name to the index that workload %s fills: Knee knows this index only for the workloads %s", o.Workload, strings.Join(workloads.Names(), ", ")))}
	case isPattern && (w.Index.BodyFrom != nil || ptr.Deref(w.Index.DataStream, false)):
		return field.ErrorList{field.Invalid(at, name,
			"is a pattern for several indices, but bodyFrom and dataStream require exactly one name: set index.name to one name, or remove bodyFrom and dataStream")}
	case isPattern && ptr.Deref(w.ClientBoundCheck, false):
		return field.ErrorList{field.Invalid(at, name,
			"is a pattern for several indices, but workload.clientBoundCheck can repeat the load of one index only: set index.name to one index, or remove clientBoundCheck")}
	}
	return nil
}

// validatePatternAtEndpoint rejects a default index name that is a pattern if a variant has an endpoint. There, each trial
// deletes all indices that match, so the user must write the pattern explicitly.
func (o osb) validatePatternAtEndpoint(s v1alpha1.BenchmarkCampaignSpec) field.ErrorList {
	hasEndpoint := slices.ContainsFunc(s.Variants, func(v v1alpha1.Variant) bool { return v.Endpoint != nil })
	name := o.DefaultIndex()
	if !hasEndpoint || s.Workload.Index.Name != "" || !strings.HasSuffix(name, "*") {
		return nil
	}
	return field.ErrorList{field.Invalid(drivers.Path("index", "name"), name, fmt.Sprintf(
		"workload %s fills indices that match this pattern, and each trial deletes every matching index at a variant's endpoint: to allow this deletion, set index.name to %q",
		o.Workload, name))}
}

// validateTargetThroughput rejects a value for the parameter that only OpenLoop trials may set. With such a value, every
// trial would have a target throughput.
func (o osb) validateTargetThroughput(s v1alpha1.BenchmarkCampaignSpec) field.ErrorList {
	param := o.TargetThroughputParam
	if param == "" {
		return nil
	}
	errs := o.eachParam(s, param, func(string) string {
		return "must not be set: Knee sets this parameter in OpenLoop trials (final.openLoop), because workload.osb.targetThroughputParam names it; remove this entry"
	})
	if param == o.ClientsParam || slices.Contains(topologyParams, param) {
		errs = append(errs, field.Invalid(drivers.Path("osb", "targetThroughputParam"), param,
			"must not be a parameter that Knee sets from the topology or the client count: name the workload parameter that sets the target-throughput of the ingest task"))
	}
	return errs
}

// validateIndexSettings rejects index settings that are not a JSON object. Otherwise the workload would fail in the first
// trial.
func (o osb) validateIndexSettings(s v1alpha1.BenchmarkCampaignSpec) field.ErrorList {
	return o.eachParam(s, indexSettingsParam, func(value string) string {
		var object map[string]any
		if json.Unmarshal([]byte(value), &object) == nil && object != nil {
			return ""
		}
		return "must be a JSON object of settings, such as {\"index.codec\": \"zstd\"}, or {} for the topology's settings only"
	})
}

// eachParam checks the value of one parameter in params, in warmupParams and in the params of variants. check returns the
// problem of a value, or "" if the value is valid.
func (o osb) eachParam(s v1alpha1.BenchmarkCampaignSpec, name string, check func(value string) string) field.ErrorList {
	var errs field.ErrorList
	look := func(params map[string]v1alpha1.ParamValue, at *field.Path) {
		if value, set := params[name]; set {
			if problem := check(string(value)); problem != "" {
				errs = append(errs, field.Invalid(at.Key(name), string(value), problem))
			}
		}
	}
	look(o.OSB.Params, drivers.Path("osb", "params"))
	look(o.WarmupParams, drivers.Path("osb", "warmupParams"))
	for i, v := range s.Variants {
		look(v.Params, drivers.VariantParams(i))
	}
	return errs
}

// validateBulkSizes rejects an open loop without a bulk size, because the bulk size is needed to compute the rate. Without
// this check, the error would appear only after all other measurements, because OpenLoop trials come last.
func (o osb) validateBulkSizes(c drivers.Campaign) field.ErrorList {
	if c.Spec.Final.OpenLoop == nil {
		return nil
	}
	var errs field.ErrorList
	isCommonRefused := false // whether the bulk size of osb.params was already reported; variants without their own bulk size share it
	for i, v := range c.Spec.Variants {
		if !c.IsMeasured(v.Name) {
			continue
		}
		value, own := v.Params[bulkSizeParam]
		at := drivers.VariantParams(i).Key(bulkSizeParam)
		if !own {
			value, at = o.OSB.Params[bulkSizeParam], drivers.Path("osb", "params").Key(bulkSizeParam)
		}
		if n, err := strconv.ParseInt(string(value), 10, 32); err == nil && n >= 1 || !own && isCommonRefused {
			continue
		}
		isCommonRefused = isCommonRefused || !own
		errs = append(errs, field.Invalid(at, strconv.Quote(string(value)),
			"must be a whole number of at least 1 (documents in a bulk request): Knee needs this number to compute the request rate of final.openLoop"))
	}
	return errs
}
