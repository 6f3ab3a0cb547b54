package osb

import (
	"fmt"
	"maps"
	"math"
	"strconv"

	"github.com/knee-bench/knee/internal/agent/driver"
	"github.com/knee-bench/knee/internal/drivers/osb/osbconfig"
	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/record"
)

// bulkSizeParam is the parameter for the bulk size in every official workload.
const bulkSizeParam = "bulk_size"

// loadParams returns the workload parameters for one loader pod of the trial. In an OpenLoop trial, the parameters also set
// the rate. If a target throughput has no unit, the program interprets it as requests per second of all its clients together.
func loadParams(c osbconfig.Config, t record.Trial, p driver.Part) (map[string]string, error) {
	out := maps.Clone(c.Params)
	if p.Of > 1 {
		out[c.ClientsParam] = strconv.Itoa(int(p.Clients(t.Clients)))
	}
	if t.Phase != record.OpenLoop {
		return out, nil
	}
	requests, err := targetRequests(c, t, p)
	if err != nil {
		return nil, err
	}
	out[c.TargetThroughputParam] = strconv.FormatFloat(requests, 'f', -1, 64)
	return out, nil
}

// targetRequests returns the part of an OpenLoop trial's rate that one loader pod sends, in bulk requests per second with
// four decimals.
func targetRequests(c osbconfig.Config, t record.Trial, p driver.Part) (float64, error) {
	if c.TargetThroughputParam == "" {
		return 0, record.Errorf(record.ReasonAgentFailed, "an open-loop trial needs spec.workload.osb.targetThroughputParam: set this field to the name of the workload parameter that sets the target-throughput of the ingest task")
	}
	size, err := strconv.ParseFloat(c.Params[bulkSizeParam], 64)
	if err != nil || !(size >= 1) {
		return 0, record.Errorf(record.ReasonAgentFailed, "an open-loop trial needs the number of documents in a bulk request: set the parameter %s in spec.workload.osb.params to 1 or more; the current value is %q", bulkSizeParam, c.Params[bulkSizeParam])
	}
	requests := math.Round(1e4*float64(t.TargetDocsPerSecond)*p.ShareOf(t.Clients)/size) / 1e4
	if requests <= 0 {
		return 0, record.Errorf(record.ReasonAgentFailed, "the rate of the open-loop trial is too low: %d docs/s with %.0f documents per request rounds to 0 bulk requests per second; lower bulk_size in spec.workload.osb.params", t.TargetDocsPerSecond, size)
	}
	return requests, nil
}

// checkTarget returns an error if the load of an OpenLoop trial did not have the required target rate. This check is needed
// because the workload may use the parameter targetThroughputParam for something other than the target throughput of the
// ingest task. Then the load runs at another rate, or without a target rate, and the program reports no error.
func checkTarget(c osbconfig.Config, t record.Trial, p driver.Part, tasks []string, targets map[string]osbtool.Target) error {
	if t.Phase != record.OpenLoop {
		return nil
	}
	want, err := targetRequests(c, t, p)
	if err != nil {
		return err
	}
	for _, name := range tasks {
		got := targets[name]
		if got.Unit != "ops/s" || math.Abs(got.Value-want) > 0.01*want {
			ran := "without a target throughput"
			if got.Value > 0 {
				ran = fmt.Sprintf("at a target throughput of %g %s", got.Value, got.Unit)
			}
			return record.Errorf(record.ReasonDriverIncomplete, "task %s ran %s instead of at %g ops/s: set spec.workload.osb.targetThroughputParam (now %s) to the workload parameter that sets this task's target-throughput, a number without a unit",
				name, ran, want, c.TargetThroughputParam)
		}
	}
	return nil
}
