package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/knee-bench/knee/internal/offline"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
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

// TestAnalyze_malformedInput_fails checks the error for a malformed line: it names the line and the column, the exit code is 2,
// and standard output is empty.
func TestAnalyze_malformedInput_fails(t *testing.T) {
	for _, output := range []string{"", "json"} {
		path := write(t, "mine.csv", "variant,clients,docs_per_second\na,8,100\na,16,\"1,234\"\n")
		fails(t, exitUsage, path+`: line 3, column docs_per_second: "1,234" has thousands separators`, "analyze", "-f", path, "-o", output)
	}
	r := knee(t, "variant,clients\na,b\n", "analyze", "-f", "-", "-o", "json")
	if r.code != exitUsage || r.out != "" || r.err != "error: line 2, column clients: \"b\" is not a number\n" {
		t.Errorf("%+v", r)
	}
	fails(t, exitUsage, `the file has no variant "amd" for --baseline: use one of arm, intel`, "analyze", "-f", studyCSV, "--baseline", "amd")
	fails(t, exitUsage, "use 97", "analyze", "-f", studyCSV, "--percent-of-peak", "0.97")
	fails(t, exitUsage, `--max-iowait: "10%"`, "analyze", "-f", studyCSV, "--max-iowait", "10%")
	empty := write(t, "empty.csv", "variant,clients,docs_per_second\n\n")
	fails(t, exitUsage, empty+": line 1: the file has a header and no rows", "analyze", "-f", empty)
	series := write(t, "series.csv", "variant,docs_per_second\n"+strings.Repeat("a,100\n", 101))
	fails(t, exitUsage, series+": line 102: a has more than 100 Final rows", "analyze", "-f", series)
}

// TestAnalyze_unusableColumns_notesOnStderr checks that notes are written to standard error and that the exit code stays 0.
func TestAnalyze_unusableColumns_notesOnStderr(t *testing.T) {
	for csv, want := range map[string]string{
		"variant,clients,docs_per_second\na,8,1\n":                 "note: the file has no column iowait_percent: --max-iowait is not applied to any row\n",
		"variant,clients,docs_per_second,iowait_percent\na,8,1,\n": "",
		"variant,clients,docs_per_second,iowait_percent,attempt\na,8,1,1,x\n": "note: column attempt is ignored, because this file is not Knee's own results.csv: " +
			"it does not have all of these columns: attempt, verdict, failures, whole_docs_per_second\n",
	} {
		if r := knee(t, csv, "analyze", "-f", "-", "--max-iowait", "10", "-o", "json"); r.code != exitOK || r.err != want {
			t.Errorf("%q: exit code %d, %q; want %q", csv, r.code, r.err, want)
		}
	}
}

// TestAnalyze_interrupted_ends checks that a signal ends the command while its input is still open.
func TestAnalyze_interrupted_ends(t *testing.T) {
	in, held := io.Pipe()
	defer func() { _ = held.Close() }()
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	var out, errs bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, genericiooptions.IOStreams{In: in, Out: &out, ErrOut: &errs}, []string{"analyze", "-f", "-"})
	}()
	if _, err := held.Write([]byte("variant,clients,docs_per_second\na,8,")); err != nil { // Write returns after the command has read the bytes: the command now waits for more input
		t.Fatal(err)
	}
	interrupt()
	select {
	case got := <-code:
		if got != exitFailed || out.Len() != 0 || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("exit code %d, %q, %q on standard output", got, errs.String(), out.String())
		}
	case <-time.After(time.Minute):
		t.Fatal("the command goes on")
	}
}

func TestAnalyze_help_showsDefault(t *testing.T) {
	if help := ok(t, "analyze", "--help"); !strings.Contains(strings.Join(strings.Fields(help), " "), "how many rejected requests are allowed (default 0)") {
		t.Errorf("no default of --max-rejections:\n%s", help)
	}
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

// TestAnalyze_bundle_usesCampaignRules checks that analyze judges the records of a bundle by the rules of its campaign, and again by
// other rules if flags set them.
func TestAnalyze_bundle_usesCampaignRules(t *testing.T) {
	path := bundled(t, "study.tar.gz", study(t, nil, campaigntest.StudyRecord))
	var r offline.Result
	if err := json.Unmarshal([]byte(ok(t, "analyze", "-f", path, "-o", "json")), &r); err != nil {
		t.Fatal(err)
	}
	if r.SharedClients == nil || *r.SharedClients != 16 || len(r.Ratios) != 4 {
		t.Fatalf("%+v", r)
	}
	final := r.Ratios[3]
	if final.At != "final" || math.Abs(final.Ratio-1.4613) > 0.003 || final.Low == nil || math.Abs(*final.Confidence-0.95) > 1e-12 {
		t.Errorf("%+v", final)
	}
	unmeasured := study(t, nil, campaigntest.StudyRecord)
	clear(unmeasured.Records)
	if none := ok(t, "analyze", "-f", bundled(t, "none.tar.gz", unmeasured), "-o", "json"); !strings.Contains(none, `"cells": []`) {
		t.Errorf("a campaign without a record: %s", none)
	}
	if err := json.Unmarshal([]byte(ok(t, "analyze", "-f", path, "-o", "json", "--max-iowait", "6")), &r); err != nil {
		t.Fatal(err)
	}
	// arm passes the tighter gate only at 12, 24, 32 and 40 clients.
	if arm := r.Cells[1]; arm.Variant != "arm" || arm.Points[1].Verdict != "Gated" || arm.Knee.Clients != 24 {
		t.Errorf("a tighter gate: %+v", arm)
	}
}
