package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
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
	return report.NewInput(c, plan.Build(c), records, "v0.1.0")
}

// The study's report, whole: run `go test ./internal/report -update` after a change, and read the difference.
func TestStudyGolden(t *testing.T) {
	golden(t, "study", report.Files(finished(analysistest.StudyCampaign(), analysistest.StudyRecord)))
}

// golden compares a report's files with those of testdata.
func golden(t *testing.T, name string, files map[string]string) {
	t.Helper()
	folder := filepath.Join("testdata", name)
	if *update {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != len(files) {
		t.Errorf("%d files, want the %d of %s", len(files), len(want), folder)
	}
	for _, f := range want {
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got := files[f.Name()]; got != string(text) {
			at := 0
			for at < len(got) && at < len(text) && got[at] == text[at] {
				at++
			}
			t.Errorf("%s/%s differs from the golden file at byte %d: got %q, want %q", name, f.Name(), at,
				got[max(at-80, 0):min(at+120, len(got))], text[max(at-80, 0):min(at+120, len(text))])
		}
	}
}
