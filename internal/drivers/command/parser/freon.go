package parser

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/drivers/output"
	"github.com/knee-bench/knee/internal/record"
)

// Freon holds the figures in the summary of a run of freon, the load generator of Apache Ozone
// (BaseFreonGenerator.printReport). Rates are converted to calls/s and latencies to ms.
type Freon struct {
	Timer string // name of the timer; empty if freon printed no timer
	Count int64  // number of timed calls, including failed calls

	MeanRate, Rate1, Rate5, Rate15 float64 // calls/s, including failed calls

	// These figures come from a sample of 1,028 calls. The sample favours calls of the last five minutes
	// (com.codahale.metrics.Timer).
	Min, Max, Mean, StdDev, Median, P75, P95, P98, P99, P999 float64 // ms

	Seconds   int64 // from the start to the end of freon, rounded to seconds
	Failures  int64
	Successes int64
	Uncounted bool // the output contains neither Failures nor Successful executions: both counts are unknown, not 0

	Resolution float64 // value of the last printed digit of the latencies, ms
}

// figure describes one figure of a timer: its names in freon's output and its field in Freon.
type figure struct {
	label string // name in the console layout
	keys  []string
	of    func(*Freon) *float64
	rate  bool // true: the figure is a rate; false: a duration
}

// figures lists all figures of a timer except its count. keys are the names in the log layout: first the name of metrics-core
// 4, then that of metrics-core 3 if it differs.
var figures = []figure{
	{"mean rate", []string{"mean_rate"}, func(f *Freon) *float64 { return &f.MeanRate }, true},
	{"1-minute rate", []string{"m1_rate", "m1"}, func(f *Freon) *float64 { return &f.Rate1 }, true},
	{"5-minute rate", []string{"m5_rate", "m5"}, func(f *Freon) *float64 { return &f.Rate5 }, true},
	{"15-minute rate", []string{"m15_rate", "m15"}, func(f *Freon) *float64 { return &f.Rate15 }, true},
	{"min", []string{"min"}, func(f *Freon) *float64 { return &f.Min }, false},
	{"max", []string{"max"}, func(f *Freon) *float64 { return &f.Max }, false},
	{"mean", []string{"mean"}, func(f *Freon) *float64 { return &f.Mean }, false},
	{"stddev", []string{"stddev"}, func(f *Freon) *float64 { return &f.StdDev }, false},
	{"median", []string{"p50", "median"}, func(f *Freon) *float64 { return &f.Median }, false},
	{"75%", []string{"p75"}, func(f *Freon) *float64 { return &f.P75 }, false},
	{"95%", []string{"p95"}, func(f *Freon) *float64 { return &f.P95 }, false},
	{"98%", []string{"p98"}, func(f *Freon) *float64 { return &f.P98 }, false},
	{"99%", []string{"p99"}, func(f *Freon) *float64 { return &f.P99 }, false},
	{"99.9%", []string{"p999"}, func(f *Freon) *float64 { return &f.P999 }, false},
}

var (
	// freonLine matches a line of the console layout (ConsoleReporter of metrics-core), with or without indentation.
	freonLine = regexp.MustCompile(`^\s*(count|mean rate|1-minute rate|5-minute rate|15-minute rate|min|max|mean|stddev|median|75%|95%|98%|99%|99\.9%)\s*<?=\s*(.*?)\s*$`)
	// freonEnd matches a line at the end of the summary, with or without the prefix of freon's log.
	freonEnd = regexp.MustCompile(`^(?:\s*|.*\bBaseFreonGenerator\b.*?\s)(Total execution time \(sec\)|Failures|Successful executions):[ \t]*(.*?)\s*$`)
)

// freonTimer holds the printed figures of one timer. The key of texts is the label of a figure.
type freonTimer struct {
	name           string
	texts          map[string]string
	rateUnit, unit string // set in the log layout, which prints units separately from numbers
}

// ParseFreon parses freon's summary. Freon prints the console layout on a terminal. Without a terminal, for example in a pod,
// it prints the log layout.
//
// ParseFreon returns an error that names the figure if a figure is missing, occurs twice, or is not a number. Failures and
// Successful executions may both be missing, for example in a text that a user copied. Then the run is Uncounted. If only one
// of the two is missing, ParseFreon returns an error.
func ParseFreon(text string) (Freon, error) {
	timers, ends, err := freonTexts(text)
	if err != nil {
		return Freon{}, err
	}
	var f Freon
	var missing []string
	for _, end := range []struct {
		label string
		to    *int64
	}{{"Total execution time (sec)", &f.Seconds}, {"Failures", &f.Failures}, {"Successful executions", &f.Successes}} {
		found, ok := ends[end.label]
		if !ok {
			missing = append(missing, strconv.Quote(end.label+":"))
			continue
		}
		if *end.to, err = output.WholeNumber(output.FirstWord(found)); err != nil {
			return f, fmt.Errorf("freon's %q: %w", end.label, err)
		}
	}
	if len(timers) == 0 {
		missing = append([]string{"a timer's figures (count, mean rate, min, max, ...)"}, missing...)
	} else if slices.Equal(missing, []string{`"Failures:"`, `"Successful executions:"`}) {
		f.Uncounted, missing = true, nil
	}
	if len(missing) > 0 {
		return f, fmt.Errorf("freon's summary lacks %s", strings.Join(missing, ", "))
	}
	return f, f.readTimers(timers)
}

// freonTexts finds the timers and the lines at the end of the summary.
func freonTexts(text string) (timers []freonTimer, ends map[string]string, err error) {
	ends = map[string]string{}
	last := ""
	for _, line := range output.SplitLines(text) {
		if m := freonEnd.FindStringSubmatch(line); m != nil {
			if _, twice := ends[m[1]]; twice {
				return nil, nil, fmt.Errorf("the line %q occurs twice in freon's output, but the output must contain only one run of freon", m[1])
			}
			ends[m[1]] = m[2]
			continue
		}
		if _, fields, found := strings.Cut(line, "type=TIMER, "); found {
			timers = append(timers, loggedTimer(fields))
			continue
		}
		m := freonLine.FindStringSubmatch(line)
		if m == nil {
			if strings.TrimSpace(line) != "" {
				last = strings.TrimSpace(line)
			}
			continue
		}
		if m[1] == "count" {
			timers = append(timers, freonTimer{name: last, texts: map[string]string{}})
		}
		if len(timers) == 0 || timers[len(timers)-1].unit != "" {
			return nil, nil, fmt.Errorf("the figure %q in freon's output has no line %q before it, so Knee cannot assign the figure to a timer", m[1], "count")
		}
		timer := timers[len(timers)-1]
		if _, twice := timer.texts[m[1]]; twice {
			return nil, nil, fmt.Errorf("the figure %q occurs twice for one timer in freon's output", m[1])
		}
		timer.texts[m[1]] = m[2]
	}
	return timers, ends, nil
}

// loggedTimer parses the line of a timer in the log layout (Slf4jReporter of metrics-core).
func loggedTimer(fields string) freonTimer {
	t := freonTimer{texts: map[string]string{}, unit: "none"}
	values := map[string]string{}
	for _, field := range strings.Split(fields, ", ") {
		key, value, _ := strings.Cut(field, "=")
		values[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	t.name = values["name"]
	if unit := values["duration_unit"]; unit != "" {
		t.unit = unit
	}
	t.rateUnit = values["rate_unit"]
	if count, ok := values["count"]; ok {
		t.texts["count"] = count
	}
	for _, fig := range figures {
		for _, key := range fig.keys {
			if value, ok := values[key]; ok {
				t.texts[fig.label] = value
			}
		}
	}
	return t
}

// readTimers reads the figures of the timer. If there are several timers, it selects the timer whose count equals the number
// of all executions.
func (f *Freon) readTimers(timers []freonTimer) error {
	var found []Freon
	var names []string
	for _, t := range timers {
		one := *f
		if err := one.read(t); err != nil {
			return err
		}
		names = append(names, fmt.Sprintf("%s (count %d)", t.name, one.Count))
		if len(timers) == 1 || !f.Uncounted && one.Count == f.Successes+f.Failures {
			found = append(found, one)
		}
	}
	if len(found) != 1 {
		executions := fmt.Sprintf("%d executions", f.Successes+f.Failures)
		if f.Uncounted {
			executions = "executions"
		}
		return fmt.Errorf("freon printed the timers %s; Knee cannot find out which timer counts the %s", strings.Join(names, ", "), executions)
	}
	*f = found[0]
	if f.Count == 0 {
		return fmt.Errorf("freon made no call: its %q is 0", "count")
	}
	return nil
}

// read parses the figures of a timer.
func (f *Freon) read(t freonTimer) (err error) {
	f.Timer = t.name
	var missing []string
	if text, ok := t.texts["count"]; !ok {
		missing = append(missing, `"count"`)
	} else if f.Count, err = output.WholeNumber(output.FirstWord(text)); err != nil {
		return fmt.Errorf("freon's %q: %w", "count", err)
	}
	f.Resolution = math.Inf(1)
	for _, fig := range figures {
		text, ok := t.texts[fig.label]
		if !ok {
			missing = append(missing, strconv.Quote(fig.label))
			continue
		}
		value, factor, err := t.measure(fig, text)
		if err != nil {
			return fmt.Errorf("freon's %q: %w", fig.label, err)
		}
		*fig.of(f) = value * factor
		if !fig.rate {
			f.Resolution = min(f.Resolution, factor*output.LastDigit(output.FirstWord(text)))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("freon's summary lacks %s", strings.Join(missing, ", "))
	}
	return nil
}

// measure parses the number of a figure. It also returns the factor that converts the unit to ms or calls/s.
func (t freonTimer) measure(fig figure, text string) (value, factor float64, err error) {
	if value, err = output.Decimal(output.FirstWord(text)); err != nil {
		return 0, 0, err
	}
	unit := t.unit
	if fig.rate {
		unit = t.rateUnit
	}
	if t.unit == "" { // the unit follows the number
		unit = output.FirstWord(strings.TrimLeft(strings.TrimPrefix(text, output.FirstWord(text)), " \t"))
	}
	known := durations
	if fig.rate {
		known = rates
	}
	factor, ok := known[unit]
	if !ok {
		return 0, 0, fmt.Errorf("the unit %q is not known", unit)
	}
	return value, factor, nil
}

var (
	durations = map[string]float64{"nanoseconds": 1e-6, "microseconds": 1e-3, "milliseconds": 1, "seconds": 1e3}
	rates     = map[string]float64{"calls/second": 1, "events/second": 1}
)

// Load converts the run to a load of a record. It does not set From and To.
//
// Variants are compared by Rate. Rate is freon's mean rate, reduced by the share of failed calls. The number of executions
// divided by the total execution time would be less exact: that time is rounded to seconds (5 % of a run of 10 s), and it
// includes the start and the end of freon. If the two rates differ by more than this rounding, a note reports this. For an
// uncounted run, Rate is the mean rate itself, and a note reports that it may include failed calls.
func (f Freon) Load() *record.Load {
	done := f.Successes + f.Failures
	load := &record.Load{Seconds: float64(f.Seconds), Unit: "calls/s", Operations: f.Successes, Failures: f.Failures, FailuresUncounted: f.Uncounted,
		Latency: &record.Latency{Min: f.Min, Mean: f.Mean, P50: f.Median, P99: f.P99, P999: f.P999, Max: f.Max}}
	switch {
	case f.Uncounted:
		load.Rate = f.MeanRate
	case done > 0:
		load.Rate = f.MeanRate * float64(f.Successes) / float64(done)
	}
	for _, m := range []struct {
		name, unit string
		value      float64
	}{{"rate-1m", "calls/s", f.Rate1}, {"rate-5m", "calls/s", f.Rate5}, {"rate-15m", "calls/s", f.Rate15},
		{"stddev", "ms", f.StdDev}, {"p75", "ms", f.P75}, {"p95", "ms", f.P95}, {"p98", "ms", f.P98}} {
		load.Metrics = append(load.Metrics, record.Metric{Name: m.name, Value: &m.value, Unit: m.unit})
	}
	load.Notes = f.notes(load.Rate)
	return load
}

// notes returns remarks about figures of freon that contradict each other or are missing.
func (f Freon) notes(rate float64) []string {
	var out []string
	calls, what := f.Successes, "successful executions"
	if f.Uncounted {
		out = append(out, `freon's output has no line "Failures" and no line "Successful executions": the share of failed calls is not known, and the mean rate may include failed calls`)
		calls, what = f.Count, "timed calls"
	}
	const rounding = 0.5 // largest rounding error of the total execution time, s
	least, most := float64(calls)/(float64(f.Seconds)+rounding), math.Inf(1)
	if float64(f.Seconds) > rounding {
		most = float64(calls) / (float64(f.Seconds) - rounding)
	}
	if rate < least || rate > most {
		out = append(out, fmt.Sprintf("%d %s in %d s are %.2f calls/s (at most %.2f, because the time is rounded), but freon's mean rate is %.2f",
			calls, what, f.Seconds, float64(calls)/math.Max(float64(f.Seconds), rounding), most, rate))
	}
	if done := f.Successes + f.Failures; !f.Uncounted && f.Count != done {
		out = append(out, fmt.Sprintf("freon timed %d calls but counted %d executions", f.Count, done))
	}
	if !slices.IsSorted([]float64{f.Min, f.Median, f.P75, f.P95, f.P98, f.P99, f.P999, f.Max}) {
		out = append(out, "freon's latencies are not in ascending order from min through the percentiles to max")
	}
	return out
}

// Concurrency returns the figures of the run that determine how many threads were busy.
func (f Freon) Concurrency(threads int32) output.Concurrency {
	return output.Concurrency{Rate: f.MeanRate, MeanMillis: f.Mean, Resolution: f.Resolution, Clients: float64(threads)}
}
