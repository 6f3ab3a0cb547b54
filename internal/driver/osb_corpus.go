package driver

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// OSBCorpus is the file of documents that an ingest task sends.
type OSBCorpus struct {
	Name string // of the corpus
	File string // unpacked, relative to where the program keeps it
}

// Paths are where the program may have the file, in the order in which it looks (data_dir of
// osbenchmark/workload/loader.py): beside the workload that it was given, and with its downloads.
func (c OSBCorpus) Paths(run OSBRun) []string {
	var out []string
	if run.WorkloadPath != "" {
		out = append(out, filepath.Join(run.WorkloadPath, c.File))
	}
	return append(out, filepath.Join(DataPath(run.Home), c.Name, c.File))
}

// ParseOSBCorpus finds in the rendered workload the one file whose documents the ingest task sends as they are. A load that
// is more than that is an error, which says what more it is: nobody else makes the same one.
func ParseOSBCorpus(rendered []byte, procedure string, patterns []string) (OSBCorpus, error) {
	var w struct {
		renderedWorkload
		Corpora []corpus `json:"corpora"`
	}
	if err := json.Unmarshal(rendered, &w); err != nil {
		return OSBCorpus{}, fmt.Errorf("the rendered workload is not JSON: %w", err)
	}
	schedule, err := w.schedule(procedure)
	if err != nil {
		return OSBCorpus{}, err
	}
	tasks := byPattern(w.tasks(schedule, nil), patterns)
	if len(tasks) != 1 {
		return OSBCorpus{}, fmt.Errorf("the load is made by %d tasks", len(tasks))
	}
	if err := tasks[0].plainBulk(); err != nil {
		return OSBCorpus{}, err
	}
	return onlyFile(w.Corpora, tasks[0])
}

// plainBulk says what a task does that is more than to index documents in bulk.
func (t task) plainBulk() error {
	if t.kind != "bulk" {
		return fmt.Errorf("task %s is of operation-type %s", t.name, t.kind)
	}
	for _, key := range []string{"conflicts", "pipeline", "request-params"} {
		switch v := t.operation[key].(type) {
		case nil:
			continue
		case string:
			if v == "" {
				continue
			}
		case map[string]any:
			if len(v) == 0 {
				continue
			}
		}
		return fmt.Errorf("task %s sets %s", t.name, key)
	}
	return nil
}

type corpus struct {
	Name      string        `json:"name"`
	Streaming any           `json:"streaming-ingestion"`
	WithMeta  bool          `json:"includes-action-and-meta-data"`
	Index     string        `json:"target-index"`
	Stream    string        `json:"target-data-stream"`
	Documents []documentSet `json:"documents"`
}

type documentSet struct {
	File     string `json:"source-file"`
	WithMeta *bool  `json:"includes-action-and-meta-data"` // absent: as the corpus says
	Index    string `json:"target-index"`
	Stream   string `json:"target-data-stream"`
	Count    int64  `json:"document-count"`
}

// onlyFile finds the file of a task's corpora, as used_corpora of osbenchmark/workload/params.py chooses them.
func onlyFile(all []corpus, t task) (OSBCorpus, error) {
	var found []OSBCorpus
	for _, c := range all {
		if names := words(t.operation["corpora"]); names != nil && !slices.Contains(names, c.Name) {
			continue
		}
		if c.Streaming != nil && c.Streaming != "" {
			return OSBCorpus{}, fmt.Errorf("corpus %s is made while it is sent", c.Name)
		}
		for _, d := range c.Documents {
			if !wanted(t.operation["indices"], d.Index, c.Index) || !wanted(t.operation["data-streams"], d.Stream, c.Stream) {
				continue
			}
			if d.WithMeta != nil && *d.WithMeta || d.WithMeta == nil && c.WithMeta {
				return OSBCorpus{}, fmt.Errorf("%s of corpus %s holds action and meta-data lines", d.File, c.Name)
			}
			found = append(found, OSBCorpus{c.Name, unpackedName(d.File)})
		}
	}
	if len(found) != 1 {
		return OSBCorpus{}, fmt.Errorf("the load is of %d files of documents", len(found))
	}
	if !filepath.IsLocal(found[0].File) {
		return OSBCorpus{}, fmt.Errorf("the corpus' file %s does not lie with the workload", found[0].File)
	}
	return found[0], nil
}

// wanted says whether a set's target, its own or its corpus', is among those that a task names; one without is that of all.
func wanted(targets any, own, inherited string) bool {
	names := words(targets)
	if own == "" {
		own = inherited
	}
	return names == nil || own == "" || slices.Contains(names, own)
}

// words reads a list of texts that may be one text; nil where there is none.
func words(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		out := []string{}
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// archives are the endings that the program takes off the name of a file that it unpacks (osbenchmark/utils/io.py).
var archives = []string{".tar.gz", ".tar.bz2", ".tgz", ".tar", ".zip", ".bz2", ".gz", ".zst"}

func unpackedName(file string) string {
	for _, ending := range archives {
		if name, packed := strings.CutSuffix(file, ending); packed {
			return name
		}
	}
	return file
}
