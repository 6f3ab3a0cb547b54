package studies

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/drivers/stream/streamapi"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/studies/data"
)

var streamTransport = Study{
	Number: 2, Name: "the stream transport against the regular one", Sample: "stream-transport.yaml",
	Left: "The study published one reply of the Benchmark API for each transport, at parallel_requests 10. One run gives no interval.",
	adapt: func(c *v1alpha1.BenchmarkCampaign) {
		c.Spec.Sweep = v1alpha1.Sweep{Mode: v1alpha1.SweepFixed, Clients: []int32{10}}
		c.Spec.Final.Repetitions = ptr.To[int32](1)
	},
	record: func(t record.Trial) (record.Record, error) {
		reply, params, err := streamReply(t.Variant)
		if err != nil {
			return record.Record{}, err
		}
		return record.Record{Driver: record.Driver{Name: "stream"}, Load: reply.Load(params)}, nil
	},
	checks: streamTransportChecks,
}

// streamReply returns the published reply of a transport and its request. It checks that they match.
func streamReply(transport string) (streamapi.Reply, streamapi.Params, error) {
	text, err := data.Files.ReadFile("2-" + transport + "-reply.json")
	if err != nil {
		return streamapi.Reply{}, streamapi.Params{}, err
	}
	reply, err := streamapi.ParseReply(text)
	if err != nil {
		return reply, streamapi.Params{}, err
	}
	params, err := streamapi.ParseParams(map[string]string{
		"rows": "100000", "parallel_requests": "10", "total_requests": "600", "batch_size": "10000", "use_stream_transport": strconv.FormatBool(transport == "stream"),
	})
	if err != nil {
		return reply, params, err
	}
	return reply, params, reply.Check(params)
}

// publishedReply holds the printed figures of one transport.
type publishedReply struct {
	transport                                  string
	seconds, mean, p5, p25, p50, p75, p90, p99 float64
	highest                                    float64
}

func streamTransportChecks(r *Result) error {
	for _, p := range []publishedReply{
		{transport: "stream", seconds: 47.730, mean: 1578, p5: 1134, p25: 1495, p50: 1622, p75: 1717, p90: 1791, p99: 1838, highest: 1862},
		{transport: "regular", seconds: 52.100, mean: 1723, p5: 1245, p25: 1645, p50: 1756, p75: 1834, p90: 1923, p99: 1987, highest: 2012},
	} {
		if err := r.checkReply(p); err != nil {
			return err
		}
	}
	r.derived("stream / regular, rows/s", 52.100/47.730, r.compared(where{"stream", "final", "rate"}, "ratio"), 4)
	return streamTransportCorrections(r)
}

func (r *Result) checkReply(p publishedReply) error {
	reply, params, err := streamReply(p.transport)
	if err != nil {
		return err
	}
	row := map[string]string{"phase": "Final", "variant": p.transport}
	of := func(column string) float64 { return r.cell("results.csv", column, row) }
	at := p.transport + ": "
	r.figure(at+"total_rows", 60_000_000, of("operations"), 0)
	r.figure(at+"duration, s", p.seconds, of("seconds"), 3)
	r.word(at+"unit", "rows/s", r.text("results.csv", "unit", row))
	if p.transport == "stream" {
		r.figure(at+"rows/s", 1257071.02, of("rate"), 2)
		r.figure(at+"throughput_mb_per_sec", 1158.28, of("payload_mib_per_second"), 2)
	} else { // the printed rates do not match the printed rows, bytes and milliseconds
		r.derived(at+"rows/s", 60e6/p.seconds, of("rate"), 2)
		r.derived(at+"MiB/s", 57.97e9/(1<<20)/p.seconds, of("payload_mib_per_second"), 2)
	}
	for _, f := range []struct {
		name      string
		published float64
		column    string
	}{{"avg", p.mean, "latency_mean_ms"}, {"max", p.highest, "latency_max_ms"}, {"p5", p.p5, "metric_p5"}, {"p25", p.p25, "metric_p25"}, {"p50", p.p50, "latency_p50_ms"},
		{"p75", p.p75, "metric_p75"}, {"p90", p.p90, "latency_p90_ms"}, {"p99", p.p99, "latency_p99_ms"}} {
		r.figure(at+"latency "+f.name+", ms", f.published, of(f.column), 0)
	}
	r.figure(at+"total_rows = rows x requests", float64(reply.TotalRows), float64(params.Rows*params.Requests()), 0)
	corrections := r.text("results.csv", "corrections", row)
	if p.transport == "stream" {
		r.word(at+"figures that contradict each other", "", corrections)
	} else {
		r.word(at+"the report says that a printed rate is another", "true", strconv.FormatBool(strings.Contains(corrections, "1061.45")))
	}
	return nil
}

func streamTransportCorrections(r *Result) error {
	for _, transport := range []string{"stream", "regular"} {
		reply, params, err := streamReply(transport)
		if err != nil {
			return err
		}
		seconds := float64(reply.DurationMillis) / 1000
		mib := float64(reply.TotalBytes) / seconds / (1 << 20)
		r.correct(fmt.Sprintf("%s: throughput_mb_per_sec %.2f", transport, reply.PrintedMiBs), "%.2f MiB/s by bytes over milliseconds: in MB/s (10^6 bytes) it is %.2f", mib, float64(reply.TotalBytes)/seconds/1e6)
		if rows := float64(reply.TotalRows) / seconds; math.Abs(rows-reply.PrintedRows) > 0.005 {
			r.correct(fmt.Sprintf("%s: throughput_rows_per_sec %.2f", transport, reply.PrintedRows), "%.2f rows/s by rows over milliseconds: the two rates of this reply come from two durations, %.3f and %.3f s; the reply prints %.3f s",
				rows, float64(reply.TotalRows)/reply.PrintedRows, float64(reply.TotalBytes)/(1<<20)/reply.PrintedMiBs, seconds)
		}
		inFlight := float64(params.Requests()) / seconds * float64(reply.Latency["avg"]) / 1000
		r.correct(transport+": parallel_requests 10", "%.2f requests/s x %.3f s = %.1f requests in flight: twice as many as the parameter says, as the API keeps them",
			float64(params.Requests())/seconds, float64(reply.Latency["avg"])/1000, inFlight)
	}
	reply, _, err := streamReply("stream")
	if err != nil {
		return err
	}
	perRow := float64(reply.TotalBytes) / float64(reply.TotalRows)
	r.correct("10 columns of 100 bytes in the mean (the defaults)", "%.2f bytes a row in both replies, %.1f %% fewer than 1000: what was asked for is not quite what was sent", perRow, 100*(1-perRow/1000))
	return nil
}
