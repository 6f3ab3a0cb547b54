package report_test

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
)

// TestFiles_rejectionsByCounter checks rejection counters: a counter that the nodes do not have is empty, a counter of 0
// shows 0, and the report lists the rejections by counter.
func TestFiles_rejectionsByCounter(t *testing.T) {
	c := twoVariants("t")
	c.Spec.Gates.MaxRejections = ptr.To[int64](100)
	files := report.Files(finished(c, func(t record.Trial) record.Record {
		r := plain(t)
		r.Settle.WaitSeconds, r.Ingest.Requests = 1, 52
		if t.Variant == "b" {
			r.Rejections = record.Rejections{NoAdmissionControl: true}
			return r
		}
		r.Rejections = record.Rejections{AdmissionControl: 2, SegmentReplication: ptr.To[int64](3), RemoteStore: ptr.To[int64](0)}
		return r
	}))
	seen := 0
	for _, row := range rows(t, files["results.csv"]) {
		if row["phase"] == "Warmup" {
			continue
		}
		seen++
		want := map[string]string{"rejections": "5", "rejections_admission_control": "2", "rejections_segment_replication": "3", "rejections_remote_store": "0"}
		if row["variant"] == "b" {
			want = map[string]string{"rejections": "0", "rejections_admission_control": "", "rejections_segment_replication": "", "rejections_remote_store": ""}
		}
		want["requests"], want["wait_seconds"] = "52", "1"
		for name, value := range want {
			if got, column := row[name]; got != value || !column {
				t.Errorf("%s: %s is %q (a column: %t), want %q", row["variant"], name, got, column, value)
			}
		}
	}
	if seen == 0 {
		t.Error("no row")
	}
	has(t, files["report.md"], "## Refused requests", "| a | t | Sweep | 1 | 1 | 1 | 0 | 0 | 2 | 3 | 0 | 0 | Measured |")
	if text := files["report.md"]; strings.Contains(text, "| b | t | Sweep | 1 | 1 | 1 | 0 |") {
		t.Errorf("a variant that refused nothing is listed:\n%s", text)
	}
}
