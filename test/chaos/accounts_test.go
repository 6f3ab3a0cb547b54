package chaos_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
)

// result holds the part of opensearch-benchmark's result file that is compared with a record. The test reads the file
// with its own code, not with the parser that made the record.
type result struct {
	Run     string         `json:"test-run-id"`
	Params  map[string]any `json:"workload-params"`
	Results struct {
		Tasks []struct {
			Task       string  `json:"task"`
			ErrorRate  float64 `json:"error_rate"`
			Throughput struct {
				Mean float64 `json:"mean"`
				Unit string  `json:"unit"`
			} `json:"throughput"`
		} `json:"op_metrics"`
		Durations []struct {
			Task   string  `json:"task"`
			Millis float64 `json:"duration"`
		} `json:"correctness_metrics"`
		Documents int64 `json:"docs_count"`
	} `json:"results"`
}

// checkRecords compares every valid record with the files of its attempt. It returns the number of wrong records.
func checkRecords(t *testing.T, records []record.Record, folder string, c *v1alpha1.BenchmarkCampaign, documents int64) int {
	t.Helper()
	wrong := 0
	for _, r := range records {
		if r.Error != nil {
			continue
		}
		problems := account(r, folder, c, documents)
		if len(problems) > 0 {
			wrong++
			t.Errorf("%s is wrong: %s", name(r.Attempt), strings.Join(problems, "; "))
		}
	}
	return wrong
}

func name(r record.Attempt) string {
	return fmt.Sprintf("%s %s c%d r%d a%d", r.Variant, r.Phase, r.Clients, r.Repetition, r.N)
}

// account returns the errors of a record: figures that contradict each other, the campaign or the attempt's files.
func account(r record.Record, root string, c *v1alpha1.BenchmarkCampaign, documents int64) []string {
	var problems []string
	claim := func(holds bool, format string, args ...any) {
		if !holds {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	in := r.Ingest
	if in == nil {
		return []string{"it has no load"}
	}
	claim(r.Attempt.Campaign == string(c.UID), "it is of campaign %s", r.Attempt.Campaign)
	claim(r.Rejections.Total() == 0, "%d requests were refused by a queue that holds far more clients", r.Rejections.Total())
	claim(in.Corpus == documents && in.Count == documents && in.TotalIndexed == documents && in.Documents == documents,
		"corpus %d, counted %d, indexed %d, within the window %d: each must be %d", in.Corpus, in.Count, in.TotalIndexed, in.Documents, documents)
	claim(near(in.DocsPerSecond, float64(in.Documents)/in.Seconds, 1e-4), "%f docs/s are not %d documents in %f s", in.DocsPerSecond, in.Documents, in.Seconds)
	claim(r.StartedAt <= in.From && in.From < in.To && in.To <= r.FinishedAt, "its window %d to %d lies outside of it, %d to %d", in.From, in.To, r.StartedAt, r.FinishedAt)

	folder := filepath.Join(root, strings.TrimPrefix(r.Artifacts, record.ArtifactsPath))
	claim(r.Artifacts != "", "it has no raw files")
	if c.Spec.Workload.Bulk != nil {
		problems = append(problems, againstLoader(r, filepath.Join(folder, "load-result.json"))...)
	} else {
		problems = append(problems, againstResult(r, filepath.Join(folder, "osb-result.json"))...)
	}
	return append(problems, againstReadings(*in, filepath.Join(folder, "documents.csv"))...)
}

// margin and leastMargin bound the difference between the driver's duration of a load and Knee's window; the larger bound
// applies. The driver's duration ends with the last answer. Knee's window ends with the last document that the counters
// show. Both begin with the first bulk request, but Knee only sees the documents of this request.
const (
	margin      = 0.15 // share of the duration
	leastMargin = 0.25 // s
)

// againstResult compares a record with the result file of opensearch-benchmark of the same run.
func againstResult(r record.Record, path string) (problems []string) {
	data, err := os.ReadFile(path)
	if err != nil {
		return []string{err.Error()}
	}
	var osb result
	if err := json.Unmarshal(data, &osb); err != nil {
		return []string{path + ": " + err.Error()}
	}
	if osb.Run != r.Driver.RunID {
		problems = append(problems, fmt.Sprintf("the result is of run %s, the record of %s", osb.Run, r.Driver.RunID))
	}
	if got := fmt.Sprint(osb.Params["bulk_indexing_clients"]); got != strconv.Itoa(int(r.Attempt.Clients)) {
		problems = append(problems, fmt.Sprintf("opensearch-benchmark ran with %s clients", got))
	}
	// opensearch-benchmark counts the documents that are visible at the end of its load; the last documents may wait
	// for a refresh.
	if d := osb.Results.Documents; d <= 0 || d > r.Ingest.Count {
		problems = append(problems, fmt.Sprintf("opensearch-benchmark counts %d documents, the record %d", osb.Results.Documents, r.Ingest.Count))
	}
	for _, took := range osb.Results.Durations {
		if s := took.Millis / 1e3; took.Task == "index" && math.Abs(s-r.Ingest.Seconds) > math.Max(margin*s, leastMargin) {
			problems = append(problems, fmt.Sprintf("the load took %.2f s by opensearch-benchmark, the window is of %.2f s", s, r.Ingest.Seconds))
		}
	}
	for _, task := range osb.Results.Tasks {
		if task.Task != "index" {
			continue
		}
		switch {
		case len(r.Tasks) == 0 || r.Tasks[0].ErrorRate != task.ErrorRate || task.ErrorRate != 0:
			problems = append(problems, fmt.Sprintf("error rate %f by opensearch-benchmark, tasks %+v", task.ErrorRate, r.Tasks))
		case !near(r.Tasks[0].Throughput, task.Throughput.Mean, 1e-5) || !near(r.Ingest.OSBDocsPerSecond, task.Throughput.Mean, 1e-5):
			problems = append(problems, fmt.Sprintf("%f %s by opensearch-benchmark, %f and %f in the record", task.Throughput.Mean, task.Throughput.Unit, r.Tasks[0].Throughput, r.Ingest.OSBDocsPerSecond))
		}
		return problems
	}
	return append(problems, "opensearch-benchmark has no figures of the task index")
}

// againstLoader compares a record with the result file of Knee's own loader of the same run.
func againstLoader(r record.Record, path string) (problems []string) {
	data, err := os.ReadFile(path)
	if err != nil {
		return []string{err.Error()}
	}
	var result struct {
		Workers   int     `json:"workers"`
		Took      float64 `json:"took"` // seconds
		Documents struct {
			Added        int64 `json:"added"`
			Acknowledged int64 `json:"acknowledged"`
		} `json:"documents"`
	}
	if err := json.Unmarshal(data, &result); err != nil {
		return []string{path + ": " + err.Error()}
	}
	if result.Workers != int(r.Attempt.Clients) {
		problems = append(problems, fmt.Sprintf("the loader had %d workers", result.Workers))
	}
	if d := result.Documents; d.Added != r.Ingest.Count || d.Acknowledged != r.Ingest.Count {
		problems = append(problems, fmt.Sprintf("the loader sent %d documents, %d were acknowledged, the record has %d", d.Added, d.Acknowledged, r.Ingest.Count))
	}
	if math.Abs(result.Took-r.Ingest.Seconds) > math.Max(margin*result.Took, leastMargin) {
		problems = append(problems, fmt.Sprintf("the load took %.2f s by the loader, the window is of %.2f s", result.Took, r.Ingest.Seconds))
	}
	return problems
}

// againstReadings compares the length of a load with the readings of the document counter. The load is at least as long
// as the time between the first and the last reading during the load. It is at most as long as the time from the last
// reading before the load to the first reading after the load.
func againstReadings(in record.Ingest, path string) []string {
	file, err := os.Open(path)
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil || len(rows) < 4 {
		return []string{fmt.Sprintf("%s: %d rows, %v", path, len(rows), err)}
	}
	var before, first, last, after int64 // times of readings, Unix ms
	end := rows[len(rows)-1][1]
	for _, row := range rows[1:] {
		at, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			return []string{err.Error()}
		}
		switch row[1] {
		case "0":
			before = at
		case end:
			if after == 0 {
				after = at
			}
		default:
			if first == 0 {
				first = at
			}
			last = at
		}
	}
	least, most := float64(last-first)/1e3, float64(after-before)/1e3
	if end != strconv.FormatInt(in.TotalIndexed, 10) || in.Seconds < least-0.01 || in.Seconds > most+0.01 {
		return []string{fmt.Sprintf("the readings say %s documents in %.3f to %.3f s, the record %d in %.3f s", end, least, most, in.TotalIndexed, in.Seconds)}
	}
	return nil
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}
