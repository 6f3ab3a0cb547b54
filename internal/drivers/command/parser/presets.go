package parser

import "github.com/knee-bench/knee/internal/drivers/command/commandconfig"

// Preset returns the configuration with a name: how the output of a well-known program is read.
func Preset(name string) (commandconfig.Text, bool) {
	if name != "freon" {
		return commandconfig.Text{}, false
	}
	return freon(), true
}

// freon reads the summary of freon, the load generator of Apache Ozone (BaseFreonGenerator.printReport). On a terminal, freon
// prints the layout of metrics-core's ConsoleReporter. Without a terminal, for example in a pod, it writes the layout of the
// Slf4jReporter to its log: of metrics-core 4, or of metrics-core 3 with other names.
//
// The throughput is the mean rate of all calls, also of those that failed. The latencies come from a sample of 1,028 calls,
// which favours calls of the last five minutes (com.codahale.metrics.Timer). The total execution time is rounded to seconds and
// includes the start and the end of freon.
//
// The two counts may both be missing, for example in a text that a user copied. An output with several timers or runs is
// refused, because no line says which timer counts all calls: for such a program, use text with the name of the timer.
func freon() commandconfig.Text {
	rate := func(label, key string) string {
		return `^\s*` + label + `\s*=\s*(\S+)\s+(?:calls|events)/second\s*$|type=TIMER, .*\b` + key + `=(\S+?),\s.*\brate_unit=(?:calls|events)/second\b`
	}
	latency := func(label, key string) string {
		return `^\s*` + label + `\s*<?=\s*(\S+)\s+(?P<unit1>\w+)\s*$|type=TIMER, .*\b` + key + `=(\S+?),\s.*\bduration_unit=(?P<unit2>\w+)`
	}
	end := func(label string) string {
		return `^(?:\s*|.*\bBaseFreonGenerator\b.*\s)` + label + `:\s*(\S+)`
	}
	figure := func(name, pattern, unit string) commandconfig.Figure {
		return commandconfig.Figure{Name: name, Selector: pattern, Unit: unit}
	}
	return commandconfig.Text{
		SingleMatch: true, OptionalCounts: true, IncludesFailures: true,
		Figures: commandconfig.Figures{
			Throughput: figure("", rate("mean rate", "mean_rate"), "calls/s"),
			Operations: end("Successful executions"), Failures: end("Failures"), Seconds: end(`Total execution time \(sec\)`),
			LatencyUnit: "ms",
			Latency: map[string]string{
				"min": latency("min", "min"), "mean": latency("mean", "mean"), "p50": latency("median", "(?:p50|median)"), "p99": latency("99%", "p99"),
				"p999": latency(`99\.9%`, "p999"), "max": latency("max", "max"),
			},
			Metrics: []commandconfig.Figure{
				figure("rate-1m", rate("1-minute rate", "m1(?:_rate)?"), "calls/s"), figure("rate-5m", rate("5-minute rate", "m5(?:_rate)?"), "calls/s"),
				figure("rate-15m", rate("15-minute rate", "m15(?:_rate)?"), "calls/s"),
				figure("stddev", latency("stddev", "stddev"), "ms"), figure("p75", latency("75%", "p75"), "ms"),
				figure("p95", latency("95%", "p95"), "ms"), figure("p98", latency("98%", "p98"), "ms"),
			},
		},
	}
}
