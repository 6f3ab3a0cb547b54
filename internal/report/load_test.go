package report_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// program returns the input of a campaign whose program prints calls/s. Its records have metrics, one of which is
// unknown, a failed gate, and a note about figures that contradict each other.
func program() view.Input {
	c := campaigntest.CommandCampaign([]string{"old", "new"}, 50, 100, 200)
	c.Spec.Currency = "USD"
	for i := range c.Spec.Variants {
		c.Spec.Variants[i].PricePerHour = v1alpha1.ToDecimal("2")
	}
	c.Spec.Gates.MaxErrorRate = v1alpha1.ToDecimal("0.001")
	return finished(c, func(t record.Trial) record.Record {
		rate := map[int32]float64{50: 12000, 100: 15000, 200: 15100}[t.Clients]
		if t.Variant == "new" {
			rate *= 1.3
		}
		r := campaigntest.MeasuredLoad(t, rate*(1+float64(t.Repetition)/1000), "calls/s")
		gc := 1.5
		r.Load.Metrics = []record.Metric{{Name: "gc-seconds", Value: &gc, Unit: "s"}, {Name: "leader-cpu", Unit: "%", Note: "no answer"}}
		if t.Clients == 200 && t.Variant == "new" {
			r.Load.Failures = r.Load.Operations / 100
		}
		if t.Phase == record.Final && t.Variant == "new" {
			r.Load.Notes = []string{"rate x mean latency is 91.4 of 100 clients (Little's law)"}
		}
		return r
	})
}

// TestProgramsLoad_failuresUncounted_reportsUnknown checks a driver that does not count failures: every column and
// gate shows them as unknown, never as 0.
func TestProgramsLoad_failuresUncounted_reportsUnknown(t *testing.T) {
	c := campaigntest.CommandCampaign([]string{"old", "new"}, 100)
	const note = "the share of failed calls is not known"
	in := finished(c, func(trial record.Trial) record.Record {
		r := campaigntest.MeasuredLoad(trial, 15000, "calls/s")
		r.Load.Operations, r.Load.FailuresUncounted, r.Load.Notes = 0, true, []string{note}
		return r
	})
	files := report.Files(in)
	has(t, files["report.md"], note, "maxErrorRate 0 (not judged if the driver did not report the number of failures)")
	if row := rows(t, files["results.csv"])[1]; row["failed_operations"] != "" || row["error_rate"] != "" || row["operations"] != "" || row["rate"] == "" {
		t.Errorf("results.csv: %v", row)
	}
}

// TestProgramsLoad_otherUnit_mentionsNoDocuments checks that the report of a load that fills no index uses the unit of the load and does not
// mention documents.
func TestProgramsLoad_otherUnit_mentionsNoDocuments(t *testing.T) {
	in := program()
	files := report.Files(in)
	golden(t, "program", files)
	md := files["report.md"]
	has(t, md, "At 100 clients new did 1.300x old's calls/s", "peak calls/s", "## Corrections", "91.4 of 100 clients", "## Metrics", "gc-seconds, s", "leader-cpu: no answer", "calls for one USD", "**Gated**")
	for name, text := range files {
		if name == "report.html" {
			text = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(text, "")
		}
		for _, word := range []string{"docs/s", "docs_per", "ocuments", "ejections", "erge", "million", " index", "iowait %"} {
			if at := strings.Index(text, word); at >= 0 {
				t.Errorf("%s tells of %q: ...%s...", name, word, text[max(0, at-60):min(len(text), at+60)])
			}
		}
	}
	got := rows(t, files["results.csv"])[1]
	if got["rate"] == "" || got["unit"] != "calls/s" || got["operations"] == "" || got["latency_p99_ms"] == "" || got["metric_gc-seconds"] != "1.5" || got["metric_leader-cpu"] != "" {
		t.Errorf("results.csv: %v", got)
	}
	if s := summary.Status(in); s.Result == "" || s.Unit != "calls/s" || summary.Status(finished(campaigntest.StudyCampaign(), campaigntest.StudyRecord)).Unit != "docs/s" || s.Knees != "old=100 new=50" && s.Knees != "old=100 new=100" {
		t.Errorf("status: %+v", s)
	}
	var figures []string
	for _, r := range rows(t, files["comparison.csv"]) {
		if r["at"] == "final" {
			figures = append(figures, r["figure"])
		}
		if r["figure"] == "rate" && r["at"] == "final" && (r["unit"] != "calls/s" || r["low"] == "") {
			t.Errorf("the ratio of rates: %v", r)
		}
	}
	for _, want := range []string{"rate", "operations", "latency_mean_ms", "metric_gc-seconds", "calls_per_currency_unit"} {
		if !slices.Contains(figures, want) {
			t.Errorf("comparison.csv has no %s: %v", want, figures)
		}
	}
}

// TestProgramsLoad_operationsUncounted_areEmpty checks a program that does not count its operations: its failures are unknown, not
// 0.
func TestProgramsLoad_operationsUncounted_areEmpty(t *testing.T) {
	c := campaigntest.CommandCampaign([]string{"old"}, 50)
	files := report.Files(finished(c, func(t record.Trial) record.Record {
		r := campaigntest.MeasuredLoad(t, 5, "calls/s")
		r.Load.Operations, r.Load.Failures = 0, 0
		return r
	}))
	if got := rows(t, files["results.csv"])[0]; got["rate"] == "" || got["operations"] != "" || got["failed_operations"] != "" || got["error_rate"] != "" {
		t.Errorf("results.csv: %v", got)
	}
}

// TestStreamsLoad_reportsNodeTelemetry checks that the report of a load between the nodes of a cluster also contains the telemetry of
// these nodes.
func TestStreamsLoad_reportsNodeTelemetry(t *testing.T) {
	c := campaigntest.Campaign([]string{"regular", "stream"}, []string{"two"}, 5, 10, 20)
	c.Spec.Topologies[0].Nodes = ptr.To[int32](2)
	c.Spec.Workload = v1alpha1.Workload{Drivers: v1alpha1.Drivers{Stream: &v1alpha1.Stream{}}}
	files := report.Files(finished(c, func(t record.Trial) record.Record {
		r := campaigntest.MeasuredLoad(t, 1e6*float64(t.Clients)/(5+float64(t.Clients)), "rows/s")
		r.Nodes = slices.Repeat(campaigntest.Measured(t, 1).Nodes, 2)
		r.Load.MiBs = 1000
		return r
	}))
	md := files["report.md"]
	has(t, md, "rows/s per vCPU", "efficiency at the knee, rows/s per busy CPU %", "## Disk and network", "CPU user %", "pauses a minute")
	for _, word := range []string{"docs/s", "rejections", "million documents", "index GiB"} {
		if strings.Contains(strings.Split(md, "### The campaign")[0], word) {
			t.Errorf("the report tells of %q", word)
		}
	}
	if got := rows(t, files["results.csv"])[1]; got["rate_per_vcpu"] == "" || got["payload_mib_per_second"] != "1000" {
		t.Errorf("results.csv: %v", got)
	}
}

// TestFiles_recordsInAnotherUnit_areErrored checks that records with another unit than the campaign's do not count, and that the
// report gives the reason.
func TestFiles_recordsInAnotherUnit_areErrored(t *testing.T) {
	c := campaigntest.CommandCampaign([]string{"old"}, 50)
	zero := int32(0)
	c.Spec.Retries = &zero
	files := report.Files(finished(c, func(t record.Trial) record.Record { return campaigntest.MeasuredLoad(t, 5, "rows/s") }))
	has(t, files["report.md"], "Nothing was measured", "the stored record of this trial has its rate in rows/s, but spec.workload gives a rate in calls/s")
	if got := rows(t, files["results.csv"])[0]; got["rate"] != "" || got["verdict"] != "Errored" {
		t.Errorf("results.csv: %v", got)
	}
}

// TestFiles_namedComparisonsOfFixedClients checks two texts of comparisons across topologies. Cells are named with variant
// and topology. If a gate prevents a ratio, the observed figures are shown.
func TestFiles_namedComparisonsOfFixedClients(t *testing.T) {
	c := campaigntest.Campaign([]string{"im4gn", "r6g", "or1"}, []string{"n6p48", "n12p96"}, 40, 75)
	c.Spec.Sweep.Mode = v1alpha1.SweepFixed
	for i, nodes := range []int32{6, 12} {
		c.Spec.Topologies[i].Nodes = &nodes
	}
	c.Spec.Final.Repetitions = ptr.To[int32](1)
	for _, v := range []v1alpha1.Name{"im4gn", "r6g"} {
		c.Spec.Comparisons = append(c.Spec.Comparisons, v1alpha1.Comparison{
			Cell: v1alpha1.CellName{Variant: "or1", Topology: "n6p48"}, Baseline: v1alpha1.CellName{Variant: v, Topology: "n12p96"},
		})
	}
	in := finished(c, func(t record.Trial) record.Record {
		r := campaigntest.Measured(t, map[string]float64{"or1": 156000, "im4gn": 110000, "r6g": 110000}[t.Variant])
		if t.Variant == "im4gn" && t.Clients == 75 {
			r.Rejections.WritePool = 7
		}
		return r
	})
	files := report.Files(in)
	has(t, files["report.md"],
		"| or1 / r6g | n6p48 / n12p96 | 40 | **1.418** |",
		"| or1 / im4gn | n6p48 / n12p96 | 75 | 156000 | 110000 | 1.418 | **im4gn/n12p96** (maxRejections) |",
		"| **im4gn/n12p96** | 75 | 110000 (gated) |")
	found := false
	for _, r := range rows(t, files["comparison.csv"]) {
		if r["at"] == "observed" && r["variant"] == "or1" && r["topology"] == "n6p48" && r["baseline"] == "im4gn" && r["baseline_topology"] == "n12p96" {
			found = r["value"] == "156000" && r["baseline_value"] == "110000" && r["ratio"] == "1.418182" && r["low"] == "" && r["clients"] == "75"
		}
	}
	if !found {
		t.Errorf("comparison.csv: no row of what was observed of or1/n6p48 and im4gn/n12p96:\n%s", files["comparison.csv"])
	}
}
