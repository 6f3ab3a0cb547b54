package osbtool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Description describes the content of a workload. Knee runs only some of the tasks.
type Description struct {
	Procedures []string  // names of all test procedures
	Procedure  string    // name of the described test procedure
	Indices    []Index   // indices that the workload creates
	Streams    []string  // data streams that the workload creates
	Tasks      []Task    // tasks of the test procedure, in their order
	Corpora    []Corpora // all sets of documents
}

// Index is an index of a workload.
type Index struct {
	Name string `json:"name"`
	Body string `json:"body"` // path of a file in the workload's folder
}

// Task is a task of a test procedure.
type Task struct {
	Name, Kind string
	Use        Use
	Clients    int64
	BulkSize   int64          // documents per request; 0: no bulk task, or not specified
	Settings   map[string]any // settings that a create-index task sets in addition to the index body
	Targets    []string       // indices that the task fills, for an ingest task
	Documents  int64          // number of documents that the task sends, for an ingest task
}

// Use describes what Knee does with a task.
type Use string

// Values of Use.
const (
	UseSetup   Use = "setup"
	UseIngest  Use = "ingest"
	UseSearch  Use = "search"
	UseNothing Use = "not run"
)

// Corpora is a set of documents of a corpus.
type Corpora struct {
	Corpus, File, Index string
	Documents           int64
}

// Patterns holds the task patterns of a campaign: task names, type:TYPE or tag:TAG.
type Patterns struct{ Setup, Ingest, Search []string }

// Describe parses a workload that the program has rendered.
func Describe(rendered []byte, procedure string, patterns Patterns) (Description, error) {
	var w struct {
		renderedWorkload
		Indices []Index                 `json:"indices"`
		Streams []struct{ Name string } `json:"data-streams"`
		Corpora []corpus                `json:"corpora"`
	}
	if err := json.Unmarshal(rendered, &w); err != nil {
		return Description{}, fmt.Errorf("the workload file that opensearch-benchmark rendered is not JSON: %w", err)
	}
	schedule, err := w.schedule(procedure)
	if err != nil {
		return Description{}, err
	}
	out := Description{Procedure: procedure, Indices: w.Indices}
	for _, s := range w.Streams {
		out.Streams = append(out.Streams, s.Name)
	}
	all := append(slices.Clone(w.Procedures), w.Challenges...)
	for _, p := range all {
		out.Procedures = append(out.Procedures, p.Name)
		if procedure == "" && (p.Default || len(all) == 1) {
			out.Procedure = p.Name
		}
	}
	for _, c := range w.Corpora {
		for _, d := range c.Documents {
			out.Corpora = append(out.Corpora, Corpora{c.Name, d.File, c.target(d, w.Indices), d.Count})
		}
	}
	for _, t := range w.tasks(schedule, nil) {
		out.Tasks = append(out.Tasks, t.describe(patterns, w.Corpora, w.Indices))
	}
	return out, nil
}

// target returns the index or data stream of a set of documents. It is the target of the set. If the set has none, it is the
// target of the corpus. If the corpus has none either, it is the only index of the workload, or "" if there are several.
func (c corpus) target(d documentSet, indices []Index) string {
	for _, name := range []string{d.Index, d.Stream, c.Index, c.Stream} {
		if name != "" {
			return name
		}
	}
	if len(indices) == 1 {
		return indices[0].Name
	}
	return ""
}

func (t task) describe(patterns Patterns, corpora []corpus, indices []Index) Task {
	out := Task{Name: t.name, Kind: t.kind, Use: UseNothing, Clients: t.clients(), BulkSize: int64(t.number("bulk-size", 0))}
	for _, u := range []struct {
		use      Use
		patterns []string
	}{{UseSearch, patterns.Search}, {UseSetup, patterns.Setup}, {UseIngest, patterns.Ingest}} {
		if slices.ContainsFunc(u.patterns, t.matches) {
			out.Use = u.use
		}
	}
	out.Settings, _ = t.operation["settings"].(map[string]any)
	if out.Use != UseIngest {
		return out
	}
	for _, c := range corpora {
		if names := words(t.operation["corpora"]); names != nil && !slices.Contains(names, c.Name) {
			continue
		}
		for _, d := range c.Documents {
			if !wanted(t.operation["indices"], d.Index, c.Index) || !wanted(t.operation["data-streams"], d.Stream, c.Stream) {
				continue
			}
			out.Documents += d.Count
			if name := c.target(d, indices); !slices.Contains(out.Targets, name) {
				out.Targets = append(out.Targets, name)
			}
		}
	}
	return out
}

// matches reports whether a pattern selects the task.
func (t task) matches(pattern string) bool {
	if kind, typed := strings.CutPrefix(pattern, "type:"); typed {
		return kind == t.kind
	}
	if tag, tagged := strings.CutPrefix(pattern, "tag:"); tagged {
		return slices.Contains(words(t.spec["tags"]), tag)
	}
	return pattern == t.name
}
