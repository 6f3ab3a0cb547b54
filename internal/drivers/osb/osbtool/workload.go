package osbtool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Ingest holds the facts about the ingest tasks in a rendered workload.
type Ingest struct {
	Tasks    []string // names, ordered by pattern, then by position in the workload
	BulkSize int64    // documents per request of the first task; 0: the workload does not specify it
	Warmup   float64  // warm-up of the first task in seconds; the program's figures exclude it
	Share    float64  // percent of the corpus that each client sends
	Timed    bool     // a time or a number of iterations ends the load, or the corpus is sent repeatedly; the number of documents is not known
	Clients  []int64  // number of clients of each task, in the order of Tasks
}

// ParseIngest parses a rendered workload. patterns are task names or type:TYPE.
func ParseIngest(rendered []byte, procedure string, patterns []string) (Ingest, error) {
	var w renderedWorkload
	if err := json.Unmarshal(rendered, &w); err != nil {
		return Ingest{}, fmt.Errorf("the workload file that opensearch-benchmark rendered is not JSON: %w", err)
	}
	schedule, err := w.schedule(procedure)
	if err != nil {
		return Ingest{}, err
	}
	out := Ingest{Share: 100}
	for _, t := range byPattern(w.tasks(schedule, nil), patterns) {
		if len(out.Tasks) == 0 {
			out.BulkSize = int64(t.number("bulk-size", 0))
			out.Share = t.number("ingest-percentage", 100)
			out.Warmup = t.number("warmup-time-period", 0)
		} else if out.Share != t.number("ingest-percentage", 100) {
			out.Timed = true
		}
		looped, _ := t.operation["looped"].(bool)
		_, period := t.spec["time-period"]
		out.Timed = out.Timed || looped || period || t.spec["iterations"] != nil
		out.Tasks = append(out.Tasks, t.name)
		out.Clients = append(out.Clients, t.clients())
	}
	if len(out.Tasks) == 0 {
		return out, fmt.Errorf("no task of the workload's test procedure %q matches %s: check spec.workload.osb.testProcedure and ingestTasks", procedure, strings.Join(patterns, " or "))
	}
	return out, nil
}

// renderedWorkload is the part of a workload that describes its tasks.
type renderedWorkload struct {
	Operations []map[string]any `json:"operations"`
	Procedures []procedure      `json:"test_procedures"`
	Challenges []procedure      `json:"challenges"`
	Schedule   []map[string]any `json:"schedule"`
}

type procedure struct {
	Name     string           `json:"name"`
	Default  bool             `json:"default"`
	Schedule []map[string]any `json:"schedule"`
}

// schedule returns the schedule of the test procedure with the given name. If the name is empty, it returns the schedule of
// the default procedure, or of the only procedure.
func (w renderedWorkload) schedule(name string) ([]map[string]any, error) {
	all := append(slices.Clone(w.Procedures), w.Challenges...)
	for _, p := range all {
		if (name != "" && p.Name == name) || (name == "" && (p.Default || len(all) == 1)) {
			return p.Schedule, nil
		}
	}
	if name == "" && w.Schedule != nil {
		return w.Schedule, nil
	}
	return nil, fmt.Errorf("the workload has no test procedure %q: check spec.workload.osb.testProcedure (or --test-procedure of kubectl knee workload)", name)
}

// task is one task of a schedule, with its operation. A parallel element of a schedule is not a task, but contains tasks.
type task struct {
	name      string
	kind      string // type of the operation
	spec      map[string]any
	operation map[string]any
	parallel  map[string]any // parallel element that contains the task; nil: none
}

// tasks returns the tasks of a schedule as a flat list. If a task does not set its time-period, iterations or
// warmup-time-period, it inherits the value of its parallel element.
func (w renderedWorkload) tasks(schedule []map[string]any, inherited map[string]any) []task {
	var out []task
	for _, spec := range schedule {
		if parallel, ok := spec["parallel"].(map[string]any); ok {
			var inner []map[string]any
			list, _ := parallel["tasks"].([]any)
			for _, e := range list {
				if m, ok := e.(map[string]any); ok {
					inner = append(inner, m)
				}
			}
			out = append(out, w.tasks(inner, parallel)...)
			continue
		}
		t := w.leaf(spec)
		t.parallel = inherited
		for _, key := range []string{"time-period", "iterations", "warmup-time-period"} {
			if v, set := inherited[key]; set && spec[key] == nil {
				t.spec[key] = v
			}
		}
		out = append(out, t)
	}
	return out
}

func (w renderedWorkload) leaf(spec map[string]any) task {
	t := task{spec: map[string]any{}, operation: map[string]any{}}
	for k, v := range spec {
		t.spec[k] = v
	}
	switch op := spec["operation"].(type) {
	case map[string]any:
		t.operation = op
	case string:
		t.name, t.kind = op, op
		for _, o := range w.Operations {
			if o["name"] == op {
				t.operation = o
			}
		}
	}
	if s, ok := t.operation["operation-type"].(string); ok {
		t.kind = s
		if t.name == "" {
			t.name = s
		}
	}
	if s, ok := t.operation["name"].(string); ok {
		t.name = s
	}
	if s, ok := spec["name"].(string); ok {
		t.name = s
	}
	return t
}

// Target is the target throughput of a task, in requests or another unit per second.
type Target struct {
	Value float64
	Unit  string // for example ops/s or docs/s
}

// In converts the target to the unit in which the program reports the task's throughput. bulk is the number of documents per
// request. It returns 0 if there is no target, or if the target has another unit.
func (t Target) In(unit string, bulk int64) float64 {
	switch {
	case t.Unit == unit || unit == "":
		return t.Value
	case t.Unit == "ops/s" && unit == "docs/s":
		return t.Value * float64(bulk)
	}
	return 0
}

// ParseTargets returns the target throughputs of tasks in a rendered workload, by task name. Only a task with a target
// throughput has a latency that differs from its service time.
func ParseTargets(rendered []byte, procedure string) (map[string]Target, error) {
	var w renderedWorkload
	if err := json.Unmarshal(rendered, &w); err != nil {
		return nil, fmt.Errorf("the workload file that opensearch-benchmark rendered is not JSON: %w", err)
	}
	schedule, err := w.schedule(procedure)
	if err != nil {
		return nil, err
	}
	out := map[string]Target{}
	for _, t := range w.tasks(schedule, nil) {
		if target := t.target(); target.Value > 0 {
			out[t.name] = target
		}
	}
	return out, nil
}

var throughput = regexp.MustCompile(`^((?:\d*\.)?\d+)\s(\w+/s)`)

// target returns the target throughput of a task, from target-throughput or target-interval. Like Task.target_throughput of
// osbenchmark/workload/workload.py, it reads them only from the task, not from the operation. The value is a number of
// requests per second, or a string with a unit.
func (t task) target() Target {
	if interval := number("target-interval", 0, t.spec); interval > 0 {
		return Target{1 / interval, "ops/s"}
	}
	if text, ok := t.spec["target-throughput"].(string); ok {
		m := throughput.FindStringSubmatch(text)
		if m == nil {
			return Target{}
		}
		value, _ := strconv.ParseFloat(m[1], 64)
		return Target{value, m[2]}
	}
	return Target{number("target-throughput", 0, t.spec), "ops/s"}
}

// number reads a numeric parameter of the task, or else of its operation. The value may be a string.
func (t task) number(key string, otherwise float64) float64 {
	return number(key, otherwise, t.spec, t.operation)
}

// clients returns how many of the program's clients run the task at the same time. The program reads this number only from
// the task; the default is 1. The clients of a parallel element are not the default for its tasks, but the upper limit of
// their sum (parse_parallel and parse_task of osbenchmark/workload/loader.py).
func (t task) clients() int64 {
	own := number("clients", 1, t.spec)
	return int64(min(own, number("clients", own, t.parallel)))
}

// number reads a numeric parameter from the first object that has it. If no object has it, number returns otherwise.
func number(key string, otherwise float64, objects ...map[string]any) float64 {
	for _, m := range objects {
		switch v := m[key].(type) {
		case float64:
			return v
		case string:
			if f, err := strconv.ParseFloat(v, 64); err == nil {
				return f
			}
		}
	}
	return otherwise
}

// byPattern returns the tasks that match a pattern, in the order of the patterns.
func byPattern(tasks []task, patterns []string) []task {
	var out []task
	taken := map[string]bool{}
	for _, p := range patterns {
		for _, t := range tasks {
			kind, typed := strings.CutPrefix(p, "type:")
			if !taken[t.name] && (typed && kind == t.kind || p == t.name) {
				taken[t.name] = true
				out = append(out, t)
			}
		}
	}
	return out
}
