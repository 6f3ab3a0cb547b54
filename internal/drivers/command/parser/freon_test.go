package parser

import (
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
)

func readText(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/freon/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// newFlow holds the figures of a published run. The outputs that were written for these tests show the same figures.
var newFlow = Freon{Timer: "key-read-write-list", Count: 10_000_000, MeanRate: 19565.78, Rate1: 19512.40, Rate5: 19583.11, Rate15: 18204.92,
	Min: 3.02, Max: 25.84, Mean: 4.67, StdDev: 2.14, Median: 4.26, P75: 4.71, P95: 6.38, P98: 12.55, P99: 16.30, P999: 25.84,
	Seconds: 513, Successes: 10_000_000, Resolution: 0.01}

func TestParseFreon_layouts(t *testing.T) {
	for name, c := range map[string]struct {
		text      string
		unnamed   bool
		precision float64
	}{
		"a terminal's":               {text: readText(t, "freon-console.txt")},
		"not indented, blank lines":  {text: readText(t, "freon-notes.txt"), unnamed: true},
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
			got, err := ParseFreon(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if c.unnamed {
				got.Timer = newFlow.Timer
			}
			if c.precision > 0 {
				near(t, &got, newFlow, c.precision)
			}
			if got != newFlow {
				t.Errorf("got  %+v\nwant %+v", got, newFlow)
			}
		})
	}
}

// near copies a figure of want to got if the two differ by at most precision.
func near(t *testing.T, got *Freon, want Freon, precision float64) {
	t.Helper()
	g, w := reflect.ValueOf(got).Elem(), reflect.ValueOf(want)
	for i := range g.NumField() {
		if g.Field(i).Kind() == reflect.Float64 && math.Abs(g.Field(i).Float()-w.Field(i).Float()) <= precision {
			g.Field(i).SetFloat(w.Field(i).Float())
		}
	}
	if math.IsInf(got.Resolution, 0) || got.Resolution > 0.01 {
		t.Errorf("resolution %v", got.Resolution)
	}
	got.Resolution = want.Resolution
}

func TestParseFreon_incompleteOutput_fails(t *testing.T) {
	console, log := readText(t, "freon-console.txt"), readText(t, "freon-log.txt")
	timers, _, _ := strings.Cut(console, "Total")
	for name, c := range map[string]struct{ text, want string }{
		"nothing":         {"", "lacks a timer's figures"},
		"another program": {"Executing: 100%\nFailures: 0\n", `"Total execution time (sec):", "Successful executions:"`},
		"no end":          {timers, `lacks "Total execution time (sec):", "Failures:", "Successful executions:"`},
		"no failures":     {strings.Replace(console, "Failures:", "Errors:", 1), `lacks "Failures:"`},
		"no successes":    {strings.Replace(console, "Successful", "Good", 1), `lacks "Successful executions:"`},
		"uncounted, two timers": {strings.NewReplacer("Failures:", "x:", "Successful", "x").Replace(log) + log[strings.Index(log, "2024-06-11 08:21:13,340"):strings.Index(log, "2024-06-11 08:21:13,342")],
			"Knee cannot find out which timer counts the executions"},
		"one percentile":      {strings.Replace(console, "98% <=", "98th <=", 1), `lacks "98%"`},
		"no mean":             {strings.Replace(console, " mean = ", " average = ", 1), `lacks "mean"`},
		"no count":            {strings.Replace(console, "count =", "number =", 1), `has no line "count" before it`},
		"no rate in the log":  {strings.Replace(log, "mean_rate=", "rate=", 1), `lacks "mean rate"`},
		"not a number":        {strings.Replace(console, "16.30", "NaN", 1), `"99%": "NaN" is no number`},
		"a negative number":   {strings.Replace(console, "16.30", "-16.30", 1), `"99%": "-16.30" is no number`},
		"two readings":        {strings.Replace(console, "19565.78", "19,565", 1), `"mean rate": "19,565" is no number, or it is not clear whether its separator marks decimals or thousands`},
		"half a call":         {strings.Replace(console, "executions: 10000000", "executions: 1.5", 1), `"Successful executions": "1.5" is no whole number`},
		"another rate":        {strings.Replace(console, "19565.78 calls/second", "19565.78 calls/minute", 1), `"mean rate": the unit "calls/minute" is not known`},
		"no unit":             {strings.Replace(console, "16.30 milliseconds", "16.30", 1), `"99%": the unit "" is not known`},
		"no unit in the log":  {strings.Replace(log, "duration_unit", "unit", 1), `the unit "none" is not known`},
		"two runs":            {console + console, "occurs twice"},
		"a figure twice":      {strings.Replace(console, "               max", "               min = 3.01 milliseconds\n               max", 1), `"min" occurs twice`},
		"no call":             {strings.NewReplacer("count = 10000000", "count = 0", "executions: 10000000", "executions: 0").Replace(console), "made no call"},
		"two timers, neither": {strings.Replace(log, "count=10000000", "count=3", 1) + strings.Replace(log[strings.Index(log, "2024-06-11 08:21:13,340"):strings.Index(log, "2024-06-11 08:21:13,342")], "count=10000000", "count=4", 1), "Knee cannot find out which timer counts the 10000000 executions"},
		"too many":            {strings.Replace(console, "executions: 10000000", "executions: 99999999999999999999", 1), "no whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := ParseFreon(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestParseFreon_severalTimers_takesTimerOfAllExecutions checks an output with several timers: the timer of all executions counts.
func TestParseFreon_severalTimers_takesTimerOfAllExecutions(t *testing.T) {
	log := readText(t, "freon-log.txt")
	line := log[strings.Index(log, "2024-06-11 08:21:13,340"):strings.Index(log, "2024-06-11 08:21:13,342")]
	got, err := ParseFreon(strings.NewReplacer("key-read-write-list", "part", "count=10000000", "count=40", "19565.779183", "7.5").Replace(line) + log)
	if err != nil || got.Timer != "key-read-write-list" || math.Abs(got.MeanRate-19565.78) > 0.01 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestParseFreon_ozoneOutput(t *testing.T) {
	got, err := ParseFreon(readText(t, "freon-ozone-2.2.0.txt"))
	want := Freon{Timer: "key-read-write-list", Count: 5000, MeanRate: 60.56650623007547, Rate1: 56.73736367755287, Rate5: 18.534970979858496, Rate15: 10.347282477429033,
		Min: 3.408185, Max: 1123.901025, Mean: 99.24992638371494, StdDev: 138.599838191435, Median: 38.640891, P75: 119.414062, P95: 374.47048, P98: 575.228469, P99: 700.354914, P999: 1089.248509,
		Seconds: 95, Successes: 5000, Resolution: got.Resolution}
	if err != nil || got != want || got.Resolution > 1e-5 {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
}

// TestParseFreon_publishedSummaries checks two published summaries: one of the new flow and one of the old flow. Both come from
// the same document.
func TestParseFreon_publishedSummaries(t *testing.T) {
	want := newFlow
	want.Rate1, want.Rate5, want.Rate15 = 19989.40, 18552.83, 16043.74
	want.StdDev, want.P75, want.P95, want.P98, want.P999 = 2.02, 4.64, 6.40, 14.51, 18.39
	if got, err := ParseFreon(readText(t, "freon-published-new.txt")); err != nil || got != want {
		t.Errorf("new flow: %v\ngot  %+v\nwant %+v", err, got, want)
	}
	want = Freon{Timer: "key-read-write-list", Count: 10_000_000, MeanRate: 5913.05, Rate1: 5822.04, Rate5: 5859.77, Rate15: 5567.46,
		Min: 12.08, Max: 927.93, Mean: 17.38, StdDev: 27.01, Median: 14.94, P75: 16.25, P95: 32.03, P98: 35.81, P99: 39.04, P999: 76.52,
		Seconds: 1693, Uncounted: true, Resolution: 0.01}
	got, err := ParseFreon(readText(t, "freon-published-old.txt"))
	if err != nil || got != want {
		t.Fatalf("old flow: %v\ngot  %+v\nwant %+v", err, got, want)
	}
	load := got.Load()
	if load.Rate != 5913.05 || load.Operations != 0 || load.Failures != 0 || !load.FailuresUncounted || load.Seconds != 1693 {
		t.Errorf("old flow: %+v", load)
	}
	if len(load.Notes) != 2 || !strings.Contains(load.Notes[0], `no line "Failures" and no line "Successful executions"`) ||
		!strings.Contains(load.Notes[1], "10000000 timed calls in 1693 s are 5906.67 calls/s (at most 5908.42") {
		t.Errorf("old flow: notes %q", load.Notes)
	}
}

func TestFreonLoad(t *testing.T) {
	load := newFlow.Load()
	if load.Rate != 19565.78 || load.Unit != "calls/s" || load.Operations != 10_000_000 || load.Failures != 0 || load.Seconds != 513 {
		t.Errorf("%+v", load)
	}
	if l := load.Latency; l.Min != 3.02 || l.Mean != 4.67 || l.P50 != 4.26 || l.P90 != 0 || l.P99 != 16.30 || l.P999 != 25.84 || l.Max != 25.84 {
		t.Errorf("latency %+v", l)
	}
	// 10,000,000 calls in at least 512.5 s (513 s rounded) are at most 19512.20 a second. So the printed mean rate
	// contradicts the printed time.
	if len(load.Notes) != 1 || !strings.Contains(load.Notes[0], "19493.18 calls/s (at most 19512.20") || !strings.Contains(load.Notes[0], "19565.78") {
		t.Errorf("notes %q", load.Notes)
	}
	agree := newFlow
	agree.Seconds = 511
	if notes := agree.Load().Notes; len(notes) != 0 {
		t.Errorf("within rounding: %q", notes)
	}
	failed := agree
	failed.Successes, failed.Failures = 7_500_000, 2_500_000
	if load := failed.Load(); math.Abs(load.Rate-0.75*19565.78) > 1e-6 || load.Operations != 7_500_000 || load.Failures != 2_500_000 {
		t.Errorf("a call that failed counts: %+v", load)
	}
	short := newFlow
	short.Seconds, short.Successes, short.Count = 0, 100, 100
	if notes := short.Load().Notes; len(notes) != 0 {
		t.Errorf("in less than half a second: %q", notes)
	}
	odd := agree
	odd.Count, odd.P99 = 5, 100
	if notes := odd.Load().Notes; len(notes) != 2 || !strings.Contains(notes[0], "timed 5 calls") || !strings.Contains(notes[1], "are not in ascending order") {
		t.Errorf("%q", notes)
	}
}

func TestFreonConcurrency(t *testing.T) {
	if got := newFlow.Concurrency(100).Note(); !strings.Contains(got, "91.4 calls in flight of 100") {
		t.Errorf("%q", got)
	}
}
