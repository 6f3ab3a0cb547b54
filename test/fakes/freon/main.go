// Command freon is a FAKE of Apache Ozone's load generator. Its calls only sleep. It accepts the flags of freon, and
// prints a summary with the lines and fields of freon's. The printed rates and latencies follow from --rate and -t. They
// are not measured, because a busy machine would change them. With --terminal it prints the layout of freon on a
// terminal, otherwise the layout of freon without a terminal.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run executes `freon SUBCOMMAND FLAGS`.
func run(args []string, out io.Writer) error {
	if len(args) < 1 {
		return fmt.Errorf("usage: freon SUBCOMMAND [flags]; this is a stand-in, not Apache Ozone's freon")
	}
	flags := flag.NewFlagSet("freon "+args[0], flag.ContinueOnError)
	calls := flags.Int64("n", 1000, "calls")
	threads := flags.Int("t", 10, "threads")
	rate := flags.Float64("rate", 100, "calls/s that one thread makes (the stand-in's own flag)")
	fail := flags.Int64("fail", 0, "calls that fail (the stand-in's own flag)")
	terminal := flags.Bool("terminal", false, "print the summary as on a terminal (the stand-in's own flag)")
	for _, name := range []string{"percentage-read", "percentage-list", "size", "r", "range", "v", "volume", "b", "bucket", "p", "prefix"} {
		flags.String(name, "", "freon's flag, which means nothing to calls that only sleep")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *calls < 1 || *threads < 1 || *rate <= 0 {
		return fmt.Errorf("-n, -t and --rate must be above 0")
	}
	fmt.Fprintln(out, "this is a stand-in for freon: its calls only sleep, and its figures follow from --rate")
	each := time.Duration(float64(time.Second) / *rate)
	sleep(*calls, *threads, each)
	s := summarize(args[0], latencies(*calls, each), *rate*float64(*threads), min(*fail, *calls))
	if *terminal {
		s.console(out)
	} else {
		s.log(out)
	}
	if s.failures > 0 {
		return fmt.Errorf("One or more freon test is failed.") //nolint // freon's own message
	}
	return nil
}

// sleep makes the calls.
func sleep(calls int64, threads int, each time.Duration) {
	var (
		made  atomic.Int64
		group sync.WaitGroup
	)
	for range threads {
		group.Go(func() {
			for made.Add(1) <= calls {
				time.Sleep(each)
			}
		})
	}
	group.Wait()
}

// latencies returns the latencies that the summary states, in ms, sorted. They are spread evenly over 10 % below and above each,
// so their mean is each.
func latencies(calls int64, each time.Duration) []float64 {
	out := make([]float64, calls)
	for i := range out {
		out[i] = float64(each) / float64(time.Millisecond) * (0.9 + 0.2*(float64(i)+0.5)/float64(calls))
	}
	return out
}

// summary holds the figures of one timer and the totals of the run.
type summary struct {
	name                       string
	count                      int
	rate, mean, stddev         float64
	sorted                     []float64
	seconds                    int64
	failures                   int64
	oneMinute, five, fifteenth float64
}

// summarize returns the figures of calls with the given latencies, in ms, at the given rate of all threads, in calls/s.
func summarize(name string, sorted []float64, rate float64, failures int64) summary {
	s := summary{name: name, count: len(sorted), sorted: sorted, rate: rate, failures: failures}
	s.seconds = int64(math.Round(float64(s.count) / rate))
	for _, ms := range sorted {
		s.mean += ms / float64(s.count)
	}
	for _, ms := range sorted {
		s.stddev += (ms - s.mean) * (ms - s.mean) / float64(s.count)
	}
	s.stddev = math.Sqrt(s.stddev)
	s.oneMinute, s.five, s.fifteenth = s.rate, s.rate, s.rate
	return s
}

// at returns the latency that the given share of the calls does not exceed.
func (s summary) at(share float64) float64 {
	return s.sorted[min(int(share*float64(s.count)), s.count-1)]
}

// console prints the layout of metrics-core's ConsoleReporter.
func (s summary) console(out io.Writer) {
	fmt.Fprintf(out, "\n-- Timers ----------------------------------------------------------------------\n%s\n             count = %d\n", s.name, s.count)
	for _, r := range []struct {
		label string
		value float64
	}{{"mean rate", s.rate}, {"1-minute rate", s.oneMinute}, {"5-minute rate", s.five}, {"15-minute rate", s.fifteenth}} {
		fmt.Fprintf(out, "%18s = %.2f calls/second\n", r.label, r.value)
	}
	for _, d := range []struct {
		label string
		value float64
	}{{"min", s.at(0)}, {"max", s.at(1)}, {"mean", s.mean}, {"stddev", s.stddev}, {"median", s.at(0.5)}} {
		fmt.Fprintf(out, "%18s = %.2f milliseconds\n", d.label, d.value)
	}
	for _, p := range []struct {
		label string
		share float64
	}{{"75%", 0.75}, {"95%", 0.95}, {"98%", 0.98}, {"99%", 0.99}, {"99.9%", 0.999}} {
		fmt.Fprintf(out, "%18s <= %.2f milliseconds\n", p.label, s.at(p.share))
	}
	fmt.Fprintf(out, "\n\nTotal execution time (sec): %d\nFailures: %d\nSuccessful executions: %d\n", s.seconds, s.failures, int64(s.count)-s.failures)
}

// log prints the layout of metrics-core's Slf4jReporter, followed by freon's own log lines.
func (s summary) log(out io.Writer) {
	stamp := time.Now().UTC().Format("2006-01-02 15:04:05,000") + " [shutdown-hook-0] INFO "
	fmt.Fprintf(out, "%smetrics: type=TIMER, name=%s, count=%d, min=%v, max=%v, mean=%v, stddev=%v, median=%v, p75=%v, p95=%v, p98=%v, p99=%v, p999=%v, "+
		"mean_rate=%v, m1=%v, m5=%v, m15=%v, rate_unit=events/second, duration_unit=milliseconds\n", stamp, s.name, s.count, s.at(0), s.at(1), s.mean, s.stddev,
		s.at(0.5), s.at(0.75), s.at(0.95), s.at(0.98), s.at(0.99), s.at(0.999), s.rate, s.oneMinute, s.five, s.fifteenth)
	for _, line := range []string{fmt.Sprintf("Total execution time (sec): %d", s.seconds), fmt.Sprintf("Failures: %d", s.failures),
		fmt.Sprintf("Successful executions: %d", int64(s.count)-s.failures)} {
		fmt.Fprintf(out, "%sfreon.BaseFreonGenerator: %s\n", stamp, line)
	}
}
