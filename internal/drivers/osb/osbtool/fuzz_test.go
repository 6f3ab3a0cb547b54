package osbtool

import (
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func readSeed(f *testing.F, name string) []byte {
	f.Helper()
	data, err := os.ReadFile("testdata/osb/" + name)
	if err != nil {
		f.Fatal(err)
	}
	return data
}

// FuzzOutput checks that the output of the program gives the same counts, in whatever pieces it is written. The
// stored part of the output must be limited.
func FuzzOutput(f *testing.F) {
	for _, name := range []string{"rej-continue-c16.stdout.txt", "fail-create-index-500.stdout.txt", "breaker-c16.stdout.txt",
		"fail-badport.stdout.txt", "fail-node-killed.stdout.txt", "timed-c4-b1000.stdout.txt"} {
		data := readSeed(f, name)
		f.Add(data[:min(len(data), 3000)], 7)
		f.Add(data[max(0, len(data)-3000):], 1000)
	}
	f.Fuzz(func(t *testing.T, output []byte, piece int) {
		if piece <= 0 || piece > len(output) {
			piece = len(output) + 1
		}
		var o Output
		for at := 0; at < len(output); at += piece {
			if n, err := o.Write(output[at:min(at+piece, len(output))]); err != nil || n == 0 {
				t.Fatalf("wrote %d, %v", n, err)
			}
		}
		whole, pieces := ParseErrors(string(output)), o.Errors()
		if whole.Rejected != pieces.Rejected || whole.Other != pieces.Other || len(whole.Lines) != len(pieces.Lines) {
			t.Errorf("in pieces of %d: %+v, at once: %+v", piece, pieces, whole)
		}
		if whole.Rejected+whole.Other > strings.Count(string(output), "[ERROR]") || len(whole.Lines) > maxLines {
			t.Errorf("%+v", whole)
		}
		if text := FailureText(o.Text(), 100); len(text) > 100 || utf8.Valid(output) && !utf8.ValidString(text) {
			t.Errorf("%q", text)
		}
	})
}

func FuzzResult(f *testing.F) {
	for _, name := range []string{"timed.test_run.json", "rejected.test_run.json", "warmup.test_run.json", "no-index.test_run.json", "node-killed.test_run.json", "osb115.test_execution.json"} {
		f.Add(readSeed(f, name))
	}
	f.Add([]byte(`{"results":{"op_metrics":[{"task":"a","throughput":{"mean":-1},"latency":{"mean":1,"50_0":"x","99_9":2,"1e5":3},"error_rate":2}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseResult(data)
		if err != nil {
			return
		}
		for _, task := range r.Tasks {
			if found, ok := r.Task(task.Name); !ok || found.Name != task.Name {
				t.Errorf("task %q is not found", task.Name)
			}
			if l := task.Latency; l != nil && (math.IsNaN(l.Mean) || math.IsInf(l.P999, 0)) {
				t.Errorf("%+v", l)
			}
		}
	})
}

func FuzzWorkload(f *testing.F) {
	f.Add(readSeed(f, "rendered.json"), "", "index")
	f.Add([]byte(`{"operations":[{"name":"b","operation-type":"bulk","bulk-size":"5"}],"schedule":[{"parallel":{"clients":4,"tasks":[{"operation":"b","clients":"8","target-throughput":"1 docs/s"}]}}]}`), "", "type:bulk")
	f.Fuzz(func(t *testing.T, rendered []byte, procedure, pattern string) {
		in, err := ParseIngest(rendered, procedure, []string{pattern})
		if err == nil && (len(in.Tasks) == 0 || len(in.Tasks) != len(in.Clients)) {
			t.Errorf("%+v", in)
		}
		targets, _ := ParseTargets(rendered, procedure)
		for name, target := range targets {
			if !(target.Value > 0) || target.Unit == "" {
				t.Errorf("%s: %+v", name, target)
			}
		}
	})
}
