package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/offline"
)

const studyCSV = "../../internal/offline/testdata/study.csv"

func TestAnalyze(t *testing.T) {
	golden(t, "analyze.txt", ok(t, "analyze", "-f", studyCSV, "--baseline", "intel", "--max-iowait", "10"))
	golden(t, "analyze.json", ok(t, "analyze", "-f", studyCSV, "--baseline", "intel", "-o", "json"))
	text, err := os.ReadFile(studyCSV)
	if err != nil {
		t.Fatal(err)
	}
	piped := knee(t, string(text), "analyze", "-f", "-", "--baseline", "intel", "-o", "json")
	if want := ok(t, "analyze", "-f", studyCSV, "--baseline", "intel", "-o", "json"); piped.out != want || piped.code != 0 {
		t.Errorf("by standard input: exit code %d, %s", piped.code, piped.out)
	}
	if !strings.Contains(piped.err, "note: no interval") {
		t.Errorf("notes: %q", piped.err)
	}
}

// A malformed line: its number and its column, exit code 2, and nothing on standard output.
func TestAnalyzeMalformed(t *testing.T) {
	for _, output := range []string{"", "json"} {
		path := write(t, "mine.csv", "variant,clients,docs_per_second\na,8,100\na,16,\"1,234\"\n")
		fails(t, exitUsage, path+`: line 3, column docs_per_second: "1,234" has thousands separators`, "analyze", "-f", path, "-o", output)
	}
	r := knee(t, "variant,clients\na,b\n", "analyze", "-f", "-", "-o", "json")
	if r.code != exitUsage || r.out != "" || r.err != "error: line 2, column clients: \"b\" is no number\n" {
		t.Errorf("%+v", r)
	}
	fails(t, exitUsage, `"amd" is no variant of the file; it has arm, intel`, "analyze", "-f", studyCSV, "--baseline", "amd")
	fails(t, exitUsage, "97 is meant", "analyze", "-f", studyCSV, "--percent-of-peak", "0.97")
	fails(t, exitUsage, `--max-iowait: "10%"`, "analyze", "-f", studyCSV, "--max-iowait", "10%")
	fails(t, exitUsage, "no column iowait_percent", "analyze", "-f", write(t, "a.csv", "variant,clients,docs_per_second\na,8,1\n"), "--max-iowait", "10")
}

func TestAnalyzeFlags(t *testing.T) {
	analyzed := func(args ...string) offline.Result {
		t.Helper()
		var r offline.Result
		if err := json.Unmarshal([]byte(ok(t, append([]string{"analyze", "-o", "json", "-f"}, args...)...)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	for percent, want := range map[string][2]int32{"95": {12, 12}, "97": {16, 12}, "98.5": {16, 20}, "100": {32, 48}} {
		r := analyzed(studyCSV, "--percent-of-peak", percent)
		if got := [2]int32{r.Cells[0].Knee.Clients, r.Cells[1].Knee.Clients}; got != want {
			t.Errorf("%s %%: knees %v, want %v", percent, got, want)
		}
	}
	if r := analyzed(studyCSV, "--max-iowait", "6.0"); r.Cells[0].Points[1].Verdict != "Gated" || r.Cells[0].Peak.DocsPerSecond != 349156 {
		t.Errorf("gate on iowait: %+v", r.Cells[0])
	}
	gated := write(t, "a.csv", "variant,clients,docs_per_second,rejections\na,8,100,2\n")
	if r := analyzed(gated); r.Cells[0].Points[0].Verdict != "Gated" {
		t.Errorf("rejections are not gated by default: %+v", r.Cells[0])
	}
	if r := analyzed(gated, "--max-rejections", "2"); r.Cells[0].Points[0].Verdict != "Measured" {
		t.Errorf("two rejections are allowed: %+v", r.Cells[0])
	}
}

// Of a bundle the campaign's own rules hold, and flags judge its records anew.
func TestAnalyzeBundle(t *testing.T) {
	path := bundled(t, "study.tar.gz", study(t, nil, analysistest.StudyRecord))
	var r offline.Result
	if err := json.Unmarshal([]byte(ok(t, "analyze", "-f", path, "-o", "json")), &r); err != nil {
		t.Fatal(err)
	}
	if r.SharedClients == nil || *r.SharedClients != 16 || len(r.Ratios) != 4 {
		t.Fatalf("%+v", r)
	}
	final := r.Ratios[3]
	if final.At != "final" || math.Abs(final.Ratio-1.4613) > 0.003 || final.Low == nil || math.Abs(*final.Confidence-(1-2./70)) > 1e-12 {
		t.Errorf("%+v", final)
	}
	if err := json.Unmarshal([]byte(ok(t, "analyze", "-f", path, "-o", "json", "--max-iowait", "6")), &r); err != nil {
		t.Fatal(err)
	}
	// arm passes the tighter gate at 12, 24, 32 and 40 clients alone.
	if arm := r.Cells[1]; arm.Variant != "arm" || arm.Points[1].Verdict != "Gated" || arm.Knee.Clients != 24 {
		t.Errorf("a tighter gate: %+v", arm)
	}
}
