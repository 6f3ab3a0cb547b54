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

func FuzzFreon(f *testing.F) {
	for _, name := range []string{"freon-console.txt", "freon-notes.txt", "freon-log.txt", "freon-published-new.txt", "freon-published-old.txt"} {
		f.Add(readText(f, name))
	}
	f.Add("x\ncount = 1\nmean rate = 1e400 calls/second\nTotal execution time (sec): 0\nFailures: 0\nSuccessful executions: 1,000")
	f.Fuzz(func(t *testing.T, text string) {
		run, err := ParseFreon(text)
		if err != nil {
			return
		}
		if load := run.Load(); !finite(load) || load.Unit != "calls/s" || run.Count <= 0 {
			t.Errorf("%+v", load)
		}
		_ = run.Concurrency(10).Note()
	})
}

func FuzzJSONFigures(f *testing.F) {
	f.Add(loader, "$.summary.rate", "$.gc[?@.name == 'young'].ms")
	f.Add(`{"a":[1,{"b":"2e3"}]}`, "$..b", "$.a[0:1]")
	f.Add(`{"a":"x"} {"é":{"'":1}}`, `$["é"]['\'']`, "$[?length(@) > 0]")
	f.Fuzz(func(t *testing.T, text, throughput, metric string) {
		load, err := ParseJSONFigures(text, commandconfig.JSONFigures{Throughput: commandconfig.JSONMetric{Path: throughput, Unit: "calls/s"},
			Metrics: []commandconfig.JSONMetric{{Name: "m", Path: metric}}})
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
