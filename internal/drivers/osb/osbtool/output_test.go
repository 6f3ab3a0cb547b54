package osbtool

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/drivers/output"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/osb/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestParseErrors(t *testing.T) {
	for file, want := range map[string]struct {
		rejected, other int
		first           string
	}{
		"rej-continue-c16.stdout.txt":      {193, 0, "HTTP status: 429, message: rejected execution of"},
		"fail-create-index-500.stdout.txt": {0, 21, "unsupported_operation_exception: This JRE does not have support for Thai segmentation"},
		"breaker-c16.stdout.txt":           {16, 0, "rejected_execution_exception: rejected execution of coordinating operation"},
		"timed-c4-b1000.stdout.txt":        {0, 0, ""},
		"fail-node-killed.stdout.txt":      {0, 3, "Request returned an error. Error type: transport, Description: Cannot connect to host"},
	} {
		e := ParseErrors(read(t, file))
		if e.Rejected != want.rejected || e.Other != want.other {
			t.Errorf("%s: %d rejections and %d others, want %d and %d", file, e.Rejected, e.Other, want.rejected, want.other)
		}
		if want.first == "" && len(e.Lines) > 0 || want.first != "" && (len(e.Lines) == 0 || !strings.HasPrefix(e.Lines[0], want.first)) {
			t.Errorf("%s: lines %q, want %q first", file, e.Lines, want.first)
		}
		if strings.Contains(strings.Join(e.Lines, ""), "'error'") {
			t.Errorf("%s: %q", file, e.Lines)
		}
		if len(e.Lines) > maxLines {
			t.Errorf("%s: %d lines", file, len(e.Lines))
		}
	}
}

func TestFailureText(t *testing.T) {
	for file, want := range map[string]string{
		"fail-badport.stdout.txt":          "Cannot run. Error in test run orchestrator (expected string or bytes-like object, got 'NoneType')",
		"fail-node-killed.stdout.txt":      "Error: Cannot run task [index]: Request returned an error. Error type: transport, Description: Cannot connect to host 127.0.0.1:19210",
		"rej-abort-strict-c16.stdout.txt":  "HTTP status: 429, message: rejected execution",
		"fail-create-index-500.stdout.txt": "This JRE does not have support for Thai segmentation",
		"timed-c4-b1000.stdout.txt":        "SUCCESS",
	} {
		got := FailureText(read(t, file), 600)
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q does not tell %q", file, got, want)
		}
		if strings.Contains(got, "\x1b") || strings.Contains(got, "% done") || strings.Contains(got, "Getting further help") || len(got) > 600 {
			t.Errorf("%s: %q holds what tells nothing", file, got)
		}
	}
	killed := "[INFO] [Test Run ID]: x\n\n" + strings.Repeat("\x1b[90DRunning index      [  6% done]", 40) + "\x1b[90DRunning index      [  7% done]"
	if got := FailureText(killed, 600); got != "[INFO] [Test Run ID]: x; Running index [ 7% done]" {
		t.Errorf("of a killed one: %q", got)
	}
	if got := FailureText("only words\n", 4); got != "only" {
		t.Errorf("bounded to %q", got)
	}
}

func TestOutput_writtenInPieces_givesSameErrors(t *testing.T) {
	for _, file := range []string{"rej-continue-c16.stdout.txt", "fail-node-killed.stdout.txt", "fail-create-index-500.stdout.txt"} {
		text := read(t, file)
		var o Output
		for rest := text; rest != ""; {
			n := min(7, len(rest))
			if _, err := o.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if got, want := o.Errors(), ParseErrors(text); !reflect.DeepEqual(got, want) || got.Rejected+got.Other == 0 {
			t.Errorf("%s: in pieces %+v, whole %+v", file, got, want)
		}
		if o.Text() != text {
			t.Errorf("%s: the text is another", file)
		}
	}
}

func TestOutput_longText_isBounded(t *testing.T) {
	var o Output
	say := func(text string) {
		if _, err := o.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	say("the first words\n")
	const lines = 50_000
	for i := range lines {
		say(fmt.Sprintf("[ERROR] HTTP status: 429, message: rejected execution of %d on %s\n", i, strings.Repeat("x", 100)))
		if i == lines/2 {
			say("[ERROR] mapper_parsing_exception in the middle\n")
		}
	}
	say(strings.Repeat("y", 10*output.MaxLine) + "\nthe last words\n[ERROR] no line's end")
	e := o.Errors()
	if e.Rejected != lines || e.Other != 2 || len(e.Lines) != 3 || e.Lines[0] != "mapper_parsing_exception in the middle" {
		t.Errorf("%+v", e)
	}
	text := o.Text()
	if !strings.HasPrefix(text, "the first words\n") || !strings.HasSuffix(text, "the last words\n[ERROR] no line's end") || !strings.Contains(text, "bytes are left out") {
		t.Errorf("of the text: %.100q", text)
	}
	if most := 2*output.KeptEnds + 100; len(text) > most || cap(o.Head)+cap(o.Tail)+cap(o.Line) > 10*output.KeptEnds {
		t.Errorf("%d bytes of text, %d kept", len(text), cap(o.Head)+cap(o.Tail)+cap(o.Line))
	}
}

func BenchmarkRejectedLine(b *testing.B) {
	line := []byte("[ERROR] HTTP status: 429, message: " + strings.Repeat("rejected by the queue of the node ", 12) + "rejected execution\n")
	var o Output
	for b.Loop() {
		_, _ = o.Write(line)
	}
}

// TestUnusedParams checks messages of opensearch-benchmark 2.4.0.
func TestUnusedParams(t *testing.T) {
	for output, want := range map[string][]string{
		"[ERROR] ❌ Cannot info. Unused workload parameters ['refresh_interval'].":                  {"refresh_interval"},
		"Cannot execute-test. Unused workload parameters ['bulk_sise', 'refresh_interval'].\nmore": {"bulk_sise", "refresh_interval"},
		"[INFO] SUCCESS": nil,
	} {
		if got := UnusedParams(output); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}

// TestParseErrors_linesOfTwoWorkers_areCountedSeparately checks the output of two workers of the program that print at the same
// time. A worker writes the end of a line separately, so the text of another worker may come before it.
func TestParseErrors_linesOfTwoWorkers_areCountedSeparately(t *testing.T) {
	got := ParseErrors("[ERROR] HTTP status: 429, message: rejected execution of a bulk[ERROR] network connection timed out\n\n[ERROR] HTTP status: 429, message: rejected execution of a bulk\n")
	want := Errors{Rejected: 2, Other: 1, Lines: []string{"network connection timed out", "HTTP status: 429, message: rejected execution of a bulk"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
