package report_test

import (
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// TestComparison_study_publishedFigures checks comparison.csv of the published study against the published figures.
func TestComparison_study_publishedFigures(t *testing.T) {
	files := report.Files(finished(campaigntest.StudyCampaign(), campaigntest.StudyRecord))
	found := map[string]map[string]string{}
	for _, r := range rows(t, files["comparison.csv"]) {
		found[r["at"]+" "+r["figure"]] = r
	}
	for _, want := range []struct{ row, value, base, ratio string }{
		{"peak docs_per_second", "349156", "243044", "1.436596"},
		{"knee docs_per_second", "345964", "239130", "1.446761"},
		{"shared docs_per_second", "345964", "236746", "1.46133"},
		{"knee clients", "16", "12", "1.333333"},
		{"shared docs_per_second_per_cpu_percent", "3935.882", "2551.142", "1.542792"},
		{"shared cpu_user_percent", "83.9", "89.3", "0.93953"},
		{"shared cpu_iowait_percent", "6.3", "3.8", "1.657895"},
		{"sweep rejections", "0", "0", ""},
	} {
		r := found[want.row]
		if r["value"] != want.value || r["baseline_value"] != want.base || r["ratio"] != want.ratio || r["low"] != "" || r["verdict"] != "" {
			t.Errorf("%s: %v", want.row, r)
		}
	}
	final := found["final docs_per_second"]
	for column, want := range map[string]string{
		"ratio": "1.46133", "confidence": "0.95", "runs": "4", "baseline_runs": "4", "clients": "16", "verdict": "faster", "p": "0.028571",
	} {
		if final[column] != want {
			t.Errorf("final docs/s: %s is %q, want %q", column, final[column], want)
		}
	}
	if final["low"] == "" || final["low"] >= final["ratio"] || final["high"] <= final["ratio"] {
		t.Errorf("final docs/s: interval %s to %s around %s", final["low"], final["high"], final["ratio"])
	}
}

// TestComparison_oneVariant_noBaseline checks that rows of a campaign with one variant have no baseline.
func TestComparison_oneVariant_noBaseline(t *testing.T) {
	c := campaigntest.Campaign([]string{"a"}, []string{"t"}, 1, 2, 4)
	for _, r := range rows(t, report.Files(finished(c, plain))["comparison.csv"]) {
		if r["baseline"] != "" || r["baseline_value"] != "" || r["ratio"] != "" {
			t.Fatalf("%v, want no baseline and no ratio", r)
		}
	}
}

// TestColumns_everyPhase_isExplained checks that the help for column phase names every phase.
func TestColumns_everyPhase_isExplained(t *testing.T) {
	for line := range strings.Lines(report.Files(finished(showcase(), showcaseRecords()))["columns.md"]) {
		if strings.HasPrefix(line, "| phase |") {
			has(t, line, string(record.Warmup), string(record.Sweep), string(record.Final), string(record.OpenLoop))
			return
		}
	}
	t.Error("columns.md does not explain the column phase")
}

// TestColumns_everyColumn_isExplained checks that every column and every figure of the CSV files has an explanation.
func TestColumns_everyColumn_isExplained(t *testing.T) {
	files := report.Files(finished(showcase(), showcaseRecords()))
	for _, name := range []string{"results.csv", "comparison.csv"} {
		header, _, _ := strings.Cut(files[name], "\n")
		for _, column := range strings.Split(header, ",") {
			has(t, files["columns.md"], "| "+column+" |")
		}
	}
	for _, r := range rows(t, files["comparison.csv"]) {
		if figure := r["figure"]; !strings.Contains(figure, ": ") {
			has(t, files["columns.md"], "| "+figure+" |")
		}
	}
}

// TestComparison_named_namesBothCells checks that the row of a named comparison names both cells.
func TestComparison_named_namesBothCells(t *testing.T) {
	var of []map[string]string
	for _, r := range rows(t, report.Files(finished(showcase(), showcaseRecords()))["comparison.csv"]) {
		if r["baseline_topology"] != r["topology"] && r["at"] == "final" && r["figure"] == "docs_per_second" {
			of = append(of, r)
		}
	}
	if len(of) != 1 || of[0]["variant"] != "or1" || of[0]["baseline"] != "r6g" || of[0]["verdict"] != "slower" || of[0]["runs"] != "5" {
		t.Errorf("%v, want one row of or1 on n6p48 against r6g on n12p96, slower, of 5 placements", of)
	}
}

// TestSentence_verdicts checks the words of the sentence for each verdict.
func TestSentence_verdicts(t *testing.T) {
	for _, tt := range []struct {
		change func(*campaign.Ratio)
		want   string
		status string
	}{
		{func(r *campaign.Ratio) { r.Verdict = stats.Equivalent }, "variation not measured), equivalent within 3 %; no gate", "95.0 % equivalent"},
		{func(r *campaign.Ratio) { r.Verdict, r.Need, r.Distinguishable = stats.TooNoisy, 12, false },
			", too noisy to detect a difference of 3 %: about 12 repetitions each are necessary; no gate", "95.0 % too noisy"},
		{func(r *campaign.Ratio) { r.BaselineClients = 4 }, "At 2 and 4 clients b indexed", "95.0 %"},
	} {
		in := finished(twoVariants("t"), plain)
		tt.change(&in.Assessment.Ratios[0])
		if got := summary.Sentence(in); !strings.Contains(got, tt.want) {
			t.Errorf("got %q, want %q in it", got, tt.want)
		}
		if got := summary.Status(in).Result; !strings.HasSuffix(got, tt.status) {
			t.Errorf("result %q, want %q at its end", got, tt.status)
		}
	}
	has(t, summary.Sentence(finished(fixedShowcase(), showcaseRecords())), "At 40 clients or1 indexed 1.", "; at 75 clients or1 indexed 1.", "6 machines each")
	has(t, summary.Sentence(finished(showcase(), showcaseRecords())), "5 of 5 ratios of docs/s can be distinguished from noise", "or1/n6p48 0.7", "x r6g/n12p96 [0.7",
		"gates failed: or1/n6p48@64 (1234 rejections above maxRejections 0)", "r6g/n6p48@75 failed: RequestsFailed: 12.5 %")
}
