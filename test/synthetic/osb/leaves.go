package osb

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
)

// log writes the rendered workload, and the log with its path and the load of each client.
func (r *run) log() error {
	rendered := filepath.Join(r.temp, "rendered.json")
	if err := r.leaveCorpus(); err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{
		"description": "a fake's workload: empty documents",
		"corpora":     []any{map[string]any{"name": "fake", "documents": []any{map[string]any{"source-file": corpusFile + ".bz2", "document-count": r.corpus}}}},
		"test_procedures": []any{map[string]any{"name": "append", "default": true, "schedule": []any{map[string]any{
			"clients": r.params.Clients, "operation": map[string]any{"name": "index", "operation-type": "bulk", "bulk-size": r.params.BulkSize},
		}}}},
	})
	if err != nil {
		return err
	}
	if err := os.WriteFile(rendered, data, 0o644); err != nil {
		return err
	}
	var log strings.Builder
	fmt.Fprintf(&log, "DEBUG client options %+v\n", r.options)
	fmt.Fprintf(&log, "INFO Final rendered workload for '/fake/workload.json' has been written to '%s'.\n", rendered)
	offset := int64(0)
	for c := range r.params.Clients {
		fmt.Fprintf(&log, "INFO Task-relative clients at index [%d-%d] will bulk index [%d] docs starting from line offset [%d] for [%s/None] from corpus [fake].\n",
			c, c, r.part(c), offset, Index)
		offset += r.part(c)
	}
	return write(osbtool.Run{Version: Version, Home: r.home}.LogPath(), []byte(log.String()))
}

const corpusFile = "documents.json"

// leaveCorpus writes the unpacked corpus, as the program does after it has downloaded a corpus.
func (r *run) leaveCorpus() error {
	if !r.leaves {
		return nil
	}
	return write(filepath.Join(osbtool.DataPath(r.home), "fake", corpusFile), []byte(strings.Repeat("{}\n", int(r.corpus))))
}

// result writes the program's result file. Rejected documents count as throughput, as in the real program.
func (r *run) result(took time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	rate := float64(r.corpus) / took.Seconds()
	times := distribution(r.service)
	data, err := json.Marshal(map[string]any{
		"benchmark-version": Version, "test-run-id": r.id, "pipeline": "benchmark-only", "workload": "fake",
		"results": map[string]any{"op_metrics": []any{map[string]any{
			"task": "index", "operation": "index", "latency": times, "service_time": times,
			"throughput": map[string]any{"min": rate, "mean": rate, "median": rate, "max": rate, "unit": "docs/s"},
			"error_rate": float64(r.failed) / float64(len(r.service)), "duration": took.Milliseconds(),
		}}},
	})
	if err != nil {
		return err
	}
	return write(osbtool.Run{Version: Version, Home: r.home, ID: r.id}.ResultPath(), data)
}

// distribution returns statistics of a list of times in the program's format, in milliseconds.
func distribution(times []float64) map[string]any {
	sorted := slices.Clone(times)
	slices.Sort(sorted)
	out := map[string]any{"unit": "ms"}
	sum := 0.0
	for _, t := range sorted {
		sum += t
	}
	out["mean"] = sum / float64(len(sorted))
	for key, share := range map[string]float64{"50_0": 0.5, "90_0": 0.9, "99_0": 0.99, "100_0": 1} {
		out[key] = sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
	}
	return out
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
