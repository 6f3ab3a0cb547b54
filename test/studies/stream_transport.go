package studies

import (
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

var streamTransport = Study{
	Number: 2, Name: "the stream transport against the regular one", Sample: "stream-transport.yaml",
	Left: "One reply of the stream transport at parallel_requests 10 is published, none of the regular transport: there is nothing to compare.",
	adapt: func(c *v1alpha1.BenchmarkCampaign) {
		only(c, "stream")
		c.Spec.Sweep = v1alpha1.Sweep{Mode: v1alpha1.SweepFixed, Clients: []int32{10}}
		c.Spec.Final.Repetitions = ptr.To[int32](1)
	},
	record: func(record.Trial) (record.Record, error) {
		reply, params, err := streamReply()
		if err != nil {
			return record.Record{}, err
		}
		return record.Record{Driver: record.Driver{Name: "stream"}, Load: reply.Load(params)}, nil
	},
	checks: streamTransportChecks,
}

// streamReply is the published reply, checked against the request that it was of.
func streamReply() (driver.StreamReply, driver.StreamParams, error) {
	text, err := data.ReadFile("data/2-stream-reply.json")
	if err != nil {
		return driver.StreamReply{}, driver.StreamParams{}, err
	}
	reply, err := driver.ParseStreamReply(text)
	if err != nil {
		return reply, driver.StreamParams{}, err
	}
	params, err := driver.ParseStreamParams(map[string]string{
		"rows": "100000", "parallel_requests": "10", "total_requests": "600", "batch_size": "10000", "use_stream_transport": "true",
	})
	if err != nil {
		return reply, params, err
	}
	return reply, params, reply.Check(params)
}

func streamTransportChecks(r *Result) error {
	reply, params, err := streamReply()
	if err != nil {
		return err
	}
	row := map[string]string{"phase": "Final"}
	of := func(column string) float64 { return r.cell("results.csv", column, row) }
	r.figure("rows/s", 1257071.02, of("rate"), 2)
	r.word("unit", "rows/s", r.text("results.csv", "unit", row))
	r.figure("total_rows", 60_000_000, of("operations"), 0)
	r.figure("throughput_mb_per_sec", 1158.28, of("payload_mib_per_second"), 2)
	r.figure("duration, s", 47.730, of("seconds"), 3)
	r.figure("latency p50, ms", 1622, of("latency_p50_ms"), 0)
	r.figure("latency p90, ms", 1791, of("latency_p90_ms"), 0)
	r.figure("latency p99, ms", 1838, of("latency_p99_ms"), 0)
	r.figure("latency max, ms", 1862, of("latency_max_ms"), 0)
	r.figure("latency avg, ms", 1578, of("latency_mean_ms"), 0)
	r.figure("latency p5, ms", 1134, of("metric_p5"), 0)
	r.figure("latency p25, ms", 1495, of("metric_p25"), 0)
	r.figure("latency p75, ms", 1717, of("metric_p75"), 0)
	r.figure("total_rows = rows x requests", float64(reply.TotalRows), float64(params.Rows*params.Requests()), 0)
	r.word("figures that contradict each other", "", r.text("results.csv", "corrections", row))

	seconds := float64(reply.DurationMillis) / 1000
	r.correct("throughput_mb_per_sec 1158.28", "%.2f MiB/s: in MB/s (10^6 bytes) it is %.2f", float64(reply.TotalBytes)/seconds/(1<<20), float64(reply.TotalBytes)/seconds/1e6)
	perRow := float64(reply.TotalBytes) / float64(reply.TotalRows)
	r.correct("10 columns of 100 bytes in the mean (the defaults)", "%.2f bytes a row, %.1f %% fewer than 1000: what was asked for is not quite what was sent", perRow, 100*(1-perRow/1000))
	inFlight := float64(params.Requests()) / seconds * float64(reply.Latency["avg"]) / 1000
	r.correct("parallel_requests 10", "%.2f requests/s x %.3f s = %.1f requests in flight: twice as many as the parameter says, as the API's code has it",
		float64(params.Requests())/seconds, float64(reply.Latency["avg"])/1000, inFlight)
	return nil
}
