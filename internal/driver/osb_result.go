package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// OSBResult is what the program says of its own run.
type OSBResult struct {
	Version string
	Tasks   []record.Task // in the order of the run
}

// Task finds a task by name.
func (r OSBResult) Task(name string) (record.Task, bool) {
	for _, t := range r.Tasks {
		if t.Name == name {
			return t, true
		}
	}
	return record.Task{}, false
}

// ReadOSBResult reads the result of a run. No file is no result and no error: the program writes none, or one
// without results, when it is interrupted.
func ReadOSBResult(path string) (OSBResult, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return OSBResult{}, nil
	}
	if err != nil {
		return OSBResult{}, err
	}
	r, err := ParseOSBResult(data)
	if err != nil {
		return OSBResult{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// ParseOSBResult reads test_run.json of 2.x or test_execution.json of 1.x.
func ParseOSBResult(data []byte) (OSBResult, error) {
	var file struct {
		Version string `json:"benchmark-version"`
		Results struct {
			OpMetrics []struct {
				Task       string `json:"task"`
				Throughput struct {
					Mean *float64 `json:"mean"`
					Unit string   `json:"unit"`
				} `json:"throughput"`
				Latency     map[string]any `json:"latency"`
				ServiceTime map[string]any `json:"service_time"`
				ErrorRate   float64        `json:"error_rate"`
			} `json:"op_metrics"`
		} `json:"results"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return OSBResult{}, fmt.Errorf("the result of opensearch-benchmark is not whole: %w", err)
	}
	out := OSBResult{Version: file.Version}
	for _, m := range file.Results.OpMetrics {
		t := record.Task{Name: m.Task, Unit: m.Throughput.Unit, ErrorRate: m.ErrorRate,
			Latency: latency(m.Latency), ServiceTime: latency(m.ServiceTime)}
		if m.Throughput.Mean != nil {
			t.Throughput = *m.Throughput.Mean
		}
		out.Tasks = append(out.Tasks, t)
	}
	return out, nil
}

// latency reads a distribution whose percentile keys are 50_0, 99_9 and so on, as many as the samples allow.
func latency(m map[string]any) *record.Latency {
	mean, ok := m["mean"].(float64)
	if !ok {
		return nil
	}
	l := &record.Latency{Mean: mean}
	for key, value := range m {
		p, err := strconv.ParseFloat(strings.Replace(key, "_", ".", 1), 64)
		v, ok := value.(float64)
		if err != nil || !ok {
			continue
		}
		switch p {
		case 50:
			l.P50 = v
		case 90:
			l.P90 = v
		case 99:
			l.P99 = v
		case 99.9:
			l.P999 = v
		case 100:
			l.Max = v
		}
	}
	return l
}
