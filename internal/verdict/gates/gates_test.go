package gates_test

import (
	"math"
	"strings"
	"testing"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

// full returns a record with every figure that a gate or an expression can use.
func full() record.Record {
	r := campaigntest.Measured(record.Trial{Variant: "arm", Topology: "6p0r", Phase: record.Sweep, Clients: 8, Repetition: 1}, 100_000)
	r.Ingest.SteadySeconds, r.Ingest.CVPercent, r.Ingest.Segments = 80, 2.5, 44
	r.Ingest.Work = &record.Work{Merges: 30, MergeSeconds: 200, MergedMiB: 9000, RefreshSeconds: 4, FlushSeconds: 2}
	none := 0.0
	n := &r.Nodes[0]
	n.CPU.RunQueue = 14
	n.Throttled = &none
	n.Pressure = &record.Pressure{CPU: 30, Memory: 0, IO: 4}
	n.Disk = &record.Disk{ReadMiBs: 1, WriteMiBs: 180, IOPS: 2500, BusiestPercent: 70}
	n.Network = &record.Network{ReceiveMiBs: 90, TransmitMiBs: 2}
	n.Memory = &record.Memory{OldGenMax: 9 << 30, ResidentMax: 40 << 30, DirectMax: 1 << 30}
	n.WritePool = &record.Pool{Threads: 16, ActiveMax: 16, QueueMax: 12}
	n.GC.Pauses = &record.Pauses{Count: 40, Young: 39, Mixed: 1, Millis: 1400, P50: 30, P99: 80, Max: 95}
	r.Loader.MemoryBytes, r.Loader.Cores = 2<<30, 8
	r.Tasks = append(r.Tasks, record.Task{
		Name: "range", Search: true, Throughput: 12, Unit: "ops/s", Target: 12,
		Latency:     &record.Latency{Mean: 30, P50: 28, P90: 40, P99: 60, P999: 80, Max: 90},
		ServiceTime: &record.Latency{Mean: 20, P50: 18, P90: 30, P99: 50, P999: 70, Max: 75},
	})
	return r
}

func decimal(s string) *v1alpha1.Decimal { return v1alpha1.ToDecimal(s) }

// alone changes a record into the record of a load program that does not use OpenSearch: the record has a Load, but no
// Ingest, Nodes and Rejections.
func alone(r *record.Record) {
	r.Load, r.Ingest, r.Nodes, r.Rejections = &record.Load{Rate: 5, Unit: "calls/s", Operations: 9}, nil, nil, record.Rejections{}
}

func TestGates(t *testing.T) {
	seconds := func(n int32) *int32 { return &n }
	throttledGate := v1alpha1.Gates{MaxThrottledPercent: decimal("1")}
	for _, tt := range []struct {
		name    string
		gates   v1alpha1.Gates
		change  func(*record.Record)
		message string // message of the only failure; empty: Measured
	}{
		{"mutation: gate fails at its limit", v1alpha1.Gates{MaxLoaderCPUPercent: decimal("61.5")}, func(*record.Record) {}, ""},
		{"error rate within", v1alpha1.Gates{MaxRejections: limit(99), MaxErrorRate: decimal("0.01")},
			func(r *record.Record) { r.Rejections.WritePool, r.Tasks[0].ErrorRate = 5, 0.01 }, ""},
		{"error rate", v1alpha1.Gates{MaxRejections: limit(99), MaxErrorRate: decimal("0.01")},
			func(r *record.Record) { r.Rejections.WritePool, r.Tasks[0].ErrorRate = 5, 0.0104 },
			"error rate 0.0104 above maxErrorRate 0.01"},
		{"error rate of a search task is not asked", v1alpha1.Gates{MaxRejections: limit(99), MaxErrorRate: decimal("0")},
			func(r *record.Record) { r.Rejections.AdmissionControl, r.Tasks[1].ErrorRate = 5, 0.5 }, ""},
		{"error rate without tasks", v1alpha1.Gates{MaxErrorRate: decimal("0")},
			func(r *record.Record) { r.Tasks, r.Dropped = nil, []record.Drop{"tasks"} },
			"maxErrorRate 0 cannot be judged: the record has no ingest task"},

		{"rejections where nobody asked and nobody looked", v1alpha1.Gates{}, alone, ""},
		{"rejections where nobody looked", v1alpha1.Gates{MaxRejections: limit(0)}, alone,
			"maxRejections 0 cannot be judged: no OpenSearch was observed during this load"},
		{"rejections of a record that had no room for its nodes", v1alpha1.Gates{MaxRejections: limit(0)}, func(r *record.Record) {
			alone(r)
			r.Dropped = []record.Drop{"nodes"}
		}, ""},

		{"io pressure within", v1alpha1.Gates{MaxIOPressurePercent: decimal("4")}, func(*record.Record) {}, ""},
		{"io pressure", v1alpha1.Gates{MaxIOPressurePercent: decimal("3.5")}, func(*record.Record) {},
			"io pressure 4.0 % above maxIOPressurePercent 3.5"},
		{"io pressure of a kernel that tells none", v1alpha1.Gates{MaxIOPressurePercent: decimal("100")},
			func(r *record.Record) { r.Nodes[0].Pressure = nil },
			"maxIOPressurePercent 100 cannot be judged: the io pressure of OpenSearch node os-0 was not measured"},
		{"io pressure of no node", v1alpha1.Gates{MaxIOPressurePercent: decimal("100")},
			func(r *record.Record) { r.Nodes = nil }, "no OpenSearch node has a measurement of io pressure"},

		{"throttled within", throttledGate, func(*record.Record) {}, ""},
		{"throttled", throttledGate, func(r *record.Record) { *r.Nodes[0].Throttled = 7 },
			"throttled quota periods 7.0 % above maxThrottledPercent 1"},
		{"no quota, nothing to throttle", throttledGate, func(r *record.Record) { r.Nodes[0].Throttled = nil }, ""},
		{"a quota whose throttling nobody saw", throttledGate, func(r *record.Record) {
			r.Nodes[0].Throttled, r.Nodes[0].Environment.Processors = nil, 14
		}, "maxThrottledPercent 1 cannot be judged: OpenSearch node os-0 has 14 of 16 processors, but their throttling was not measured"},
		{"throttling where the probe was not asked", throttledGate, func(r *record.Record) { r.Nodes[0].Throttled, r.Nodes[0].CPU = nil, nil },
			"the CPU of OpenSearch node os-0 was not measured"},
		{"throttling where nothing is known of the node", throttledGate, func(r *record.Record) {
			r.Nodes[0].Throttled, r.Nodes[0].Environment = nil, record.Environment{}
		}, "it is not known whether OpenSearch node os-0 has a CPU quota"},
		{"throttling seen on one node alone", throttledGate, func(r *record.Record) {
			r.Nodes = append(r.Nodes, record.Node{Name: "os-1", CPU: r.Nodes[0].CPU, Environment: r.Nodes[0].Environment})
		}, "the throttling of OpenSearch node os-1 was not measured"},
		{"no quota, and room for one environment alone", throttledGate, func(r *record.Record) {
			r.Nodes[0].Throttled = nil
			r.Nodes = append(r.Nodes, record.Node{Name: "os-1", CPU: r.Nodes[0].CPU})
		}, ""},

		{"client utilization within", v1alpha1.Gates{MinClientUtilization: decimal("0.97")}, func(*record.Record) {}, ""},
		{"client utilization", v1alpha1.Gates{MinClientUtilization: decimal("0.9")},
			func(r *record.Record) { r.Loader.UtilizationOfTime = 0.8999 },
			"client utilization 0.8999 below minClientUtilization 0.9"},
		{"client utilization of an open loop, whose clients are idle by design", v1alpha1.Gates{MinClientUtilization: decimal("0.9")},
			func(r *record.Record) { r.Attempt.Phase, r.Loader.UtilizationOfTime = record.OpenLoop, 0.4 }, ""},
		{"client utilization not known", v1alpha1.Gates{MinClientUtilization: decimal("0.9")},
			func(r *record.Record) { r.Loader.UtilizationOfTime = 0 },
			"minClientUtilization 0.9 cannot be judged: the driver's service time or bulk size is not known"},

		{"steady within", v1alpha1.Gates{MinSteadySeconds: seconds(80)}, func(*record.Record) {}, ""},
		{"steady", v1alpha1.Gates{MinSteadySeconds: seconds(120)}, func(*record.Record) {},
			"the steady part of the load is 80.00 s long, below minSteadySeconds 120"},
		{"never steady", v1alpha1.Gates{MinSteadySeconds: seconds(1)}, func(r *record.Record) { r.Ingest.SteadySeconds = 0 },
			"no steady part of the load was found, but minSteadySeconds is 1"},
		{"steady for a full corpus", v1alpha1.Gates{MinSteadySeconds: seconds(1)}, func(r *record.Record) { r.Ingest.Corpus = r.Ingest.Count },
			"minSteadySeconds 1 cannot be judged: a full-corpus load has no steady part"},

		{"variation within", v1alpha1.Gates{MaxCVPercent: decimal("2.5")}, func(*record.Record) {}, ""},
		{"variation", v1alpha1.Gates{MaxCVPercent: decimal("2")}, func(*record.Record) {},
			"coefficient of variation of docs/s 2.5 % above maxCVPercent 2"},
		{"variation not known", v1alpha1.Gates{MaxCVPercent: decimal("2")}, func(r *record.Record) { r.Ingest.CVPercent = 0 },
			"maxCVPercent 2 cannot be judged: the load window is too short"},
		{"variation that is no number", v1alpha1.Gates{MaxCVPercent: decimal("2")}, func(r *record.Record) { r.Ingest.CVPercent = math.NaN() },
			"maxCVPercent 2 cannot be judged"},
	} {
		r := full()
		tt.change(&r)
		got := gates.Judge(r, tt.gates)
		if tt.message == "" {
			if got.Verdict != verdict.Measured {
				t.Errorf("%s: %+v, want Measured", tt.name, got)
			}
			continue
		}
		if got.Verdict != verdict.Gated || len(got.Failures) != 1 || !strings.Contains(got.Failures[0].Message, tt.message) {
			t.Errorf("%s: %+v, want Gated by %q", tt.name, got, tt.message)
			continue
		}
		if f := got.Failures[0]; f.Gate == "" || !strings.Contains(f.Message, f.Gate) && !strings.Contains(f.Message, "was measured") {
			t.Errorf("%s: gate %q is not named in %q", tt.name, f.Gate, f.Message)
		}
	}
}

// TestGates_changedInSpec_judgeRecordsAgain checks that changed gates judge the existing records again, without new
// measurements.
func TestGates_changedInSpec_judgeRecordsAgain(t *testing.T) {
	c := campaigntest.StudyCampaign()
	records, before := campaigntest.Assess(c, campaigntest.StudyRecord)
	if before.Shared["6p0r"].Clients != 16 {
		t.Fatalf("shared clients %+v, want 16", before.Shared)
	}
	for _, tt := range []struct {
		name  string
		gates v1alpha1.Gates
		arm   int32 // clients at arm's knee; 0: no knee
		gated int   // number of arm's Gated points
	}{
		{"as it was", c.Spec.Gates, 16, 0},
		{"a lower limit of iowait", v1alpha1.Gates{MaxIOWaitPercent: decimal("6.15")}, 24, 2},
		{"no gate", v1alpha1.Gates{}, 16, 0},
		{"an expression", v1alpha1.Gates{Expressions: []v1alpha1.GateExpression{
			{Name: "system", Expression: "trial.nodes.all(n, n.cpuSysPercent < 4.05) || trial.variant != 'arm'"},
		}}, 16, 4},
		{"a gate on what nobody measured", v1alpha1.Gates{MaxIOPressurePercent: decimal("50")}, 0, 7},
	} {
		changed := *c.DeepCopy()
		changed.Spec.Gates = tt.gates
		a := assessAgain(&changed, records)
		arm := a.Cell("arm", "6p0r")
		gated, knee := 0, int32(0)
		for _, p := range arm.Curve.Points {
			if p.Verdict == verdict.Gated {
				gated++
			}
		}
		if arm.Curve.Knee != nil {
			knee = arm.Curve.Knee.Clients
		}
		if !arm.SweepDone || gated != tt.gated || knee != tt.arm {
			t.Errorf("%s: sweep done %t, %d points gated, knee %d; want done, %d, %d", tt.name, arm.SweepDone, gated, knee, tt.gated, tt.arm)
		}
	}
}

// assessAgain judges existing records again.
func assessAgain(c *v1alpha1.BenchmarkCampaign, records []record.Record) campaign.Assessment {
	return campaign.Assess(plan.Build(c), c.Spec, records)
}
