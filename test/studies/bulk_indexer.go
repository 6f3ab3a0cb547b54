package studies

import (
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// mock is the name of the variant for the runs against a mock server. This server answers without indexing.
const mock = "mock"

var bulkSmall = Study{
	Number: 4, Name: "bulk indexer benchmarks: small documents", Sample: "bulk-indexer.yaml", Campaign: "bulk-indexer-small",
	Left: "Ten runs of 1,000,000 documents are published, and ten against a mock server, which is a variant of its own here: nothing was flushed to it, so that its docs/s " +
		"are of documents that were never indexed, and are none here. Neither CPU nor latencies are published.",
	adapt: func(c *v1alpha1.BenchmarkCampaign) {
		adaptBulk(c)
		c.Spec.Baseline = string(c.Spec.Variants[0].Name)
		c.Spec.Variants = append(c.Spec.Variants, v1alpha1.Variant{Name: mock, Endpoint: &v1alpha1.Endpoint{URL: "http://mock:9200", AllowIndexDeletion: ptr.To(true)}})
	},
	record: func(t record.Trial) (record.Record, error) {
		if t.Variant == mock {
			return ingested(0, "bulk"), nil
		}
		return bulkRecord("small", t)
	},
	checks: func(r *Result) error {
		if err := r.checkRuns("small", 279173, 289351, 285595.5); err != nil {
			return err
		}
		none := map[string]string{"variant": mock, "repetition": "1"}
		r.word("the mock's run", "Errored", r.text("results.csv", "verdict", none))
		r.word("the mock's docs/s", "", r.text("results.csv", "docs_per_second", none))
		r.says("the mock's row says that nothing was flushed", "docs/s of 0 is no measurement")
		return bulkSmallCorrections(r)
	},
}

var bulkHTTPLog = Study{
	Number: 4, Part: "httplog", Name: "bulk indexer benchmarks: web-server log events", Sample: "bulk-indexer.yaml", Campaign: "bulk-indexer-httplog",
	Left:  "Ten runs of 1,000,000 documents are published. Neither CPU nor latencies are.",
	adapt: adaptBulk,
	record: func(t record.Trial) (record.Record, error) {
		return bulkRecord("httplog", t)
	},
	checks: func(r *Result) error {
		if err := r.checkRuns("httplog", 50165, 53072, 52032.1); err != nil {
			return err
		}
		runs, err := publishedRuns("httplog")
		if err != nil {
			return err
		}
		perDocument := 3e6 * runs[0].requests / bulkDocumentCount
		r.correct("documents of 2.5 KB", "649 requests of 3.0 MB are at most %.0f B a document, with its action line: at the mean of the runs %.1f MiB/s, not %.1f", perDocument,
			52032.1*perDocument/(1<<20), 52032.1*2500/(1<<20))
		return nil
	},
}

// adaptBulk keeps one variant and sets the published number of documents and runs.
func adaptBulk(c *v1alpha1.BenchmarkCampaign) {
	c.Spec.Variants, c.Spec.Baseline, c.Spec.Comparisons = c.Spec.Variants[:1], "", nil
	c.Spec.Workload.Bulk.Documents = ptr.To[int64](bulkDocumentCount)
	c.Spec.Sweep = v1alpha1.Sweep{Mode: v1alpha1.SweepFixed, Clients: []int32{8}}
	c.Spec.Final.Repetitions = ptr.To[int32](10)
}

const bulkDocumentCount = 1_000_000 // per run

// publishedRun is one run in the study.
type publishedRun struct{ docsPerSecond, requests float64 }

func publishedRuns(dataset string) ([]publishedRun, error) {
	lines, err := table("4-bulk-" + dataset + ".csv")
	if err != nil {
		return nil, err
	}
	var out []publishedRun
	for _, l := range lines {
		var run publishedRun
		for name, to := range map[string]*float64{"docs_per_second": &run.docsPerSecond, "requests": &run.requests} {
			if *to, err = number(l[name]); err != nil {
				return nil, err
			}
		}
		out = append(out, run)
	}
	return out, nil
}

func bulkRecord(dataset string, t record.Trial) (record.Record, error) {
	runs, err := publishedRuns(dataset)
	if err != nil {
		return record.Record{}, err
	}
	if int(t.Repetition) > len(runs) {
		return record.Record{}, fmt.Errorf("run %d is not published", t.Repetition)
	}
	run := runs[t.Repetition-1]
	r := ingested(run.docsPerSecond, "bulk")
	in := r.Ingest
	in.Seconds, in.Primaries, in.Requests = bulkDocumentCount/run.docsPerSecond, 5, int64(run.requests)
	in.Documents, in.TotalIndexed, in.Count, in.Corpus = bulkDocumentCount, bulkDocumentCount, bulkDocumentCount, bulkDocumentCount
	return r, nil
}

// checkRuns checks the ten runs and their summary. The study prints the median as if it were the mean.
func (r *Result) checkRuns(dataset string, low, high, mean float64) error {
	runs, err := publishedRuns(dataset)
	if err != nil {
		return err
	}
	variant := string(r.input.Spec.Variants[0].Name)
	var reported []float64
	sum := 0.0
	for i, run := range runs {
		row := map[string]string{"variant": variant, "repetition": fmt.Sprint(i + 1), "phase": "Final"}
		f := r.cell("results.csv", "docs_per_second", row)
		r.figure(fmt.Sprintf("run %d, docs/s", i+1), run.docsPerSecond, f, 0)
		r.figure(fmt.Sprintf("run %d, documents", i+1), bulkDocumentCount, r.cell("results.csv", "documents", row), 0)
		r.figure(fmt.Sprintf("run %d, requests", i+1), run.requests, r.cell("results.csv", "requests", row), 0)
		reported = append(reported, f)
		sum += f
	}
	got := sum / float64(len(reported))
	median := stats.Median(reported)
	r.figure("min, docs/s", low, slices.Min(reported), 0)
	r.figure("max, docs/s", high, slices.Max(reported), 0)
	r.derived("true mean, docs/s", mean, got, 1)
	// The row has median, mean, lowest and highest.
	r.says("the report's row of the runs", fmt.Sprintf("| %s | 8 | 10 of 10 | %.0f | %.0f | %.0f | %.0f |", variant, median, got, low, high))
	r.correct(fmt.Sprintf("mean: the median, %.1f docs/s, is printed", median), "the true mean is %.1f docs/s; the median is %.2f %% off", got, 100*(median/got-1))
	return nil
}

// smallDocument is the size of a document of dataset small, in bytes. A bulk request also has actionLine and two line
// breaks for each document.
const (
	smallDocument = 90
	actionLine    = `{"index":{}}`
)

func bulkSmallCorrections(r *Result) error {
	runs, err := publishedRuns("small")
	if err != nil {
		return err
	}
	const flush, workers, mean = 2e6, 8, 285595.5
	sent := float64(smallDocument + len(actionLine) + 2)
	r.derived("requests of a run: documents of 104 B with their action line, by 2 MB", runs[0].requests, bulkDocumentCount*sent/flush, 0)
	r.correct("documents of 126 B", "%d B, and %.0f B in a bulk request: 52 requests of 2 MB have 1,000,000 such documents. At the mean of the runs they are %.1f MiB/s, not %.1f", smallDocument,
		sent, mean*sent/(1<<20), mean*126/(1<<20))
	r.correct("runs of 1,000,000 documents", "%.1f requests to each of %d workers and %.2f s a run: short against what a JVM needs to get warm, which three warm-up runs are for",
		runs[0].requests/workers, workers, bulkDocumentCount/mean)
	r.correct("docs/s against the mock server", "nothing is flushed there: they are documents handed to the client, and no indexing throughput. The mock's runs are without --fasthttp and --easyjson, "+
		"which the runs against the cluster have: they are not the limit of the same client")
	return nil
}
