package osbtool

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

// Result holds the figures that the program reports about its run.
type Result struct {
	Version string
	Tasks   []record.Task // in the order in which they ran
}

// Task returns the task with a given name.
func (r Result) Task(name string) (record.Task, bool) {
	for _, t := range r.Tasks {
		if t.Name == name {
			return t, true
		}
	}
	return record.Task{}, false
}

// ReadResult reads the result file of a run. If the file is missing, the result is empty: an interrupted program writes no
// file, or a file without results.
func ReadResult(path string) (Result, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Result{}, nil
	}
	if err != nil {
		return Result{}, err
	}
	r, err := ParseResult(data)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// ParseResult parses test_run.json of opensearch-benchmark 2.x, or test_execution.json of 1.x.
func ParseResult(data []byte) (Result, error) {
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
		return Result{}, fmt.Errorf("cannot decode the result of opensearch-benchmark: %w", err)
	}
	out := Result{Version: file.Version}
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

// latency parses a distribution. The keys of percentiles are 50_0, 99_9 and so on. The number of samples determines which
// percentiles exist.
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
