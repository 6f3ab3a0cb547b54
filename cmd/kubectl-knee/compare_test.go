package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/bundle"
	"github.com/knee-bench/knee/internal/plugin/compare"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// later returns a record of the study that was measured two days later, on other machines, with another kernel and 10
// % higher rates.
func later(trial record.Trial) record.Record {
	r := campaigntest.StudyRecord(trial)
	const days = 2 * 24 * 3600 * 1000
	r.StartedAt, r.FinishedAt = r.StartedAt+days, r.FinishedAt+days
	if r.Ingest != nil {
		r.Ingest.DocsPerSecond *= 1.1
	}
	for i := range r.Nodes {
		r.Nodes[i].Environment.Host = "other-" + trial.Variant
		r.Nodes[i].Environment.Kernel = "6.9.1"
	}
	return r
}

func compared(t *testing.T, a, b string) compare.Comparison {
	t.Helper()
	var c compare.Comparison
	if err := json.Unmarshal([]byte(ok(t, "compare", a, b, "-o", "json")), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompare(t *testing.T) {
	before := bundled(t, "before.tar.gz", study(t, nil, campaigntest.StudyRecord))
	after := bundled(t, "after.tar.gz", study(t, func(c *v1alpha1.BenchmarkCampaign) {
		c.Name, c.UID = "after", "00000000-0000-0000-0000-000000000002"
		c.Spec.OpenSearch.Heap = "16Gi"
	}, later))
	c := compared(t, before, after)
	if len(c.Cells) != 2 || c.Cells[0].Variant != "intel" || len(c.OnlyA)+len(c.OnlyB) != 0 {
		t.Fatalf("%+v", c)
	}
	for _, cell := range c.Cells {
		f := cell.Final
		same := stats.Compare([]float64{1, 0.996, 1.004, 0.991}, []float64{1, 0.996, 1.004, 0.991}, 0.975)
		if f == nil || math.Abs(f.Ratio-1.1*same.Ratio) > 1e-4 || math.Abs(*f.Low-1.1*same.Low) > 1e-4 || f.A.Clients != 16 || f.A.Repetitions != 4 {
			t.Errorf("Finals of %s: %+v, want 1.1 times %+v", cell.Variant, f, same)
		}
		if math.Abs(cell.Knee.Ratio-1.1) > 1e-4 || math.Abs(cell.Peak.Ratio-1.1) > 1e-4 {
			t.Errorf("knee %+v, peak %+v", cell.Knee, cell.Peak)
		}
		if len(cell.Spec) != 1 || cell.Spec[0].What != "opensearch.heap" || cell.Spec[0].A != "" || cell.Spec[0].B != "16Gi" {
			t.Errorf("spec differs by %+v", cell.Spec)
		}
		kernel := false
		for _, d := range cell.Environment {
			kernel = kernel || d.What == "kernel" && strings.Contains(d.A, "6.8.0") && strings.Contains(d.B, "6.9.1") && !d.Declared
		}
		if !kernel {
			t.Errorf("the kernel is not among %+v", cell.Environment)
		}
	}
	if want := "different machines, different day: A ran on node-arm, node-intel on 2025-07-01; B ran on other-arm, other-intel on 2025-07-03"; c.Caveats[0] != want {
		t.Errorf("caveat %q, want %q", c.Caveats[0], want)
	}
	if !strings.Contains(c.Caveats[1], "not interleaved") {
		t.Errorf("caveats %q", c.Caveats)
	}
	text := ok(t, "compare", before, after)
	golden(t, "compare.txt", strings.NewReplacer(before, "before.tar.gz", after, "after.tar.gz").Replace(text))
}

// TestCompare_sameBundle_noDifferences checks the comparison of a measurement with itself: there are no differences, and the first
// caveat says that the machines and the day are the same.
func TestCompare_sameBundle_noDifferences(t *testing.T) {
	path := bundled(t, "study.tar.gz", study(t, nil, campaigntest.StudyRecord))
	c := compared(t, path, path)
	if !strings.HasPrefix(c.Caveats[0], "same machines, same day") {
		t.Errorf("caveat %q", c.Caveats[0])
	}
	for _, cell := range c.Cells {
		if cell.Knee.Ratio != 1 || math.Abs(cell.Final.Ratio-1) > 1e-12 || len(cell.Environment)+len(cell.Spec) != 0 {
			t.Errorf("%+v, Final %+v", cell, cell.Final)
		}
	}
}

// TestCompare_twoRunsInOneBundle compares two runs of one campaign in one bundle. The cells of the second run have other hashes,
// because spec.rerun differs.
func TestCompare_twoRunsInOneBundle(t *testing.T) {
	first := study(t, nil, campaigntest.StudyRecord)
	second := study(t, func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Rerun = "second" }, later)
	both := &bundle.Bundle{Versions: second.Versions, Campaign: second.Campaign, Report: second.Report, Records: second.Records}
	for name, data := range first.Records {
		both.Records[name] = data
	}
	path := bundled(t, "both.tar.gz", both)
	c := compared(t, path+"@", path)
	if c.A.Rerun != "" || c.B.Rerun != "second" || math.Abs(c.Cells[0].Knee.Ratio-1.1) > 1e-4 || len(c.Cells[0].Spec) != 0 {
		t.Errorf("%+v", c)
	}
	if again := compared(t, path+"@second", path); again.Cells[0].Knee.Ratio != 1 {
		t.Errorf("%+v", again)
	}
	fails(t, exitFailed, `no record of a run with spec.rerun "third"`, "compare", path, path+"@third")
}

func TestCompare_differentCells_areNotPaired(t *testing.T) {
	a := bundled(t, "a.tar.gz", study(t, nil, campaigntest.StudyRecord))
	b := bundled(t, "b.tar.gz", study(t, func(c *v1alpha1.BenchmarkCampaign) { c.Spec.Topologies[0].Name = "12p1r" }, campaigntest.StudyRecord))
	c := compared(t, a, b)
	if len(c.Cells) != 0 || len(c.OnlyA) != 2 || c.OnlyB[1] != "arm on 12p1r" {
		t.Errorf("%+v", c)
	}
}

// TestCompare_differentUnits_fails checks campaigns whose loads fill no index. A bundle preserves their unit, all texts show it, and
// compare refuses to compare them with campaigns in another unit.
func TestCompare_differentUnits_fails(t *testing.T) {
	program := func(rate float64) *bundle.Bundle {
		return study(t, func(c *v1alpha1.BenchmarkCampaign) {
			*c = *campaigntest.CommandCampaign([]string{"old", "new"}, 50, 100)
			c.Spec.Workload.Command.Args = []string{"freon", "ockrw", "-t", "$(KNEE_CLIENTS)"}
		}, func(trial record.Trial) record.Record {
			return campaigntest.MeasuredLoad(trial, rate*float64(trial.Clients+trial.Repetition), "calls/s")
		})
	}
	calls, more := bundled(t, "calls.tar.gz", program(100)), bundled(t, "more.tar.gz", program(110))
	docs := bundled(t, "docs.tar.gz", study(t, nil, campaigntest.StudyRecord))

	if r := knee(t, "", "compare", docs, calls); r.code == 0 || !strings.Contains(r.err, "the rate of "+docs+" is in docs/s, but the rate of "+calls+" is in calls/s: only campaigns with the same unit can be compared") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	if c := compared(t, calls, more); c.A.Unit != "calls/s" || len(c.Cells) != 2 || math.Abs(c.Cells[0].Knee.Ratio-1.1) > 1e-3 {
		t.Errorf("%+v", c)
	}
	for _, args := range [][]string{{"compare", calls, more}, {"report", "--from-bundle", calls}} {
		if out := strings.ToLower(ok(t, args...)); !strings.Contains(out, "calls/s") || strings.Contains(out, "docs/s") {
			t.Errorf("%v:\n%s", args, out)
		}
	}
}
