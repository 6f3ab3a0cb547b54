package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/drivers/command/commandconfig"
	"github.com/knee-bench/knee/internal/drivers/command/parser"
	"github.com/knee-bench/knee/internal/record"
)

// Limits for Prometheus queries. The agent does not use the Go client of Prometheus, because it would make the agent 4 MB
// larger, and the agent is copied into every loader pod.
const (
	prometheusTimeout = 20 * time.Second // for all queries together
	prometheusSpare   = 2 * time.Second  // time that must remain before the trial's deadline
	prometheusAnswer  = 1 << 20          // bytes of a response
)

// prometheus is a client for a Prometheus server.
type prometheus struct {
	http *http.Client
	say  func(format string, args ...any)
}

// evaluate evaluates each of the campaign's queries once, at a given time. The queries may contain the same placeholders as
// the program's arguments, because variants may be services with different names. A figure that cannot be read has a note
// instead of a value. A missing figure never makes the attempt invalid.
func (p prometheus) evaluate(ctx context.Context, c commandconfig.Prometheus, values map[string]string, at time.Time, ran time.Duration) []record.Metric {
	until := time.Now().Add(prometheusTimeout)
	if deadline, set := ctx.Deadline(); set && deadline.Add(-prometheusSpare).Before(until) {
		until = deadline.Add(-prometheusSpare)
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	values["KNEE_WINDOW"] = fmt.Sprintf("%ds", max(1, int64(math.Ceil(ran.Seconds()))))
	var out []record.Metric
	for _, q := range c.Queries {
		metric := record.Metric{Name: q.Name, Unit: q.Unit}
		value, err := p.query(ctx, c.URL, parser.Expand(q.Query, values), at)
		if err != nil {
			metric.Note = err.Error()
			p.say("cannot read %s from Prometheus: %v", q.Name, err)
		} else {
			metric.Value = &value
		}
		out = append(out, metric)
	}
	return out
}

// query evaluates an instant query; see "Instant queries" in the HTTP API of Prometheus.
func (p prometheus) query(ctx context.Context, base, query string, at time.Time) (float64, error) {
	form := url.Values{"query": {query}, "time": {strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(base, "/")+"/api/v1/query", strings.NewReader(form.Encode()))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := p.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, prometheusAnswer))
	if err != nil {
		return 0, err
	}
	return oneSample(resp.StatusCode, data)
}

// oneSample returns the number in a response. It returns an error if the response contains no number or several numbers.
func oneSample(status int, data []byte) (float64, error) {
	var answer struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Data   struct {
			Type   string          `json:"resultType"`
			Result json.RawMessage `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return 0, fmt.Errorf("the answer has HTTP status %d and is not in the format of Prometheus: check spec.workload.command.prometheus.url; the answer starts with %.100q", status, data)
	}
	if answer.Status != "success" {
		return 0, fmt.Errorf("status %d: %s", status, answer.Error)
	}
	var samples []sample
	var err error
	switch answer.Data.Type {
	case "scalar":
		samples = make([]sample, 1)
		err = json.Unmarshal(answer.Data.Result, &samples[0])
	case "vector":
		var vector []struct {
			Value sample `json:"value"`
		}
		err = json.Unmarshal(answer.Data.Result, &vector)
		for _, v := range vector {
			samples = append(samples, v.Value)
		}
	default:
		return 0, fmt.Errorf("the query returned a %s, but must return one number (a scalar, or a vector with one series)", answer.Data.Type)
	}
	if err != nil {
		return 0, fmt.Errorf("cannot decode the answer of Prometheus: %w", err)
	}
	if len(samples) != 1 {
		return 0, fmt.Errorf("the query returned %d series, but must return one", len(samples))
	}
	if v := float64(samples[0]); math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("the query returned %v, which is not a finite number", v)
	}
	return float64(samples[0]), nil
}

// sample is a value in the format of Prometheus: [time, "number"].
type sample float64

// UnmarshalJSON implements json.Unmarshaler.
func (s *sample) UnmarshalJSON(data []byte) error {
	var pair []any
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("a sample has %d elements instead of 2 (time and value)", len(pair))
	}
	text, ok := pair[1].(string)
	if !ok {
		return fmt.Errorf("the sample's value %v is not a string", pair[1])
	}
	v, err := strconv.ParseFloat(text, 64)
	*s = sample(v)
	return err
}
