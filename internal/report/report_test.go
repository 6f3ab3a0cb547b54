package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// finished returns the input of a campaign in which every trial has a record.
func finished(c *v1alpha1.BenchmarkCampaign, measure func(record.Trial) record.Record) view.Input {
	p := plan.Build(c)
	records := campaigntest.MeasureAll(p, c.Spec, measure)
	return input(c, records)
}

func input(c *v1alpha1.BenchmarkCampaign, records []record.Record) view.Input {
	return view.NewInput(c, plan.Build(c), records, "v0.1.0")
}

// TestFiles_study_matchesGolden checks the complete report of the study. After a change, run `go test ./internal/report -update`
// and read the difference.
func TestFiles_study_matchesGolden(t *testing.T) {
	golden(t, "study", report.Files(finished(campaigntest.StudyCampaign(), campaigntest.StudyRecord)))
}

// golden compares the files of a report with those in testdata.
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
