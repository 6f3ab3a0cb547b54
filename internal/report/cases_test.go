package report_test

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

// rows reads a CSV file. Each row becomes a map from column to value.
func rows(t *testing.T, text string) []map[string]string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, l := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = l[i]
		}
		out = append(out, row)
	}
	return out
}

var shape = map[int32]float64{1: 50, 2: 110, 4: 100}

// plain returns the record of a normal campaign: the knee is at 2 clients, and variant b is 1.3 times as fast as a.
func plain(t record.Trial) record.Record {
	docs := 1000 * shape[t.Clients] * (1 + float64(t.Repetition)/1000)
	if t.Variant == "b" {
		docs *= 1.3
	}
	return campaigntest.Measured(t, docs)
}

func twoVariants(topologies ...string) *v1alpha1.BenchmarkCampaign {
	return campaigntest.Campaign([]string{"a", "b"}, topologies, 1, 2, 4)
}

func TestStatus_study_publishedFigures(t *testing.T) {
	s := summary.Status(finished(campaigntest.StudyCampaign(), campaigntest.StudyRecord))
	if s.Progress != "22/22" || s.Knees != "intel=12 arm=16" || s.SharedClients != "16" || s.Result != "arm 1.461x intel [1.44, 1.48] 95.0 %" {
		t.Errorf("%q %q %q %q", s.Progress, s.Knees, s.SharedClients, s.Result)
	}
	if got := s.StartedAt.UTC().Format("2006-01-02T15:04:05"); got != "2025-07-01T12:00:00" {
		t.Errorf("started at %s", got)
	}
	if got := s.CompletedAt.UTC().Format("2006-01-02T15:04:05"); got != "2025-07-01T12:29:40" {
		t.Errorf("completed at %s", got)
	}
	knee := s.Cells[0].Knee
	if knee == nil || knee.StabilityPercent == nil || *knee.StabilityPercent <= 0 || *knee.StabilityPercent > 100 {
		t.Fatalf("knee %+v: no stability, though the Finals show the noise", knee)
	}
	want := v1alpha1.CellStatus{
		Variant: "intel", Topology: "6p0r", TrialCounts: v1alpha1.NewTrialCounts(11, 11, 1),
		Knee:            &v1alpha1.KneeStatus{PointStatus: v1alpha1.PointStatus{Clients: 12, Throughput: "239130"}, StabilityPercent: knee.StabilityPercent}, // tests of the analysis check the stability
		Peak:            &v1alpha1.PointStatus{Clients: 48, Throughput: "243044"},
		FinalThroughput: "236273",
		NotMeasured:     []string{"24 clients (verdict Errored): DriverFailed: opensearch-benchmark ended with exit code 64"},
		FailedClients:   []int32{24},
	}
	if diff := cmp.Diff(want, s.Cells[0]); diff != "" {
		t.Errorf("cell (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(v1alpha1.NewTrialCounts(22, 22, 1), s.TrialCounts); diff != "" {
		t.Errorf("trials (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]v1alpha1.TopologyStatus{{Name: "6p0r", SharedClients: ptr.To[int32](16)}}, s.Topologies); diff != "" {
		t.Errorf("topologies (-want +got):\n%s", diff)
	}
	if len(s.Comparisons) != 1 {
		t.Fatalf("comparisons %+v", s.Comparisons)
	}
	c := s.Comparisons[0]
	if s.Unit != "docs/s" || c.Variant != "arm" || c.Baseline != "intel" || c.Topology != "6p0r" || c.Clients != 16 || c.Verdict != "Faster" ||
		!strings.HasPrefix(c.Ratio, "1.461") || !strings.HasPrefix(c.Low, "1.44") || !strings.HasPrefix(c.High, "1.48") || c.ConfidencePercent != "95" {
		t.Errorf("comparison %+v, unit %q", c, s.Unit)
	}
}

// TestStatus_loaderClockOneDayOff_hasTimesOfJobs checks that the times of the status are those of the Jobs, by the clock of the control
// plane, whatever the clock of a loader says.
func TestStatus_loaderClockOneDayOff_hasTimesOfJobs(t *testing.T) {
	in := finished(campaigntest.StudyCampaign(), campaigntest.StudyRecord)
	const day = 24 * 60 * 60 * 1000
	for i := range in.Attempts {
		r := &in.Attempts[i].Record
		r.JobCreatedAt, r.JobEndedAt = r.StartedAt, r.FinishedAt
		off := int64(day)
		if i%2 == 0 {
			off = -day
		}
		r.StartedAt, r.FinishedAt = r.StartedAt+off, r.FinishedAt+off
	}
	s := summary.Status(in)
	if from, to := s.StartedAt.UTC().Format("2006-01-02"), s.CompletedAt.UTC().Format("2006-01-02"); from != "2025-07-01" || to != "2025-07-01" {
		t.Errorf("from %s to %s, want the day of the Jobs", from, to)
	}
}

// TestStatus_zeroStability_isShown checks that a stability of 0 (no resample gives this knee) is shown as 0, and that
// an unknown stability is left out.
func TestStatus_zeroStability_isShown(t *testing.T) {
	in := finished(campaigntest.StudyCampaign(), campaigntest.StudyRecord)
	in.Assessment.Cells[0].Stability, in.Assessment.Cells[1].Stability = 0, math.NaN()
	text, err := json.Marshal(summary.Status(in).Cells)
	if err != nil || strings.Count(string(text), `"stabilityPercent":0`) != 1 || strings.Count(string(text), "stabilityPercent") != 1 {
		t.Errorf("%v: %s", err, text)
	}
}

func TestFiles_noRecords(t *testing.T) {
	in := input(twoVariants("t"), nil)
	s := summary.Status(in)
	if s.Progress != "0/14" || s.Knees != "" || s.SharedClients != "" || s.Result != "" || s.StartedAt != nil || s.CompletedAt != nil || len(s.Cells) != 2 {
		t.Errorf("%+v", s)
	}
	files := report.Files(in)
	has(t, files["report.md"], "Not finished: 0 of 14 trials are done", "The sweeps of this topology are not done yet. The Finals follow the sweeps.", "No attempt failed: every attempt was Measured.")
	if got := rows(t, files["tune_results_a_t.csv"]); len(got) != 3 || got[0]["verdict"] != "Pending" || got[0]["docs_per_second"] != "" {
		t.Errorf("tune results: %v, want three pending client counts without figures", got)
	}
}

// TestStatus_runningCampaign_noPreliminaryResult checks the status of a running campaign: it shows what is known, and no result that could still change.
func TestStatus_runningCampaign_noPreliminaryResult(t *testing.T) {
	c := twoVariants("t")
	all := finished(c, plain).Records
	var some []record.Record
	for _, r := range all {
		if r.Attempt.Phase != record.Final && (r.Attempt.Variant == "a" || r.Attempt.Clients < 4) {
			some = append(some, r)
		}
	}
	s := summary.Status(input(c, some))
	if s.Knees != "a=2" || s.SharedClients != "" || s.Result != "" || s.CompletedAt != nil || s.StartedAt == nil {
		t.Errorf("%+v", s)
	}
	if b := s.Cells[1]; b.Knee != nil || b.Peak.Clients != 2 || *b.TrialCounts.Done != 2 || *b.TrialCounts.Planned != 7 {
		t.Errorf("b's sweep still runs: %+v", b)
	}
}

func TestStatus_severalTopologies(t *testing.T) {
	in := finished(twoVariants("t", "u"), plain)
	s := summary.Status(in)
	if s.Knees != "a/t=2 b/t=2 a/u=2 b/u=2" || s.SharedClients != "t=2 u=2" || s.Result != "2 ratios, 0 conclusive" {
		t.Errorf("%q %q %q", s.Knees, s.SharedClients, s.Result)
	}
	has(t, report.Files(in)["report.md"], "On t at 2 clients b indexed 1.300x a's docs/s [1.296, 1.304]", "; on u at 2 clients b indexed 1.300x",
		"cannot be distinguished from noise: at least 5 repetitions each are necessary", "b/t against a (4 and 4)", "at least 5")
}

func TestSentence(t *testing.T) {
	with := func(change func(*record.Record)) func(record.Trial) record.Record {
		return func(t record.Trial) record.Record {
			r := plain(t)
			change(&r)
			return r
		}
	}
	two, one, none := int32(2), int32(1), int32(0)
	for _, tt := range []struct {
		name    string
		change  func(*v1alpha1.BenchmarkCampaign)
		measure func(record.Trial) record.Record
		want    string
	}{
		{"a ratio", func(*v1alpha1.BenchmarkCampaign) {}, plain,
			"At 2 clients b indexed 1.300x a's docs/s [1.296, 1.304] (95.0 %, 4 runs each, 1 machine each; machine-to-machine variation not measured); no gate failed."},
		{"two repetitions on one shared machine", func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Final.Repetitions = &two },
			with(func(r *record.Record) { r.Nodes[0].Environment.Host, r.Loader.Host = "laptop", "laptop" }),
			"At 2 clients b indexed 1.300x a's docs/s [1.299, 1.301] (66.7 %, 2 runs each, all on 1 machine, shared with the loader; " +
				"machine-to-machine variation not measured), "},
		{"one repetition", func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Final.Repetitions = &one }, plain, "b indexed 1.30x a's docs/s (no interval, 1 run each, 1 machine each;"},
		{"no repetitions", func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Final.Repetitions = &none }, plain,
			"a has its knee at 2 clients with 110110 docs/s (peak 110110), b has its knee at 2 clients with 143143 docs/s (peak 143143); no gate failed."},
		{"every Final gated", func(*v1alpha1.BenchmarkCampaign) {}, with(func(r *record.Record) {
			if r.Attempt.Phase == record.Final {
				r.Rejections.WritePool = 1
			}
		}), "At 2 clients there is no ratio of b to a: the two cells have 0 and 0 Measured repetitions; gates failed: a@2 Final 1 (1 rejections above maxRejections 0), "},
		{"nothing measured", func(*v1alpha1.BenchmarkCampaign) {}, with(func(r *record.Record) { r.Rejections.WritePool = 1 }),
			"Nothing was measured: no trial gave a valid measurement that passed every gate; gates failed: a@1 (1 rejections above maxRejections 0), "},
		{"hosts not known", func(*v1alpha1.BenchmarkCampaign) {}, with(func(r *record.Record) { r.Nodes, r.Rejections = nil, record.Rejections{} }),
			"Nothing was measured"}, // the gate on iowait cannot be judged
	} {
		c := twoVariants("t")
		tt.change(c)
		in := finished(c, tt.measure)
		sentence := strings.Split(report.Files(in)["report.md"], "\n")[2]
		if !strings.Contains(sentence, tt.want) {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, sentence, tt.want)
		}
		if alone := summary.Sentence(in); alone != sentence {
			t.Errorf("%s: Sentence says %q, the report %q", tt.name, alone, sentence)
		}
	}
}

// TestFiles_failedTrials_areMarked checks that trials that failed, or failed a gate, are marked with their message. A trial
// without a valid measurement has no docs/s.
func TestFiles_failedTrials_areMarked(t *testing.T) {
	c := twoVariants("t")
	retries := int32(1)
	c.Spec.Retries = &retries
	in := finished(c, func(t record.Trial) record.Record {
		r := plain(t)
		switch {
		case t.Variant == "a" && t.Phase == record.Sweep && t.Clients == 1:
			r.Tasks[0].ErrorRate = 0.25 // has figures, but they are not valid
		case t.Variant == "b" && t.Phase == record.Sweep && t.Clients == 4:
			r = campaigntest.Measured(t, 500_000)
			r.Nodes[0].CPU.IOWait = 12.3
		}
		return r
	})
	files := report.Files(in)
	has(t, files["report.md"],
		"| 1 |  |  | 84.0 | 4.0 | 6.0 | 430.0 | 610.0 | 1200.5 | 0 | **Errored**: RequestsFailed: 25 % of the requests of task \"index\" failed, and no rejection counter explains these failures, attempt 2 |",
		"| 4 | 500000 | 349.30 | 84.0 | 4.0 | 12.3 | 430.0 | 610.0 | 1200.5 | 0 | **Gated**: iowait 12.3 % above maxIOWaitPercent 10, rate above the peak |",
		"The highest observed docs/s (500000 at 4 clients) failed a gate, so this point is not the peak.",
		"- PeakGated: the highest docs/s of these cells failed a gate, so Knee uses the highest value that passed every gate as the peak: b (4 clients); ",
		"| a | t | Sweep | 1 | 1 | 1 | Errored |", "| a | t | Sweep | 1 | 1 | 2 | Errored |")
	var errored, gated map[string]string
	for _, row := range rows(t, files["results.csv"]) {
		switch row["verdict"] {
		case "Errored":
			errored = row
		case "Gated":
			gated = row
		}
	}
	if errored["docs_per_second"] != "" || errored["osb_docs_per_second"] != "" || errored["attempt"] != "2" || errored["error_rate"] != "0.25" {
		t.Errorf("errored: %v", errored)
	}
	if gated["docs_per_second"] != "500000" || gated["failures"] != "iowait 12.3 % above maxIOWaitPercent 10" {
		t.Errorf("gated: %v", gated)
	}
	if s := summary.Status(in); s.Cells[1].NotMeasured[0] != "4 clients (verdict Gated): iowait 12.3 % above maxIOWaitPercent 10" || s.Cells[1].Peak != nil && s.Cells[1].Peak.Throughput == "500000" {
		t.Errorf("status: %+v", s.Cells[1])
	}
}

// TestFiles_missingFigures_areEmpty checks that a figure that was not measured is empty, and never 0.
func TestFiles_missingFigures_areEmpty(t *testing.T) {
	c := twoVariants("t")
	c.Spec.Gates = v1alpha1.Gates{}
	in := finished(c, func(t record.Trial) record.Record {
		r := plain(t)
		r.Nodes, r.Loader, r.Driver = nil, record.Loader{}, record.Driver{}
		r.Tasks[0].Latency, r.Tasks[0].ServiceTime = nil, nil
		r.Ingest.DrainedDocsPerSec, r.Ingest.OSBDocsPerSecond, r.Ingest.IndexBytes = 0, 0, 0
		if t.Phase == record.Warmup {
			return campaigntest.Errored(t, record.ReasonClusterNotReady, "red")
		}
		return r
	})
	files := report.Files(in)
	for _, row := range rows(t, files["results.csv"]) {
		empty := []string{
			"drained_docs_per_second", "osb_docs_per_second", "cpu_user_percent", "cpu_iowait_percent", "cpu_steal_percent", "cpu_cores",
			"pressure_io_percent", "docs_per_second_per_cpu_percent", "cpu_seconds_per_million_documents", "loader_cpu_cores",
			"loader_busiest_percent", "client_utilization", "latency_p50_ms", "latency_p99_ms", "gc_collections", "gc_millis",
			"heap_used_max_bytes", "index_bytes", "hosts", "opensearch", "jvm", "cpu_model",
		}
		if row["phase"] == "Warmup" {
			empty = append(empty, "docs_per_second", "documents", "count", "rejections", "error_rate", "settle_seconds", "seconds")
		}
		for _, name := range empty {
			if value, column := row[name]; value != "" || !column {
				t.Errorf("%s %s: %s is %q (a column: %t), want empty", row["variant"], row["phase"], name, value, column)
			}
		}
	}
	has(t, files["report.md"], "| CPU user+sys at the knee, % |  |  |  |", "on machines that are not known")
}

func TestFiles_searchTasks(t *testing.T) {
	in := finished(twoVariants("t"), func(t record.Trial) record.Record {
		r := plain(t)
		if t.Phase == record.Final {
			l := &record.Latency{Mean: 5, P50: 4 + float64(t.Repetition), P90: 9}
			r.Tasks = append(r.Tasks, record.Task{Name: "range", Search: true, Throughput: 3.1, Unit: "ops/s", Latency: l, ServiceTime: l})
		}
		return r
	})
	files := report.Files(in)
	has(t, files["report.md"], "## Latency", "| range | search | a | 2 | 4 | 3.1 ops/s |  | 6.5 | 9.0 |  |  | 6.5 | 9.0 |  | closed loop |")
	search := slices.DeleteFunc(rows(t, files["tasks.csv"]), func(r map[string]string) bool { return r["kind"] != "search" })
	if len(search) != 8 || search[0]["latency_p50_ms"] != "5" || search[0]["latency_p99_ms"] != "" {
		t.Errorf("tasks.csv: %v", search)
	}
	if _, found := report.Files(finished(twoVariants("t"), plain))["tasks.csv"]; found {
		t.Error("tasks.csv without search tasks")
	}
}

// TestStatus_searchSwitchedOn_finalsArePending checks Finals that must be measured again, because search tasks were switched on later. They
// are pending, and their old figures do not count.
func TestStatus_searchSwitchedOn_finalsArePending(t *testing.T) {
	c := twoVariants("t")
	c.Spec.Workload.OSB.SearchTasks = []string{"type:search"}
	records := finished(c, plain).Records
	c.Spec.Final.Search = new(true)
	in := input(c, records)
	if s := summary.Status(in); s.Progress != "6/14" || s.Result != "" || s.SharedClients != "2" {
		t.Errorf("%q %q %q, want every Final to be measured, and no result", s.Progress, s.Result, s.SharedClients)
	}
	text := report.Files(in)["report.md"]
	has(t, text, "| a | 2 | 0 of 4 |")
	if n := strings.Count(text, "**Pending**"); n != 8 {
		t.Errorf("%d trials pending, want the 8 Finals:\n%s", n, text)
	}
}

func TestFiles_environmentDifferences(t *testing.T) {
	in := finished(twoVariants("t"), func(t record.Trial) record.Record {
		r := plain(t)
		if t.Variant == "b" {
			r.Nodes[0].Environment.Kernel, r.Nodes[0].Environment.Mlockall = "6.9.1", true
			// The record has space only for the host of this second node.
			r.Nodes = append(r.Nodes, record.Node{Name: "os-1", CPU: r.Nodes[0].CPU, Environment: record.Environment{Host: "node-c"}})
		}
		if t.Phase == record.Final && t.Repetition == 2 {
			r.Loader.Host = "another"
		}
		return r
	})
	has(t, report.Files(in)["report.md"], "| kernel | 6.8.0 | 6.9.1 | yes |", "| memory locked | false | true | yes |",
		"| Kubernetes nodes | node-a | node-b, node-c | yes |", "| JVM | 21.0.7 | 21.0.7 |  |", "| loader's nodes | another, loader | another, loader |  |")
}

func TestFiles_warningsWithoutGates(t *testing.T) {
	in := finished(twoVariants("t"), func(t record.Trial) record.Record {
		r := plain(t)
		r.Loader.UtilizationOfTime, r.Loader.BusiestPercent = 0.8, 99
		r.Settle.Note, r.Ingest.WindowNote = "2 merges", "warm-up would cut more than half"
		return r
	})
	has(t, report.Files(in)["report.md"], "the loader may be the limit (its clients waited for the server only 80 % of their time)", "a loader process used 99 % of one core",
		"the cluster was not at rest before the load: 2 merges", "window: warm-up would cut more than half")
}

// TestFiles_shuffledRecords_sameReport checks that the order of records does not change the report.
func TestFiles_shuffledRecords_sameReport(t *testing.T) {
	in := finished(campaigntest.StudyCampaign(), campaigntest.StudyRecord)
	want := report.Files(in)
	shuffled := slices.Clone(in.Records)
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	got := report.Files(input(campaigntest.StudyCampaign(), shuffled))
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s depends on the order of the records", name)
		}
	}
}
