package report_test

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
)

// checkedCampaign returns a campaign with client-bound checks. For each variant, ratios holds the docs/s of the check
// divided by the docs/s of the Final. 0 means that the check could not be made. The figures are invented.
func checkedCampaign(ratios map[string]float64) (*v1alpha1.BenchmarkCampaign, func(record.Trial) record.Record) {
	c := twoVariants("t")
	c.Spec.Workload.ClientBoundCheck = ptr.To(true)
	return c, func(t record.Trial) record.Record {
		r := plain(t)
		ratio, asked := ratios[t.Variant]
		switch {
		case t.Phase != record.Final || t.Repetition != 1 || !asked:
		case ratio == 0:
			r.ClientCheck = &record.ClientCheck{Note: "the load cannot be repeated: the load consists of 2 files of documents, but Knee's loader can repeat only one file"}
		default:
			r.ClientCheck = &record.ClientCheck{DocsPerSecond: ratio * r.Ingest.DocsPerSecond, WholeDocsPerSec: ratio * r.Ingest.WholeDocsPerSec, Window: r.Ingest.Window,
				Seconds: 42.5, Documents: 4_000_000, BulkSize: 1000, UtilizationOfTime: 0.99, CPUPerMillion: 0.8}
		}
		return r
	}
}

// TestFiles_clientCheck_matchesGolden checks the complete report of a campaign in which the load generator limits one variant and
// not the other.
func TestFiles_clientCheck_matchesGolden(t *testing.T) {
	golden(t, "checked", report.Files(finished(checkedCampaign(map[string]float64{"a": 1.02, "b": 1.39}))))
}

func TestFiles_clientChecks(t *testing.T) {
	const section = "Is the loader the limit?"
	for name, c := range map[string]struct {
		ratios map[string]float64
		has    []string
		lacks  []string
	}{
		"one cell": {map[string]float64{"a": 1.02, "b": 1.39},
			[]string{"**ClientBound**: cell b, 2 clients: opensearch-benchmark was the limit and reached 143143 docs/s; Knee's loader reached 198969 docs/s", "| OpenSearch |", "ClientBound"},
			[]string{"every checked cell"}},
		"both alike": {map[string]float64{"a": 1.36, "b": 1.42},
			[]string{"**ClientBound**: cell a, 2 clients", "**ClientBound**: cell b, 2 clients", "In every checked cell, opensearch-benchmark was the limit: Knee's loader reached more docs/s, by factors of 1.36 to 1.42"}, nil},
		"none":         {map[string]float64{"a": 1, "b": 1.03}, []string{"| OpenSearch |"}, []string{"ClientBound"}},
		"disturbed":    {map[string]float64{"a": 0.4, "b": 1}, []string{"not known: Knee's loader reached fewer docs/s"}, []string{"ClientBound"}},
		"not made":     {map[string]float64{"a": 0, "b": 1}, []string{"the load cannot be repeated: the load consists of 2 files of documents, but Knee's loader can repeat only one file", "not known"}, []string{"ClientBound"}},
		"not repeated": {nil, []string{"To measure these repetitions again, set a new spec.rerun."}, []string{"ClientBound"}},
	} {
		files := report.Files(finished(checkedCampaign(c.ratios)))
		for _, file := range []string{"report.md", "report.html"} {
			if !strings.Contains(files[file], section) {
				t.Errorf("%s: no section in %s", name, file)
			}
		}
		has(t, files["report.md"], c.has...)
		for _, part := range c.lacks {
			if strings.Contains(files["report.md"], part) {
				t.Errorf("%s: %q is in the report", name, part)
			}
		}
		for _, row := range rows(t, files["results.csv"]) {
			ratio, asked := c.ratios[row["variant"]]
			checked := row["phase"] == "Final" && row["repetition"] == "1" && asked
			if docs := row["client_check_docs_per_second"]; (docs != "") != (checked && ratio > 0) {
				t.Errorf("%s: %s %s %s has %q docs/s", name, row["variant"], row["phase"], row["repetition"], docs)
			}
			if note := row["client_check_note"]; (note != "") != (checked && ratio == 0) {
				t.Errorf("%s: the note is %q", name, note)
			}
		}
		has(t, files["columns.md"], "client_check_docs_per_second", "client_check_note")
	}
	files := report.Files(finished(twoVariants("t"), plain))
	if strings.Contains(files["report.md"], section) || strings.Contains(files["results.csv"], "client_check") {
		t.Error("a campaign that asks for no check is told of checks")
	}
}
