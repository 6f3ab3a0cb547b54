package osb

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
)

// Workload is the fake's workload as a template, and IndexBody the body of its index. DOCUMENTS stands for the size of the corpus.
const (
	Workload = `{"version": 2, "description": "a fake's workload: empty documents", "indices": [{"name": "` + Index + `", "body": "index.json"}],
 "corpora": [{"name": "fake", "documents": [{"source-file": "` + CorpusFile + `", "document-count": DOCUMENTS}]}],
 "operations": [{"name": "index", "operation-type": "bulk", "bulk-size": {{bulk_size}}}],
 "test_procedures": [{"name": "append", "default": true, "schedule": [{"operation": {"operation-type": "create-index"}},
  {"operation": "index", "clients": {{bulk_indexing_clients}}}]}]}`
	IndexBody = `{"settings": {"index.number_of_shards": {{number_of_shards}}, "index.number_of_replicas": {{number_of_replicas}},
 "index.refresh_interval": "{{refresh_interval}}"}, "mappings": {"dynamic": "strict"}}`
	CorpusFile = "documents.json"
)

// render replaces the parameters in a template.
func (r *run) render(template string) string {
	p := r.params
	return strings.NewReplacer("DOCUMENTS", fmt.Sprint(r.corpus), "{{bulk_size}}", fmt.Sprint(p.BulkSize), "{{bulk_indexing_clients}}", fmt.Sprint(p.Clients),
		"{{number_of_shards}}", fmt.Sprint(p.Shards), "{{number_of_replicas}}", fmt.Sprint(p.Replicas), "{{refresh_interval}}", p.Refresh).Replace(template)
}

// renderWorkload writes the rendered workload, and its path to the log.
func (r *run) renderWorkload() error {
	if err := r.leaveCorpus(); err != nil {
		return err
	}
	rendered := filepath.Join(r.temp, "rendered.json")
	r.logf(0, "osbenchmark.client", "client options %+v", r.options)
	r.logf(0, "osbenchmark.workload.loader", "Final rendered workload for '/fake/workload.json' has been written to '%s'.", rendered)
	return os.WriteFile(rendered, []byte(r.render(Workload)), 0o644)
}

// logf adds a line to the program's log. The fake claims that each client is a process of its own.
func (r *run) logf(client int64, logger, format string, args ...any) {
	now := time.Now().UTC()
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.logged, "%s,%d ActorAddr-(T|:%d)/PID:%d %s INFO %s\n", now.Format("2006-01-02 15:04:05"), now.Nanosecond()/1e6, 40000+client, 100+client, logger, fmt.Sprintf(format, args...))
}

// logEnd adds the line with which a worker ends a task.
func (r *run) logEnd(client int64, began time.Time) {
	r.logf(client, "osbenchmark.worker_coordinator.worker_coordinator", "Total run duration: %f seconds.", time.Since(began).Seconds())
}

// writeLog writes the program's log.
func (r *run) writeLog() error {
	return write(osbtool.Run{Version: Version, Home: r.home}.LogPath(), []byte(r.logged.String()))
}

// leaveCorpus writes the unpacked corpus, as the program does after it has downloaded a corpus.
func (r *run) leaveCorpus() error {
	if !r.leaves {
		return nil
	}
	return write(filepath.Join(osbtool.DataPath(r.home), "fake", CorpusFile), []byte(strings.Repeat("{}\n", int(r.corpus))))
}

// writeResult writes the program's result file. It names a task that is no load only if the task failed.
func (r *run) writeResult() error {
	metrics := []any{}
	for _, t := range r.tallies {
		if t.task == "index" || t.failed > 0 {
			metrics = append(metrics, t.metrics())
		}
	}
	data, err := json.Marshal(map[string]any{
		"benchmark-version": Version, "test-run-id": r.id, "pipeline": "benchmark-only", "workload": "fake",
		"results": map[string]any{"op_metrics": metrics},
	})
	if err != nil {
		return err
	}
	return write(osbtool.Run{Version: Version, Home: r.home, ID: r.id}.ResultPath(), data)
}

// metrics returns the figures of a task in the program's format. Rejected documents count as throughput, as in the real program,
// but not if OpenSearch refused the whole request.
func (t tally) metrics() map[string]any {
	throughput := map[string]any{"min": nil, "mean": nil, "median": nil, "max": nil, "unit": "ops/s"}
	if t.answered > 0 {
		rate := float64(t.answered) / t.took.Seconds()
		throughput = map[string]any{"min": rate, "mean": rate, "median": rate, "max": rate, "unit": "docs/s"}
	}
	times := distribution(t.service)
	return map[string]any{"task": t.task, "operation": t.task, "throughput": throughput, "latency": times, "service_time": times,
		"error_rate": float64(t.failed) / float64(len(t.service)), "duration": float64(t.took.Microseconds()) / 1000}
}

// distribution returns statistics of a list of times in milliseconds, in the program's format: only the percentiles that the number
// of samples can tell apart (filter_percentiles_by_sample_size of osbenchmark/metrics.py).
func distribution(times []float64) map[string]any {
	sorted := slices.Clone(times)
	slices.Sort(sorted)
	out := map[string]any{"unit": "ms"}
	sum := 0.0
	for _, t := range sorted {
		sum += t
	}
	out["mean"] = sum / float64(len(sorted))
	percentiles := []float64{50, 100}
	switch n := len(sorted); {
	case n >= 10:
		distinct := math.Pow(10, math.Floor(math.Log10(float64(n))))
		percentiles = slices.DeleteFunc([]float64{50, 90, 99, 99.9, 99.99, 100}, func(p float64) bool {
			rank := p / 100 * distinct
			return math.Abs(rank-math.Round(rank)) > 1e-6
		})
	case n == 1:
		percentiles = []float64{100}
	}
	for _, p := range percentiles {
		key := strings.Replace(strconv.FormatFloat(p, 'f', -1, 64), ".", "_", 1)
		if !strings.Contains(key, "_") {
			key += "_0"
		}
		out[key] = sorted[min(len(sorted)-1, int(p/100*float64(len(sorted))))]
	}
	return out
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
