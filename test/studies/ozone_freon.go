package studies

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/command/parser"
	"github.com/knee-bench/knee/internal/drivers/output"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/studies/data"
)

var ozoneFreon = Study{
	Number: 5, Name: "before and after of a storage service", Sample: "ozone-freon.yaml",
	Left: "One run of each flow is published: no interval. The old flow's summary has no count of failures, which is not 0 but unknown. CPU of the Ozone Managers is published as one figure each, " +
		"of other runs, and their garbage collection not at all.",
	adapt: func(c *v1alpha1.BenchmarkCampaign) {
		c.Spec.Baseline = "old"
		c.Spec.Variants = []v1alpha1.Variant{{Name: "old", Params: map[string]v1alpha1.ParamValue{"om": "old"}}, {Name: "new", Params: map[string]v1alpha1.ParamValue{"om": "new"}}}
		c.Spec.Comparisons = nil
		c.Spec.Workload.ClientsPerPod = nil
		c.Spec.Sweep = v1alpha1.Sweep{Mode: v1alpha1.SweepFixed, Clients: []int32{freonThreads}}
		c.Spec.Final.Repetitions = ptr.To[int32](1)
	},
	record: func(t record.Trial) (record.Record, error) {
		f, err := publishedFlow(t.Variant)
		if err != nil {
			return record.Record{}, err
		}
		load := f.Load
		if note := inFlight(f).Note(); note != "" {
			load.Notes = append(load.Notes, note)
		}
		return record.Record{Driver: record.Driver{Name: "command"}, Load: load}, nil
	},
	checks: ozoneFreonChecks,
}

const (
	freonThreads = 100
	freonCalls   = 10_000_000 // the count of the timer in both summaries
)

// publishedFlow returns freon's published summary of a flow. It uses the agent's parser.
func publishedFlow(flow string) (parser.Result, error) {
	text, err := data.Files.ReadFile("5-ozone-" + flow + "-flow.txt")
	if err != nil {
		return parser.Result{}, err
	}
	f, err := parser.Parse(string(text), commandconfig.Config{Preset: "freon"})
	if err != nil {
		return f, fmt.Errorf("the %s flow: %w", flow, err)
	}
	return f, nil
}

func inFlight(f parser.Result) output.Concurrency { return f.Concurrency(0, freonThreads) }

// printedFlow holds the figures of one flow that the study prints and a report contains.
type printedFlow struct {
	flow                          string
	rate, mean, median, p99, p999 float64
	highest, stddev, p75          float64
	seconds                       float64
}

func ozoneFreonChecks(r *Result) error {
	for _, p := range []printedFlow{
		{flow: "new", rate: 19565.78, mean: 4.67, median: 4.26, p99: 16.30, p999: 18.39, highest: 25.84, stddev: 2.02, p75: 4.64, seconds: 513},
		{flow: "old", rate: 5913.05, mean: 17.38, median: 14.94, p99: 39.04, p999: 76.52, highest: 927.93, stddev: 27.01, p75: 16.25, seconds: 1693},
	} {
		row := map[string]string{"phase": "Final", "variant": p.flow}
		of := func(column string) float64 { return r.cell("results.csv", column, row) }
		at := p.flow + " flow: "
		r.figure(at+"mean rate, calls/s", p.rate, of("rate"), 2)
		r.word(at+"unit", "calls/s", r.text("results.csv", "unit", row))
		for _, f := range []struct {
			name      string
			published float64
			column    string
		}{{"mean", p.mean, "latency_mean_ms"}, {"median", p.median, "latency_p50_ms"}, {"75 %", p.p75, "metric_p75"}, {"99 %", p.p99, "latency_p99_ms"}, {"99.9 %", p.p999, "latency_p999_ms"},
			{"max", p.highest, "latency_max_ms"}, {"stddev", p.stddev, "metric_stddev"}} {
			r.figure(at+f.name+", ms", f.published, of(f.column), 2)
		}
		r.figure(at+"total execution time, s", p.seconds, of("seconds"), 0)
	}
	row := map[string]string{"phase": "Final", "variant": "new"}
	r.figure("new flow: successful executions", 10_000_000, r.cell("results.csv", "operations", row), 0)
	r.figure("new flow: failures", 0, r.cell("results.csv", "failed_operations", row), 0)
	row["variant"] = "old"
	r.word("old flow: failures, of which nothing is printed", "", r.text("results.csv", "failed_operations", row))
	r.figure("new / old, calls/s", 3.3, r.compared(where{"new", "final", "rate"}, "ratio"), 1)
	r.says("the report flags Little's law of the new flow", "91.4 calls in flight of 100 (Little's law)")
	r.says("the report flags executions over time", "10000000 operations in 513 s are 19493.18/s")
	return ozoneFreonCorrections(r)
}

func ozoneFreonCorrections(r *Result) error {
	for _, flow := range []string{"new", "old"} {
		f, err := publishedFlow(flow)
		if err != nil {
			return err
		}
		seconds, calls, latency := f.Load.Seconds, float64(freonCalls), f.Load.Latency
		r.correct(fmt.Sprintf("%s flow: %.2f calls/s over %.0f s", flow, f.Load.Rate, seconds), "%.0f calls, %.2f %% more than the %d timed: the rate's clock is another than the total execution time's, "+
			"which gives %.2f calls/s, and %.2f at most, since it is rounded to whole seconds", f.Load.Rate*seconds, 100*(f.Load.Rate*seconds/calls-1), freonCalls, calls/seconds, calls/(seconds-0.5))
		little := inFlight(f).InFlight()
		if little <= freonThreads {
			r.correct(fmt.Sprintf("%s flow: %d threads, mean latency %.2f ms", flow, freonThreads, latency.Mean), "%.1f calls in flight of %d: for %.1f %% of their time threads waited for no call, so that the client may be "+
				"in part what was measured", little, freonThreads, 100*(1-little/freonThreads))
		} else {
			r.correct(fmt.Sprintf("%s flow: %d threads, mean latency %.2f ms", flow, freonThreads, latency.Mean), "%.1f calls in flight of %d, which cannot be: the mean is of freon's sample of calls and not of all, or there were more threads",
				little, freonThreads)
		}
		r.correct(fmt.Sprintf("%s flow: max %.2f ms, 99 %% <= %.2f ms", flow, latency.Max, latency.P99), "freon keeps a sample of 1,028 calls, most of them of the last five minutes: of %d calls the highest latency and the far percentiles are not known", freonCalls)
		if flow == "old" {
			r.correct("old flow: 1693 s are 28 min 29 s", "they are %d min %d s", int(seconds)/60, int(seconds)%60)
			r.correct("old flow: no Failures, no Successful executions", "the rate stands as printed; how many calls failed is not known")
		}
	}
	return nil
}
