package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// finished is the input of a campaign of which every trial has its record.
func finished(c *v1alpha1.BenchmarkCampaign, measure func(record.Trial) record.Record) report.Input {
	p := plan.Build(c)
	records := analysistest.MeasureAll(p, c.Spec, measure)
	return input(c, records)
}

func input(c *v1alpha1.BenchmarkCampaign, records []record.Record) report.Input {
	p := plan.Build(c)
	return report.Input{
		Name: c.Name, Namespace: c.Namespace, Version: "v0.1.0", Spec: c.Spec, Plan: p, Records: records,
		Assessment: analysis.Assess(p, c.Spec, records),
	}
}

// The study's report, whole: run `go test ./internal/report -update` after a change, and read the difference.
func TestStudyGolden(t *testing.T) {
	files := report.Files(finished(analysistest.StudyCampaign(), analysistest.StudyRecord))
	folder := filepath.Join("testdata", "study")
	if *update {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	golden, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(golden) != len(files) {
		t.Errorf("%d files, want the %d of %s", len(files), len(golden), folder)
	}
	for _, f := range golden {
		want, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got := files[f.Name()]; got != string(want) {
			t.Errorf("%s differs from the golden file; got:\n%s", f.Name(), got)
		}
	}
}
