package trial

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/drivers/agentside"
	"github.com/knee-bench/knee/internal/drivers/stream/streamapi"
	"github.com/knee-bench/knee/internal/drivers/stream/streamconfig"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/test/driverconfig"
	"github.com/knee-bench/knee/test/fakes/benchmarkapi"
)

// streamOptions returns the options of a trial of the Benchmark API, against the fake cluster c.
func streamOptions(t *testing.T, c benchmarkapi.Cluster) Options {
	t.Helper()
	server := httptest.NewServer(c.Handler())
	t.Cleanup(server.Close)
	return Options{Drivers: agentside.Drivers(), Work: t.TempDir(), Output: io.Discard, Config: record.Config{
		Attempt: record.Attempt{Trial: record.Trial{Cell: "abc", Phase: record.Final, Clients: 2, Repetition: 1, Placement: 1}, N: 1}, Endpoint: server.URL, Nodes: int32(c.Nodes), DeadlineSeconds: 60,
		Driver: record.NewDriverConfig(streamconfig.Name, streamconfig.Config{Params: map[string]string{"rows": "1000", "total_requests": "40", "parallel_requests": "2"}}),
	}}
}

func twoNodes() benchmarkapi.Cluster {
	return benchmarkapi.Cluster{Nodes: 2, Regular: 15 * time.Millisecond, Stream: 10 * time.Millisecond, AtOnce: 2}
}

func TestStreamTrial(t *testing.T) {
	fake := twoNodes()
	for stream, takes := range map[string]time.Duration{"true": fake.Stream, "false": fake.Regular} {
		o := streamOptions(t, fake)
		driverconfig.Change(&o.Config, func(c *streamconfig.Config) { c.Params["use_stream_transport"] = stream })
		r := Run(t.Context(), o)
		if r.Error != nil || r.Load == nil || r.Ingest != nil || r.Driver.Name != "stream" || len(r.Nodes) != 2 {
			t.Fatalf("%+v, %+v", r, r.Error)
		}
		l := r.Load
		if l.Operations != 40_000 || l.Unit != "rows/s" || l.Seconds <= 0 || l.MiBs <= 0 || l.From < r.StartedAt || l.To < l.From {
			t.Errorf("%+v", l)
		}
		if l.Latency.Min > l.Latency.P50 || l.Latency.P50 > l.Latency.P99 || l.Latency.P99 > l.Latency.Max || l.Latency.Mean == 0 {
			t.Errorf("%+v", l.Latency)
		}
		if rate, unit := r.Rate(); rate != l.Rate || unit != "rows/s" {
			t.Errorf("%v %s", rate, unit)
		}
		// Each request returns 1,000 rows, and AtOnce requests run at once. A busy machine is slower. Only the
		// rounding to milliseconds can give a slightly higher rate.
		if most := 1000 * float64(fake.AtOnce) / takes.Seconds(); l.Rate > 1.01*most {
			t.Errorf("use_stream_transport=%s: %.0f rows/s, and no more than %.0f can be", stream, l.Rate, most)
		}
		if _, err := record.Encode(r); err != nil {
			t.Error(err)
		}
	}
}

func TestStreamTrial_failures(t *testing.T) {
	for name, c := range map[string]struct {
		cluster func(*benchmarkapi.Cluster)
		params  map[string]string
		reason  string
		words   []string
	}{
		"one node": {func(c *benchmarkapi.Cluster) { c.Nodes = 1 }, nil, record.ReasonDriverFailed, []string{"set spec.topologies[].nodes to at least 2"}},
		"no such API": {func(c *benchmarkapi.Cluster) { c.WithoutBench = true }, nil, record.ReasonPluginMissing,
			[]string{"no API POST /_benchmark/stream", "stream-benchmark", "arrow-flight-rpc", "opensearch.experimental.feature.transport.stream.enabled", "no handler found"}},
		"no stream transport": {func(c *benchmarkapi.Cluster) { c.Stream = 0 }, nil, record.ReasonPluginMissing, []string{"[use_stream_transport] is true", "arrow-flight-rpc"}},
		"the regular transport is used instead": {func(c *benchmarkapi.Cluster) { c.Stream, c.Silent = 0, true }, nil, record.ReasonPluginMissing,
			[]string{"this cluster has no stream transport", "arrow-flight-rpc"}},
		"a request fails":        {func(c *benchmarkapi.Cluster) { c.FailEvery = 10 }, nil, record.ReasonRequestsFailed, []string{"status 500", "request 10 of 40"}},
		"requests are left out":  {func(c *benchmarkapi.Cluster) { c.FailEvery, c.Silent = 10, true }, nil, record.ReasonRequestsFailed, []string{"total_rows is 36000, but Knee requested 1000 rows in each of 40 requests"}},
		"all requests are":       {func(c *benchmarkapi.Cluster) { c.FailEvery, c.Silent = 1, true }, nil, record.ReasonRequestsFailed, []string{"total_rows is 0"}},
		"a parameter that is no": {func(*benchmarkapi.Cluster) {}, map[string]string{"rows": "many"}, record.ReasonDriverFailed, []string{"spec.workload.stream.params.rows"}},
		"the deadline passes":    {func(c *benchmarkapi.Cluster) { c.Stream = time.Minute }, nil, record.ReasonDeadline, []string{"the trial's deadline of 1 s passed (spec.timeouts.trialSeconds)"}},
	} {
		t.Run(name, func(t *testing.T) {
			fake := twoNodes()
			c.cluster(&fake)
			o := streamOptions(t, fake)
			for k, v := range c.params {
				driverconfig.Change(&o.Config, func(c *streamconfig.Config) { c.Params[k] = v })
			}
			if c.reason == record.ReasonDeadline {
				o.Config.DeadlineSeconds = 1
			}
			r := Run(t.Context(), o)
			if r.Error == nil || r.Error.Reason != c.reason || r.Load != nil {
				t.Fatalf("%+v, %+v", r.Error, r.Load)
			}
			for _, words := range c.words {
				if !strings.Contains(r.Error.Message, words) {
					t.Errorf("%q is not in %s", words, r.Error.Message)
				}
			}
		})
	}
}

// fallSilent returns a handler for a cluster whose calls of the Benchmark API never get an answer. If all is true, no
// other request gets an answer after the first call of the Benchmark API.
func fallSilent(cluster http.Handler, all bool) http.Handler {
	var called atomic.Bool
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := r.URL.Path == streamapi.Path
		if call {
			called.Store(true)
		}
		if call || all && called.Load() {
			<-r.Context().Done() // until the client gives up
			return
		}
		cluster.ServeHTTP(w, r)
	})
}

// TestStreamTrial_callNeverReturns_fails checks a call that never returns. If OpenSearch still answers other
// requests, the trial waits until its deadline. If OpenSearch answers no request, the trial fails after
// activitySeconds.
func TestStreamTrial_callNeverReturns_fails(t *testing.T) {
	for name, c := range map[string]struct {
		all           bool
		reason, words string
	}{
		"no node answers":      {true, record.ReasonClusterChanged, "OpenSearch has answered no request for "},
		"the call alone hangs": {false, record.ReasonDeadline, "the trial's deadline of 15 s passed (spec.timeouts.trialSeconds), during: load"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := twoNodes()
			o := streamOptions(t, fake)
			server := httptest.NewServer(fallSilent(fake.Handler(), c.all))
			t.Cleanup(server.Close)
			o.Config.Endpoint, o.Config.ActivitySeconds = server.URL, 2
			if !c.all {
				o.Config.DeadlineSeconds = 15
			}
			began := time.Now()
			r := Run(t.Context(), o)
			if r.Error == nil || r.Error.Reason != c.reason || !strings.Contains(r.Error.Message, c.words) || r.Load != nil {
				t.Errorf("%+v", r.Error)
			}
			if c.all && !strings.Contains(r.Error.Message, "(spec.timeouts.activitySeconds is 2)") {
				t.Errorf("%+v", r.Error)
			}
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}
