package resources

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	drivers "github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/plan"
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
	errs = append(errs, validateSecurity(c, spec)...)
	if command := c.Spec.Workload.Command; command != nil {
		at := spec.Child("workload", "command")
		errs = append(errs, clients(*command, c.Spec, at)...)
		errs = append(errs, figures(*command, at)...)
	}
	return errs
}

// clientsPlaceholder stands for the clients in what a program is told.
const clientsPlaceholder = "KNEE_CLIENTS"

// clients finds a program that is never told its clients, where they differ between trials or loader pods: it would make the
// same load each time without a word.
func clients(command v1alpha1.Command, s v1alpha1.BenchmarkCampaignSpec, at *field.Path) field.ErrorList {
	counts := plan.Clients(s.Sweep)
	if len(counts) < 2 && s.Workload.ClientsPerPod == nil {
		return nil
	}
	told := func(text string) bool {
		return drivers.Expand(text, map[string]string{clientsPlaceholder: "1"}) != drivers.Expand(text, map[string]string{clientsPlaceholder: "2"})
	}
	if slices.ContainsFunc(command.Command, told) || slices.ContainsFunc(command.Args, told) {
		return nil
	}
	for _, value := range command.Env {
		if told(string(value)) {
			return nil
		}
	}
	same := fmt.Sprintf("at each of the %d client counts of spec.sweep", len(counts))
	if s.Workload.ClientsPerPod != nil {
		same = "in each loader pod of spec.workload.clientsPerPod, whatever its part of the clients"
	}
	return field.ErrorList{field.Required(at.Child("args"), fmt.Sprintf("neither these nor command nor the values of env hold $(%s): "+
		"the program would make the same load %s; put it where the program is told its clients (a value of params is not replaced again)",
		clientsPlaceholder, same))}
}

// figures finds paths into a program's output that are none, and metrics that the report could not tell apart: else the
// first trial would.
func figures(command v1alpha1.Command, at *field.Path) field.ErrorList {
	if command.JSON == nil {
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
