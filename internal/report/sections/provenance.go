package sections

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/csv"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/view"
)

// provenance writes the sources of the figures and the rules by which they were judged.
func provenance(d *document.Document, in view.Input, resultFiles int) {
	d.Section("Provenance")
	var items []string
	item := func(name, text string, args ...any) {
		items = append(items, name+": "+format.OneLine(fmt.Sprintf(text, args...)))
	}
	item("campaign", "%s/%s, UID %s", in.Namespace, in.Name, in.Plan.Campaign)
	item("Knee", "%s, record version %d", cmp.Or(in.Version, "version not known"), record.Version)
	if in.Published != "" {
		item("records", "%s", in.Published)
	}
	if view.FixedClients(in) {
		item("client counts", "fixed: the campaign does not search for a knee")
	} else {
		item("knee rule", "the smallest client count with %s of at least %s %% of the peak; the peak is the highest %s among Measured points", view.Unit(in), format.Figure(in.Plan.PercentOfPeak), view.Unit(in))
		item("sweep", "%s", cmp.Or(string(in.Spec.Sweep.Strategy), string(v1alpha1.SweepFull)))
	}
	item("gates", "%s", gates(in))
	item("retries", "%d", in.Plan.Retries)
	item("Final repetitions", "%d, in an order shuffled with seed %d", in.Plan.Repetitions, in.Plan.Seed)
	if k := in.Spec.Final.Placements; k != nil && *k > 1 {
		item("placements", "%d, each with all repetitions", *k)
	}
	item("smallest difference that matters", "%s %%", format.Figure(view.SmallestDifference(in)))
	item("load", "%s", plan.DriverOf(in.Spec.Workload).Describe())
	item("attempts", "%d", len(in.Attempts))
	for _, c := range in.Assessment.Cells {
		item("cell", "%s on %s has identity %s", c.Variant, c.Topology, c.Hash)
	}
	files := "results.csv"
	if resultFiles > 1 {
		files = fmt.Sprintf("results.csv, results-002.csv to %s (one file would be too large for a ConfigMap)", csv.PartName("results", resultFiles-1))
	}
	item("every attempt's figures", "%s; comparison.csv has the figures by which the cells are compared; columns.md explains the columns", files)
	switch {
	case in.Published != "":
		item(view.Unit(in), "as counted by the published study")
	case view.FillsIndex(in):
		item("docs/s", "documents that the primary shards accepted per second, from _stats/indexing; the driver's own figure is in the column osb_docs_per_second")
	default:
		item(view.Unit(in), "successful operations per second, counted only by the driver")
	}
	d.List(items)
	d.Foldable("The campaign", false)
	d.Add(document.Element{Code: campaignYAML(in)})
}

// campaignYAML returns the campaign's name, namespace and spec as YAML.
func campaignYAML(in view.Input) string {
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "BenchmarkCampaign",
		"metadata": map[string]string{"name": in.Name, "namespace": in.Namespace}, "spec": in.Spec,
	})
	if err != nil {
		return fmt.Sprintf("# cannot write the campaign: %v\n", err)
	}
	return string(text)
}

// failuresUncounted reports whether an attempt measured a load but its error rate is unknown.
func failuresUncounted(a view.Attempt) bool {
	if a.Record.Load == nil {
		return false
	}
	_, known := a.Record.Load.ErrorRate()
	return !known
}

func gates(in view.Input) string {
	g := in.Spec.Gates
	maxRejections := int64(0)
	if g.MaxRejections != nil {
		maxRejections = *g.MaxRejections
	}
	var out []string
	if view.FillsIndex(in) || g.MaxRejections != nil {
		out = append(out, fmt.Sprintf("maxRejections %d", maxRejections))
	}
	if !view.FillsIndex(in) && g.MaxErrorRate == nil {
		text := "maxErrorRate 0"
		if slices.ContainsFunc(in.Attempts, failuresUncounted) {
			text += " (not judged if the driver did not report the number of failures)"
		}
		out = append(out, text)
	}
	for _, limit := range []struct {
		name  string
		value *v1alpha1.Decimal
	}{
		{"maxErrorRate", g.MaxErrorRate}, {"maxIOWaitPercent", g.MaxIOWaitPercent}, {"maxIOPressurePercent", g.MaxIOPressurePercent},
		{"maxStealPercent", g.MaxStealPercent}, {"maxThrottledPercent", g.MaxThrottledPercent}, {"maxCPUPercent", g.MaxCPUPercent},
		{"maxLoaderCPUPercent", g.MaxLoaderCPUPercent}, {"minClientUtilization", g.MinClientUtilization}, {"maxCVPercent", g.MaxCVPercent},
	} {
		if f := limit.value.Float(math.NaN()); !math.IsNaN(f) {
			out = append(out, limit.name+" "+format.Trimmed(f, 6))
		}
	}
	if g.MinSteadySeconds != nil {
		out = append(out, fmt.Sprintf("minSteadySeconds %d", *g.MinSteadySeconds))
	}
	for _, e := range g.Expressions {
		out = append(out, fmt.Sprintf("%s: %s", e.Name, e.Expression))
	}
	return strings.Join(out, ", ")
}
