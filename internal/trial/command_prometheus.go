package trial

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

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
)

// Bounds of asking a Prometheus: of all its queries, and of an answer. (Its own Go client would make the agent 4 MB bigger,
// which is copied into every loader pod.)
const (
	prometheusTimeout = 20 * time.Second
	prometheusSpare   = 2 * time.Second // that must be left of the trial's deadline: the load is measured
	prometheusAnswer  = 1 << 20         // bytes
)

// askPrometheus evaluates the campaign's queries once, as of a time, with what stands for placeholders in the program's arguments: the
// variants may be services of different names. A figure that cannot be had is absent and says why: it makes no
// attempt invalid.
func (a *attempt) askPrometheus(ctx context.Context, c record.PrometheusConfig, values map[string]string, at time.Time, ran time.Duration) []record.Metric {
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
		value, err := a.askOnce(ctx, c.URL, driver.Expand(q.Query, values), at)
		if err != nil {
			metric.Note = err.Error()
			a.say("%s from Prometheus: %v", q.Name, err)
		} else {
			metric.Value = &value
		}
		out = append(out, metric)
	}
	return out
}

// askOnce evaluates an instant query, see Prometheus' HTTP API, "Instant queries".
func (a *attempt) askOnce(ctx context.Context, base, query string, at time.Time) (float64, error) {
	form := url.Values{"query": {query}, "time": {strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(base, "/")+"/api/v1/query", strings.NewReader(form.Encode()))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := a.probes.Do(req)
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

// oneSample is the one number of an answer.
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
		return 0, fmt.Errorf("status %d, and the answer is not a Prometheus': %.100q", status, data)
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
		return 0, fmt.Errorf("the query gives a %s, not one number", answer.Data.Type)
	}
	if err != nil {
		return 0, fmt.Errorf("the answer: %w", err)
	}
	if len(samples) != 1 {
		return 0, fmt.Errorf("the query gives %d series, not one", len(samples))
	}
	if v := float64(samples[0]); math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("the query gives %v", v)
	}
	return float64(samples[0]), nil
}

// sample is a value as Prometheus writes it: [time, "number"].
type sample float64

// UnmarshalJSON is part of json.Unmarshaler.
func (s *sample) UnmarshalJSON(data []byte) error {
	var pair []any
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("a sample of %d parts", len(pair))
	}
	text, ok := pair[1].(string)
	if !ok {
		return fmt.Errorf("the sample %v is not in a string", pair[1])
	}
	v, err := strconv.ParseFloat(text, 64)
	*s = sample(v)
	return err
}
