package report_test

import (
	"testing"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
)

// TestFiles_probeCost_highestOfAllNodes checks that the report shows the highest CPU use of a probe over all nodes. A value of 0 in the record
// means unknown.
func TestFiles_probeCost_highestOfAllNodes(t *testing.T) {
	in := finished(twoVariants("t"), func(trial record.Trial) record.Record {
		r := plain(trial)
		if trial.Variant == "b" {
			other := r.Nodes[0]
			other.Name = "other"
			r.Nodes[0].Probe, other.Probe = 0.21, 0.34
			r.Nodes = append(r.Nodes, other)
		}
		return r
	})
	for _, row := range rows(t, report.Files(in)["results.csv"]) {
		want := map[string]string{"a": "", "b": "0.34"}[row["variant"]]
		if got, there := row["probe_percent"]; got != want || !there {
			t.Errorf("%s: the probe's CPU is %q, want %q", row["variant"], got, want)
		}
	}
}
