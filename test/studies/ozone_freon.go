package studies

import (
	"fmt"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

var ozoneFreon = Study{
	Number: 5, Name: "before and after of a storage service", Sample: "ozone-freon.yaml",
	Left: "One run of the new flow is published, none of the old one: there is nothing to compare. Of freon's percentiles the median and the 99th are.",
	adapt: func(c *v1alpha1.BenchmarkCampaign) {
		only(c, "new")
		c.Spec.Final.Repetitions = ptr.To[int32](1)
	},
	record: func(record.Trial) (record.Record, error) {
		var f newFlow
		if err := object("5-ozone-new-flow.json", &f); err != nil {
			return record.Record{}, err
		}
		return record.Record{Driver: record.Driver{Name: "command"}, Load: f.load()}, nil
	},
	checks: ozoneFreonChecks,
}

// newFlow is what was published of freon's summary.
type newFlow struct {
	MeanRate   float64 `json:"mean_rate_calls_per_second"`
	Min        float64 `json:"min_ms"`
	Max        float64 `json:"max_ms"`
	Mean       float64 `json:"mean_ms"`
	Median     float64 `json:"median_ms"`
	P99        float64 `json:"p99_ms"`
	Seconds    int64   `json:"total_execution_time_sec"`
	Executions int64   `json:"successful_executions"`
	Threads    float64 `json:"threads"`
}

// load is the summary as the agent's own code reads it, without the figures that were not published.
func (f newFlow) load() *record.Load {
	load := driver.Freon{Count: f.Executions, MeanRate: f.MeanRate, Seconds: f.Seconds, Successes: f.Executions}.Load()
	load.Metrics = nil
	load.Latency = &record.Latency{Min: f.Min, Mean: f.Mean, P50: f.Median, P99: f.P99, Max: f.Max}
	if note := f.inFlight().Note(); note != "" {
		load.Notes = append(load.Notes, note)
	}
	return load
}

func (f newFlow) inFlight() driver.Concurrency {
	return driver.Concurrency{Rate: f.MeanRate, MeanMillis: f.Mean, Resolution: 0.01, Clients: f.Threads}
}

func ozoneFreonChecks(r *Result) error {
	var f newFlow
	if err := object("5-ozone-new-flow.json", &f); err != nil {
		return err
	}
	row := map[string]string{"phase": "Final"}
	of := func(column string) float64 { return r.cell("results.csv", column, row) }
	r.figure("mean rate, calls/s", 19565.78, of("rate"), 2)
	r.word("unit", "calls/s", r.text("results.csv", "unit", row))
	r.figure("mean, ms", 4.67, of("latency_mean_ms"), 2)
	r.figure("median, ms", 4.26, of("latency_p50_ms"), 2)
	r.figure("99 %, ms", 16.30, of("latency_p99_ms"), 2)
	r.figure("max, ms", 25.84, of("latency_max_ms"), 2)
	r.figure("total execution time, s", 513, of("seconds"), 0)
	r.figure("successful executions", 10_000_000, of("operations"), 0)
	r.figure("failures", 0, of("failed_operations"), 0)
	r.figure("calls in flight by Little's law, of 100", 91.4, f.inFlight().InFlight(), 1)
	r.says("the report flags Little's law", "91.4 calls in flight of 100 (Little's law)")
	r.says("the report flags executions over time", "10000000 successful executions in 513 s are 19493.18 calls/s")

	seconds := float64(f.Seconds)
	r.correct(fmt.Sprintf("%.2f calls/s over %d s", f.MeanRate, f.Seconds), "%.0f calls, %.2f %% more than the %d executions: the rate's clock is another than the total execution time's, "+
		"which gives %.2f calls/s, and %.2f at most, for it is rounded to whole seconds", f.MeanRate*seconds, 100*(f.MeanRate*seconds/float64(f.Executions)-1), f.Executions,
		float64(f.Executions)/seconds, float64(f.Executions)/(seconds-0.5))
	r.correct(fmt.Sprintf("%.0f threads, mean latency %.2f ms", f.Threads, f.Mean), "%.1f calls in flight of %.0f: for %.1f %% of their time threads waited for no call, so that the client may be in part what was measured",
		f.inFlight().InFlight(), f.Threads, 100*(1-f.inFlight().InFlight()/f.Threads))
	r.correct(fmt.Sprintf("max %.2f ms, 99 %% <= %.2f ms", f.Max, f.P99), "freon keeps a sample of 1,028 calls, most of them of the last five minutes: of %d calls the highest latency and the far percentiles are not known", f.Executions)
	return nil
}
