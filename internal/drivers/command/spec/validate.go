package spec

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	"github.com/knee-bench/knee/internal/drivers/command/parser"
)

// Validate checks the size of the command, the placeholder for the client count, and the paths of the figures.
func (c command) Validate(campaign drivers.Campaign) field.ErrorList {
	at := drivers.Path("command")
	return slices.Concat(c.validateSize(at), c.validateClients(campaign, at), c.validateFigures(at))
}

// maxCommand is the maximum size of a command in bytes. The command is part of one environment variable of the trial's pod,
// and Linux limits an environment variable to 128 KiB.
const maxCommand = 64 << 10

func (c command) validateSize(path *field.Path) field.ErrorList {
	n := 0
	for _, list := range [][]string{c.Command.Command, c.Args} {
		for _, text := range list {
			n += len(text)
		}
	}
	for _, values := range []map[string]v1alpha1.ParamValue{c.Env, c.Command.Params} {
		for name, value := range values {
			n += len(name) + len(value)
		}
	}
	if n > maxCommand {
		return field.ErrorList{field.TooLong(path, "", maxCommand)}
	}
	return nil
}

// clientsPlaceholder is the placeholder for the client count in the program's arguments.
const clientsPlaceholder = "KNEE_CLIENTS"

// validateClients rejects a command without the placeholder for the client count, if the count differs between trials or
// loader pods. Such a program would make the same load in every trial, and no figure would show the mistake.
func (c command) validateClients(campaign drivers.Campaign, path *field.Path) field.ErrorList {
	perPod := campaign.Spec.Workload.ClientsPerPod != nil
	if len(campaign.Clients) < 2 && !perPod {
		return nil
	}
	hasClients := func(text string) bool {
		return parser.Expand(text, map[string]string{clientsPlaceholder: "1"}) != parser.Expand(text, map[string]string{clientsPlaceholder: "2"})
	}
	if slices.ContainsFunc(c.Command.Command, hasClients) || slices.ContainsFunc(c.Args, hasClients) {
		return nil
	}
	for _, value := range c.Env {
		if hasClients(string(value)) {
			return nil
		}
	}
	where := fmt.Sprintf("at each of the %d client counts of spec.sweep", len(campaign.Clients))
	if perPod {
		where = "in each loader pod, even if the pods have different client counts (spec.workload.clientsPerPod)"
	}
	return field.ErrorList{field.Required(path.Child("args"), fmt.Sprintf("write the placeholder $(%s) in place of the client count in args, command or a value of env "+
		"(Knee does not replace it in params): otherwise the program would make the same load %s",
		clientsPlaceholder, where))}
}

// validateFigures rejects invalid paths and duplicate names of metrics. Otherwise the first trial would fail.
func (c command) validateFigures(at *field.Path) field.ErrorList {
	if c.JSON == nil {
		return nil
	}
	var errs field.ErrorList
	checkPath := func(path v1alpha1.JSONPath, at *field.Path) {
		if path == "" {
			return
		}
		if err := parser.CheckPath(string(path)); err != nil {
			errs = append(errs, field.Invalid(at, string(path), err.Error()))
		}
	}
	json := at.Child("json")
	checkPath(c.JSON.Throughput.Path, json.Child("throughput", "path"))
	checkPath(c.JSON.Operations, json.Child("operations"))
	checkPath(c.JSON.Failures, json.Child("failures"))
	checkPath(c.JSON.Seconds, json.Child("seconds"))
	if c.JSON.Latency != nil {
		for _, p := range latencyPaths(*c.JSON.Latency) {
			checkPath(p.path, json.Child("latency", p.name))
		}
	}
	names := map[v1alpha1.Name]bool{}
	for i, m := range c.JSON.Metrics {
		names[m.Name] = true
		checkPath(m.Path, json.Child("metrics").Index(i).Child("path"))
	}
	if c.Prometheus == nil {
		return errs
	}
	for i, q := range c.Prometheus.Queries {
		if names[q.Name] {
			errs = append(errs, field.Invalid(at.Child("prometheus", "queries").Index(i).Child("name"), string(q.Name),
				"is also the name of a metric in json.metrics: rename the query or the metric"))
		}
	}
	return errs
}
