package driver

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// OSBIngest is what the rendered workload says of the ingest tasks.
type OSBIngest struct {
	Tasks    []string // names, in the order of the patterns, then of the workload
	BulkSize int64    // documents a request, of the first task; 0 when the workload does not say
	Warmup   float64  // seconds that the program leaves out of its figures, of the first task
	Share    float64  // percent of the corpus that each client sends
	Timed    bool     // the corpus is looped or cut by a time: how many documents will be sent is not known
	Clients  []int64  // of each task, in the order of Tasks
}

// ParseOSBIngest reads the workload as the program rendered it. Patterns are names or type:TYPE.
func ParseOSBIngest(rendered []byte, procedure string, patterns []string) (OSBIngest, error) {
	var w renderedWorkload
	if err := json.Unmarshal(rendered, &w); err != nil {
		return OSBIngest{}, fmt.Errorf("the rendered workload is not JSON: %w", err)
	}
	schedule, err := w.schedule(procedure)
	if err != nil {
		return OSBIngest{}, err
	}
	out := OSBIngest{Share: 100}
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
		return out, fmt.Errorf("the workload's test procedure %q has no task %s", procedure, strings.Join(patterns, " or "))
	}
	return out, nil
}

// renderedWorkload is the part of a workload that tells of its tasks.
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

// schedule is that of the named procedure; without a name, the default one's or the only one's.
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
	return nil, fmt.Errorf("the workload has no test procedure %q", name)
}

// task is one leaf of a schedule with its operation.
type task struct {
	name      string
	kind      string // the operation's type
	spec      map[string]any
	operation map[string]any
	parallel  map[string]any // the element that it runs in, if any
}

// tasks flattens a schedule; what a parallel element sets holds for its tasks that do not set it.
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

// Target is a throughput that a task is held to: requests, or what its unit names, a second.
type Target struct {
	Value float64
	Unit  string // ops/s, docs/s
}

// In gives the target in the unit that the program reports the task's throughput in: a request of a bulk task is so
// many documents. 0 when there is no target, or none in that unit.
func (t Target) In(unit string, bulk int64) float64 {
	switch {
	case t.Unit == unit || unit == "":
		return t.Value
	case t.Unit == "ops/s" && unit == "docs/s":
		return t.Value * float64(bulk)
	}
	return 0
}

// ParseOSBTargets reads from the rendered workload which tasks have a target throughput, by name: only their latency
// is more than their service time.
func ParseOSBTargets(rendered []byte, procedure string) (map[string]Target, error) {
	var w renderedWorkload
	if err := json.Unmarshal(rendered, &w); err != nil {
		return nil, fmt.Errorf("the rendered workload is not JSON: %w", err)
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

// target reads a task's target-throughput or target-interval as Task.target_throughput of osbenchmark/workload/workload.py
// does: from the task alone, a number of requests a second or a text with a unit.
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

// number reads a parameter of the task or its operation, which may be text.
func (t task) number(key string, otherwise float64) float64 {
	return number(key, otherwise, t.spec, t.operation)
}

// clients is how many of the program's clients run the task at once. The program reads the figure from the task
// alone, 1 when it says none; what a parallel element sets is no default for its tasks (parse_parallel and
// parse_task of osbenchmark/workload/loader.py), but the clients that it has for all of them.
func (t task) clients() int64 {
	own := number("clients", 1, t.spec)
	return int64(min(own, number("clients", own, t.parallel)))
}

// number reads a parameter of the first of the objects that has it.
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

// byPattern keeps the tasks that match a pattern, in the order of the patterns.
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
