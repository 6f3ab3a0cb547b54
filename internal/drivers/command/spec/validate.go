package spec

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers"
	"github.com/knee-bench/knee/internal/drivers/command/parser"
)

// Validate checks the size of the command, the placeholders for the client count and in the endpoint, and the selectors of the
// figures.
func (c command) Validate(campaign drivers.Campaign) field.ErrorList {
	at := drivers.Path("command")
	return slices.Concat(c.validateSize(at), c.validateClients(campaign, at), c.validateEndpoint(campaign, at), c.validateFigures(at))
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

// validateEndpoint rejects an endpoint that contains a placeholder without a param. All variants would have the same endpoint.
func (c command) validateEndpoint(campaign drivers.Campaign, at *field.Path) field.ErrorList {
	for _, v := range campaign.Spec.Variants {
		endpoint := parser.Expand(c.Endpoint, drivers.Texts(drivers.Merge(c.Command.Params, v.Params)))
		if strings.Contains(endpoint, "$") {
			return field.ErrorList{field.Invalid(at.Child("endpoint"), c.Endpoint,
				fmt.Sprintf("is %s for variant %s: set a param for each $(NAME) in it; other placeholders are not replaced here", endpoint, v.Name))}
		}
	}
	return nil
}

// validateFigures rejects missing and invalid selectors and duplicate names of metrics. Otherwise the first trial would fail.
func (c command) validateFigures(at *field.Path) field.ErrorList {
	if c.JSON == nil && c.Text == nil && c.Preset == "" {
		return field.ErrorList{field.Required(at, "set json, text or preset: they say how the figures are read from the program's output. "+
			"An earlier version of Knee had the field parser instead: preset freon replaces parser Freon")}
	}
	var errs field.ErrorList
	figures, name := c.figures()
	below := at.Child(name)
	check := func(selector string, at *field.Path, valid func(string) error) {
		if selector == "" {
			return
		}
		if err := valid(selector); err != nil {
			errs = append(errs, field.Invalid(at, selector, err.Error()))
		}
	}
	valid, selector := parser.CheckPattern, "pattern"
	if c.JSON != nil {
		valid, selector = parser.CheckPath, "path"
	}
	if c.Text != nil {
		check(string(c.Text.After), below.Child("after"), parser.CheckLinePattern)
	}
	check(figures.Throughput.Selector, below.Child("throughput", selector), valid)
	check(figures.Operations, below.Child("operations"), valid)
	check(figures.Failures, below.Child("failures"), valid)
	check(figures.Seconds, below.Child("seconds"), valid)
	for _, name := range latencyNames {
		check(figures.Latency[name], below.Child("latency", name), valid)
	}
	names := map[string]bool{}
	for i, m := range figures.Metrics {
		names[m.Name] = true
		check(m.Selector, below.Child("metrics").Index(i).Child(selector), valid)
	}
	if c.Prometheus == nil {
		return errs
	}
	for i, q := range c.Prometheus.Queries {
		if names[string(q.Name)] {
			errs = append(errs, field.Invalid(at.Child("prometheus", "queries").Index(i).Child("name"), string(q.Name),
				fmt.Sprintf("is also the name of a metric of command.%s: rename the query or the metric", name)))
		}
	}
	return errs
}
