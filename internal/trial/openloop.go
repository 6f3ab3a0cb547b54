package trial

import (
	"fmt"
	"maps"
	"math"
	"strconv"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

// bulkSizeParam is the parameter that tells every official workload its bulk size.
const bulkSizeParam = "bulk_size"

// loadParams are the workload's parameters, of one of the trial's loader pods. Those of an OpenLoop trial hold the load to
// a rate: the program counts a target throughput without a unit in requests a second, of all its clients together.
func loadParams(c record.Config, p part) (map[string]string, error) {
	out := maps.Clone(c.OSB.Params)
	if p.of > 1 {
		out[c.OSB.ClientsParam] = strconv.Itoa(int(p.clients(c.Trial.Clients)))
	}
	if c.Trial.Phase != record.OpenLoop {
		return out, nil
	}
	requests, err := targetRequests(c, p)
	if err != nil {
		return nil, err
	}
	out[c.OSB.TargetThroughputParam] = strconv.FormatFloat(requests, 'f', -1, 64)
	return out, nil
}

// targetRequests is a loader pod's part of an OpenLoop trial's rate in bulk requests a second, with four decimals.
func targetRequests(c record.Config, p part) (float64, error) {
	if c.OSB.TargetThroughputParam == "" {
		return 0, fail(record.ReasonAgentFailed, "an open-loop trial needs spec.workload.osb.targetThroughputParam: the workload's parameter that takes the ingest task's target-throughput")
	}
	size, err := strconv.ParseFloat(c.OSB.Params[bulkSizeParam], 64)
	if err != nil || !(size >= 1) {
		return 0, fail(record.ReasonAgentFailed, "an open-loop trial needs the parameter %s in spec.workload.osb.params, the documents of a bulk request: it is %q", bulkSizeParam, c.OSB.Params[bulkSizeParam])
	}
	requests := math.Round(1e4*float64(c.Trial.TargetDocsPerSecond)*p.share(c.Trial.Clients)/size) / 1e4
	if requests <= 0 {
		return 0, fail(record.ReasonAgentFailed, "an open-loop trial of %d docs/s is no load at %.0f documents a bulk request", c.Trial.TargetDocsPerSecond, size)
	}
	return requests, nil
}

// checkTarget finds an OpenLoop trial whose load was not held to its rate: a workload that does not know the parameter
// says nothing.
func checkTarget(c record.Config, p part, tasks []string, targets map[string]driver.Target) error {
	if c.Trial.Phase != record.OpenLoop {
		return nil
	}
	want, err := targetRequests(c, p)
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
			return fail(record.ReasonDriverIncomplete, "the workload ran task %s %s, not at %g ops/s: spec.workload.osb.targetThroughputParam (%s) must name the workload's parameter that sets that task's target-throughput, a bare number of requests a second",
				name, ran, want, c.OSB.TargetThroughputParam)
		}
	}
	return nil
}
