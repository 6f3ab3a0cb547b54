// Package report makes the files of a campaign's report for ConfigMaps: CSV, Markdown and HTML. The package is pure: on one
// architecture, the same input gives the same bytes. An unknown figure is empty, never 0. In every locale, numbers have a decimal
// point and no thousands separator.
package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/knee-bench/knee/internal/report/csv"
	"github.com/knee-bench/knee/internal/report/document"
	"github.com/knee-bench/knee/internal/report/format"
	"github.com/knee-bench/knee/internal/report/sections"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
)

// MaxFileBytes limits the size of a file, so that the file fits a ConfigMap. A ConfigMap can have 1 MiB including its keys and
// metadata.
const MaxFileBytes = 900_000

// MaxHTMLBytes limits the size of report.html.
const MaxHTMLBytes = MaxFileBytes

// htmlPage returns report.html. results is the number of parts of results.csv. The page needs no other file and no script. If the
// page of a large campaign is too large, htmlPage leaves out details that the CSV files have.
func htmlPage(in view.Input, results int) string {
	h := summary.Header(in)
	for detail := firstDetail(in); ; detail++ {
		text := document.WriteHTML(sections.New(in, results, detail, true), h)
		if len(text) <= MaxHTMLBytes || detail >= document.PlotsOfKnees {
			return text
		}
	}
}

// firstDetail returns the Detail with which htmlPage begins. For a large campaign this Detail already leaves out content. So
// htmlPage does not draw pages that would be too large anyway.
func firstDetail(in view.Input) document.Detail {
	switch n := in.Assessment.Planned; {
	case n > 2500:
		return document.NoSweeps
	case n > 500:
		return document.FewerRows
	}
	return document.Everything
}

// HTML returns report.html of a campaign. The campaign need not be finished.
func HTML(in view.Input) string {
	return htmlPage(in, len(csv.SplitLines(csv.Results(in), MaxFileBytes)))
}

// Files returns the files of the report by name: report.md, results.csv, comparison.csv, columns.md, and
// tune_results_VARIANT_TOPOLOGY.csv for each cell. It adds tasks.csv if there are search tasks or an open loop. It adds
// report.html when the campaign is finished, because before the end each record changes the plots. A CSV file that is too large
// for a ConfigMap is split into parts such as results-002.csv.
func Files(in view.Input) map[string]string {
	files := map[string]string{"columns.md": csv.Help(in)}
	results := csv.SplitLines(csv.Results(in), MaxFileBytes)
	for i, text := range results {
		files[csv.PartName("results", i)] = text
	}
	for i, text := range csv.SplitLines(csv.Comparison(in), MaxFileBytes) {
		files[csv.PartName("comparison", i)] = text
	}
	if tasks := csv.Tasks(in); tasks != nil {
		for i, text := range csv.SplitLines(tasks, MaxFileBytes) {
			files[csv.PartName("tasks", i)] = text
		}
	}
	for _, c := range in.Assessment.Cells {
		files[fmt.Sprintf("tune_results_%s_%s.csv", c.Variant, c.Topology)] = csv.TuneResults(in, c)
	}
	text := sections.New(in, len(results), document.Everything, false)
	files["report.md"] = format.CutDocument(document.WriteMarkdown(text, summary.Header(in)), MaxFileBytes)
	if in.Assessment.Finished {
		files["report.html"] = htmlPage(in, len(results))
	}
	return files
}

// Pack splits files into sets so that each set fits a ConfigMap. report.md is the first file. The other files follow by name.
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
	const most = 1_000_000 // in bytes; a ConfigMap can have 1,048,576
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
