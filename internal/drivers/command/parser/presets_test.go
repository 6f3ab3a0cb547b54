package parser

import (
	"maps"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/record"
)

func readText(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/freon/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func parseFreon(text string) (Result, error) {
	return Parse(text, commandconfig.Config{Preset: "freon"})
}

// newFlow holds the figures of a published run. The outputs that were written for these tests show the same figures.
var newFlow = map[string]float64{"rate": 19565.78, "rate-1m": 19512.40, "rate-5m": 19583.11, "rate-15m": 18204.92,
	"min": 3.02, "max": 25.84, "mean": 4.67, "stddev": 2.14, "p50": 4.26, "p75": 4.71, "p95": 6.38, "p98": 12.55, "p99": 16.30, "p999": 25.84,
	"seconds": 513, "operations": 10_000_000, "failures": 0}

// figuresByName returns the figures of a load by their names.
func figuresByName(l *record.Load) map[string]float64 {
	out := map[string]float64{"rate": l.Rate, "min": l.Latency.Min, "max": l.Latency.Max, "mean": l.Latency.Mean, "p50": l.Latency.P50, "p99": l.Latency.P99, "p999": l.Latency.P999,
		"seconds": l.Seconds, "operations": float64(l.Operations), "failures": float64(l.Failures)}
	for _, m := range l.Metrics {
		out[m.Name] = *m.Value
	}
	return out
}

func checkFigures(t *testing.T, got Result, want map[string]float64, precision float64) {
	t.Helper()
	figures := figuresByName(got.Load)
	if len(figures) != len(want) {
		t.Errorf("%d figures, want %d", len(figures), len(want))
	}
	for name, value := range want {
		if found, ok := figures[name]; !ok || math.Abs(found-value) > precision {
			t.Errorf("%s is %v, want %v", name, found, value)
		}
	}
}

func TestFreon_layouts(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		precision float64
	}{
		"a terminal's":               {text: readText(t, "freon-console.txt")},
		"not indented, blank lines":  {text: readText(t, "freon-notes.txt")},
		"the log's, metrics-core 3":  {text: readText(t, "freon-log.txt"), precision: 0.005},
		"the log's, metrics-core 4":  {text: strings.NewReplacer("median=", "p50=", "m1=", "m1_rate=", "m5=", "m5_rate=", "m15=", "m15_rate=").Replace(readText(t, "freon-log.txt")), precision: 0.005},
		"carriage returns":           {text: strings.ReplaceAll(readText(t, "freon-console.txt"), "\n", "\r\n")},
		"decimal commas":             {text: strings.NewReplacer("99.9%", "99.9%", ".", ",").Replace(readText(t, "freon-console.txt"))},
		"thousands":                  {text: strings.NewReplacer("19565.78", "19,565.78", "10000000", "10,000,000").Replace(readText(t, "freon-console.txt"))},
		"thousands of another place": {text: strings.NewReplacer("19565.78", "19.565,78", ": 10000000", ": 10.000.000").Replace(readText(t, "freon-console.txt"))},
		"seconds for milliseconds": {text: strings.NewReplacer("3.02 milliseconds", "3020 microseconds", "25.84 milliseconds", "0.02584 seconds").
			Replace(readText(t, "freon-console.txt")), precision: 1e-9},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseFreon(c.text)
			if err != nil {
				t.Fatal(err)
			}
			checkFigures(t, got, newFlow, c.precision)
			if got.Load.Unit != "calls/s" || got.resolution > 0.01 || got.resolution == 0 || got.callRate != got.Load.Rate {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestFreon_incompleteOutput_fails(t *testing.T) {
	console, log := readText(t, "freon-console.txt"), readText(t, "freon-log.txt")
	line := log[strings.Index(log, "2024-06-11 08:21:13,340"):strings.Index(log, "2024-06-11 08:21:13,342")]
	timers, _, _ := strings.Cut(console, "Total")
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":            {"", []string{"preset freon: throughput: no line of the output matches the pattern", "preset freon: latency.p999", "preset freon: seconds"}},
		"another program":    {"Executing: 100%\nFailures: 0\n", []string{"seconds: no line", "operations: no line"}},
		"no end":             {timers, []string{"seconds: no line"}},
		"no failures":        {strings.Replace(console, "Failures:", "Errors:", 1), []string{"failures: no line"}},
		"no successes":       {strings.Replace(console, "Successful", "Good", 1), []string{"operations: no line"}},
		"one percentile":     {strings.Replace(console, "98% <=", "98th <=", 1), []string{"metrics[p98]: no line"}},
		"no mean":            {strings.Replace(console, " mean = ", " average = ", 1), []string{"latency.mean: no line"}},
		"no rate in the log": {strings.Replace(log, "mean_rate=", "rate=", 1), []string{"throughput: no line"}},
		"not a number":       {strings.Replace(console, "16.30", "NaN", 1), []string{`latency.p99`, `"NaN" is no number`}},
		"a negative number":  {strings.Replace(console, "16.30", "-16.30", 1), []string{"latency.p99", "is -16.3, which is below 0"}},
		"two readings":       {strings.Replace(console, "19565.78", "19,565", 1), []string{`throughput`, `"19,565" is no number, or it is not clear whether its separator marks decimals or thousands`}},
		"half a call":        {strings.Replace(console, "executions: 10000000", "executions: 1.5", 1), []string{"operations", "is 1.5, which is no whole number"}},
		"another rate":       {strings.Replace(console, "19565.78 calls/second", "19565.78 calls/minute", 1), []string{"throughput: no line"}},
		"no unit":            {strings.Replace(console, "16.30 milliseconds", "16.30", 1), []string{"latency.p99: no line"}},
		"no unit in the log": {strings.Replace(log, "duration_unit", "unit", 1), []string{"latency.mean: no line"}},
		"an unknown unit":    {strings.Replace(console, "16.30 milliseconds", "16.30 blinks", 1), []string{`latency.p99`, `the unit "blinks" is not a unit of time`}},
		"two runs":           {console + console, []string{"several lines of the output match the pattern"}},
		"two timers":         {line + log, []string{"several lines of the output match the pattern"}},
		"no call":            {strings.NewReplacer("mean rate = 19565.78", "mean rate = 0.00", "count = 10000000", "count = 0", "executions: 10000000", "executions: 0").Replace(console), []string{"did nothing"}},
		"no good call":       {strings.NewReplacer("executions: 10000000", "executions: 0", "Failures: 0", "Failures: 7").Replace(console), []string{"all 7 operations failed"}},
		"too many":           {strings.Replace(console, "executions: 10000000", "executions: 99999999999999999999", 1), []string{"operations", "no whole number"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseFreon(c.text)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%+v, %v, want %q", got, err, want)
				}
			}
		})
	}
}

func TestFreon_ozoneOutput(t *testing.T) {
	got, err := parseFreon(readText(t, "freon-ozone-2.2.0.txt"))
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, got, map[string]float64{"rate": 60.56650623007547, "rate-1m": 56.73736367755287, "rate-5m": 18.534970979858496, "rate-15m": 10.347282477429033,
		"min": 3.408185, "max": 1123.901025, "mean": 99.24992638371494, "stddev": 138.599838191435, "p50": 38.640891, "p75": 119.414062, "p95": 374.47048, "p98": 575.228469, "p99": 700.354914, "p999": 1089.248509,
		"seconds": 95, "operations": 5000, "failures": 0}, 0)
}

// TestFreon_publishedSummaries checks two published summaries: one of the new flow and one of the old flow. Both come from the
// same document.
func TestFreon_publishedSummaries(t *testing.T) {
	want := maps.Clone(newFlow)
	maps.Copy(want, map[string]float64{"rate-1m": 19989.40, "rate-5m": 18552.83, "rate-15m": 16043.74, "stddev": 2.02, "p75": 4.64, "p95": 6.40, "p98": 14.51, "p999": 18.39})
	got, err := parseFreon(readText(t, "freon-published-new.txt"))
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, got, want, 0)
	// 10,000,000 calls in at least 512.5 s (513 s rounded) are at most 19512.20 a second. So the printed mean rate
	// contradicts the printed time.
	if notes := got.Load.Notes; len(notes) != 1 || !strings.Contains(notes[0], "10000000 operations in 513 s are 19493.18/s") || !strings.Contains(notes[0], "at most 19512.20") || !strings.Contains(notes[0], "19565.78") {
		t.Errorf("notes %q", notes)
	}
	if note := got.Concurrency(0, 100).Note(); !strings.Contains(note, "91.4 calls in flight of 100") {
		t.Errorf("%q", note)
	}
	got, err = parseFreon(readText(t, "freon-published-old.txt"))
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, got, map[string]float64{"rate": 5913.05, "rate-1m": 5822.04, "rate-5m": 5859.77, "rate-15m": 5567.46,
		"min": 12.08, "max": 927.93, "mean": 17.38, "stddev": 27.01, "p50": 14.94, "p75": 16.25, "p95": 32.03, "p98": 35.81, "p99": 39.04, "p999": 76.52,
		"seconds": 1693, "operations": 0, "failures": 0}, 0)
	if notes := got.Load.Notes; !got.Load.FailuresUncounted || len(notes) != 1 || !strings.Contains(notes[0], "neither operations nor failures") {
		t.Errorf("old flow: %+v", got.Load)
	}
}

// TestFreon_failedCalls_reduceRate checks that freon's mean rate, which counts failed calls, is reduced by their share.
func TestFreon_failedCalls_reduceRate(t *testing.T) {
	got, err := parseFreon(strings.NewReplacer("Failures: 0", "Failures: 2500000", "executions: 10000000", "executions: 7500000").Replace(readText(t, "freon-console.txt")))
	if err != nil || math.Abs(got.Load.Rate-0.75*19565.78) > 1e-6 || got.Load.Operations != 7_500_000 || got.Load.Failures != 2_500_000 || got.callRate != 19565.78 {
		t.Errorf("%+v, %+v, %v", got, got.Load, err)
	}
	got, err = parseFreon(strings.NewReplacer("(sec): 513", "(sec): 0", "executions: 10000000", "executions: 100").Replace(readText(t, "freon-console.txt")))
	if err != nil || len(got.Load.Notes) != 0 {
		t.Errorf("in less than half a second: %+v, %v", got.Load, err)
	}
}

func TestPreset_patterns_areValid(t *testing.T) {
	preset, _ := Preset("freon")
	patterns := []string{preset.Throughput.Selector, preset.Operations, preset.Failures, preset.Seconds}
	for _, pattern := range preset.Latency {
		patterns = append(patterns, pattern)
	}
	for _, m := range preset.Metrics {
		patterns = append(patterns, m.Selector)
	}
	for _, pattern := range patterns {
		if err := CheckPattern(pattern); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	if _, err := Parse("", commandconfig.Config{Preset: "xml"}); err == nil || !strings.Contains(err.Error(), `no preset "xml"`) {
		t.Error(err)
	}
	if _, err := Parse("", commandconfig.Config{}); err == nil || !strings.Contains(err.Error(), "set json, text or preset") {
		t.Error(err)
	}
}
