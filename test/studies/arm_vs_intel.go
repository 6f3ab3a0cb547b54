package studies

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/sweep"
)

var armVsIntel = Study{
	Number: 1, Name: "OpenSearch on Arm against Intel", Sample: "arm-vs-intel.yaml",
	Left: "The sweep's points are published, repetitions are not: there is no Final, and so no interval. 8 clients were not published either, " +
		"nor what a loader's process used and whether the CPU was throttled, which the sample has gates on, nor documents, latencies and garbage collection, nor steal, which stands as 0. " +
		"Intel at 20 clients was measured again by hand, which sweep.rerun says here too; of its first measurement nothing is published. " +
		"The study has one thread per core on both machines; which CPUs they were is not measured here.",
	adapt: func(c *v1alpha1.BenchmarkCampaign) {
		c.Spec.Sweep.Clients = []int32{12, 16, 20, 24, 32, 40, 48}
		c.Spec.Sweep.Rerun = []v1alpha1.PointRerun{{Variant: "intel", Topology: "6p0r", Clients: 20, Token: "manual"}}
		c.Spec.Final.Repetitions = ptr.To[int32](0)
		c.Spec.Gates.Expressions, c.Spec.Gates.MaxThrottledPercent = nil, nil
	},
	record: armVsIntelRecord,
	checks: armVsIntelChecks,
}

func armVsIntelRecord(t record.Trial) (record.Record, error) {
	points, err := table("1-arm-vs-intel.csv")
	if err != nil {
		return record.Record{}, err
	}
	for _, p := range points {
		if p["variant"] != t.Variant || p["clients"] != strconv.Itoa(int(t.Clients)) {
			continue
		}
		if p["remark"] != t.RerunToken && p["remark"] != "failed" {
			return record.Record{}, fmt.Errorf("%s at %d clients has the remark %q, and the campaign's token is %q", t.Variant, t.Clients, p["remark"], t.RerunToken)
		}
		if p["docs_per_second"] == "" {
			return failed("the study lists this point as failed, and does not say why"), nil
		}
		var f [4]float64
		for i, name := range []string{"docs_per_second", "cpu_user_percent", "cpu_sys_percent", "iowait_percent"} {
			if f[i], err = number(p[name]); err != nil {
				return record.Record{}, err
			}
		}
		r := ingested(f[0], "osb")
		r.Ingest.BulkSize, r.Ingest.Primaries, r.Ingest.RefreshInterval = 10_000, 6, "30s"
		r.Nodes = []record.Node{{
			Name: "node", CPU: &record.CPU{User: f[1], Sys: f[2], IOWait: f[3], Idle: 100 - f[1] - f[2] - f[3], Cores: 16},
			Environment: record.Environment{
				Arch:     map[string]string{"arm": "arm64", "intel": "amd64"}[t.Variant],
				CPUModel: map[string]string{"arm": "Neoverse-V2", "intel": "Sapphire Rapids"}[t.Variant], Cores: 16,
			},
		}}
		return r, nil
	}
	return record.Record{}, fmt.Errorf("no published point of %s at %d clients", t.Variant, t.Clients)
}

func armVsIntelChecks(r *Result) error {
	docs, clients, ratio := "docs_per_second", "clients", "ratio"
	peak, knee, shared := where{"arm", "peak", docs}, where{"arm", "knee", docs}, where{"arm", "shared", docs}
	r.figure("arm peak, docs/s", 349156, r.compared(peak, "value"), 0)
	r.figure("arm peak, clients", 32, r.compared(peak, clients), 0)
	r.says("arm target, docs/s", "passes at 338681.32 docs/s")
	r.figure("arm knee, clients", 16, r.compared(knee, clients), 0)
	r.figure("intel peak, docs/s", 243044, r.compared(peak, "baseline_value"), 0)
	r.figure("intel peak, clients", 48, r.compared(peak, "baseline_clients"), 0)
	r.says("intel target, docs/s", "passes at 235752.68 docs/s")
	r.figure("intel knee, clients", 12, r.compared(knee, "baseline_clients"), 0)
	r.figure("shared clients", 16, r.compared(shared, clients), 0)
	r.derived("arm / intel, peaks", 1.43660, r.compared(peak, ratio), 5)
	r.figure("arm / intel, own knees", 1.45, r.compared(knee, ratio), 2)
	r.derived("arm / intel at 16 clients", 1.46133, r.compared(shared, ratio), 5)
	efficiency := where{"arm", "shared", "docs_per_second_per_cpu_percent"}
	r.derived("arm efficiency at 16, docs/s per busy %", 3935.9, r.compared(efficiency, "value"), 1)
	r.derived("intel efficiency at 16, docs/s per busy %", 2551.1, r.compared(efficiency, "baseline_value"), 1)
	r.figure("efficiency, arm / intel", 1.5, r.compared(efficiency, ratio), 1)
	r.figure("rejections, arm", 0, r.compared(where{"arm", "sweep", "rejections"}, "value"), 0)
	r.figure("rejections, intel", 0, r.compared(where{"arm", "sweep", "rejections"}, "baseline_value"), 0)
	manual := map[string]string{"clients": "20"}
	r.word("intel at 20 clients", "Measured", r.text("tune_results_intel_6p0r.csv", "verdict", manual))
	r.word("intel at 20 clients, token of the manual rerun", "manual", r.text("results.csv", "measured_again", map[string]string{"variant": "intel", "clients": "20"}))
	r.says("intel at 20 clients is marked in the report", "measured again by hand (manual)")
	failed := map[string]string{"clients": "24"}
	r.word("intel at 24 clients", "Errored", r.text("tune_results_intel_6p0r.csv", "verdict", failed))
	r.word("intel at 24 clients, docs/s", "", r.text("tune_results_intel_6p0r.csv", docs, failed))
	for _, c := range []struct{ variant, counts string }{{"arm", "16 24 32 40 48"}, {"intel", "12 16 20 32 48"}} {
		r.word("counts that pass, "+c.variant, c.counts, passing(r.input.Assessment.Cell(c.variant, "6p0r").Curve))
	}
	for _, c := range []struct {
		percent    string
		arm, intel int32
	}{{"95", 12, 12}, {"98.5", 16, 20}, {"100", 32, 48}} {
		spec := *r.input.Spec.DeepCopy()
		spec.Knee.PercentOfPeak = v1alpha1.ToDecimal(c.percent)
		p := r.input.Plan
		p.PercentOfPeak = spec.Knee.PercentOfPeak.Float(0)
		a := campaign.Assess(p, spec, r.input.Records)
		r.figure("arm knee at "+c.percent+" %", float64(c.arm), float64(a.Cell("arm", "6p0r").Curve.Knee.Clients), 0)
		r.figure("intel knee at "+c.percent+" %", float64(c.intel), float64(a.Cell("intel", "6p0r").Curve.Knee.Clients), 0)
	}
	armVsIntelCorrections(r)
	return nil
}

func passing(c sweep.Curve) string {
	var out []string
	for _, n := range c.Passing {
		out = append(out, strconv.Itoa(int(n)))
	}
	return strings.Join(out, " ")
}

func armVsIntelCorrections(r *Result) {
	arm, intel := r.input.Assessment.Cell("arm", "6p0r").Curve, r.input.Assessment.Cell("intel", "6p0r").Curve
	if intel.PeakAtRangeEdge {
		r.correct(fmt.Sprintf("intel peaks at %d clients", intel.Peak.Clients),
			"%d is the highest count of the sweep: more clients may give more, and the ratio of peaks is of what was tried (PeakAtRangeEdge)", intel.Peak.Clients)
	}
	if intel.KneeAtRangeEdge {
		r.correct(fmt.Sprintf("intel's knee is at %d clients", intel.Knee.Clients),
			"%d is the lowest count of the sweep: fewer clients may do as well", intel.Knee.Clients)
	}
	low, high := arm.At(20).Rate, arm.At(16).Rate
	r.correct("arm's knee is at 16 clients", "20 clients fall %.2f %% below 16 and fail the threshold by %.0f docs/s: neighbours differ by more than "+
		"the 3 %% that decide, and no point was repeated, so that nothing tells how sure the knee is (95 %% would give 12)", 100*(1-low/high), arm.Target-low)
	r.correct("arm / intel is 1.43", "%.4f for the peaks, which is 1.44 rounded; at the shared 16 clients it is %.4f",
		r.compared(where{"arm", "peak", "docs_per_second"}, "ratio"), r.compared(where{"arm", "shared", "docs_per_second"}, "ratio"))
	efficiency := where{"arm", "shared", "docs_per_second_per_cpu_percent"}
	r.correct("efficiency is 4.15K and 2.73K docs/s per CPU %", "349K / 84 and 243K / 89: docs/s of the peaks over user CPU of the knees, which are other points. At 16 clients, with user and sys, "+
		"they are %.1f and %.1f", r.compared(efficiency, "value"), r.compared(efficiency, "baseline_value"))
	seconds := where{"arm", "shared", "cpu_seconds_per_million_documents"}
	r.correct("1 thread per core on both machines", "if so, a busy percent is of 16 cores on both, and CPU seconds per million documents are %.2f and %.2f. A machine whose 16 vCPUs "+
		"are threads of 8 cores would have to be compared otherwise: Knee reads threads and cores from the node", r.compared(seconds, "value"), r.compared(seconds, "baseline_value"))
	r.correct("20 clients on intel are a manual rerun", "one point of %d that was measured at another time and by another way than its neighbours; it neither is the peak nor the knee", len(r.input.Spec.Sweep.Clients)-1)
}
