package report_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/report/summary"
	"github.com/knee-bench/knee/internal/report/view"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/doubts"
)

// TestFiles_largestCampaign_fits checks the report of the largest campaign that the API admits. Every trial has two failed attempts
// before a valid one, and names and messages are long. Every file fits into a ConfigMap, the parts of results.csv
// contain every row, and the status with its conditions stays below 32 KiB.
func TestFiles_largestCampaign_fits(t *testing.T) {
	in := largest()
	variants, topologies := in.Spec.Variants, in.Assessment.Topologies()
	files := report.Files(in)
	total := 0
	for name, text := range files {
		if len(text) > report.MaxFileBytes {
			t.Errorf("%s has %d bytes", name, len(text))
		}
		if strings.HasPrefix(name, "results") {
			total += len(rows(t, text))
		}
	}
	if total != len(in.Records) {
		t.Errorf("results hold %d rows of %d records", total, len(in.Records))
	}
	has(t, files["report.md"], "results.csv, results-002.csv to results-")
	packed := 0
	for _, set := range report.Pack(files) {
		size := 0
		for name, text := range set {
			size += len(name) + len(text)
			packed++
		}
		if size > 1<<20 {
			t.Errorf("a set of %d bytes does not fit a ConfigMap", size)
		}
	}
	if packed != len(files) {
		t.Errorf("%d of %d files packed", packed, len(files))
	}
	s := summary.Status(in)
	_, reason, message := doubts.Conclusive(in.Assessment)
	for _, condition := range []string{"Ready", "Reconciling", "Stalled", "Conclusive"} {
		s.Conditions = append(s.Conditions, metav1.Condition{Type: condition, Reason: reason})
	}
	s.Conditions[3].Message = message
	for i := range 32 {
		s.Running = append(s.Running, fmt.Sprintf("%s %s Sweep clients=9000", variants[i/4].Name, topologies[i%4]))
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 32<<10 {
		t.Errorf("the status has %d bytes", len(text))
	}
	t.Logf("%d records: report.md %d bytes, report.html %d, %d files in %d ConfigMaps, status %d bytes", len(in.Records), len(files["report.md"]), len(files["report.html"]), len(files), len(report.Pack(files)), len(text))
}

// largest returns the input of the report of the largest campaign.
func largest() view.Input {
	c := largestCampaign()
	repetitions := int32(50)
	c.Spec.Final.Repetitions = &repetitions
	tries := map[record.Trial]int{}
	return finished(c, func(t record.Trial) record.Record {
		if tries[t]++; tries[t] < 3 {
			return campaigntest.Errored(t, record.ReasonDriverFailed, strings.Repeat("the driver's own words, \"quoted\" and long; ", 40))
		}
		r := campaigntest.Measured(t, 100_000+float64(t.Clients)+float64(t.Repetition))
		if t.Phase == record.Sweep && t.Clients%2 == 0 {
			r.Nodes[0].CPU.IOWait = 99
		}
		return r
	})
}

// largestCampaign returns a campaign with as many cells and client counts as the API admits, and with long names.
func largestCampaign() *v1alpha1.BenchmarkCampaign {
	var variants, topologies []string
	for i := range 8 {
		variants = append(variants, fmt.Sprintf("a-variant-with-a-name-as-long-%d", i))
	}
	for i := range 4 {
		topologies = append(topologies, fmt.Sprintf("topology-of-the-longest-name-%d", i))
	}
	var clients []int32
	for i := range int32(64) {
		clients = append(clients, 9000+i)
	}
	return campaigntest.Campaign(variants, topologies, clients...)
}

// TestFiles_largestFixedCampaign_fits checks the largest campaign without a sweep: its Finals have as many client counts as a sweep.
func TestFiles_largestFixedCampaign_fits(t *testing.T) {
	c := largestCampaign()
	c.Spec.Sweep.Mode = v1alpha1.SweepFixed
	in := finished(c, func(t record.Trial) record.Record { return campaigntest.Measured(t, 100_000+float64(t.Clients)) })
	for name, text := range report.Files(in) {
		if len(text) > report.MaxFileBytes {
			t.Errorf("%s has %d bytes", name, len(text))
		}
		if name == "report.html" {
			t.Logf("%d records: report.html %d bytes", len(in.Records), len(text))
			has(t, text[:20_000], "0 of 1792 ratios of docs/s can be distinguished from noise")
		}
	}
}

func TestPack(t *testing.T) {
	files := map[string]string{"b.csv": strings.Repeat("b", 600_000), "report.md": "r", "a.csv": strings.Repeat("a", 600_000), "c.csv": "c"}
	sets := report.Pack(files)
	if len(sets) != 2 || sets[0]["report.md"] != "r" || sets[0]["a.csv"] == "" || sets[1]["b.csv"] == "" || sets[1]["c.csv"] != "c" {
		t.Errorf("%d sets, want report.md and a.csv, then b.csv and c.csv", len(sets))
	}
}
