package main

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/command/parser"
)

// TestSummary_isAcceptedByFreonPreset checks that the preset accepts the fake's output as output of freon, and that the figures are
// consistent.
func TestSummary_isAcceptedByFreonPreset(t *testing.T) {
	freon := commandconfig.Config{Preset: "freon"}
	for _, layout := range [][]string{nil, {"--terminal"}} {
		var out strings.Builder
		if err := run(append([]string{"ockrw", "-n", "200", "-t", "4", "--rate", "100"}, layout...), &out); err != nil {
			t.Fatal(err)
		}
		f, err := parser.Parse(out.String(), freon)
		if err != nil || f.Load.Operations != 200 || f.Load.Failures != 0 {
			t.Fatalf("%+v, %v\n%s", f, err, out.String())
		}
		if math.Abs(f.Load.Rate-400) > 1e-3 {
			t.Errorf("4 threads of 100 calls/s made %v calls/s", f.Load.Rate)
		}
		if busy := f.Concurrency(0, 4).InFlight(); math.Abs(busy-4) > 1e-3 {
			t.Errorf("%v of 4 threads busy: %+v", busy, f)
		}
		if !strings.Contains(out.String(), "stand-in") {
			t.Error("it does not say what it is")
		}
	}
	var out strings.Builder
	if err := run([]string{"ockrw", "-n", "10", "--fail", "3", "--rate", "1000"}, &out); err == nil {
		t.Error("failed calls, and no exit code")
	}
	if f, err := parser.Parse(out.String(), freon); err != nil || f.Load.Failures != 3 || f.Load.Operations != 7 {
		t.Errorf("%+v, %v", f, err)
	}
	for _, args := range [][]string{nil, {"ockrw", "-t", "0"}, {"ockrw", "--nonsense"}} {
		if err := run(args, &out); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

// TestSummary_isLaidOutAsFreons checks that the fake's summary has the same lines and fields as the log of a real freon
// in the parser's testdata.
func TestSummary_isLaidOutAsFreons(t *testing.T) {
	real, err := os.ReadFile("../../../internal/drivers/command/parser/testdata/freon/freon-ozone-2.2.0.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	args := []string{"ockrw", "-n", "50", "-t", "4", "--percentage-read", "0", "--size", "0", "-r", "10", "-v", "voltest", "-b", "buckettest", "-p", "performanceTest", "--rate", "1000"}
	if err := run(args, &out); err != nil {
		t.Fatal(err)
	}
	got, want := summaryLayout(out.String()), summaryLayout(string(real))
	if len(want) != 4 || !slices.Equal(got, want) {
		t.Errorf("the stand-in's summary is laid out as\n%s\nthe real one as\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

var (
	summaryLine = regexp.MustCompile(`(type=TIMER|(?:Total execution time|Failures|Successful executions)[^:]*:).*`)
	varying     = regexp.MustCompile(`[0-9][0-9.eE+-]*`)
)

// summaryLayout returns the lines of a logged summary without timer names and numbers.
func summaryLayout(text string) []string {
	var out []string
	for _, line := range summaryLine.FindAllString(text, -1) {
		words := strings.Split(line, ", ")
		for i, word := range words {
			key, value, found := strings.Cut(word, "=")
			switch {
			case !found:
				words[i] = varying.ReplaceAllString(word, "N")
			case key == "type" || strings.HasSuffix(key, "_unit"):
			default:
				words[i] = key + "=" + varying.ReplaceAllString(value, "N")
				if key == "name" {
					words[i] = "name"
				}
			}
		}
		out = append(out, strings.Join(words, ", "))
	}
	return out
}
