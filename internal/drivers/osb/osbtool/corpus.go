package osbtool

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Corpus is the file with the documents that an ingest task sends.
type Corpus struct {
	Name string // name of the corpus
	File string // unpacked file, relative to the workload's folder or to the corpus's download folder
}

// Paths lists the possible paths of the file, in the search order of the program (data_dir of
// osbenchmark/workload/loader.py): first next to the workload, then in the download folder.
func (c Corpus) Paths(run Run) []string {
	var out []string
	if run.WorkloadPath != "" {
		out = append(out, filepath.Join(run.WorkloadPath, c.File))
	}
	return append(out, filepath.Join(DataPath(run.Home), c.Name, c.File))
}

// ParseCorpus finds the file whose documents the ingest task sends. It reads the rendered workload. It returns an error if
// the load has several files or changes the documents. The error describes the reason, because then only opensearch-benchmark
// can make the load.
func ParseCorpus(rendered []byte, procedure string, patterns []string) (Corpus, error) {
	var w struct {
		renderedWorkload
		Corpora []corpus `json:"corpora"`
	}
	if err := json.Unmarshal(rendered, &w); err != nil {
		return Corpus{}, fmt.Errorf("the workload file that opensearch-benchmark rendered is not JSON: %w", err)
	}
	schedule, err := w.schedule(procedure)
	if err != nil {
		return Corpus{}, err
	}
	tasks := byPattern(w.tasks(schedule, nil), patterns)
	if len(tasks) != 1 {
		return Corpus{}, fmt.Errorf("%d tasks of the workload match spec.workload.osb.ingestTasks, but Knee's own loader can repeat only one task", len(tasks))
	}
	if err := tasks[0].plainBulk(); err != nil {
		return Corpus{}, err
	}
	return onlyFile(w.Corpora, tasks[0])
}

// plainBulk returns an error if a task does anything except indexing documents in bulk.
func (t task) plainBulk() error {
	if t.kind != "bulk" {
		return fmt.Errorf("task %s is of operation-type %s, but Knee's own loader can repeat only tasks of operation-type bulk", t.name, t.kind)
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
		return fmt.Errorf("task %s sets the parameter %s, which Knee's own loader does not support", t.name, key)
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
	WithMeta *bool  `json:"includes-action-and-meta-data"` // nil: the value of the corpus applies
	Index    string `json:"target-index"`
	Stream   string `json:"target-data-stream"`
	Count    int64  `json:"document-count"`
}

// onlyFile finds the only file of a task's corpora. It selects files like used_corpora in osbenchmark/workload/params.py.
func onlyFile(all []corpus, t task) (Corpus, error) {
	var found []Corpus
	for _, c := range all {
		if names := words(t.operation["corpora"]); names != nil && !slices.Contains(names, c.Name) {
			continue
		}
		if c.Streaming != nil && c.Streaming != "" {
			return Corpus{}, fmt.Errorf("corpus %s sets streaming-ingestion, so there is no file that Knee's own loader could send again", c.Name)
		}
		for _, d := range c.Documents {
			if !wanted(t.operation["indices"], d.Index, c.Index) || !wanted(t.operation["data-streams"], d.Stream, c.Stream) {
				continue
			}
			if d.WithMeta != nil && *d.WithMeta || d.WithMeta == nil && c.WithMeta {
				return Corpus{}, fmt.Errorf("file %s of corpus %s contains bulk action lines (includes-action-and-meta-data), but Knee's own loader can send only files of plain documents", d.File, c.Name)
			}
			found = append(found, Corpus{c.Name, unpackedName(d.File)})
		}
	}
	if len(found) != 1 {
		return Corpus{}, fmt.Errorf("the load uses %d corpus files, but Knee's own loader can send only one file", len(found))
	}
	if !filepath.IsLocal(found[0].File) {
		return Corpus{}, fmt.Errorf("the corpus file %s is outside the workload's folder", found[0].File)
	}
	return found[0], nil
}

// wanted reports whether a task sends a set of documents. A task sends the set if it names the target of the set, or if the
// set or the task has no target. own is the target of the set, and inherited is the target of its corpus.
func wanted(targets any, own, inherited string) bool {
	names := words(targets)
	if own == "" {
		own = inherited
	}
	return names == nil || own == "" || slices.Contains(names, own)
}

// words converts a list of strings, or one string, to a slice. It returns nil for any other value.
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

// archives lists the extensions that the program removes from a file name when it unpacks the file (osbenchmark/utils/io.py).
var archives = []string{".tar.gz", ".tar.bz2", ".tgz", ".tar", ".zip", ".bz2", ".gz", ".zst"}

func unpackedName(file string) string {
	for _, ending := range archives {
		if name, packed := strings.CutSuffix(file, ending); packed {
			return name
		}
	}
	return file
}
