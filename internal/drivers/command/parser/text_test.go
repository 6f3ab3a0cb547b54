package parser

import (
	"math"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
)

// wrk is an output in the layout of the HTTP load generator wrk.
const wrk = `Running 30s test @ http://127.0.0.1:8080/index.html
  12 threads and 400 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  22464657 requests in 30.00s, 17.76GB read
Requests/sec: 748868.53
Transfer/sec:    606.33MB
`

func wrkFigures(change func(*commandconfig.Text)) commandconfig.Text {
	c := commandconfig.Text{Figures: commandconfig.Figures{
		Throughput: commandconfig.Figure{Selector: `^Requests/sec:\s+(\S+)`, Unit: "requests/s"},
		Operations: `(\d+) requests in`, Seconds: `requests in (\S+),`,
		LatencyUnit: "us", Latency: map[string]string{"mean": `^\s+Latency\s+(\S+)`, "max": `^\s+Latency\s+\S+\s+\S+\s+(\S+)`},
		Metrics: []commandconfig.Figure{
			{Name: "transfer", Selector: `^Transfer/sec:\s+([0-9.]+)(?P<unit>\w+)`, Unit: "B"}, {Name: "of-a-thread", Selector: `Req/Sec\s+(\S+)`, Unit: "requests/s"},
			{Name: "stdev", Selector: `Latency\s+\S+\s+(\S+)`, Unit: "us"},
		},
	}}
	change(&c)
	return c
}

func TestParseText(t *testing.T) {
	got, err := ParseText(wrk, wrkFigures(func(*commandconfig.Text) {}))
	if err != nil {
		t.Fatal(err)
	}
	load := got.Load
	if load.Rate != 748868.53 || load.Unit != "requests/s" || load.Operations != 22464657 || load.Seconds != 30 || !load.FailuresUncounted || len(load.Notes) != 0 {
		t.Errorf("%+v", load)
	}
	if l := load.Latency; math.Abs(l.Mean-0.63591) > 1e-9 || math.Abs(l.Max-12.92) > 1e-9 || math.Abs(got.resolution-0.00001) > 1e-12 {
		t.Errorf("%+v, resolution %v", l, got.resolution)
	}
	for i, want := range []float64{606.33e6, 56200, 890} {
		if m := load.Metrics[i]; math.Abs(*m.Value-want) > want*1e-12 {
			t.Errorf("%s is %v, want %v", m.Name, *m.Value, want)
		}
	}
}

func TestParseText_severalLines_lastCounts(t *testing.T) {
	rate := func(text string, change func(*commandconfig.Text)) (float64, error) {
		c := commandconfig.Text{Figures: commandconfig.Figures{Throughput: commandconfig.Figure{Selector: `rate[:=] ?(-?\S+)`, Unit: "ops/s"}}}
		change(&c)
		got, err := ParseText(text, c)
		if err != nil {
			return 0, err
		}
		return got.Load.Rate, nil
	}
	for name, tt := range map[string]struct {
		text   string
		change func(*commandconfig.Text)
		want   float64
	}{
		"the last line":          {"rate=1\nrate=2\nend", func(*commandconfig.Text) {}, 2},
		"the first in a line":    {"rate=1 rate=2", func(*commandconfig.Text) {}, 1},
		"progress":               {"rate=1\rrate=2\rrate=3", func(*commandconfig.Text) {}, 3},
		"after a line":           {"read:\nrate=1\nwrite:\nrate=2\n", func(c *commandconfig.Text) { c.After = "^write:$"; c.SingleMatch = true }, 2},
		"a prefix":               {"rate=1.5k", func(*commandconfig.Text) {}, 1500},
		"a binary prefix":        {"rate=2Ki", func(*commandconfig.Text) {}, 2048},
		"a prefix with the unit": {"rate=2Mops/s", func(*commandconfig.Text) {}, 2e6},
		"the unit":               {"rate=2ops/s", func(*commandconfig.Text) {}, 2},
		"thousands":              {"rate=1,234.5", func(*commandconfig.Text) {}, 1234.5},
		"an exponent":            {"rate=1.5e3", func(*commandconfig.Text) {}, 1500},
		"alternatives": {"speed 7 k", func(c *commandconfig.Text) {
			c.Throughput.Selector = `rate=(\S+)(?P<unit>\w)|speed (\S+) (?P<unit2>\w)`
		}, 7000},
	} {
		if got, err := rate(tt.text, tt.change); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, tt.want)
		}
	}
	for name, tt := range map[string]struct {
		text   string
		change func(*commandconfig.Text)
		want   string
	}{
		"none":              {"speed=1", func(*commandconfig.Text) {}, "spec.workload.command.text.throughput: no line of the output matches the pattern"},
		"not after a line":  {"rate=1", func(c *commandconfig.Text) { c.After = "^write:$" }, "text.after: no line of the output matches the pattern ^write:$"},
		"several":           {"rate=1\nrate=2", func(c *commandconfig.Text) { c.SingleMatch = true }, "several lines of the output match"},
		"no number":         {"rate=fast", func(*commandconfig.Text) {}, `"fast" is no number`},
		"below 0":           {"rate=-1", func(*commandconfig.Text) {}, "is -1, which is below 0"},
		"0":                 {"rate=0.0", func(*commandconfig.Text) {}, "its throughput is 0"},
		"an ambiguous rate": {"rate=1,234", func(*commandconfig.Text) {}, "it is not clear whether its separator marks decimals or thousands"},
		"an unknown unit":   {"rate=3ms", func(*commandconfig.Text) {}, `the unit "ms" is not known: the figure is in "ops/s"`},
		"one count of two": {"rate=3\nok=2", func(c *commandconfig.Text) {
			c.OptionalCounts = true
			c.Operations = `ok=(\d+)`
			c.Failures = `failed=(\d+)`
		}, "text.failures: no line"},
		"too large": {"rate=1e308k", func(*commandconfig.Text) {}, "is too large"},
		"no group":  {"rate=3", func(c *commandconfig.Text) { c.Throughput.Selector = "rate=[0-9]" }, "has no group for the number"},
	} {
		if got, err := rate(tt.text, tt.change); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v, want %q", name, got, err, tt.want)
		}
	}
}

func TestCheckPattern(t *testing.T) {
	for pattern, want := range map[string]string{
		`rate: ([0-9.]+)`:                       "",
		`(?P<unit>k)(\d)`:                       "",
		`rate: [0-9]+`:                          "has no group for the number",
		`rate: [0-9]+(?P<unit>k)`:               "has no group for the number",
		`(`:                                     "is not a valid regular expression (RE2)",
		`(a)(?!b)`:                              "is not a valid regular expression (RE2)",
		`(a{1000})`:                             "the pattern is too large",
		`((a{10}){10}){10}`:                     "the pattern is too large",
		`(x)` + strings.Repeat("a", maxPattern): "may have at most 512",
	} {
		err := CheckPattern(pattern)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.30s: %v, want %q", pattern, err, want)
		}
	}
	if err := CheckLinePattern("^write:$"); err != nil {
		t.Error(err)
	}
}

// TestParseText_longOutput_isReadInOnePass checks a text of the size that Knee keeps, with patterns and lines that a backtracking
// matcher reads in exponential or quadratic time.
func TestParseText_longOutput_isReadInOnePass(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", 256<<10), strings.Repeat("aaaaaaaa\n", 32<<10)} {
		c := commandconfig.Text{Figures: commandconfig.Figures{Throughput: commandconfig.Figure{Selector: `(a*)*(a|aa)*b(\d+)`}}}
		if _, err := ParseText(text, c); err == nil || !strings.Contains(err.Error(), "no line of the output matches") {
			t.Error(err)
		}
	}
}

// TestParseText_includedFailuresWithoutCounts_fails checks that a throughput that includes failed operations is never taken as it is
// because a count has no pattern.
func TestParseText_includedFailuresWithoutCounts_fails(t *testing.T) {
	for name, c := range map[string]commandconfig.Text{
		"no pattern":    {},
		"no failures":   {Figures: commandconfig.Figures{Operations: `ok (\d+)`}},
		"no operations": {Figures: commandconfig.Figures{Failures: `bad (\d+)`}},
	} {
		c.IncludesFailures = true
		c.Throughput = commandconfig.Figure{Selector: `rate (\d+)`, Unit: "calls/s"}
		got, err := ParseText("rate 100\nok 50\nbad 50\n", c)
		if err == nil || !strings.Contains(err.Error(), "text.throughputIncludesFailures: add patterns for operations and failures") {
			t.Errorf("%s: %+v, %v", name, got.Load, err)
		}
	}
}
