package parser

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/record"
)

// loader is the output of an invented load generator.
const loader = `warming up {"phase": "warm-up", "rate": 1}
{not json}
{"summary": {"rate": "1234.5", "ops": 12345, "failed": 0, "elapsed": 10.0,
  "latency": {"mean": 8.1e6, "percentiles": {"50": 7500000, "99.9": 31000000}}},
 "rates": [1, 2], "gc": [{"name": "young", "ms": 41}, {"name": "full", "ms": -1}], "ok": true, "nothing": null}
done (exit 0)
`

func figuresOf(change func(*commandconfig.Figures)) commandconfig.Figures {
	f := commandconfig.Figures{
		Throughput: commandconfig.Figure{Selector: "$.summary.rate", Unit: "calls/s"},
		Operations: "$.summary.ops", Failures: "$.summary.failed", Seconds: "$.summary.elapsed",
		LatencyUnit: "ns", Latency: map[string]string{"mean": "$.summary.latency.mean", "p50": "$.summary.latency.percentiles['50']", "p999": `$.summary.latency.percentiles["99.9"]`},
		Metrics: []commandconfig.Figure{{Name: "gc-young", Selector: "$.gc[?@.name == 'young'].ms", Unit: "ms"}, {Name: "last", Selector: "$.gc[-1].ms", Unit: "ms"}},
	}
	change(&f)
	return f
}

// parseLoad returns the load of a run whose output is JSON.
func parseLoad(text string, figures commandconfig.Figures) (*record.Load, error) {
	got, err := ParseJSON(text, figures)
	return got.Load, err
}

func TestParseJSON_figures(t *testing.T) {
	load, err := parseLoad(loader, figuresOf(func(*commandconfig.Figures) {}))
	if err != nil {
		t.Fatal(err)
	}
	if load.Rate != 1234.5 || load.Unit != "calls/s" || load.Operations != 12345 || load.Seconds != 10 || len(load.Notes) != 0 || load.FailuresUncounted {
		t.Errorf("%+v", load)
	}
	if l := load.Latency; math.Abs(l.Mean-8.1) > 1e-9 || math.Abs(l.P50-7.5) > 1e-9 || math.Abs(l.P999-31) > 1e-9 || l.P99 != 0 {
		t.Errorf("%+v", l)
	}
	if m := load.Metrics; len(m) != 2 || m[0].Name != "gc-young" || *m[0].Value != 41 || *m[1].Value != -1 || m[1].Unit != "ms" {
		t.Errorf("%+v", m)
	}
	for unit, want := range map[string]float64{"ns": 8.1, "us": 8.1e3, "ms": 8.1e6, "s": 8.1e9} {
		load, err := parseLoad(loader, figuresOf(func(f *commandconfig.Figures) { f.LatencyUnit = unit }))
		if err != nil || math.Abs(load.Latency.Mean-want) > want*1e-9 {
			t.Errorf("in %s: %+v, %v", unit, load, err)
		}
	}
	only := commandconfig.Figures{Throughput: commandconfig.Figure{Selector: "$.rate", Unit: "MB/s"}}
	if load, err := parseLoad(`x {"rate": 3} y {"rate": 4}`, only); err != nil || load.Rate != 4 || load.Latency != nil || load.Seconds != 0 || !load.FailuresUncounted {
		t.Errorf("the last of two: %+v, %v", load, err)
	}
	load, err = parseLoad(strings.Replace(loader, "12345", "6000", 1), figuresOf(func(*commandconfig.Figures) {}))
	if err != nil || len(load.Notes) != 1 || !strings.Contains(load.Notes[0], "6000 operations in 10 s are 600/s") {
		t.Errorf("%+v, %v", load, err)
	}
	load, err = parseLoad(loader, figuresOf(func(f *commandconfig.Figures) {
		f.Throughput = commandconfig.Figure{Selector: "$.rates[1]", Unit: "MiB/s"}
	}))
	if err != nil || load.Rate != 2 || len(load.Notes) != 0 {
		t.Errorf("operations a second say nothing of MiB/s: %+v, %v", load, err)
	}
}

func TestParseJSON_invalidOutput_fails(t *testing.T) {
	for name, c := range map[string]struct {
		output string
		change func(*commandconfig.Figures)
		want   []string
	}{
		"no object":          {"nothing", func(*commandconfig.Figures) {}, []string{"printed no JSON object"}},
		"an array":           {"[1, 2]", func(*commandconfig.Figures) {}, []string{"printed no JSON object"}},
		"half an object":     {loader + `{"summary": {`, func(*commandconfig.Figures) {}, []string{"is incomplete"}},
		"none":               {loader, func(f *commandconfig.Figures) { f.Throughput.Selector = "$.summary.throughput" }, []string{"spec.workload.command.json.throughput: the path $.summary.throughput selects 0 values"}},
		"several":            {loader, func(f *commandconfig.Figures) { f.Operations = "$.rates[*]" }, []string{"json.operations: the path $.rates[*] selects 2 values"}},
		"an object":          {loader, func(f *commandconfig.Figures) { f.Seconds = "$.summary" }, []string{"json.seconds: the path $.summary selects an object instead of a number"}},
		"a truth":            {loader, func(f *commandconfig.Figures) { f.Seconds = "$.ok" }, []string{"json.seconds: the path $.ok selects true or false"}},
		"null":               {loader, func(f *commandconfig.Figures) { f.Seconds = "$.nothing" }, []string{"json.seconds: the path $.nothing selects null"}},
		"a name":             {loader, func(f *commandconfig.Figures) { f.Metrics[1].Selector = "$.gc[0].name" }, []string{`json.metrics[last]: the value at path $.gc[0].name is "young", which is no number`}},
		"below 0":            {loader, func(f *commandconfig.Figures) { f.Latency["max"] = "$.gc[1].ms" }, []string{"json.latency.max: the value at path $.gc[1].ms is -1, which is below 0"}},
		"a fraction":         {loader, func(f *commandconfig.Figures) { f.Failures = "$.summary.rate" }, []string{"json.failures: the value at path $.summary.rate is 1234.5, which is no whole number"}},
		"no path":            {loader, func(f *commandconfig.Figures) { f.Seconds = "$.summary[" }, []string{"json.seconds: the path $.summary[ is not a valid JSONPath (RFC 9535)"}},
		"no unit":            {loader, func(f *commandconfig.Figures) { f.LatencyUnit = "min" }, []string{`json.latency.unit: the unit "min" is not known: use ns, us, ms or s`}},
		"another percentile": {loader, func(f *commandconfig.Figures) { f.Latency["p95"] = "$.summary.ops" }, []string{"json.latency.p95: this latency is not known: use min, mean"}},
		"all at once":        {"{}", func(*commandconfig.Figures) {}, []string{"json.throughput", "json.operations", "json.failures", "json.seconds", "json.latency.mean", "json.latency.p50", "json.latency.p999", "json.metrics[gc-young]", "json.metrics[last]"}},
		"nothing was done":   {strings.Replace(loader, "1234.5", "0", 1), func(*commandconfig.Figures) {}, []string{"its throughput is 0 (spec.workload.command.json.throughput: $.summary.rate)"}},
		"in no time":         {strings.Replace(loader, "10.0", "0", 1), func(*commandconfig.Figures) {}, []string{"json.seconds: the value at path $.summary.elapsed is 0"}},
		"hexadecimal":        {strings.Replace(loader, `"1234.5"`, `"0x10"`, 1), func(*commandconfig.Figures) {}, []string{`is "0x10", which is no number`}},
		"infinite":           {strings.Replace(loader, `"1234.5"`, `"Inf"`, 1), func(*commandconfig.Figures) {}, []string{`is "Inf", which is no number`}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseLoad(c.output, figuresOf(c.change))
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%+v, %v, want %q", got, err, want)
				}
			}
		})
	}
}

// TestLastObject_longNoise_isSkipped checks that lastObject skips text that is not JSON in a time proportional to the length
// of the text.
func TestLastObject_longNoise_isSkipped(t *testing.T) {
	for name, noise := range map[string]string{
		"opened":     strings.Repeat("{", 300_000),
		"nested":     strings.Repeat(`{"a":`, 5_000) + "oops",
		"log fields": strings.Repeat("{x=1} ", 100_000),
	} {
		object, err := lastObject(noise + ` {"a": 1}`)
		if err != nil || fmt.Sprint(object["a"]) != "1" {
			t.Errorf("%s: %v, %v", name, object, err)
		}
	}
}

func TestExpand(t *testing.T) {
	values := map[string]string{"KNEE_CLIENTS": "16", "n": "$(KNEE_CLIENTS)", "a-b": "x", "EMPTY": ""}
	for text, want := range map[string]string{
		"":                               "",
		"-t $(KNEE_CLIENTS)":             "-t 16",
		"$(KNEE_CLIENTS)$(KNEE_CLIENTS)": "1616",
		"$(n)":                           "$(KNEE_CLIENTS)", // a value is not expanded again
		"$(a-b)/$(EMPTY)/":               "x//",
		"$(UNKNOWN)":                     "$(UNKNOWN)",
		"$$(KNEE_CLIENTS)":               "$(KNEE_CLIENTS)",
		"$$(UNKNOWN)":                    "$(UNKNOWN)",
		"$$$(KNEE_CLIENTS)":              "$$(KNEE_CLIENTS)",
		"$$":                             "$$",
		"$HOME ${HOME} $5 $ $(":          "$HOME ${HOME} $5 $ $(",
		"$()$(KNEE_CLIENTS":              "$()$(KNEE_CLIENTS",
		"$($(KNEE_CLIENTS))":             "$(16)",
		"$(date +%s)":                    "$(date +%s)",
	} {
		if got := Expand(text, values); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
