package driver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// StreamPath is the Benchmark API.
const StreamPath = "/_benchmark/stream"

// StreamNeeds names what a cluster needs for the Benchmark API.
const StreamNeeds = "the plugin stream-benchmark, which brings the API, on every node, and for the stream transport the plugins arrow-base and arrow-flight-rpc and " +
	"opensearch.experimental.feature.transport.stream.enabled: true"

// NoStreamTransport is the error type with which the plugin stream-benchmark refuses use_stream_transport on a node without it.
const NoStreamTransport = "no_stream_transport_exception"

// StreamParams are the API's query parameters, with the API's defaults for those not given.
type StreamParams struct {
	Rows     int64
	Parallel int64 // parallel_requests
	Total    int64 // total_requests; 0: as many as Parallel
	Stream   bool  // use_stream_transport
}

// ParseStreamParams reads the parameters as the API does.
func ParseStreamParams(params map[string]string) (StreamParams, error) {
	out := StreamParams{Rows: 100, Parallel: 1, Stream: true}
	var err error
	for name, to := range map[string]*int64{"rows": &out.Rows, "parallel_requests": &out.Parallel, "total_requests": &out.Total,
		"columns": new(int64), "avg_column_length": new(int64), "batch_size": new(int64)} {
		text, given := params[name]
		if !given {
			continue
		}
		least := int64(1)
		if name == "total_requests" {
			least = 0
		}
		n, parseErr := strconv.ParseInt(text, 10, 32)
		if parseErr != nil || n < least {
			err = errors.Join(err, fmt.Errorf("spec.workload.stream.params.%s: %q is no whole number of at least %d", name, text, least))
		}
		*to = n
	}
	switch text, given := params["use_stream_transport"]; {
	case !given, text == "true":
	case text == "false":
		out.Stream = false
	default:
		err = errors.Join(err, fmt.Errorf("spec.workload.stream.params.use_stream_transport: %q is neither true nor false", text))
	}
	return out, err
}

// Requests is how many requests the API makes.
func (p StreamParams) Requests() int64 {
	if p.Total > 0 {
		return p.Total
	}
	return p.Parallel
}

// InFlight is how many of them the API keeps in flight: twice parallel_requests, if there are as many.
func (p StreamParams) InFlight() int64 { return min(2*p.Parallel, p.Requests()) }

// StreamReply is the Benchmark API's reply.
type StreamReply struct {
	TotalRows, TotalBytes, SizeBytes, DurationMillis int64
	PrintedRows, PrintedMiBs                         float64 // rows/s; throughput_mb_per_sec, which is in MiB/s
	Latency                                          map[string]int64
	Parallel                                         int64
	UsedStream                                       bool
}

var (
	streamFields = []string{"total_rows", "total_bytes", "total_size_bytes", "duration_ms", "throughput_rows_per_sec", "throughput_mb_per_sec",
		"latency_ms", "parallel_requests", "used_stream_transport"}
	// total_size: with human=true; OpenSearch's example plugin has the two others in its source, and no reply with them was seen
	streamOptional = []string{"total_size", "thread_pool_stats", "flight_timing"}
	streamLatency  = []string{"min", "max", "avg", "p5", "p10", "p20", "p25", "p35", "p50", "p75", "p90", "p99"}
)

// ParseStreamReply reads the Benchmark API's reply. A field that is missing, not known or no number is an error that names
// it: a reply that changed must not be half understood.
func ParseStreamReply(data []byte) (StreamReply, error) {
	fields, err := object(data, "", streamFields, streamOptional)
	if err != nil {
		return StreamReply{}, err
	}
	r := StreamReply{Latency: map[string]int64{}}
	read := func(from map[string]json.RawMessage, prefix, name string, to any) {
		if readErr := exactly(from[name], to); readErr != nil {
			err = errors.Join(err, fmt.Errorf("the field %s of the Benchmark API's reply is %s: %w", prefix+name, from[name], readErr))
		}
	}
	for name, to := range map[string]any{"total_rows": &r.TotalRows, "total_bytes": &r.TotalBytes, "total_size_bytes": &r.SizeBytes,
		"duration_ms": &r.DurationMillis, "parallel_requests": &r.Parallel, "used_stream_transport": &r.UsedStream,
		"throughput_rows_per_sec": (*printed)(&r.PrintedRows), "throughput_mb_per_sec": (*printed)(&r.PrintedMiBs)} {
		read(fields, "", name, to)
	}
	latency, latencyErr := object(fields["latency_ms"], "latency_ms.", streamLatency, nil)
	if latencyErr != nil {
		return r, errors.Join(err, latencyErr)
	}
	for _, name := range streamLatency {
		var n int64
		read(latency, "latency_ms.", name, &n)
		r.Latency[name] = n
	}
	return r, err
}

// object splits a JSON object with just these fields.
func object(data []byte, prefix string, required, optional []string) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return nil, fmt.Errorf("the Benchmark API's reply is no JSON object: %.100q", bytes.TrimSpace(data))
	}
	var wrong []string
	for _, name := range required {
		if _, ok := fields[name]; !ok {
			wrong = append(wrong, "lacks "+prefix+name)
		}
	}
	for name := range fields {
		if !slices.Contains(required, name) && !slices.Contains(optional, name) {
			wrong = append(wrong, "has a field "+prefix+name+" that is not known")
		}
	}
	if len(wrong) > 0 {
		sort.Strings(wrong)
		return nil, fmt.Errorf("the Benchmark API's reply %s", strings.Join(wrong, ", "))
	}
	return fields, nil
}

// printed is a number in a JSON string.
type printed float64

// exactly reads one JSON value of the wanted type; no figure of the API is below 0.
func exactly(data json.RawMessage, to any) error {
	switch to := to.(type) {
	case *printed:
		var text string
		if err := json.Unmarshal(data, &text); err != nil || !strings.HasPrefix(string(data), `"`) {
			return errors.New("not a number in a string")
		}
		value, err := decimal(text)
		*to = printed(value)
		return err
	case *int64:
		if err := json.Unmarshal(data, to); err != nil || string(data) == "null" || *to < 0 {
			return errors.New("not a whole number")
		}
	case *bool:
		if err := json.Unmarshal(data, to); err != nil || string(data) == "null" {
			return errors.New("neither true nor false")
		}
	}
	return nil
}

// ErrStreamTransport is the error of a reply that used the regular transport where the stream transport was requested.
// OpenSearch's example plugin does so where there is no stream transport; the plugin stream-benchmark refuses the request.
var ErrStreamTransport = errors.New("use_stream_transport is true and the reply is of the regular transport: this cluster has no stream transport")

// ErrStreamRequests is the error of a reply that lacks rows. OpenSearch's example plugin leaves out the rows of failed requests;
// the plugin stream-benchmark answers with an error.
var ErrStreamRequests = errors.New("requests of the Benchmark API failed")

// Check says whether the reply is that of the load that was asked for.
func (r StreamReply) Check(p StreamParams) error {
	switch want := p.Rows * p.Requests(); {
	case p.Stream && !r.UsedStream:
		return ErrStreamTransport
	case r.UsedStream != p.Stream:
		return fmt.Errorf("used_stream_transport of the reply is %t, not %t as in spec.workload.stream.params", r.UsedStream, p.Stream)
	case r.Parallel != p.Parallel:
		return fmt.Errorf("parallel_requests of the reply is %d, not %d as in the request", r.Parallel, p.Parallel)
	case r.TotalRows < want:
		return fmt.Errorf("%w: total_rows is %d, not %d rows x %d requests; OpenSearch's log says why", ErrStreamRequests, r.TotalRows, p.Rows, p.Requests())
	case r.TotalRows > want:
		return fmt.Errorf("total_rows is %d, not %d rows x %d requests", r.TotalRows, p.Rows, p.Requests())
	case r.DurationMillis == 0:
		return errors.New("duration_ms is 0: the load is too short to tell a rate, raise total_requests or rows")
	}
	return nil
}

// mib is a mebibyte, which the API calls MB.
const mib = 1 << 20

// Load is the reply as a record tells it, without its times. The rate is that of the integers; where the API's own, printed
// one differs by more than its rounding, a note says so.
func (r StreamReply) Load(p StreamParams) *record.Load {
	seconds := float64(r.DurationMillis) / 1000
	load := &record.Load{Seconds: seconds, Unit: "rows/s", Operations: r.TotalRows, Rate: float64(r.TotalRows) / seconds,
		MiBs: float64(r.TotalBytes) / mib / seconds,
		Latency: &record.Latency{Min: float64(r.Latency["min"]), Mean: float64(r.Latency["avg"]), Max: float64(r.Latency["max"]),
			P50: float64(r.Latency["p50"]), P90: float64(r.Latency["p90"]), P99: float64(r.Latency["p99"])}}
	for _, name := range []string{"p5", "p10", "p20", "p25", "p35", "p75"} {
		value := float64(r.Latency[name])
		load.Metrics = append(load.Metrics, record.Metric{Name: name, Value: &value, Unit: "ms"})
	}
	const rounding = 0.0051 // of two decimals
	note := func(format string, args ...any) { load.Notes = append(load.Notes, fmt.Sprintf(format, args...)) }
	if math.Abs(r.PrintedRows-load.Rate) > rounding {
		note("throughput_rows_per_sec is %.2f, total_rows / duration_ms is %.2f", r.PrintedRows, load.Rate)
	}
	if math.Abs(r.PrintedMiBs-load.MiBs) > rounding {
		note("throughput_mb_per_sec is %.2f, total_bytes / duration_ms is %.2f MiB/s", r.PrintedMiBs, load.MiBs)
	}
	if r.SizeBytes != r.TotalBytes {
		note("total_size_bytes is %d, total_bytes is %d", r.SizeBytes, r.TotalBytes)
	}
	if little := r.Concurrency(p).Note(); little != "" {
		load.Notes = append(load.Notes, little)
	}
	return load
}

// manyRounds is from how many requests in one place on the beginning and the end of the load, where fewer are in flight,
// weigh little.
const manyRounds = 20

// Concurrency is what Little's law says of the requests in flight, where there were enough to tell.
func (r StreamReply) Concurrency(p StreamParams) Concurrency {
	if r.DurationMillis == 0 || p.Requests() < manyRounds*p.InFlight() {
		return Concurrency{}
	}
	return Concurrency{Rate: float64(p.Requests()) * 1000 / float64(r.DurationMillis), MeanMillis: float64(r.Latency["avg"]), Resolution: 1,
		Clients: float64(p.InFlight())}
}
