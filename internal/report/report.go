// Package report writes what a campaign found: files for ConfigMaps (CSV, Markdown and HTML) and the status. It is
// pure: the same input gives the same text, to the byte on one architecture. A missing figure is empty, never 0; numbers have a
// decimal point and no thousands separator, whatever the locale.
package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Input is all that a report is made of.
type Input struct {
	Name, Namespace string // of the campaign
	Version         string // Knee's own; empty when not known
	Spec            v1alpha1.BenchmarkCampaignSpec
	Plan            plan.Plan
	Records         []record.Record // every one; those that the plan does not have are left out
	Assessment      analysis.Assessment
	Published       string // whose figures the records hold, where these were not measured by Knee; empty where they were
}

// NewInput is the input of a campaign's report: it follows from the campaign, its plan and its records, whoever asks.
func NewInput(c *v1alpha1.BenchmarkCampaign, p plan.Plan, records []record.Record, version string) Input {
	return Input{
		Name: c.Name, Namespace: c.Namespace, Version: version, Spec: c.Spec, Plan: p,
		Records: records, Assessment: analysis.Assess(p, c.Spec, records),
	}
}

// MaxFileBytes bounds one file, so that any fits a ConfigMap (1 MiB with its keys and metadata).
const MaxFileBytes = 900_000

// Files are the report's files by name: report.md, results.csv (and results-002.csv and so on, each with its
// header, when one would be too large for a ConfigMap), comparison.csv (the same), columns.md,
// tune_results_VARIANT_TOPOLOGY.csv for each cell, tasks.csv when there are search tasks, and report.html when the
// campaign is finished: until then a reconcile would draw plots that the next record changes.
func Files(in Input) map[string]string {
	rows := attempts(in)
	files := map[string]string{"columns.md": columnsHelp(in)}
	results := split(resultsCSV(in, rows))
	for i, text := range results {
		files[numbered("results", i)] = text
	}
	for i, text := range split(comparisonCSV(in)) {
		files[numbered("comparison", i)] = text
	}
	if tasks := tasksCSV(rows); tasks != nil {
		for i, text := range split(tasks) {
			files[numbered("tasks", i)] = text
		}
	}
	for _, c := range in.Assessment.Cells {
		files[fmt.Sprintf("tune_results_%s_%s.csv", c.Variant, c.Topology)] = tuneResultsCSV(in, c)
	}
	text := newDocument(in, rows, len(results), everything, false)
	files["report.md"] = bounded(markdown(in, text, Sentence(in)), MaxFileBytes)
	if in.Assessment.Finished {
		files["report.html"] = page(in, rows, len(results))
	}
	return files
}

// Pack parts files into as few sets as their order allows, each small enough for one ConfigMap: report.md comes
// first, then the others by name.
func Pack(files map[string]string) []map[string]string {
	names := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		if (a == "report.md") != (b == "report.md") {
			if a == "report.md" {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	const most = 1_000_000 // of 1,048,576
	var sets []map[string]string
	size := 0
	for _, name := range names {
		n := len(name) + len(files[name])
		if len(sets) == 0 || size+n > most {
			sets = append(sets, map[string]string{})
			size = 0
		}
		sets[len(sets)-1][name] = files[name]
		size += n
	}
	return sets
}

// attempt is one record with its verdict.
type attempt struct {
	record    record.Record
	judgement analysis.Judgement
}

// attempts lists the records of the plan's trials: by cell as in the plan, then by phase, clients, placement,
// repetition and attempt.
func attempts(in Input) []attempt {
	cells := map[string]int{}
	for i, c := range in.Plan.Cells {
		cells[c.Hash] = i
	}
	phases := []record.Phase{record.Warmup, record.Sweep, record.Final, record.OpenLoop}
	var out []attempt
	for _, r := range in.Records {
		key := r.Trial
		key.Attempt = 0
		if _, planned := in.Assessment.Outcomes[key]; planned {
			out = append(out, attempt{r, analysis.JudgeFor(in.Spec, r)})
		}
	}
	slices.SortStableFunc(out, func(x, y attempt) int {
		a, b := x.record.Trial, y.record.Trial
		for _, d := range []int{
			cells[a.Cell] - cells[b.Cell], slices.Index(phases, a.Phase) - slices.Index(phases, b.Phase),
			int(a.Clients - b.Clients), int(max(a.Placement, 1) - max(b.Placement, 1)), int(a.Repetition - b.Repetition), int(a.Attempt - b.Attempt),
		} {
			if d != 0 {
				return d
			}
		}
		return 0
	})
	return out
}
