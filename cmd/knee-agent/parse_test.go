package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const freonOutput = "../../internal/drivers/command/parser/testdata/freon/freon-console.txt"

func TestParseFreon(t *testing.T) {
	out, code := agent(t, nil, "parse", "--parser", "freon", freonOutput, "-o", "json", "--clients", "100")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	var got struct {
		Rate, InFlight, ClientUtilization, Seconds float64
		Unit                                       string
		Operations                                 int64
		Latency                                    struct{ Min, Mean, P50, P99, Max float64 }
		Notes                                      []string
		From                                       *int64
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got.Rate != 19565.78 || got.Unit != "calls/s" || got.Operations != 10_000_000 || got.Seconds != 513 || got.Latency.Mean != 4.67 || got.Latency.P50 != 4.26 || got.From != nil {
		t.Errorf("%s", out)
	}
	if got.InFlight < 91.3 || got.InFlight > 91.4 || len(got.Notes) != 2 || !strings.Contains(got.Notes[1], "Little's law") {
		t.Errorf("%s", out)
	}
	out, code = agent(t, nil, "parse", "--parser=freon", freonOutput)
	if code != 0 || !strings.Contains(out, "rate          19565.78  calls/s\n") || !strings.Contains(out, "latency p99   16.3      ms\n") || !strings.Contains(out, "note: 10000000 operations in 513 s") || strings.Contains(out, "p90") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestParseFreon_withoutCounts_printsNone(t *testing.T) {
	out, code := agent(t, nil, "parse", "--parser=freon", "../../internal/drivers/command/parser/testdata/freon/freon-published-old.txt", "--clients", "100")
	if code != 0 || !strings.Contains(out, "5913.05") || !strings.Contains(out, "note: the output contains neither operations nor failures") || strings.Contains(out, "\nfailures") || strings.Contains(out, "\noperations") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestParseJSON(t *testing.T) {
	figures := filepath.Join(t.TempDir(), "figures.yaml")
	if err := os.WriteFile(figures, []byte(`throughput: {path: $.rate, unit: ops/s}
operations: $.ops
latency: {unit: us, mean: $.lat.mean}
metrics: [{name: gc, path: $.gc, unit: ms}]
`), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"a file":       {"--figures", figures},
		"flags":        {"--path", "throughput=$.rate", "--unit", "ops/s", "--path", "operations=$.ops", "--path", "latency.mean=$.lat.mean", "--latency-unit", "us", "--path", "metrics.gc=$.gc"},
		"flags add up": {"--figures", figures, "--path", "seconds=$.s"},
	} {
		cmd := exec.Command(os.Args[0], append([]string{"parse", "--parser", "json", "-", "--clients", "2"}, args...)...)
		cmd.Env = []string{self + "=1"}
		cmd.Stdin = strings.NewReader(`started {"rate": 1000, "ops": "5000", "lat": {"mean": 2000}, "gc": 12, "s": 5}` + "\n")
		out, err := cmd.CombinedOutput()
		for _, want := range []string{"rate             1000  ops/s\n", "operations       5000", "latency mean     2     ms\n", "gc               12", "calls in flight  2"} {
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v, %q is not in\n%s", name, err, want, out)
			}
		}
	}
}

func TestParseText(t *testing.T) {
	dir := t.TempDir()
	printed, figures := filepath.Join(dir, "printed"), filepath.Join(dir, "figures.yaml")
	for file, text := range map[string]string{printed: "rate=1\nresult:\nrate=2k ok=9 bad=1 sec=5 lat=1.5ms\n", figures: `throughput: {pattern: 'rate=(\S+)', unit: ops/s}
throughputIncludesFailures: true
operations: ok=(\d+)
failures: bad=(\d+)
latency: {unit: us, mean: 'lat=(\S+)'}
after: '^result:$'
singleMatch: true
`} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, code := agent(t, nil, "parse", "--parser", "text", "--figures", figures, printed, "--path", `metrics.seconds=sec=(\d+)`)
	for _, want := range []string{"rate          1800  ops/s\n", "operations    9 ", "failures      1 ", "latency mean  1.5   ms\n", "seconds       5 "} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("exit code %d, %q is not in\n%s", code, want, out)
		}
	}
}

// TestParseJSON_rateInBytes_computesCallsInFlight checks the number of calls in flight for a program that prints its throughput in MiB/s. The
// parser computes this number from operations and seconds. Without a path for seconds, the parser does not print the
// number, because it does not know how long the program ran.
func TestParseJSON_rateInBytes_computesCallsInFlight(t *testing.T) {
	printed := filepath.Join(t.TempDir(), "printed")
	if err := os.WriteFile(printed, []byte(`{"mibs": 250, "ops": 256000, "sec": 64, "lat": 4}`), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"parse", "--parser", "json", printed, "--clients", "16", "--unit", "MiB/s", "--path", "throughput=$.mibs", "--path", "operations=$.ops", "--path", "latency.mean=$.lat"}
	if out, code := agent(t, nil, append(args, "--path", "seconds=$.sec")...); code != 0 || !strings.Contains(out, "calls in flight  16 ") || strings.Contains(out, "note:") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := agent(t, nil, args...); code != 0 || strings.Contains(out, "calls in flight") || strings.Contains(out, "note:") {
		t.Errorf("exit code %d: %s", code, out)
	}
}

func TestParse_invalidInput_fails(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "figures.yaml")
	if err := os.WriteFile(broken, []byte("throughputs: {path: $.rate}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct {
		code int
		args []string
	}{
		"Usage":                         {2, []string{"--parser", "freon"}},
		"usage":                         {2, []string{"--parser", "xml", freonOutput}},
		"one FILE, not":                 {2, []string{"--parser", "freon", freonOutput, freonOutput}},
		"flag provided but not defined": {2, []string{"--nonsense"}},
		"no such file":                  {1, []string{"--parser", "freon", "/nowhere"}},
		"add --path throughput=PATH, or --figures FILE": {1, []string{"--parser", "json", freonOutput}},
		"there is no such field":                        {1, []string{"--parser", "json", "--path", "speed=$.x", freonOutput}},
		"FIELD=PATH, such as":                           {1, []string{"--parser", "json", "--path", "throughput", freonOutput}},
		"printed no JSON object":                        {1, []string{"--parser", "json", "--path", "throughput=$.x", freonOutput}},
		"throughputs":                                   {1, []string{"--parser", "json", "--figures", broken, freonOutput}},
		"parse.go: preset freon: throughput: no line":   {1, []string{"--parser", "freon", "parse.go"}},
	} {
		out, code := agent(t, nil, append([]string{"parse"}, c.args...)...)
		if code != c.code || !strings.Contains(strings.ToLower(out), strings.ToLower(want)) {
			t.Errorf("%q: exit code %d, %s, want %q", c.args, code, out, want)
		}
	}
}
