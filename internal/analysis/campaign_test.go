package analysis_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/analysis/analysistest"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

func TestAttempts(t *testing.T) {
	c := analysistest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	retries := int32(1)
	c.Spec.Retries = &retries
	p := plan.Build(c)
	trial := p.SweepTrials(p.Cells[0])[1]
	good := func(attempt int32) record.Record {
		r := analysistest.Measured(trial, 1000+float64(attempt))
		r.Trial.Attempt = attempt
		return r
	}
	bad := func(attempt int32, reason string) record.Record {
		r := analysistest.Errored(trial, reason, "why")
		r.Trial.Attempt = attempt
		return r
	}
	gated := func(attempt int32) record.Record {
		r := good(attempt)
		r.Rejections.WritePool = 1
		return r
	}
	lost := record.ReasonRecordLost
	pod := record.ReasonPodFailed
	for _, tt := range []struct {
		name         string
		records      []record.Record
		done, failed bool
		attempts     int32
		verdict      analysis.Verdict
		shown        int32 // attempt of the record that counts; 0: none
	}{
		{"none", nil, false, false, 0, "", 0},
		{"measured", []record.Record{good(1)}, true, false, 1, analysis.Measured, 1},
		{"gated is valid: not retried", []record.Record{gated(1)}, true, false, 1, analysis.Gated, 1},
		{"one error", []record.Record{bad(1, pod)}, false, false, 1, analysis.Errored, 1},
		{"retries used up", []record.Record{bad(1, pod), bad(2, pod)}, true, true, 2, analysis.Errored, 2},
		{"in any order", []record.Record{bad(2, pod), bad(1, pod)}, true, true, 2, analysis.Errored, 2},
		{"a lost record is not charged", []record.Record{bad(1, lost), bad(2, pod), bad(3, lost)}, false, false, 3, analysis.Errored, 3},
		{"lost and used up", []record.Record{bad(1, lost), bad(2, pod), bad(3, pod)}, true, true, 3, analysis.Errored, 3},
		{"measured at last", []record.Record{bad(1, pod), good(2)}, true, false, 2, analysis.Measured, 2},
		{"measured beyond the retries", []record.Record{bad(1, pod), bad(2, pod), good(3)}, true, false, 3, analysis.Measured, 3},
		{"the latest valid attempt counts", []record.Record{good(1), gated(2)}, true, false, 2, analysis.Gated, 2},
		{"an error does not undo a measurement", []record.Record{good(1), bad(2, pod)}, true, false, 2, analysis.Measured, 1},
	} {
		o := analysis.Assess(p, c.Spec, tt.records).Outcomes[trial]
		shown := int32(0)
		if o.Record != nil {
			shown = o.Record.Trial.Attempt
		}
		if o.Done != tt.done || o.Failed != tt.failed || o.Attempts != tt.attempts || o.Judgement.Verdict != tt.verdict || shown != tt.shown {
			t.Errorf("%s: %+v showing attempt %d, want %+v", tt.name, o, shown, tt)
		}
	}
}

func TestProgress(t *testing.T) {
	c := analysistest.Campaign([]string{"a", "b"}, []string{"t", "u"}, 1, 2, 4)
	p := plan.Build(c)
	a := analysis.Assess(p, c.Spec, nil)
	// Two groups of two cells: 4 x (1 Warmup + 3 Sweep + 4 Final), and a Warmup for each of the Finals' starts
	// of the JVM: two a group.
	if a.Planned != 36 || a.Done != 0 || a.Finished || a.Measured || len(a.Shared) != 0 || len(a.SharedClients()) != 0 {
		t.Errorf("before any record: %+v", a)
	}
	var records []record.Record
	for _, i := range p.Groups[0] {
		for _, trial := range p.SweepTrials(p.Cells[i]) {
			records = append(records, analysistest.Measured(trial, 1000))
		}
	}
	a = analysis.Assess(p, c.Spec, records)
	if a.Planned != 34 || a.Done != 6 || !a.Measured || len(a.Shared) != 0 {
		t.Errorf("one group swept: %d of %d done, measured %t, shared %v; want 6 of 34 (its Warmups are no longer owed), and none",
			a.Done, a.Planned, a.Measured, a.Shared)
	}
	if cell := a.Cell("a", "t"); !cell.SweepDone || cell.Done != 3 || cell.Planned != 8 {
		t.Errorf("cell a/t: %+v, want its sweep done, 3 of 8 trials", cell)
	}
	records, a = measureAll(c, func(t record.Trial) record.Record { return analysistest.Measured(t, 1000+float64(t.Repetition)) })
	if a.Planned != 36 || a.Done != 36 || !a.Finished || len(a.Ratios) != 2 || len(records) != 36 {
		t.Errorf("all: %d of %d done by %d records, finished %t, %d ratios", a.Done, a.Planned, len(records), a.Finished, len(a.Ratios))
	}
}

func TestRecordsOutsideThePlanAreIgnored(t *testing.T) {
	c := analysistest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	records, before := measureAll(c, func(t record.Trial) record.Record { return analysistest.Measured(t, 1000) })
	other := analysistest.Measured(records[1].Trial, 9999)
	other.Trial.Cell = "another"
	stranger := analysistest.Measured(records[1].Trial, 9999)
	stranger.Trial.Campaign = "another"
	shrunk := analysistest.Measured(records[1].Trial, 9999)
	shrunk.Trial.Clients = 64
	after := analysis.Assess(plan.Build(c), c.Spec, append(records, other, stranger, shrunk))
	if after.Done != before.Done || after.Cell("a", "t").Curve.Peak.DocsPerSecond != 1000 || len(after.Outcomes) != len(before.Outcomes) {
		t.Errorf("records of other cells, campaigns and client counts changed the assessment: %+v", after)
	}
}

func TestShrunkAndExtendedLists(t *testing.T) {
	c := analysistest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	figures := map[int32]float64{1: 50, 2: 100, 4: 110, 8: 120}
	records, _ := measureAll(c, func(t record.Trial) record.Record { return analysistest.Measured(t, figures[t.Clients]) })

	c.Spec.Sweep.Clients = []int32{1, 2}
	a := analysis.Assess(plan.Build(c), c.Spec, records)
	if peak := a.Cell("a", "t").Curve.Peak; peak.Clients != 2 || a.Shared["t"].Clients != 2 || a.Finished {
		t.Errorf("shrunk to 1, 2: peak at %d, shared %d, finished %t; want 2, 2, and Finals at 2 to be measured",
			peak.Clients, a.Shared["t"].Clients, a.Finished)
	}
	c.Spec.Sweep.Clients = []int32{1, 2, 4, 8}
	a = analysis.Assess(plan.Build(c), c.Spec, records)
	if _, known := a.Shared["t"]; known || a.Finished || a.Cell("a", "t").Curve.Peak.Clients != 4 || len(a.Ratios) != 0 {
		t.Errorf("extended by 8: %+v; want an unfinished sweep with what is known", a)
	}
	c.Spec.Sweep.Clients = []int32{1, 2, 4}
	strict := v1alpha1.ToDecimal("5")
	c.Spec.Gates.MaxIOWaitPercent = strict
	a = analysis.Assess(plan.Build(c), c.Spec, records)
	if !a.Finished || a.Measured || !a.Cell("a", "t").Curve.PeakGated {
		t.Errorf("a stricter gate: finished %t, measured %t; want judged anew from the same records", a.Finished, a.Measured)
	}
}

// With two comparisons a p of 8/252 is significant after Holm beside a smaller one, but its interval, which holds
// for both together, has 1 in it: that is not distinguishable.
func TestDistinguishableNeedsBothPAndInterval(t *testing.T) {
	c := analysistest.Campaign([]string{"base", "far", "near"}, []string{"t"}, 1, 2, 4)
	c.Spec.Final.Repetitions = new(int32(5))
	finals := map[string][]float64{
		"base": {100, 101, 102, 103, 104}, "far": {200, 201, 202, 203, 204}, "near": {102.5, 105, 106, 107, 108},
	}
	_, a := measureAll(c, func(t record.Trial) record.Record {
		if t.Phase == record.Final {
			return analysistest.Measured(t, finals[t.Variant][t.Repetition-1])
		}
		return analysistest.Measured(t, 100)
	})
	far, nearer := a.Ratios[0], a.Ratios[1]
	near(t, "near's p", nearer.P, 2*4.0/252, 1e-12)
	near(t, "near's p after Holm", nearer.AdjustedP, 2*4.0/252, 1e-12)
	if !far.Distinguishable || nearer.Distinguishable || !(nearer.Low <= 1 && nearer.High > 1) {
		t.Errorf("far %+v, near %+v; want the far one alone distinguishable", far, nearer)
	}
}

func TestSingleVariant(t *testing.T) {
	c := analysistest.Campaign([]string{"only"}, []string{"t"}, 1, 2, 4)
	c.Spec.Baseline = ""
	figures := map[int32]float64{1: 50, 2: 110, 4: 100}
	_, a := measureAll(c, func(t record.Trial) record.Record { return analysistest.Measured(t, figures[t.Clients]) })
	if a.Shared["t"].Clients != 2 || !a.Finished || len(a.Ratios) != 0 || len(a.Cells[0].FinalDocsPerSecond()) != 4 {
		t.Errorf("%+v, want Finals at the cell's own knee and no ratio", a)
	}
	if ok, reason, message := a.Conclusive(); !ok || reason != v1alpha1.ReasonConclusive {
		t.Errorf("conclusive: %t %s %q", ok, reason, message)
	}
}

// Two comparisons: the intervals hold for both together, and each p is adjusted.
func TestSeveralRatios(t *testing.T) {
	c := analysistest.Campaign([]string{"base", "same", "faster"}, []string{"t"}, 1, 2, 4)
	five := int32(5)
	c.Spec.Final.Repetitions = &five
	scale := map[string]float64{"base": 1, "same": 1.001, "faster": 1.3}
	sweep := map[int32]float64{1: 50, 2: 110, 4: 100}
	noise := []float64{1, 0.99, 1.01, 0.995, 1.005}
	_, a := measureAll(c, func(t record.Trial) record.Record {
		return analysistest.Measured(t, 1000*scale[t.Variant]*sweep[t.Clients]*noise[t.Repetition-1])
	})
	if len(a.Ratios) != 2 {
		t.Fatalf("%+v, want two ratios", a.Ratios)
	}
	same, faster := a.Ratios[0], a.Ratios[1]
	if same.Variant != "same" || same.Distinguishable || same.Comparisons != 2 || !(same.Low < 1 && same.High > 1) {
		t.Errorf("same: %+v", same)
	}
	if faster.Variant != "faster" || !faster.Distinguishable {
		t.Errorf("faster: %+v", faster)
	}
	near(t, "faster's p after Holm", faster.AdjustedP, 2*2.0/252, 1e-12)
	// 97.5 % is the least that two comparisons need; at 5 x 5, P(U <= 1) = 2/252.
	near(t, "faster's confidence", faster.Confidence, 1-2*2.0/252, 1e-12)
	if ok, reason, message := a.Conclusive(); ok || reason != v1alpha1.ReasonNotDistinguishable || !strings.Contains(message, "same against base") ||
		strings.Contains(message, "faster against") {
		t.Errorf("conclusive: %t %s %q", ok, reason, message)
	}
}

// A topology without shared clients has no Finals, and the campaign finishes.
func TestTopologyWithoutSharedClients(t *testing.T) {
	c := analysistest.Campaign([]string{"a", "b"}, []string{"good", "bad"}, 1, 2, 4)
	retries := int32(0)
	c.Spec.Retries = &retries
	_, a := measureAll(c, func(t record.Trial) record.Record {
		if t.Topology == "bad" && t.Variant == "a" {
			return analysistest.Errored(t, record.ReasonClusterNotReady, "red")
		}
		return analysistest.Measured(t, 1000+float64(t.Repetition))
	})
	if s := a.Shared["bad"]; s.Clients != 0 || s.Agreed || s.Why == "" || !a.Finished || len(a.Ratios) != 1 {
		t.Errorf("shared %+v, finished %t, ratios %+v", s, a.Finished, a.Ratios)
	}
	if finals := a.Cell("b", "bad").Finals; len(finals) != 0 {
		t.Errorf("Finals of a topology without shared clients: %+v", finals)
	}
}

// The largest campaign is assessed in well under a second: reconciling does it again and again.
func TestLargestIsQuick(t *testing.T) {
	c := largest()
	records, a := measureAll(c, func(t record.Trial) record.Record {
		return analysistest.Measured(t, 1000*math.Log(float64(t.Clients)+10)+float64(t.Repetition))
	})
	if !a.Finished || len(a.Ratios) != 28 || len(records) < 32*(64+50) {
		t.Fatalf("finished %t with %d ratios of %d records", a.Finished, len(a.Ratios), len(records))
	}
	p := plan.Build(c)
	begin := time.Now()
	analysis.Assess(p, c.Spec, records)
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("%d records took %s", len(records), took)
	} else {
		t.Logf("%d records took %s", len(records), took)
	}
}

// largest is the largest campaign that the API admits.
func largest() *v1alpha1.BenchmarkCampaign {
	variants, topologies, clients := []string{}, []string{}, []int32{}
	for i := range 8 {
		variants = append(variants, fmt.Sprintf("variant-%d", i))
	}
	for i := range 4 {
		topologies = append(topologies, fmt.Sprintf("topology-%d", i))
	}
	for i := range int32(64) {
		clients = append(clients, 1+i)
	}
	c := analysistest.Campaign(variants, topologies, clients...)
	repetitions := int32(50)
	c.Spec.Final.Repetitions = &repetitions
	return c
}
