package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

func TestReport_fromBundle_printsStoredFiles(t *testing.T) {
	b := study(t, nil, campaigntest.StudyRecord)
	path := bundled(t, "study.tar.gz", b)
	short := ok(t, "report", "--from-bundle", path)
	for _, want := range []string{
		strings.Split(b.Report["report.md"], "\n")[2], // the sentence with the result
		"arm      6p0r      11/11   16    345964", "arm / intel  16       1.4613  [1.4424, 1.4805]  95.0 %", "Not conclusive (TrialsFailed)",
	} {
		if !strings.Contains(short, want) {
			t.Errorf("no %q in\n%s", want, short)
		}
	}
	for flag, file := range map[string]string{"--md": "report.md", "--csv=results.csv": "results.csv", "--file=columns.md": "columns.md"} {
		if got := ok(t, "report", "--from-bundle", path, flag); got != b.Report[file] {
			t.Errorf("%s is not the stored %s", flag, file)
		}
	}
	if got := ok(t, "report", "--from-bundle", path, "--csv", "results.csv,tune_results_arm_6p0r.csv"); got != b.Report["results.csv"]+b.Report["tune_results_arm_6p0r.csv"] {
		t.Error("two CSV files are not printed one after the other")
	}
	fails(t, exitFailed, "has no file \"nonsense.csv\"; its files are columns.md, ", "report", "--from-bundle", path, "--csv", "results.csv,nonsense.csv")

	dir := filepath.Join(t.TempDir(), "new", "folder")
	ok(t, "report", "--from-bundle", path, "-o", dir)
	for name, want := range b.Report {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("%s in the folder: %v, %d bytes, want %d", name, err, len(got), len(want))
		}
	}
}

// TestReport_verify_namesDifferences checks that report --verify builds every file again from the records and compares the bytes. For a file
// that differs, the output names the file and the difference.
func TestReport_verify_namesDifferences(t *testing.T) {
	b := study(t, nil, campaigntest.StudyRecord)
	out := ok(t, "report", "--from-bundle", bundled(t, "study.tar.gz", b), "--verify")
	for name := range b.Report {
		if !strings.Contains(out, "equal    "+name+"\n") {
			t.Errorf("%s is not equal:\n%s", name, out)
		}
	}
	if n := strings.Count(out, "\n"); n != len(b.Report) {
		t.Errorf("%d lines, want %d:\n%s", n, len(b.Report), out)
	}

	changed := *b
	changed.Report = maps.Clone(b.Report)
	changed.Report["results.csv"] = strings.Replace(b.Report["results.csv"], "345964", "345965", 1)
	changed.Report["more.md"] = "x"
	delete(changed.Report, "columns.md")
	r := knee(t, "", "report", "--from-bundle", bundled(t, "changed.tar.gz", &changed), "--verify")
	for _, want := range []string{"differs  results.csv\n", "345965", "only stored  more.md\n", "only regenerated  columns.md\n", "equal    report.md\n"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	if r.code != exitFailed || !strings.Contains(r.err, "3 of ") || !strings.Contains(r.err, "Knee v0.1.0 wrote the report") {
		t.Errorf("exit code %d, %q", r.code, r.err)
	}

	records := maps.Clone(b.Records)
	name := slices.Sorted(maps.Keys(records))[0]
	delete(records, name)
	b.Records = records
	if r := knee(t, "", "report", "--from-bundle", bundled(t, "less.tar.gz", b), "--verify"); r.code != exitFailed {
		t.Errorf("a record less changes nothing: %s", r.out)
	}
}

func TestBundle_truncated_fails(t *testing.T) {
	path := bundled(t, "study.tar.gz", study(t, nil, campaigntest.StudyRecord))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := write(t, "cut.tar.gz", string(data[:len(data)/2]))
	for _, args := range [][]string{{"report", "--from-bundle", cut}, {"analyze", "-f", cut}, {"compare", cut, path}} {
		fails(t, exitUsage, cut+": the bundle is damaged", args...)
	}
}

func TestNewInput_unknownVersion_staysEmpty(t *testing.T) {
	b := study(t, nil, campaigntest.StudyRecord)
	decoded := []record.Record{}
	if made := view.NewInput(b.Campaign, plan.Build(b.Campaign), decoded, ""); made.Version != "" {
		t.Errorf("version %q", made.Version)
	}
}
