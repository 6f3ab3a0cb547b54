package parser

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/output"
	"github.com/knee-bench/knee/internal/record"
)

// A Result holds the figures of a run of a program.
type Result struct {
	Load *record.Load

	callRate   float64 // operations per second, including failed operations; 0: the program does not print this rate
	resolution float64 // value of the last printed digit of the mean latency, ms; 0: not known
}

// Parse reads the output of a program as the campaign's configuration says: with a preset, as JSON or as text.
func Parse(text string, c commandconfig.Config) (Result, error) {
	switch {
	case c.Preset != "":
		preset, found := Preset(c.Preset)
		if !found {
			return Result{}, fmt.Errorf("there is no preset %q: set spec.workload.command.preset to freon", c.Preset)
		}
		return parseText(text, preset, "preset "+c.Preset+": ")
	case c.JSON != nil:
		return ParseJSON(text, *c.JSON)
	case c.Text != nil:
		return ParseText(text, *c.Text)
	}
	return Result{}, errors.New("nothing says how to read the output: set json, text or preset in spec.workload.command")
}

// Concurrency returns the figures of the run for Little's law. ran is the run time of the program in s; 0: not known.
func (r Result) Concurrency(ran float64, clients int32) output.Concurrency {
	law := output.ConcurrencyOf(r.Load, ran, clients)
	if r.callRate > 0 && r.Load.Latency != nil {
		law = output.Concurrency{Rate: r.callRate, MeanMillis: r.Load.Latency.Mean, Clients: float64(clients)}
	}
	law.Resolution = r.resolution
	return law
}

// source is the output of a program in one format.
type source interface {
	// selector returns the word for a selector of this format: path or pattern.
	selector() string
	// number returns the number that a selector selects, in the given unit, and the value of its last printed digit. The
	// resolution is 0 if the format does not show it. A number is whole if it counts something.
	number(selector, unit string, whole bool) (value, resolution float64, err error)
}

// reading reads the values of selectors and collects the errors. So one error message names all wrong selectors.
type reading struct {
	source
	field string // prefix of the campaign fields that hold the selectors
	err   error
}

// read reads all figures and checks them.
func read(r *reading, figures commandconfig.Figures) (Result, error) {
	load := &record.Load{Unit: figures.Throughput.Unit, FailuresUncounted: figures.Failures == ""}
	out := Result{Load: load}
	r.positive("throughput", figures.Throughput.Selector, load.Unit, &load.Rate)
	r.count("operations", figures.Operations, &load.Operations)
	r.count("failures", figures.Failures, &load.Failures)
	rounding := r.positive("seconds", figures.Seconds, "s", &load.Seconds) / 2
	out.resolution = r.latency(figures, load)
	for _, m := range figures.Metrics {
		metric := record.Metric{Name: m.Name, Unit: m.Unit, Value: new(float64)}
		r.any("metrics["+m.Name+"]", m.Selector, m.Unit, false, metric.Value)
		load.Metrics = append(load.Metrics, metric)
	}
	if r.err != nil {
		return Result{}, r.err
	}
	if load.Rate == 0 {
		return Result{}, fmt.Errorf("the program did nothing: its throughput is 0 (%sthroughput: %s)", r.field, figures.Throughput.Selector)
	}
	if figures.Seconds != "" && load.Seconds == 0 && rounding == 0 {
		return Result{}, fmt.Errorf("%sseconds: the value at %s %s is 0, but the duration must be above 0", r.field, r.selector(), figures.Seconds)
	}
	load.Notes = append(checkRate(load, rounding), checkLatencies(load.Latency)...)
	return out, nil
}

func (r *reading) fail(field, format string, args ...any) {
	r.err = errors.Join(r.err, fmt.Errorf("%s%s: %s", r.field, field, fmt.Sprintf(format, args...)))
}

// any reads a number, which may be negative. If the selector is empty, it does not change the number. It returns the value of
// the last printed digit.
func (r *reading) any(field, selector, unit string, whole bool, to *float64) (resolution float64) {
	if selector == "" {
		return 0
	}
	value, resolution, err := r.number(selector, unit, whole)
	if err != nil {
		r.fail(field, "%v", err)
		return 0
	}
	*to = value
	return resolution
}

// positive reads a number that must be at least 0.
func (r *reading) positive(field, selector, unit string, to *float64) (resolution float64) {
	resolution = r.any(field, selector, unit, false, to)
	if *to < 0 {
		r.fail(field, "the value at %s %s is %v, which is below 0", r.selector(), selector, *to)
	}
	return resolution
}

// count reads an integer that must be at least 0.
func (r *reading) count(field, selector string, to *int64) {
	var value float64
	r.any(field, selector, "", true, &value)
	if value < 0 {
		r.fail(field, "the value at %s %s is %v, which is below 0", r.selector(), selector, value)
	}
	if value != math.Trunc(value) || value > 1<<53 {
		r.fail(field, "the value at %s %s is %v, which is no whole number", r.selector(), selector, value)
		return
	}
	*to = int64(value)
}

// latency reads the latencies in ms. It returns the value of the last printed digit of the mean latency in ms.
func (r *reading) latency(figures commandconfig.Figures, load *record.Load) (resolution float64) {
	if len(figures.Latency) == 0 {
		return 0
	}
	if !slices.Contains([]string{"ns", "us", "ms", "s"}, figures.LatencyUnit) {
		r.fail("latency.unit", "the unit %q is not known: use ns, us, ms or s", figures.LatencyUnit)
		return 0
	}
	toMillis := times[figures.LatencyUnit] / times["ms"]
	var l record.Latency
	fields := map[string]*float64{"min": &l.Min, "mean": &l.Mean, "p50": &l.P50, "p90": &l.P90, "p99": &l.P99, "p999": &l.P999, "max": &l.Max}
	for _, name := range []string{"min", "mean", "p50", "p90", "p99", "p999", "max"} {
		digit := r.positive("latency."+name, figures.Latency[name], figures.LatencyUnit, fields[name])
		*fields[name] *= toMillis
		if name == "mean" {
			resolution = digit * toMillis
		}
	}
	for name := range figures.Latency {
		if fields[name] == nil {
			r.fail("latency."+name, "this latency is not known: use min, mean, p50, p90, p99, p999 or max")
		}
	}
	load.Latency = &l
	return resolution
}

// rateTolerance is the largest accepted difference between a program's rate and its operations / seconds, as a share of the
// rate, if the program does not show how it rounds its seconds.
const rateTolerance = 0.01

// checkRate returns a note if a program's rate differs from its operations divided by its seconds. rounding is the largest
// rounding error of the seconds; 0: not known. A rate in bytes cannot be compared, so it gets no note.
func checkRate(load *record.Load, rounding float64) []string {
	if load.Operations == 0 || load.Seconds == 0 && rounding == 0 || output.IsBytes(load.Unit) {
		return nil
	}
	operations := float64(load.Operations)
	if rounding == 0 {
		if own := operations / load.Seconds; math.Abs(own-load.Rate) > rateTolerance*load.Rate {
			return []string{fmt.Sprintf("%d operations in %g s are %.6g/s, but the program reports a throughput of %.6g %s", load.Operations, load.Seconds, own, load.Rate, load.Unit)}
		}
		return nil
	}
	least, most := operations/(load.Seconds+rounding), math.Inf(1)
	if load.Seconds > rounding {
		most = operations / (load.Seconds - rounding)
	}
	if load.Rate >= least && load.Rate <= most {
		return nil
	}
	return []string{fmt.Sprintf("%d operations in %g s are %.2f/s (at least %.2f and at most %.2f, because the time is rounded), but the program reports a throughput of %.2f %s",
		load.Operations, load.Seconds, operations/max(load.Seconds, rounding), least, most, load.Rate, load.Unit)}
}

// checkLatencies returns a note if the known latencies are not in ascending order.
func checkLatencies(l *record.Latency) []string {
	if l == nil {
		return nil
	}
	known := slices.DeleteFunc([]float64{l.Min, l.P50, l.P90, l.P99, l.P999, l.Max}, func(v float64) bool { return v == 0 })
	if slices.IsSorted(known) {
		return nil
	}
	return []string{"the program's latencies are not in ascending order from min through the percentiles to max"}
}
