package streamapi

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/record"
)

var published = map[string]string{"rows": "100000", "parallel_requests": "10", "total_requests": "600", "batch_size": "10000", "use_stream_transport": "true"}

func readReply(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/stream/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func streamParams(t *testing.T, change map[string]string) Params {
	t.Helper()
	params := map[string]string{}
	for _, m := range []map[string]string{published, change} {
		for k, v := range m {
			params[k] = v
		}
	}
	p, err := ParseParams(params)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestStreamReply_documentedExamples checks the two replies in the API's documentation: the figures of the first are consistent, those
// of the second are not.
func TestStreamReply_documentedExamples(t *testing.T) {
	r, err := ParseReply([]byte(readReply(t, "stream-stream.json")))
	if err != nil {
		t.Fatal(err)
	}
	p := streamParams(t, nil)
	if err := r.Check(p); err != nil {
		t.Error(err)
	}
	load := r.Load(p)
	if load.Operations != 60_000_000 || load.Seconds != 47.73 || math.Abs(load.Rate-1257071.02) > 0.005 || math.Abs(load.MiBs-1158.28) > 0.005 || load.Unit != "rows/s" || len(load.Notes) != 0 {
		t.Errorf("%+v", load)
	}
	if l := load.Latency; l.Min != 179 || l.Max != 1862 || l.Mean != 1578 || l.P50 != 1622 || l.P90 != 1791 || l.P99 != 1838 {
		t.Errorf("%+v", l)
	}
	if m := load.Metrics; len(m) != 6 || m[0].Name != "p5" || *m[0].Value != 1134 || m[5].Name != "p75" || *m[5].Value != 1717 || m[5].Unit != "ms" {
		t.Errorf("%+v", m)
	}
	if got := r.Concurrency(p).InFlight(); math.Abs(got-19.84) > 0.01 {
		t.Errorf("%v requests in flight, not the 20 that the API keeps", got)
	}

	r, err = ParseReply([]byte(readReply(t, "stream-regular.json")))
	if err != nil {
		t.Fatal(err)
	}
	p = streamParams(t, map[string]string{"use_stream_transport": "false"})
	if err := r.Check(p); err != nil {
		t.Error(err)
	}
	load = r.Load(p)
	if len(load.Notes) != 2 || load.Notes[0] != "the Benchmark API reported throughput_rows_per_sec 1151632.57, but total_rows / duration_ms gives 1151631.48 rows/s (Knee uses this rate)" ||
		load.Notes[1] != "the Benchmark API reported throughput_mb_per_sec 1061.45, but total_bytes / duration_ms gives 1061.12 MiB/s (Knee uses this rate)" {
		t.Errorf("%q", load.Notes)
	}
}

func TestStreamReply_invalid_fails(t *testing.T) {
	whole := readReply(t, "stream-stream.json")
	for name, c := range map[string]struct{ from, to, want string }{
		"a new field":             {`"parallel_requests"`, `"retries" : 3, "parallel_requests"`, "field retries is not known"},
		"a missing one":           {`"duration_ms" : 47730,`, ``, "field duration_ms is missing"},
		"a missing percentile":    {`"p90" : 1791, `, ``, "field latency_ms.p90 is missing"},
		"a new percentile":        {`"p90"`, `"p999" : 1900, "p90"`, "field latency_ms.p999 is not known"},
		"a number for a string":   {`"1158.28"`, `1158.28`, "the field throughput_mb_per_sec of the Benchmark API's reply has the wrong value 1158.28: the value must be a number in a JSON string"},
		"a string for a number":   {`47730`, `"47730"`, "duration_ms"},
		"a fraction":              {`47730`, `47730.5`, "duration_ms of the Benchmark API's reply has the wrong value 47730.5: the value must be a whole number of at least 0"},
		"null":                    {`47730`, `null`, "duration_ms"},
		"a negative":              {`47730`, `-1`, "duration_ms"},
		"not a number":            {`"1158.28"`, `"NaN"`, "throughput_mb_per_sec"},
		"null for a string":       {`"1158.28"`, `null`, "throughput_mb_per_sec"},
		"neither true nor false":  {`: true`, `: "true"`, "used_stream_transport"},
		"half a reply":            {`"parallel_requests" : 10,`, ``, "field parallel_requests is missing"},
		"latency that is none":    {`"latency_ms" : {`, `"latency_ms" : [], "x" : {`, "field x is not known"},
		"no object":               {whole, `[]`, "no JSON object"},
		"nothing":                 {whole, ``, "no JSON object"},
		"null for the whole":      {whole, `null`, "no JSON object"},
		"something more after it": {whole, whole + "{}", "no JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseReply([]byte(strings.Replace(whole, c.from, c.to, 1)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v, want %q", got, err, c.want)
			}
		})
	}
	for name, text := range map[string]string{
		"without human=true":    strings.Replace(whole, `"total_size" : "53.9gb",`, ``, 1),
		"with the pools' stats": strings.Replace(whole, `"parallel_requests"`, `"thread_pool_stats" : {}, "flight_timing" : {}, "parallel_requests"`, 1),
	} {
		if _, err := ParseReply([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStreamCheck(t *testing.T) {
	for name, c := range map[string]struct {
		params map[string]string
		change func(*Reply)
		is     error
		want   string
	}{
		"no stream transport": {nil, func(r *Reply) { r.UsedStream = false }, ErrTransport, "this cluster has no stream transport"},
		"not the regular one": {map[string]string{"use_stream_transport": "false"}, func(*Reply) {}, nil, "used_stream_transport is true, but spec.workload.stream.params.use_stream_transport is false"},
		"requests failed":     {nil, func(r *Reply) { r.TotalRows -= 300_000 }, ErrRequests, "total_rows is 59700000, but Knee requested 100000 rows in each of 600 requests"},
		"too many rows":       {nil, func(r *Reply) { r.TotalRows++ }, nil, "total_rows is 60000001"},
		"other clients":       {nil, func(r *Reply) { r.Parallel = 1 }, nil, "parallel_requests is 1 in the Benchmark API's reply, but 10 in the request"},
		"as many as parallel": {map[string]string{"total_requests": "0"}, func(*Reply) {}, nil, "100000 rows in each of 10 requests"},
		"in no time":          {nil, func(r *Reply) { r.DurationMillis = 0 }, nil, "too short"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ParseReply([]byte(readReply(t, "stream-stream.json")))
			if err != nil {
				t.Fatal(err)
			}
			c.change(&r)
			err = r.Check(streamParams(t, c.params))
			if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestStreamParams(t *testing.T) {
	if p, err := ParseParams(nil); err != nil || p != (Params{Rows: 100, Parallel: 1, Stream: true}) || p.Requests() != 1 || p.InFlight() != 1 {
		t.Errorf("the API's defaults: %+v, %v", p, err)
	}
	if p := streamParams(t, nil); p.Requests() != 600 || p.InFlight() != 20 {
		t.Errorf("%+v", p)
	}
	_, err := ParseParams(map[string]string{"rows": "1e5", "total_requests": "-1", "batch_size": "0", "use_stream_transport": "yes"})
	for _, name := range []string{"params.rows", "params.total_requests", "params.batch_size", "params.use_stream_transport"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

// hasFiniteFigures reports whether a load has figures that can be compared and written.
func hasFiniteFigures(l *record.Load) bool {
	for _, f := range []float64{l.Rate, l.Seconds, l.MiBs, l.Latency.Min, l.Latency.Mean, l.Latency.P50, l.Latency.P90, l.Latency.P99, l.Latency.P999, l.Latency.Max} {
		if math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
			return false
		}
	}
	return true
}

func FuzzStreamReply(f *testing.F) {
	f.Add([]byte(readReply(f, "stream-stream.json")), "100000", "600", true)
	f.Add([]byte(readReply(f, "stream-regular.json")), "1", "0", false)
	f.Fuzz(func(t *testing.T, data []byte, rows, total string, stream bool) {
		use := "false"
		if stream {
			use = "true"
		}
		p, err := ParseParams(map[string]string{"rows": rows, "total_requests": total, "parallel_requests": "10", "use_stream_transport": use})
		if err != nil {
			return
		}
		r, err := ParseReply(data)
		if err != nil || r.Check(p) != nil {
			return
		}
		if load := r.Load(p); !hasFiniteFigures(load) || load.Operations != p.Rows*p.Requests() || load.Rate <= 0 {
			t.Errorf("%+v", load)
		}
	})
}
