package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// columnsOf are the columns of a campaign's results.csv: those of a load that fills no index lack what only an index has.
func columnsOf(in Input) []column {
	if fillsIndex(in) {
		return withChecks(in, resultColumns)
	}
	var out []column
	for _, c := range resultColumns {
		if slices.Contains(ofIndex, c.name) {
			continue
		}
		rate := c.name == rateMeasure
		c.name = named(in, c.name)
		switch {
		case rate:
			c.help = "operations that succeeded a second, by the driver; empty when Errored"
			out = append(out, c, column{"unit", "of rate", func(attempt) string { return unit(in) }})
			continue
		case strings.HasPrefix(c.name, "latency_"):
			c.help = "of one request, by the driver"
		case c.name == "error_rate":
			c.help = "share of the operations that failed, 0 to 1; empty where the driver does not count them"
		}
		c.help = strings.NewReplacer("docs/s", unit(in), rateMeasure, "rate", "the documents accepted, as they were sent,", "the operations' bytes").Replace(c.help)
		out = append(out, c)
	}
	out = append(out, loadColumns...)
	for _, name := range metricNames(in) {
		m := metricMeasure(in, name)
		out = append(out, column{m.name, strings.TrimSpace("a metric that the campaign asks for; " + m.unit), formatted(m.of)})
	}
	return out
}

// loadColumns are what only a load that fills no index has.
var loadColumns = []column{
	{"operations", "that succeeded", ofLoadText(func(l record.Load) string { return knownInt(l.Operations) })},
	{"failed_operations", "that did not; empty where the driver counts none", ofLoadText(func(l record.Load) string {
		if l.FailuresUncounted || l.Operations+l.Failures == 0 {
			return ""
		}
		return strconv.FormatInt(l.Failures, 10)
	})},
	{"latency_mean_ms", "of one request, by the driver", latency(func(l record.Latency) float64 { return l.Mean })},
	{"corrections", "where the driver's figures contradict each other, or are missing", ofLoadText(func(l record.Load) string { return strings.Join(l.Notes, "; ") })},
}

func ofLoadText(of func(record.Load) string) func(attempt) string {
	return func(a attempt) string {
		if a.record.Load == nil {
			return ""
		}
		return of(*a.record.Load)
	}
}
