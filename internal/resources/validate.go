package resources

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	drivers "github.com/knee-bench/knee/internal/driver"
)

// Validate finds what the manager's options do not allow, and what a trial could not read.
func Validate(c *v1alpha1.BenchmarkCampaign, o Options) field.ErrorList {
	var errs field.ErrorList
	look := func(os v1alpha1.OpenSearch, at *field.Path) {
		if ptr.Deref(os.SysctlInit, false) && !o.AllowSysctlInit {
			errs = append(errs, field.Forbidden(at.Child("sysctlInit"), "the manager does not allow privileged containers: "+
				"start it with --allow-sysctl-init, or leave sysctlInit out and set vm.max_map_count on the nodes themselves"))
		}
	}
	spec := field.NewPath("spec")
	look(c.Spec.OpenSearch, spec.Child("opensearch"))
	for i, v := range c.Spec.Variants {
		look(v.OpenSearch, spec.Child("variants").Index(i).Child("opensearch"))
	}
	return append(errs, figures(c.Spec.Workload.Command, spec.Child("workload", "command"))...)
}

// figures finds paths into a program's output that are none, and metrics that the report could not tell apart: else the
// first trial would.
func figures(command *v1alpha1.Command, at *field.Path) field.ErrorList {
	if command == nil || command.JSON == nil {
		return nil
	}
	var errs field.ErrorList
	look := func(path v1alpha1.JSONPath, at *field.Path) {
		if path == "" {
			return
		}
		if err := drivers.CheckPath(string(path)); err != nil {
			errs = append(errs, field.Invalid(at, string(path), err.Error()))
		}
	}
	j, json := command.JSON, at.Child("json")
	look(j.Throughput.Path, json.Child("throughput", "path"))
	look(j.Operations, json.Child("operations"))
	look(j.Failures, json.Child("failures"))
	look(j.Seconds, json.Child("seconds"))
	if l := j.Latency; l != nil {
		for _, p := range []struct {
			name string
			path v1alpha1.JSONPath
		}{{"mean", l.Mean}, {"p50", l.P50}, {"p90", l.P90}, {"p99", l.P99}, {"p999", l.P999}, {"max", l.Max}} {
			look(p.path, json.Child("latency", p.name))
		}
	}
	names := map[v1alpha1.Name]bool{}
	for i, m := range j.Metrics {
		names[m.Name] = true
		look(m.Path, json.Child("metrics").Index(i).Child("path"))
	}
	if command.Prometheus == nil {
		return errs
	}
	for i, q := range command.Prometheus.Queries {
		if names[q.Name] {
			errs = append(errs, field.Invalid(at.Child("prometheus", "queries").Index(i).Child("name"), string(q.Name),
				"is that of a metric of json, too: give one of them another name"))
		}
	}
	return errs
}
