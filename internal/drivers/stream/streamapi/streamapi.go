// Package streamapi defines the parameters and the reply of the Benchmark API of the stream transport.
package streamapi

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

	"github.com/knee-bench/knee/internal/drivers/output"
	"github.com/knee-bench/knee/internal/record"
)

// Path is the path of the Benchmark API.
const Path = "/_benchmark/stream"

// Needs lists what a cluster needs for the Benchmark API, for error messages.
const Needs = "the plugin stream-benchmark (the Benchmark API) on every node, and the stream transport also needs the plugins arrow-base and arrow-flight-rpc and the setting " +
	"opensearch.experimental.feature.transport.stream.enabled: true"

// NoStreamTransport is the error type with which the plugin stream-benchmark refuses use_stream_transport on a node without
// stream transport.
const NoStreamTransport = "no_stream_transport_exception"

// Params holds the query parameters of the API. A parameter that is not given has the default of the API.
type Params struct {
	Rows     int64
	Parallel int64 // parameter parallel_requests
	Total    int64 // parameter total_requests; 0: the value of Parallel
	Stream   bool  // parameter use_stream_transport
}

// ParseParams parses the parameters according to the rules of the API.
func ParseParams(params map[string]string) (Params, error) {
	out := Params{Rows: 100, Parallel: 1, Stream: true}
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

// Requests returns how many requests the API makes.
func (p Params) Requests() int64 {
	if p.Total > 0 {
		return p.Total
	}
	return p.Parallel
}

// InFlight returns how many concurrent requests the API makes: twice parallel_requests, but at most the number of all
// requests.
func (p Params) InFlight() int64 { return min(2*p.Parallel, p.Requests()) }

// Reply is the Benchmark API's reply.
type Reply struct {
	TotalRows, TotalBytes, SizeBytes, DurationMillis int64
	PrintedRows, PrintedMiBs                         float64 // rows/s; MiB/s, although the field is named throughput_mb_per_sec
	Latency                                          map[string]int64
	Parallel                                         int64
	UsedStream                                       bool
}

var (
	streamFields = []string{"total_rows", "total_bytes", "total_size_bytes", "duration_ms", "throughput_rows_per_sec", "throughput_mb_per_sec",
		"latency_ms", "parallel_requests", "used_stream_transport"}
	// total_size: only with human=true. The source of OpenSearch's example plugin contains the other two fields, but no reply
	// with them was observed.
	streamOptional = []string{"total_size", "thread_pool_stats", "flight_timing"}
	streamLatency  = []string{"min", "max", "avg", "p5", "p10", "p20", "p25", "p35", "p50", "p75", "p90", "p99"}
)

// ParseReply parses the reply of the Benchmark API. It returns an error that names the field if a field is missing, is not
// known, or has the wrong type. Otherwise a changed reply could be misunderstood.
func ParseReply(data []byte) (Reply, error) {
	fields, err := object(data, "", streamFields, streamOptional)
	if err != nil {
		return Reply{}, err
	}
	r := Reply{Latency: map[string]int64{}}
	read := func(from map[string]json.RawMessage, prefix, name string, to any) {
		if readErr := exactly(from[name], to); readErr != nil {
			err = errors.Join(err, fmt.Errorf("the field %s of the Benchmark API's reply has the wrong value %s: %w", prefix+name, from[name], readErr))
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

// object parses a JSON object. The object must have all required fields and no other fields except the optional ones.
func object(data []byte, prefix string, required, optional []string) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return nil, fmt.Errorf("the Benchmark API's reply is no JSON object: %.100q", bytes.TrimSpace(data))
	}
	var wrong []string
	for _, name := range required {
		if _, ok := fields[name]; !ok {
			wrong = append(wrong, "field "+prefix+name+" is missing")
		}
	}
	for name := range fields {
		if !slices.Contains(required, name) && !slices.Contains(optional, name) {
			wrong = append(wrong, "field "+prefix+name+" is not known")
		}
	}
	if len(wrong) > 0 {
		sort.Strings(wrong)
		return nil, fmt.Errorf("the Benchmark API's reply does not have the expected fields: %s", strings.Join(wrong, ", "))
	}
	return fields, nil
}

// printed is a number that the reply contains as a JSON string.
type printed float64

// exactly parses one JSON value and stores it in the variable to which the parameter to points. The value must have the type
// of this variable. Negative integers are rejected, because no integer of the API is negative.
func exactly(data json.RawMessage, to any) error {
	switch to := to.(type) {
	case *printed:
		var text string
		if err := json.Unmarshal(data, &text); err != nil || !strings.HasPrefix(string(data), `"`) {
			return errors.New("the value must be a number in quotes, for example \"12.5\"")
		}
		value, err := output.Decimal(text)
		*to = printed(value)
		return err
	case *int64:
		if err := json.Unmarshal(data, to); err != nil || string(data) == "null" || *to < 0 {
			return errors.New("the value must be a whole number of at least 0")
		}
	case *bool:
		if err := json.Unmarshal(data, to); err != nil || string(data) == "null" {
			return errors.New("the value must be true or false")
		}
	}
	return nil
}

// ErrTransport is the error of a reply that used the regular transport although the stream transport was requested.
// OpenSearch's example plugin sends such a reply if there is no stream transport. The plugin stream-benchmark refuses the
// request instead.
var ErrTransport = errors.New("use_stream_transport is true, but OpenSearch used the regular transport: this cluster has no stream transport")

// ErrRequests is the error of a reply with too few rows. OpenSearch's example plugin omits the rows of failed requests. The
// plugin stream-benchmark returns an error instead.
var ErrRequests = errors.New("requests of the Benchmark API failed")

// Check returns an error if the reply does not match the requested load.
func (r Reply) Check(p Params) error {
	switch want := p.Rows * p.Requests(); {
	case p.Stream && !r.UsedStream:
		return ErrTransport
	case r.UsedStream != p.Stream:
		return fmt.Errorf("in the Benchmark API's reply, used_stream_transport is %t, but spec.workload.stream.params.use_stream_transport is %t", r.UsedStream, p.Stream)
	case r.Parallel != p.Parallel:
		return fmt.Errorf("parallel_requests is %d in the Benchmark API's reply, but %d in the request", r.Parallel, p.Parallel)
	case r.TotalRows < want:
		return fmt.Errorf("%w: total_rows is %d, but Knee requested %d rows in each of %d requests; see OpenSearch's log for the cause", ErrRequests, r.TotalRows, p.Rows, p.Requests())
	case r.TotalRows > want:
		return fmt.Errorf("in the Benchmark API's reply, total_rows is %d, but Knee requested only %d rows in each of %d requests", r.TotalRows, p.Rows, p.Requests())
	case r.DurationMillis == 0:
		return errors.New("in the Benchmark API's reply, duration_ms is 0: the load is too short to compute a rate; raise total_requests or rows in spec.workload.stream.params")
	}
	return nil
}

// mib is a mebibyte. The API calls it MB.
const mib = 1 << 20

// Load converts the reply to a load of a record. It does not set From and To. The rate is computed from the integers of the
// reply. If the rate that the API prints differs by more than its rounding, a note reports this.
func (r Reply) Load(p Params) *record.Load {
	seconds := float64(r.DurationMillis) / 1000
	load := &record.Load{Seconds: seconds, Unit: "rows/s", Operations: r.TotalRows, Rate: float64(r.TotalRows) / seconds,
		MiBs: float64(r.TotalBytes) / mib / seconds,
		Latency: &record.Latency{Min: float64(r.Latency["min"]), Mean: float64(r.Latency["avg"]), Max: float64(r.Latency["max"]),
			P50: float64(r.Latency["p50"]), P90: float64(r.Latency["p90"]), P99: float64(r.Latency["p99"])}}
	for _, name := range []string{"p5", "p10", "p20", "p25", "p35", "p75"} {
		value := float64(r.Latency[name])
		load.Metrics = append(load.Metrics, record.Metric{Name: name, Value: &value, Unit: "ms"})
	}
	const rounding = 0.0051 // rounding error of two decimals
	note := func(format string, args ...any) { load.Notes = append(load.Notes, fmt.Sprintf(format, args...)) }
	if math.Abs(r.PrintedRows-load.Rate) > rounding {
		note("the Benchmark API reported throughput_rows_per_sec %.2f, but total_rows / duration_ms gives %.2f rows/s; Knee uses the second rate", r.PrintedRows, load.Rate)
	}
	if math.Abs(r.PrintedMiBs-load.MiBs) > rounding {
		note("the Benchmark API reported throughput_mb_per_sec %.2f, but total_bytes / duration_ms gives %.2f MiB/s; Knee uses the second rate", r.PrintedMiBs, load.MiBs)
	}
	if r.SizeBytes != r.TotalBytes {
		note("the Benchmark API reported two different sizes: total_size_bytes is %d, but total_bytes is %d (Knee uses total_bytes)", r.SizeBytes, r.TotalBytes)
	}
	if little := r.Concurrency(p).Note(); little != "" {
		load.Notes = append(load.Notes, little)
	}
	return load
}

// manyRounds is the minimum number of requests per concurrent request for which Little's law is checked. In shorter loads,
// the start and the end have too much influence, because fewer requests run at the same time then.
const manyRounds = 20

// Concurrency returns the figures for Little's law. They are empty if the load had too few requests.
func (r Reply) Concurrency(p Params) output.Concurrency {
	if r.DurationMillis == 0 || p.Requests() < manyRounds*p.InFlight() {
		return output.Concurrency{}
	}
	return output.Concurrency{Rate: float64(p.Requests()) * 1000 / float64(r.DurationMillis), MeanMillis: float64(r.Latency["avg"]), Resolution: 1,
		Clients: float64(p.InFlight())}
}
