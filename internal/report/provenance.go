package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// provenance says where the figures come from and by what rules they were judged.
func provenance(d *document, in Input, rows []attempt, resultFiles int) {
	d.section("Provenance")
	var items []string
	item := func(name, format string, args ...any) {
		items = append(items, name+": "+line(fmt.Sprintf(format, args...)))
	}
	item("campaign", "%s/%s, UID %s", in.Namespace, in.Name, in.Plan.Campaign)
	item("Knee", "%s, record version %d", cmp.Or(in.Version, "version not known"), record.Version)
	if in.Published != "" {
		item("records", "%s", in.Published)
	}
	if fixedClients(in) {
		item("client counts", "fixed: no knee is looked for")
	} else {
		item("knee rule", "the fewest clients with %s of at least %s %% of the peak, the highest %s among Measured points", unit(in), figure(in.Plan.PercentOfPeak), unit(in))
		item("sweep", "%s", cmp.Or(string(in.Spec.Sweep.Strategy), string(v1alpha1.SweepFull)))
	}
	item("gates", "%s", gates(in))
	item("retries", "%d", in.Plan.Retries)
	item("Final repetitions", "%d, order drawn from seed %d", in.Plan.Repetitions, in.Plan.Seed)
	if k := in.Spec.Final.Placements; k != nil && *k > 1 {
		item("placements", "%d, each with all repetitions", *k)
	}
	item("smallest difference that matters", "%s %%", figure(smallestDifference(in)))
	item("load", "%s", load(in.Spec.Workload))
	item("attempts", "%d", len(rows))
	for _, c := range in.Assessment.Cells {
		item("cell", "%s on %s has identity %s", c.Variant, c.Topology, c.Hash)
	}
	files := "results.csv"
	if resultFiles > 1 {
		files = fmt.Sprintf("results.csv, results-002.csv to %s (one file would be too large for a ConfigMap)", numbered("results", resultFiles-1))
	}
	item("every attempt's figures", "%s; comparison.csv has those that the cells are compared by; columns.md explains the columns", files)
	switch {
	case in.Published != "":
		item(unit(in), "as the study counted it")
	case fillsIndex(in):
		item("docs/s", "documents that the primaries accepted a second, from _stats/indexing; the driver's own figure is osb_docs_per_second")
	default:
		item(unit(in), "operations that succeeded a second, by the driver's own word: nothing else counts them")
	}
	d.list(items)
	d.foldable("The campaign", false)
	d.add(element{code: campaignYAML(in)})
}

// load names what made the load.
func load(w v1alpha1.Workload) string {
	switch {
	case w.OSB != nil:
		return fmt.Sprintf("opensearch-benchmark, workload %s, tasks %s", w.OSB.Workload, strings.Join(w.OSB.IngestTasks, ", "))
	case w.Bulk != nil && w.Bulk.Dataset != "":
		return fmt.Sprintf("Knee's own loader, dataset %s", w.Bulk.Dataset)
	case w.Bulk != nil:
		return "Knee's own loader, files of the campaign"
	case w.Stream != nil:
		return "the Benchmark API of the stream transport"
	case w.Command != nil:
		return fmt.Sprintf("a program, its output read by parser %s", w.Command.Parser)
	}
	return "not known"
}

// campaignYAML is the campaign as it was read, with nothing added.
func campaignYAML(in Input) string {
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "BenchmarkCampaign",
		"metadata": map[string]string{"name": in.Name, "namespace": in.Namespace}, "spec": in.Spec,
	})
	if err != nil {
		return fmt.Sprintf("# the campaign cannot be written: %v\n", err)
	}
	return string(text)
}

// smallestDifference is in percent.
func smallestDifference(in Input) float64 {
	const otherwise = 3 // the API's default
	return in.Spec.Final.SmallestDifferencePercent.Float(otherwise)
}

// failuresUncounted reports whether an attempt measured a load without its error rate.
func failuresUncounted(a attempt) bool {
	if a.record.Load == nil {
		return false
	}
	_, known := a.record.Load.ErrorRate()
	return !known
}

func gates(in Input) string {
	g := in.Spec.Gates
	maxRejections := int64(0)
	if g.MaxRejections != nil {
		maxRejections = *g.MaxRejections
	}
	var out []string
	if fillsIndex(in) || g.MaxRejections != nil {
		out = append(out, fmt.Sprintf("maxRejections %d", maxRejections))
	}
	if !fillsIndex(in) && g.MaxErrorRate == nil {
		text := "maxErrorRate 0"
		if slices.ContainsFunc(attempts(in), failuresUncounted) {
			text += " (not judged where the driver counted no failures)"
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
			out = append(out, limit.name+" "+trimmed(f, 6))
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
