package gates_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

func limit(n int64) *int64 { return &n }

func TestJudge(t *testing.T) {
	allGates := v1alpha1.Gates{
		MaxRejections: limit(0), MaxIOWaitPercent: v1alpha1.ToDecimal("10"), MaxStealPercent: v1alpha1.ToDecimal("1.5"),
		MaxCPUPercent: v1alpha1.ToDecimal("95"), MaxLoaderCPUPercent: v1alpha1.ToDecimal("90"),
	}
	for _, tt := range []struct {
		name    string
		gates   v1alpha1.Gates
		change  func(*record.Record)
		verdict verdict.Verdict
		what    string // reason or gate of the first failure
		message string // part of the first failure's message
	}{
		{"a good record", allGates, func(*record.Record) {}, verdict.Measured, "", ""},
		{"a good record without gates", v1alpha1.Gates{}, func(r *record.Record) { r.Nodes, r.Loader = nil, record.Loader{} },
			verdict.Measured, "", ""},
		{"the full corpus", allGates, func(r *record.Record) { r.Ingest.Corpus = r.Ingest.Count }, verdict.Measured, "", ""},

		{"an unknown version", allGates, func(r *record.Record) { r.Version = 2 },
			verdict.Errored, record.ReasonRecordUnreadable, "the record has version 2, but this version of Knee reads only record version 1"},
		{"the agent's own error", allGates, func(r *record.Record) {
			r.Error = &record.Error{Reason: record.ReasonDeadline, Message: "no end after 600 s"}
		}, verdict.Errored, record.ReasonDeadline, "no end after 600 s"},
		{"no ingest", allGates, func(r *record.Record) { r.Ingest = nil },
			verdict.Errored, record.ReasonDriverIncomplete, "the record of the trial has no figures of the load"},
		{"an exit code", allGates, func(r *record.Record) { r.Driver.ExitCode = 64 },
			verdict.Errored, record.ReasonDriverFailed, "osb ended with exit code 64"},
		{"no task", allGates, func(r *record.Record) { r.Tasks = nil },
			verdict.Errored, record.ReasonDriverIncomplete, "no figures for an ingest task"},
		{"only a search task", allGates, func(r *record.Record) { r.Tasks[0].Search = true },
			verdict.Errored, record.ReasonDriverIncomplete, "no figures for an ingest task"},
		{"a task without throughput", allGates, func(r *record.Record) { r.Tasks[0].Throughput = 0 },
			verdict.Errored, record.ReasonDriverIncomplete, `osb reported no throughput for task "index"`},
		{"a throughput that is no number", allGates, func(r *record.Record) { r.Tasks[0].Throughput = math.NaN() },
			verdict.Errored, record.ReasonDriverIncomplete, "no throughput"},
		{"no docs/s", allGates, func(r *record.Record) { r.Ingest.DocsPerSecond = 0 },
			verdict.Errored, record.ReasonCountersUnusable, "docs/s of 0 is no measurement"},
		{"docs/s that is no number", allGates, func(r *record.Record) { r.Ingest.DocsPerSecond = math.NaN() },
			verdict.Errored, record.ReasonCountersUnusable, "docs/s of NaN"},
		{"infinite docs/s", allGates, func(r *record.Record) { r.Ingest.DocsPerSecond = math.Inf(1) },
			verdict.Errored, record.ReasonCountersUnusable, "docs/s of +Inf"},
		{"failed requests without rejections", allGates, func(r *record.Record) { r.Tasks[0].ErrorRate = 0.034 },
			verdict.Errored, record.ReasonRequestsFailed, `3.4 % of the requests of task "index" failed`},
		{"failed searches that write rejections do not explain", v1alpha1.Gates{}, func(r *record.Record) {
			r.Rejections.WritePool = 5
			r.Tasks = append(r.Tasks, record.Task{Name: "range", Search: true, Throughput: 3, ErrorRate: 1})
		}, verdict.Errored, record.ReasonRequestsFailed, `100 % of the requests of task "range" failed`},
		{"documents that OpenSearch failed to index", allGates, func(r *record.Record) { r.Ingest.IndexFailed = 7 },
			verdict.Errored, record.ReasonRequestsFailed, "failed to index 7 documents"},
		{"a count that is not what was indexed", allGates, func(r *record.Record) { r.Ingest.Count-- },
			verdict.Errored, record.ReasonCountMismatch, "the index holds"},
		{"more than the corpus", allGates, func(r *record.Record) { r.Ingest.Corpus = r.Ingest.Count - 1 },
			verdict.Errored, record.ReasonCountMismatch, "more than the"},
		{"less than the corpus without rejections", allGates, func(r *record.Record) { r.Ingest.Corpus = r.Ingest.Count + 10 },
			verdict.Errored, record.ReasonCountMismatch, "10 of the 10000010 documents of the corpus are missing"},
		{"less than the corpus by more than the rejections' bulks", allGates, func(r *record.Record) {
			r.Ingest.Corpus, r.Rejections.WritePool = r.Ingest.Count+20001, 2
		}, verdict.Errored, record.ReasonCountMismatch, "2 rejections cannot explain all of them"},
		// Observed with the real program: exit code 0 and 60,481 docs/s, although 96.5 % of 200 bulks were rejected.
		{"most bulks rejected", allGates, func(r *record.Record) {
			r.Ingest.Corpus, r.Ingest.Count, r.Ingest.TotalIndexed, r.Ingest.BulkSize = 200_000, 7_000, 7_000, 1_000
			r.Rejections.WritePool, r.Tasks[0].ErrorRate = 193, 0.965
		}, verdict.Gated, "maxRejections", "193 rejections above maxRejections 0"},

		{"rejections by every counter, no limit set", v1alpha1.Gates{}, func(r *record.Record) {
			r.Rejections = record.Rejections{WritePool: 1, IndexingPressure: 2, ShardPressure: 2, AdmissionControl: 8, CircuitBreakers: 16, SegmentReplication: ptr.To[int64](32), RemoteStore: ptr.To[int64](64)}
		}, verdict.Gated, "maxRejections", "123 rejections above maxRejections 0"},
		{"rejections within the limit", v1alpha1.Gates{MaxRejections: limit(3)}, func(r *record.Record) {
			r.Rejections.IndexingPressure = 3
		}, verdict.Measured, "", ""},
		{"iowait", allGates, func(r *record.Record) { r.Nodes[0].CPU.IOWait = 12.3 },
			verdict.Gated, "maxIOWaitPercent", "iowait 12.3 % above maxIOWaitPercent 10"},
		{"iowait at the limit", allGates, func(r *record.Record) { r.Nodes[0].CPU.IOWait = 10 }, verdict.Measured, "", ""},
		{"iowait just above the limit", allGates, func(r *record.Record) { r.Nodes[0].CPU.IOWait = 10.004 },
			verdict.Gated, "maxIOWaitPercent", "iowait 10.004 % above maxIOWaitPercent 10"},
		{"iowait of the worst node", allGates, func(r *record.Record) {
			r.Nodes = append(r.Nodes, record.Node{Name: "os-1", CPU: &record.CPU{IOWait: 25, Cores: 16}})
		}, verdict.Gated, "maxIOWaitPercent", "iowait 25.0 % on os-1 above maxIOWaitPercent 10"},
		{"mutation: the last of equally bad nodes is named, not the first", allGates, func(r *record.Record) {
			r.Nodes[0].CPU.IOWait = 25
			other := r.Nodes[0]
			other.Name = "os-1"
			r.Nodes = append(r.Nodes, other)
		}, verdict.Gated, "maxIOWaitPercent", "iowait 25.0 % on os-0 above maxIOWaitPercent 10"},
		{"iowait of a node that was not seen", allGates, func(r *record.Record) {
			r.Nodes = append(r.Nodes, record.Node{Name: "os-1"})
		}, verdict.Gated, "maxIOWaitPercent", "maxIOWaitPercent 10 cannot be judged: the CPU of OpenSearch node os-1 was not measured"},
		{"iowait of no node", allGates, func(r *record.Record) { r.Nodes = nil },
			verdict.Gated, "maxIOWaitPercent", "no OpenSearch node has a measurement of iowait"},
		{"iowait that is no number", allGates, func(r *record.Record) { r.Nodes[0].CPU.IOWait = math.NaN() },
			verdict.Gated, "maxIOWaitPercent", "cannot be judged"},
		{"tasks that did not fit the record", allGates, func(r *record.Record) { r.Tasks, r.Dropped = nil, []record.Drop{"tasks"} },
			verdict.Measured, "", ""},
		{"steal", allGates, func(r *record.Record) { r.Nodes[0].CPU.Steal = 2 },
			verdict.Gated, "maxStealPercent", "steal 2.0 % above maxStealPercent 1.5"},
		{"CPU", allGates, func(r *record.Record) { r.Nodes[0].CPU.User = 92 },
			verdict.Gated, "maxCPUPercent", "CPU user+sys 96.0 % above maxCPUPercent 95"},
		{"the loader's CPU", allGates, func(r *record.Record) { r.Loader.BusiestPercent = 99 },
			verdict.Gated, "maxLoaderCPUPercent", "the loader's busiest process used 99.0 % of one core, above maxLoaderCPUPercent 90"},
		{"the loader's CPU not seen", allGates, func(r *record.Record) { r.Loader = record.Loader{} },
			verdict.Gated, "maxLoaderCPUPercent", "cannot be judged: the loader's CPU was not measured"},
	} {
		r := campaigntest.Measured(record.Trial{Phase: record.Sweep, Clients: 8, Repetition: 1}, 100_000)
		tt.change(&r)
		got := gates.Judge(r, tt.gates)
		if got.Verdict != tt.verdict {
			t.Errorf("%s: %+v, want %s", tt.name, got, tt.verdict)
			continue
		}
		if tt.what == "" {
			if len(got.Failures) != 0 {
				t.Errorf("%s: failures %+v of a Measured record", tt.name, got.Failures)
			}
			continue
		}
		f := got.Failures[0]
		if f.Gate+f.Reason != tt.what || !strings.Contains(f.Message, tt.message) {
			t.Errorf("%s: %+v, want %s and %q", tt.name, f, tt.what, tt.message)
		}
	}
}

func TestJudge_severalGatesFail_namesAll(t *testing.T) {
	r := campaigntest.Measured(record.Trial{}, 100_000)
	r.Rejections.WritePool = 1
	r.Nodes[0].CPU.IOWait = 30
	j := gates.Judge(r, v1alpha1.Gates{MaxIOWaitPercent: v1alpha1.ToDecimal("10")})
	if len(j.Failures) != 2 || j.Failures[0].Gate != "maxRejections" || j.Failures[1].Gate != "maxIOWaitPercent" {
		t.Errorf("%+v, want both gates", j)
	}
}

// TestTruth_L2_figureJustAboveLimit_fails checks that a record, which holds rounded figures, gives the same verdict as the measured
// figures. A figure just beyond the limit of a gate fails, and a figure at the limit or just within it passes.
func TestTruth_L2_figureJustAboveLimit_fails(t *testing.T) {
	limits := v1alpha1.Gates{
		MaxIOWaitPercent: v1alpha1.ToDecimal("10"), MaxStealPercent: v1alpha1.ToDecimal("10"), MaxIOPressurePercent: v1alpha1.ToDecimal("10"),
		MaxThrottledPercent: v1alpha1.ToDecimal("10"), MaxCPUPercent: v1alpha1.ToDecimal("90"), MaxLoaderCPUPercent: v1alpha1.ToDecimal("90"),
		MaxCVPercent: v1alpha1.ToDecimal("10"), MinClientUtilization: v1alpha1.ToDecimal("0.9"), MinSteadySeconds: ptr.To[int32](10),
	}
	for _, tt := range []struct {
		gate         string
		limit, small float64 // small is below the resolution of the record
		set          func(*record.Record, float64)
	}{
		{"maxIOWaitPercent", 10, 0.004, func(r *record.Record, f float64) { r.Nodes[0].CPU.IOWait = f }},
		{"maxStealPercent", 10, 0.004, func(r *record.Record, f float64) { r.Nodes[0].CPU.Steal = f }},
		{"maxIOPressurePercent", 10, 0.004, func(r *record.Record, f float64) { r.Nodes[0].Pressure.IO = f }},
		{"maxThrottledPercent", 10, 0.004, func(r *record.Record, f float64) { r.Nodes[0].Throttled = &f }},
		{"maxCPUPercent", 90, 0.004, func(r *record.Record, f float64) { r.Nodes[0].CPU.User = f - r.Nodes[0].CPU.Sys }},
		{"maxCPUPercent", 90, 0.004, func(r *record.Record, f float64) {
			r.Nodes[0].CPU = nil
			r.Nodes[0].ReportedCPU = &record.ReportedCPU{Mean: f}
		}},
		{"maxLoaderCPUPercent", 90, 0.00004, func(r *record.Record, f float64) { r.Loader.BusiestPercent = f }},
		{"maxCVPercent", 10, 0.00004, func(r *record.Record, f float64) { r.Ingest.CVPercent = f }},
		{"minClientUtilization", 0.9, -0.0000004, func(r *record.Record, f float64) { r.Loader.UtilizationOfTime = f }},
		{"minSteadySeconds", 10, -0.00004, func(r *record.Record, f float64) { r.Ingest.SteadySeconds = f }},
	} {
		for _, shift := range []float64{tt.small, 0, -tt.small} {
			r := campaigntest.Measured(record.Trial{Campaign: "x", Cell: "c", Phase: record.Final, Clients: 4, Repetition: 1, Placement: 1}, 1000)
			r.Nodes[0].Pressure, r.Nodes[0].Throttled = &record.Pressure{IO: 1}, ptr.To(1.)
			r.Nodes[0].CPU = &record.CPU{User: 30, Sys: 4.126, IOWait: 1, Idle: 64, Cores: 16}
			r.Ingest.CVPercent, r.Ingest.SteadySeconds = 1, 100
			tt.set(&r, tt.limit+shift)
			data, err := record.Encode(r)
			if err != nil {
				t.Fatal(err)
			}
			read, err := record.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			got := gates.Judge(read, limits)
			wantGated := shift != 0 && (shift > 0) == (tt.small > 0)
			var failed []string
			for _, f := range got.Failures {
				failed = append(failed, f.Gate)
			}
			if wantGated != slices.Contains(failed, tt.gate) {
				t.Errorf("%s of %g at a limit of %g: %v, want gated %t", tt.gate, tt.limit+shift, tt.limit, failed, wantGated)
			}
		}
	}
}
