package driver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// OSBDescription is what a workload holds, of which Knee runs a part.
type OSBDescription struct {
	Procedures []string     // names of all test procedures
	Procedure  string       // the one that is described
	Indices    []OSBIndex   // that the workload makes
	Streams    []string     // data streams that the workload makes
	Tasks      []OSBTask    // of the procedure, in its order
	Corpora    []OSBCorpora // all
}

// OSBIndex is an index of a workload.
type OSBIndex struct {
	Name string `json:"name"`
	Body string `json:"body"` // file below the workload's folder
}

// OSBTask is a task of a test procedure.
type OSBTask struct {
	Name, Kind string
	Use        OSBUse
	Clients    int64
	BulkSize   int64          // 0: the task is no bulk task, or does not say
	Settings   map[string]any // that a create-index task sets beside the index's body
	Targets    []string       // indices that an ingest task fills
	Documents  int64          // that an ingest task sends
}

// OSBUse is what Knee does with a task.
type OSBUse string

// The uses of a task.
const (
	UseSetup   OSBUse = "setup"
	UseIngest  OSBUse = "ingest"
	UseSearch  OSBUse = "search"
	UseNothing OSBUse = "not run"
)

// OSBCorpora is a set of documents.
type OSBCorpora struct {
	Corpus, File, Index string
	Documents           int64
}

// OSBPatterns are the task names, type:TYPE or tag:TAG of a campaign.
type OSBPatterns struct{ Setup, Ingest, Search []string }

// DescribeOSB reads a workload as the program rendered it.
func DescribeOSB(rendered []byte, procedure string, patterns OSBPatterns) (OSBDescription, error) {
	var w struct {
		renderedWorkload
		Indices []OSBIndex              `json:"indices"`
		Streams []struct{ Name string } `json:"data-streams"`
		Corpora []corpus                `json:"corpora"`
	}
	if err := json.Unmarshal(rendered, &w); err != nil {
		return OSBDescription{}, fmt.Errorf("the rendered workload is not JSON: %w", err)
	}
	schedule, err := w.schedule(procedure)
	if err != nil {
		return OSBDescription{}, err
	}
	out := OSBDescription{Procedure: procedure, Indices: w.Indices}
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
			out.Corpora = append(out.Corpora, OSBCorpora{c.Name, d.File, c.target(d, w.Indices), d.Count})
		}
	}
	for _, t := range w.tasks(schedule, nil) {
		out.Tasks = append(out.Tasks, t.describe(patterns, w.Corpora, w.Indices))
	}
	return out, nil
}

// target is the index or data stream of a set of documents: the set's own, the corpus', or the workload's only index.
func (c corpus) target(d documentSet, indices []OSBIndex) string {
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

func (t task) describe(patterns OSBPatterns, corpora []corpus, indices []OSBIndex) OSBTask {
	out := OSBTask{Name: t.name, Kind: t.kind, Use: UseNothing, Clients: t.clients(), BulkSize: int64(t.number("bulk-size", 0))}
	for _, u := range []struct {
		use      OSBUse
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

// matches reports whether a pattern names the task.
func (t task) matches(pattern string) bool {
	if kind, typed := strings.CutPrefix(pattern, "type:"); typed {
		return kind == t.kind
	}
	if tag, tagged := strings.CutPrefix(pattern, "tag:"); tagged {
		return slices.Contains(words(t.spec["tags"]), tag)
	}
	return pattern == t.name
}
