package parser

import (
	"math"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/record"
)

// finite reports whether all figures of a load can be compared and written.
func finite(l *record.Load) bool {
	figures := []float64{l.Rate, l.Seconds, l.MiBs}
	if l.Latency != nil {
		figures = append(figures, l.Latency.Min, l.Latency.Mean, l.Latency.P50, l.Latency.P90, l.Latency.P99, l.Latency.P999, l.Latency.Max)
	}
	for _, f := range figures {
		if math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
			return false
		}
	}
	return true
}

func FuzzPresetFreon(f *testing.F) {
	for _, name := range []string{"freon-console.txt", "freon-notes.txt", "freon-log.txt", "freon-published-new.txt", "freon-published-old.txt", "freon-ozone-2.2.0.txt"} {
		f.Add(readText(f, name))
	}
	f.Add("x\ncount = 1\nmean rate = 1e400 calls/second\nTotal execution time (sec): 0\nFailures: 0\nSuccessful executions: 1,000")
	f.Fuzz(func(t *testing.T, text string) {
		run, err := parseFreon(text)
		if err != nil {
			return
		}
		if load := run.Load; !finite(load) || load.Unit != "calls/s" || load.Rate <= 0 {
			t.Errorf("%+v", load)
		}
		_ = run.Concurrency(1, 10).Note()
	})
}

func FuzzParseJSON(f *testing.F) {
	f.Add(loader, "$.summary.rate", "$.gc[?@.name == 'young'].ms")
	f.Add(`{"a":[1,{"b":"2e3"}]}`, "$..b", "$.a[0:1]")
	f.Add(`{"a":"x"} {"é":{"'":1}}`, `$["é"]['\'']`, "$[?length(@) > 0]")
	f.Fuzz(func(t *testing.T, text, throughput, metric string) {
		run, err := ParseJSON(text, commandconfig.Figures{Throughput: commandconfig.Figure{Selector: throughput, Unit: "calls/s"},
			Metrics: []commandconfig.Figure{{Name: "m", Selector: metric}}})
		load := run.Load
		if err != nil {
			if load != nil {
				t.Errorf("%+v with %v", load, err)
			}
			return
		}
		if !finite(load) || load.Rate <= 0 || math.IsNaN(*load.Metrics[0].Value) || math.IsInf(*load.Metrics[0].Value, 0) {
			t.Errorf("%+v", load)
		}
	})
}

// FuzzParseText checks that no pattern and no output makes a figure that cannot be compared, and that an accepted pattern reads
// a text of the size that Knee keeps in a bounded time: the fuzzer itself reports an input that takes too long.
func FuzzParseText(f *testing.F) {
	f.Add("Requests/sec: 12.3k\nlatency 1,5ms\n", `Requests/sec: (\S+)`, `latency (\S+?)(?P<unit>[a-z]+)`, "ops/s")
	f.Add(wrk, `^Requests/sec:\s+(\S+)`, `Latency\s+(\S+)`, "requests/s")
	f.Add("rate=1e308 rate=-3Gi", `rate=(-?[0-9.e]+)(?P<unit>[a-zA-Z]*)$`, `((a{10}){10}){10}(x)`, "MB/s")
	f.Fuzz(func(t *testing.T, text, throughput, latency, unit string) {
		run, err := ParseText(text, commandconfig.Text{Figures: commandconfig.Figures{Throughput: commandconfig.Figure{Selector: throughput, Unit: unit}, Seconds: latency,
			LatencyUnit: "us", Latency: map[string]string{"mean": latency}}, IncludesFailures: true, OptionalCounts: true})
		if err != nil {
			if run.Load != nil {
				t.Errorf("%+v with %v", run.Load, err)
			}
			return
		}
		if !finite(run.Load) || run.Load.Rate <= 0 {
			t.Errorf("%+v", run.Load)
		}
		_ = run.Concurrency(1, 10).Note()
	})
}

// FuzzExpand checks texts without $$. In these texts, Expand only replaces $(x) with the value of x.
func FuzzExpand(f *testing.F) {
	f.Add("-t $(x) $(y) $(", "16")
	f.Add("$$$(x)$(x)", "$(x)")
	f.Fuzz(func(t *testing.T, text, value string) {
		if strings.Contains(text, "$$(") {
			return
		}
		if got, want := Expand(text, map[string]string{"x": value}), strings.ReplaceAll(text, "$(x)", value); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	})
}
