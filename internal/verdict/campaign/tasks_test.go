package campaign_test

import (
	"math"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/stats"
)

// searching measures Finals that end with a closed-loop task and a task with a target throughput. Variant b is 25 %
// faster in both. At the target, the latency of b is high, because its requests queue up.
func searching(t record.Trial) record.Record {
	speed := 1.0
	if t.Variant == "b" {
		speed = 1.25
	}
	r := campaigntest.Measured(t, map[int32]float64{1: 50, 2: 110, 4: 100}[t.Clients]*speed*(1+float64(t.Repetition)/1000))
	if t.Phase != record.Final {
		return r
	}
	noise := 1 + float64(t.Repetition)/100
	service := &record.Latency{Mean: 21 / speed * noise, P50: 20 / speed * noise, P90: 30 / speed * noise, P99: 50 / speed * noise}
	queued := &record.Latency{P50: 22 / speed * noise, P90: 33 / speed * noise, P99: 55 / speed * noise}
	if t.Variant == "b" {
		queued = &record.Latency{P50: 80 * noise, P90: 120 * noise, P99: 200 * noise}
	}
	r.Tasks = append(r.Tasks,
		record.Task{Name: "range", Search: true, Unit: "ops/s", Throughput: 40 * speed / noise, Latency: service, ServiceTime: service},
		record.Task{Name: "agg", Search: true, Unit: "ops/s", Throughput: 2, Target: 2, Latency: queued, ServiceTime: service})
	return r
}

func searchCampaign(repetitions int32) *v1alpha1.BenchmarkCampaign {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	search := true
	c.Spec.Final.Search, c.Spec.Final.Repetitions = &search, &repetitions
	c.Spec.Workload.OSB.SearchTasks = []string{"type:search"}
	return c
}

func TestTaskRatios(t *testing.T) {
	_, a := campaigntest.Assess(searchCampaign(6), searching)
	found := map[string]campaign.TaskRatio{}
	for _, r := range a.Tasks {
		if r.Variant != "b" || r.Baseline != "a" || r.Topology != "t" || !r.Search || r.Clients != 2 || r.BaselineClients != 2 {
			t.Errorf("%+v, want a search task of b against a at 2 clients", r)
		}
		found[r.Task+" "+r.Figure] = r
	}
	// The closed-loop task gives throughput and service times, but no latency. The task with a target gives no
	// throughput.
	want := []string{"range throughput", "range service_time_p50", "range service_time_p90", "range service_time_p99",
		"agg service_time_p50", "agg service_time_p90", "agg service_time_p99", "agg latency_p50", "agg latency_p90", "agg latency_p99"}
	for _, w := range want {
		r, ok := found[w]
		if !ok {
			t.Errorf("%s is missing", w)
			continue
		}
		if r.Comparisons != len(want) || r.N != 6 || r.M != 6 {
			t.Errorf("%s: %+v, want 6 against 6, one of %d", w, r, len(want))
		}
	}
	if len(found) != len(want) {
		t.Errorf("%d figures, want %d: %v", len(found), len(want), found)
	}
	near(t, "throughput", found["range throughput"].Ratio, 1.25, 0.02)
	near(t, "service time", found["range service_time_p99"].Ratio, 0.8, 0.02)
	if r := found["range throughput"]; !r.Distinguishable || r.AdjustedP < r.P || r.Note != "" || r.OpenLoop {
		t.Errorf("%+v, want it told from noise", r)
	}
	if r := found["range service_time_p50"]; !strings.Contains(r.Note, "closed loop: the mean service time follows from the throughput") {
		t.Errorf("%+v, want a note that it is no evidence of its own", r)
	}
	if r := found["agg latency_p99"]; !strings.Contains(r.Note, "latency is 5.0 times the service time on variant b") {
		t.Errorf("%+v, want a note of latency far above service time", r)
	}
	if r := found["agg service_time_p50"]; r.Note != "" {
		t.Errorf("%+v, want no note", r)
	}
	if n := campaign.TaskRepetitions(a.Tasks); n != 0 {
		t.Errorf("%d repetitions asked for, want none beyond 6", n)
	}
}

// TestTaskRatios_tooFewRepetitions_areHopeless checks that four repetitions are too few for ten figures: the smallest possible p
// is 2/70, so no difference can be distinguished from noise.
func TestTaskRatios_tooFewRepetitions_areHopeless(t *testing.T) {
	_, a := campaigntest.Assess(searchCampaign(4), searching)
	if len(a.Tasks) != 10 {
		t.Fatalf("%d task ratios, want 10", len(a.Tasks))
	}
	for _, r := range a.Tasks {
		if r.Distinguishable || !r.Hopeless() {
			t.Errorf("%+v: nothing can be told from noise, and it says so", r)
		}
		near(t, "smallest p", r.MinP, 2.0/70, 1e-12)
	}
	n := campaign.TaskRepetitions(a.Tasks)
	if n != stats.Repetitions(10) || n <= 4 || n > 6 {
		t.Errorf("%d repetitions would do, want what ten comparisons take", n)
	}
}

func TestTaskRatios_missingFigures_areOmitted(t *testing.T) {
	_, a := campaigntest.Assess(searchCampaign(4), func(tr record.Trial) record.Record {
		r := searching(tr)
		if tr.Phase == record.Final && tr.Variant == "a" {
			r.Tasks[1].Name = "other"                                                                     // does not exist in both cells
			r.Tasks[2].ServiceTime, r.Tasks[2].Latency = nil, nil                                         // dropped from the record for lack of space
			r.Tasks = append(r.Tasks, record.Task{Name: "range", Search: true, Throughput: 1, Target: 1}) // has a target only in this cell
		}
		return r
	})
	if len(a.Tasks) != 0 {
		t.Errorf("%+v, want nothing to compare", a.Tasks)
	}
}

func TestTaskRatios_openLoop_hasUntestedLatencies(t *testing.T) {
	c := campaigntest.Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	c.Spec.Workload.OSB.TargetThroughputParam = "target_throughput"
	c.Spec.Final.OpenLoop = &v1alpha1.OpenLoop{}
	_, a := campaigntest.Assess(c, func(tr record.Trial) record.Record {
		r := searching(tr)
		r.Tasks = r.Tasks[:1]
		if tr.Phase == record.OpenLoop {
			task := &r.Tasks[0]
			task.Target = 8
			task.ServiceTime = &record.Latency{Mean: 100, P50: 90, P90: 150, P99: 300}
			task.Latency = &record.Latency{Mean: 110, P50: 100, P90: 170, P99: 330}
			if tr.Variant == "b" {
				task.Latency = &record.Latency{P50: 80, P90: 140, P99: 264}
			}
		}
		return r
	})
	latencies := 0
	for _, r := range a.Tasks {
		if !r.OpenLoop || r.Search || r.Tested() || !math.IsNaN(r.P) || !math.IsNaN(r.AdjustedP) || r.Distinguishable || r.Hopeless() || r.Comparisons != 0 {
			t.Errorf("%+v, want an open loop's figure without interval and test", r)
		}
		if r.Figure == "latency_p99" {
			near(t, "latency", r.Ratio, 0.8, 1e-12)
		}
		if strings.HasPrefix(r.Figure, "latency") {
			latencies++
		}
	}
	if latencies != 3 {
		t.Errorf("%d latencies of the open loop, want 3: %+v", latencies, a.Tasks)
	}
}

// TestTaskRatios_twoStages_haveWiderIntervals checks that a second stage widens the intervals of tasks in the same way as those of
// docs/s.
func TestTaskRatios_twoStages_haveWiderIntervals(t *testing.T) {
	measure := func(t record.Trial) record.Record {
		r := searching(t)
		if t.Phase == record.Final {
			r.Ingest.DocsPerSecond *= 1 + float64(t.Repetition%3)/5 // noise that requires the maximum of repetitions
		}
		return r
	}
	wider := 0
	for n := int32(8); n <= 16; n++ {
		_, one := campaigntest.Assess(searchCampaign(n), measure)
		c := searchCampaign(3)
		c.Spec.Final.MaxRepetitions = &n
		_, two := campaigntest.Assess(c, measure)
		if len(one.Tasks) != 10 || len(two.Tasks) != 10 {
			t.Fatalf("%d and %d task ratios", len(one.Tasks), len(two.Tasks))
		}
		for i, r := range two.Tasks {
			if of := one.Tasks[i]; r.N != int(n) || r.Ratio != of.Ratio || r.Low > of.Low || r.High < of.High {
				t.Errorf("of %d: %+v, in one stage %+v", n, r, of)
			} else if r.Low < of.Low {
				wider++
			}
		}
	}
	if wider == 0 {
		t.Error("the intervals are those of one stage")
	}
}

// TestTruth_L3_tasks_reversedComparison_countsOnce checks that a comparison that reverses the automatic one adds no tests of tasks.
func TestTruth_L3_tasks_reversedComparison_countsOnce(t *testing.T) {
	c := searchCampaign(6)
	_, once := campaigntest.Assess(c, searching)
	c.Spec.Comparisons = []v1alpha1.Comparison{{
		Cell: v1alpha1.CellName{Variant: "a", Topology: "t"}, Baseline: v1alpha1.CellName{Variant: "b", Topology: "t"},
	}}
	_, twice := campaigntest.Assess(c, searching)
	if len(once.Tasks) == 0 || len(twice.Tasks) != len(once.Tasks) || twice.Tasks[0].Comparisons != once.Tasks[0].Comparisons || len(twice.Ratios) != 2 {
		t.Errorf("%d tasks of %d ratios, without the reversed comparison %d tasks", len(twice.Tasks), len(twice.Ratios), len(once.Tasks))
	}
}
