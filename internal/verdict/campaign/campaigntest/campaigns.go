// Package campaigntest makes campaigns and records for tests. It also holds the figures of a published study.
package campaigntest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/verdict"
	"github.com/knee-bench/knee/internal/verdict/campaign"
	"github.com/knee-bench/knee/internal/verdict/gates"
)

// Start is the start time of every record that this package makes, in Unix milliseconds: 2025-07-01T12:00:00Z.
const Start = 1751371200000

// Campaign returns a campaign that compares variants on topologies at the given client counts. The first variant is the baseline.
// Each variant has its own node pool.
func Campaign(variants, topologies []string, clients ...int32) *v1alpha1.BenchmarkCampaign {
	c := &v1alpha1.BenchmarkCampaign{}
	c.Name, c.Namespace, c.UID = "study", "default", types.UID("00000000-0000-0000-0000-000000000001")
	c.Spec.Baseline = variants[0]
	for _, v := range variants {
		c.Spec.Variants = append(c.Spec.Variants, v1alpha1.Variant{
			Name:     v1alpha1.Name(v),
			NodePool: v1alpha1.NodePool{NodeSelector: map[string]v1alpha1.LabelValue{"pool": v1alpha1.LabelValue(v)}},
		})
	}
	for _, t := range topologies {
		c.Spec.Topologies = append(c.Spec.Topologies, v1alpha1.Topology{
			Name: v1alpha1.Name(t), Primaries: 6, RefreshInterval: "30s",
		})
	}
	c.Spec.Sweep.Clients = clients
	c.Spec.Workload.Index.Name = "nyc_taxis"
	c.Spec.Workload.OSB = &v1alpha1.OSB{Workload: "nyc_taxis", IngestTasks: []string{"index"}}
	c.Spec.Gates.MaxIOWaitPercent = v1alpha1.ToDecimal("10")
	return c
}

// Measured returns the record of a trial's first attempt, with the given docs/s over 100 s. The record passes every gate. A test
// changes only the fields that it checks.
func Measured(t record.Trial, docsPerSecond float64) record.Record {
	documents := int64(docsPerSecond * 100)
	return record.Record{
		Version: record.Version, Attempt: record.Attempt{Trial: t, N: 1}, StartedAt: Start, FinishedAt: Start + 130_000,
		Driver: record.Driver{Name: "osb", Version: "2.4.0", RunID: "run-" + t.Variant},
		Settle: record.Settle{Seconds: 4.5},
		Ingest: &record.Ingest{
			From: Start + 20_000, To: Start + 120_000, Seconds: 100, Window: "Whole",
			Documents: documents, DocsPerSecond: docsPerSecond, WholeDocsPerSec: docsPerSecond,
			DrainedDocsPerSec: docsPerSecond * 0.98, OSBDocsPerSecond: docsPerSecond * 1.01,
			TotalIndexed: documents, Count: documents, IndexBytes: 44_000_000_000, BulkSize: 10_000,
			Primaries: 6, RefreshInterval: "30s",
		},
		Nodes: []record.Node{{
			Name: "os-0", HeapUsedMax: 20_000_000_000, GC: record.GC{Collections: 42, Millis: 1500},
			CPU: &record.CPU{User: 84, Sys: 4, IOWait: 6, Idle: 6, Cores: 16},
			Environment: record.Environment{
				Host: hostOf(t), Arch: "amd64", CPUModel: "Test CPU", Cores: 16, MemoryBytes: 64 << 30,
				Kernel: "6.8.0", THP: "madvise", JVM: "21.0.7", OpenSearch: "3.1.0", HeapBytes: 31 << 30,
				Processors: 16, MaxFiles: 65536,
			},
		}},
		Loader: record.Loader{Host: "loader", CPUCores: 3.1, BusiestPercent: 61.5, BusiestProcess: "osb-worker", UtilizationOfTime: 0.97},
		Tasks: []record.Task{{
			Name: "index", Throughput: docsPerSecond * 1.01, Unit: "docs/s",
			Latency:     &record.Latency{Mean: 450, P50: 430, P90: 610, P99: 1200.5},
			ServiceTime: &record.Latency{Mean: 450, P50: 430, P90: 610, P99: 1200.5},
		}},
	}
}

// MeasuredLoad is like Measured, but for a load that does not fill an index. The record has only the rate of a program over 100 s.
func MeasuredLoad(t record.Trial, rate float64, unit string) record.Record {
	clients := float64(max(t.Clients, 1))
	return record.Record{
		Version: record.Version, Attempt: record.Attempt{Trial: t, N: 1}, StartedAt: Start, FinishedAt: Start + 130_000,
		Driver: record.Driver{Name: "command"},
		Load: &record.Load{
			From: Start + 20_000, To: Start + 120_000, Seconds: 100, Rate: rate, Unit: unit, Operations: int64(rate * 100),
			Latency: &record.Latency{Mean: 1000 * clients / rate, P50: 950 * clients / rate, P99: 3000 * clients / rate},
		},
		Loader: record.Loader{Host: "loader"},
	}
}

// CommandCampaign returns a campaign whose load is a program that prints calls/s.
func CommandCampaign(variants []string, clients ...int32) *v1alpha1.BenchmarkCampaign {
	c := Campaign(variants, nil, clients...)
	for i := range c.Spec.Variants {
		c.Spec.Variants[i].NodePool = v1alpha1.NodePool{} // the program runs without OpenSearch
	}
	c.Spec.Workload = v1alpha1.Workload{Drivers: v1alpha1.Drivers{Command: &v1alpha1.Command{Image: "ozone", Command: []string{"ozone"}, Preset: v1alpha1.PresetFreon}}}
	c.Spec.Gates = v1alpha1.Gates{}
	return c
}

// hostOf returns the name of a variant's machine. Each placement has a different machine.
func hostOf(t record.Trial) string {
	if t.Placement > 1 {
		return fmt.Sprintf("node-%s-%d", t.Variant, t.Placement)
	}
	return "node-" + t.Variant
}

// Errored returns the record of a trial's first attempt, without a valid measurement.
func Errored(t record.Trial, reason, message string) record.Record {
	return record.Record{
		Version: record.Version, Attempt: record.Attempt{Trial: t, N: 1}, StartedAt: Start, FinishedAt: Start + 30_000,
		Driver: record.Driver{Name: "osb", Version: "2.4.0", ExitCode: 64},
		Error:  &record.Error{Reason: reason, Message: message},
	}
}

// MeasureAll makes records for every trial of a plan. The sweeps come first, because they determine the shared client counts. A
// trial with an Errored attempt is repeated up to the number of retries. Warmups are added after each start of a JVM. A JVM starts
// when a group changes to another cell or placement, and for a turn that requires a new JVM.
func MeasureAll(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec, measure func(record.Trial) record.Record) []record.Record {
	m := measuring{plan: p, spec: spec, measure: measure, starts: map[int]int32{}, jvms: map[string]int64{}}
	for range p.Groups {
		m.running = append(m.running, plan.Turn{Cell: -1})
	}
	for {
		a := campaign.Assess(p, spec, m.records)
		before := len(m.records)
		for group := range p.Groups {
			for _, turn := range p.Turns(group, a.Asked) {
				for _, t := range turn.Trials {
					if o := a.Outcomes[t]; !o.Done {
						m.start(group, turn, t)
						m.try(t, o.Attempts)
					}
				}
			}
		}
		if len(m.records) == before {
			return m.records
		}
	}
}

// Assess makes a record for every trial of a campaign, and judges the records.
func Assess(c *v1alpha1.BenchmarkCampaign, measure func(record.Trial) record.Record) ([]record.Record, campaign.Assessment) {
	p := plan.Build(c)
	records := MeasureAll(p, c.Spec, measure)
	return records, campaign.Assess(p, c.Spec, records)
}

type measuring struct {
	plan    plan.Plan
	spec    v1alpha1.BenchmarkCampaignSpec
	measure func(record.Trial) record.Record
	records []record.Record
	running []plan.Turn      // last turn of each group; its Cell is -1 before the first turn
	starts  map[int]int32    // number of Warmup trials of each cell
	jvms    map[string]int64 // number of starts of the JVM, by the hash of the cell
}

// start makes the Warmup records that follow the start of a JVM. It makes none if the turn continues on a running JVM.
func (m *measuring) start(group int, turn plan.Turn, next record.Trial) {
	before := m.running[group]
	m.running[group] = turn
	if before.Cell == turn.Cell && before.Placement() == turn.Placement() && (before.Block == turn.Block || !turn.Fresh) {
		return
	}
	m.jvms[m.plan.Cells[turn.Cell].Hash]++
	for range m.plan.Cells[turn.Cell].Spec.WarmupTrials() {
		m.starts[turn.Cell]++
		m.attempt(m.plan.WarmupTrial(m.plan.Cells[turn.Cell], next, m.starts[turn.Cell]), 1)
	}
}

// try makes attempts until an attempt is valid or the retries are used up.
func (m *measuring) try(t record.Trial, before int32) {
	for i := range m.plan.Retries + 1 {
		if m.attempt(t, before+1+i) != verdict.Errored {
			return
		}
	}
}

func (m *measuring) attempt(t record.Trial, attempt int32) verdict.Verdict {
	r := m.measure(t)
	r.Attempt.N = attempt
	if r.Error == nil && r.JVMStart == 0 {
		r.JVMStart = Start + m.jvms[t.Cell]
	}
	m.records = append(m.records, r)
	return gates.JudgeFor(m.spec, r).Verdict
}

// OnOnePool returns a campaign of two variants, named "a" and "b". The variants differ only in their names.
func OnOnePool() *v1alpha1.BenchmarkCampaign {
	c := Campaign([]string{"a", "b"}, []string{"t"}, 1, 2, 4)
	for i := range c.Spec.Variants {
		c.Spec.Variants[i].NodePool = v1alpha1.NodePool{}
	}
	return c
}

// WithEnvironment returns a measure function whose records have a complete environment. All environments are equal, except that the
// function change is applied to the records of variant "b".
func WithEnvironment(change func(*record.Record)) func(record.Trial) record.Record {
	return func(t record.Trial) record.Record {
		r := Measured(t, map[int32]float64{1: 50, 2: 110, 4: 100}[t.Clients]*(1+float64(t.Repetition)/1000))
		e := &r.Nodes[0].Environment
		e.SMT, e.Disk, e.Image = 2, "nvme 1 TiB", "sha256:1111"
		e.NodeOS, e.ImageOS, e.Hypervisor, e.Swap, e.MaxProcesses = "Ubuntu 24.04", "Amazon Linux 2023", "Google Compute Engine", "none", 65536
		r.Ingest.SettingsDigest = "d1"
		r.Loader.Cores = 8
		if t.Variant == "b" {
			change(&r)
		}
		return r
	}
}
