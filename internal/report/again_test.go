package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

func TestFiles_pointMeasuredAgain_isMarked(t *testing.T) {
	c := twoVariants("t")
	clients := c.Spec.Sweep.Clients[0]
	in := finished(c, plain)
	c.Spec.Sweep.Rerun = []v1alpha1.PointRerun{{Variant: "b", Topology: "t", Clients: clients, Token: "by-hand"}}
	p, records := plan.Build(c), in.Records
	for _, cell := range p.Cells {
		if cell.Variant() == "b" {
			records = append(records, campaigntest.Measured(p.SweepTrial(cell, clients, 1), 12_345))
		}
	}
	in = view.NewInput(c, p, records, in.Version)
	files := report.Files(in)

	marked := 0
	for _, row := range rows(t, files["results.csv"]) {
		if row["measured_again"] == "" {
			continue
		}
		marked++
		if row["measured_again"] != "by-hand" || row["variant"] != "b" || row["docs_per_second"] != "12345" {
			t.Errorf("marked: %v", row)
		}
	}
	if marked != 1 {
		t.Errorf("%d rows of results.csv are marked, want 1", marked)
	}
	for _, want := range []string{"measured again by hand (by-hand)", "Measured again by hand (spec.sweep.rerun, token by-hand)", "Knee no longer uses the earlier figure: "} {
		if !strings.Contains(files["report.md"], want) {
			t.Errorf("report.md lacks %q", want)
		}
	}
	for _, cell := range summary.Status(in).Cells {
		want := []int32(nil)
		if cell.Variant == "b" {
			want = []int32{clients}
		}
		if !slices.Equal(cell.MeasuredAgain, want) {
			t.Errorf("status of %s: %v, want %v", cell.Variant, cell.MeasuredAgain, want)
		}
	}
}

func TestFiles_cpuRangeOfEachNode(t *testing.T) {
	in := finished(twoVariants("t"), func(trial record.Trial) record.Record {
		r := plain(trial)
		if trial.Variant == "b" {
			other := r.Nodes[0]
			other.Name = "os-1"
			r.Nodes[0].CPURange = &record.Range{Min: 60 - float64(trial.Repetition), Max: 90, Seconds: 10}
			other.CPURange = &record.Range{Min: 70, Max: 91 + float64(trial.Repetition), Seconds: 10}
			r.Nodes = append(r.Nodes, other)
		}
		return r
	})
	files := report.Files(in)
	for _, row := range rows(t, files["results.csv"]) {
		if known := row["cpu_busy_min_percent"] != "" && row["cpu_busy_max_percent"] != ""; known != (row["variant"] == "b") {
			t.Errorf("%s: from %q to %q", row["variant"], row["cpu_busy_min_percent"], row["cpu_busy_max_percent"])
		}
		if row["variant"] == "b" && row["phase"] == "Final" && row["repetition"] == "2" && (row["cpu_busy_min_percent"] != "58" || row["cpu_busy_max_percent"] != "93" || row["cpu_busy_range_seconds"] != "10") {
			t.Errorf("from %s to %s over %s s", row["cpu_busy_min_percent"], row["cpu_busy_max_percent"], row["cpu_busy_range_seconds"])
		}
	}
	if text := files["report.md"]; !strings.Contains(text, "| os-0 |") || !strings.Contains(text, "| os-1 |") || !strings.Contains(text, "highest %") {
		t.Errorf("no row of each node in %s", text)
	}
}

// TestFiles_anchor_isShownAsDrift checks that the anchor is a row of its own in results.csv, that no point includes it, and that the
// report shows the change of docs/s with and without a drift.
func TestFiles_anchor_isShownAsDrift(t *testing.T) {
	for change, want := range map[float64]string{
		1.5: "changed by +50.0 % (p = ", 1: "changed by 0.0 % (p = 1). Noise can explain this change: only a change of more than ",
	} {
		c := twoVariants("t")
		c.Spec.Sweep.Anchor = new(true)
		minute := int64(0)
		files := report.Files(finished(c, func(t record.Trial) record.Record {
			r := plain(t)
			docs := 1000 * float64(t.Clients)
			if t.Phase == record.Anchor {
				docs *= change
			}
			r.Ingest.DocsPerSecond = docs * (1 + float64(t.Repetition%2)/1000)
			r.StartedAt += 60_000 * minute
			minute++
			return r
		}))
		if !strings.Contains(files["report.md"], want) {
			t.Errorf("report.md lacks %q", want)
		}
		anchors := 0
		for _, row := range rows(t, files["results.csv"]) {
			if row["phase"] == string(record.Anchor) {
				anchors++
			}
		}
		if anchors != 2 {
			t.Errorf("%d rows of anchors, want 2", anchors)
		}
		for _, row := range rows(t, files["tune_results_a_t.csv"]) {
			if row["repetitions"] != "1" {
				t.Errorf("point with an anchor: %v", row)
			}
		}
	}
}
