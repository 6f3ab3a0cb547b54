package studies

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/record"
)

// mock is the variant of the runs against a server that answers without indexing.
const mock = "mock"

var bulkIndexer = Study{
	Number: 4, Name: "bulk indexer benchmarks", Sample: "bulk-indexer.yaml",
	Left: "docs/s of ten runs are published for dataset small with 8 workers; how many documents a run had is not. Against the study's mock server, " +
		"a variant of its own here, nothing was flushed: its docs/s were of documents that were never indexed, and are none here.",
	adapt: func(c *v1alpha1.BenchmarkCampaign) {
		c.Spec.Baseline = string(c.Spec.Variants[0].Name)
		c.Spec.Variants = append(c.Spec.Variants, v1alpha1.Variant{Name: mock, Endpoint: &v1alpha1.Endpoint{URL: "http://mock:9200", AllowIndexDeletion: ptr.To(true)}})
	},
	record: func(t record.Trial) (record.Record, error) {
		if t.Variant == mock {
			return ingested(0, "bulk"), nil
		}
		runs, err := publishedRuns()
		if err != nil {
			return record.Record{}, err
		}
		if int(t.Repetition) > len(runs) {
			return record.Record{}, fmt.Errorf("run %d is not published", t.Repetition)
		}
		r := ingested(runs[t.Repetition-1], "bulk")
		r.Ingest.Primaries = 5
		return r, nil
	},
	checks: bulkIndexerChecks,
}

func publishedRuns() ([]float64, error) {
	lines, err := table("4-bulk-small.csv")
	if err != nil {
		return nil, err
	}
	var out []float64
	for _, l := range lines {
		f, err := number(l["docs_per_second"])
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// A document of dataset small is of 90 B; a request has an action line and two lines' ends for each.
const (
	smallDocument = 90
	actionLine    = `{"index":{}}`
)

func bulkIndexerChecks(r *Result) error {
	runs, err := publishedRuns()
	if err != nil {
		return err
	}
	var reported []float64
	for i := range runs {
		f := r.cell("results.csv", "docs_per_second", map[string]string{"variant": "node16", "repetition": fmt.Sprint(i + 1), "phase": "Final"})
		r.figure(fmt.Sprintf("run %d, docs/s", i+1), runs[i], f, 0)
		reported = append(reported, f)
	}
	// The table of the Finals: median, mean, lowest, highest.
	mean := 0.0
	for _, f := range reported {
		mean += f / float64(len(reported))
	}
	median, low, high := analysis.Median(reported), slices.Min(reported), slices.Max(reported)
	r.figure("min, docs/s", 279173, low, 0)
	r.figure("max, docs/s", 289351, high, 0)
	r.figure("true mean, docs/s", 285595.5, mean, 1)
	r.says("the report's row of the runs", fmt.Sprintf("| node16 | 8 | 10 of 10 | %.0f | %.0f | %.0f | %.0f |", median, mean, low, high))
	r.figure("document with its action line, B", 104, float64(smallDocument+len(actionLine)+2), 0)
	none := map[string]string{"variant": mock, "repetition": "1"}
	r.word("the mock's run", "Errored", r.text("results.csv", "verdict", none))
	r.word("the mock's docs/s", "", r.text("results.csv", "docs_per_second", none))
	r.says("the mock's row says that nothing was flushed", "docs/s of 0 is no measurement")

	r.correct(fmt.Sprintf("mean: the median, %.1f docs/s, is printed", median), "the true mean is %.1f docs/s; the median is %.2f %% above it, for the slow runs are further off than the fast ones",
		mean, 100*(median/mean-1))
	r.correct("documents of 126 B", "%d B, and %d B in a bulk request: at the mean of the runs %.1f MiB/s, not %.1f", smallDocument,
		smallDocument+len(actionLine)+2, mean*104/(1<<20), mean*126/(1<<20))
	const count, flush, workers = 100_000, 2e6, 8
	r.correct("flushes of 2 MB by 8 workers", "%d documents, the program's default, are %.1f MB: %.1f flushes of 2 MB, fewer than workers. Each worker flushes once, at its end, "+
		"%.1f MB; a run takes %.2f s", count, count*104/1e6, count*104/flush, count*104/1e6/workers, count/mean)
	r.correct("docs/s against the mock server", "nothing is flushed there: they are documents handed to the client, and no indexing throughput")
	return nil
}
