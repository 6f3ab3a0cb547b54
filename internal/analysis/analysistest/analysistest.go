// Package analysistest makes campaigns and records for tests, and holds the vectors of a published study.
package analysistest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/analysis"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// Start is when every record made here begins, Unix ms: 2025-07-01T12:00:00Z.
const Start = 1751371200000

// Campaign is a campaign that compares variants (the first is the baseline), each on a node pool of its own, on
// topologies, at the client counts.
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

// Measured is the record of a trial's first attempt that measured docsPerSecond over 100 s and passes every gate.
// Change what a test is about.
func Measured(t record.Trial, docsPerSecond float64) record.Record {
	t.Attempt = max(t.Attempt, 1)
	documents := int64(docsPerSecond * 100)
	return record.Record{
		Version: record.Version, Trial: t, StartedAt: Start, FinishedAt: Start + 130_000,
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

// MeasuredLoad is the same of a load that fills no index: a rate over 100 s by a program that is all that is known.
func MeasuredLoad(t record.Trial, rate float64, unit string) record.Record {
	t.Attempt = max(t.Attempt, 1)
	clients := float64(max(t.Clients, 1))
	return record.Record{
		Version: record.Version, Trial: t, StartedAt: Start, FinishedAt: Start + 130_000,
		Driver: record.Driver{Name: "command"},
		Load: &record.Load{
			From: Start + 20_000, To: Start + 120_000, Seconds: 100, Rate: rate, Unit: unit, Operations: int64(rate * 100),
			Latency: &record.Latency{Mean: 1000 * clients / rate, P50: 950 * clients / rate, P99: 3000 * clients / rate},
		},
		Loader: record.Loader{Host: "loader"},
	}
}

// CommandCampaign is a campaign whose load is a program that prints calls/s.
func CommandCampaign(variants []string, clients ...int32) *v1alpha1.BenchmarkCampaign {
	c := Campaign(variants, nil, clients...)
	for i := range c.Spec.Variants {
		c.Spec.Variants[i].NodePool = v1alpha1.NodePool{} // there is no OpenSearch
	}
	c.Spec.Workload = v1alpha1.Workload{Command: &v1alpha1.Command{Image: "ozone", Command: []string{"ozone"}, Parser: v1alpha1.ParserFreon}}
	c.Spec.Gates = v1alpha1.Gates{}
	return c
}

// hostOf is a machine of the variant's own, another on each placement.
func hostOf(t record.Trial) string {
	if t.Placement > 1 {
		return fmt.Sprintf("node-%s-%d", t.Variant, t.Placement)
	}
	return "node-" + t.Variant
}

// Errored is the record of an attempt that gave no valid measurement.
func Errored(t record.Trial, reason, message string) record.Record {
	t.Attempt = max(t.Attempt, 1)
	return record.Record{
		Version: record.Version, Trial: t, StartedAt: Start, FinishedAt: Start + 30_000,
		Driver: record.Driver{Name: "osb", Version: "2.4.0", ExitCode: 64},
		Error:  &record.Error{Reason: reason, Message: message},
	}
}

// MeasureAll gives every trial of a plan its records, sweeps first, as the shared clients come to be known. A
// trial that measure fails is tried again while retries last. A Warmup comes first wherever a JVM starts: where a group
// goes on with another cell, at a turn that must be fresh, and on a new placement.
func MeasureAll(p plan.Plan, spec v1alpha1.BenchmarkCampaignSpec, measure func(record.Trial) record.Record) []record.Record {
	m := measuring{plan: p, spec: spec, measure: measure, starts: map[int]int32{}}
	for range p.Groups {
		m.running = append(m.running, plan.Turn{Cell: -1})
	}
	for {
		a := analysis.Assess(p, spec, m.records)
		before := len(m.records)
		for group := range p.Groups {
			for _, turn := range p.Turns(group, a.Asked()) {
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

type measuring struct {
	plan    plan.Plan
	spec    v1alpha1.BenchmarkCampaignSpec
	measure func(record.Trial) record.Record
	records []record.Record
	running []plan.Turn   // by group; its cell is -1 before any
	starts  map[int]int32 // of the JVM, by cell
}

// start makes a Warmup record unless the turn goes on with a JVM that runs.
func (m *measuring) start(group int, turn plan.Turn, next record.Trial) {
	before := m.running[group]
	m.running[group] = turn
	if before.Cell == turn.Cell && before.Placement() == turn.Placement() && (before.Block == turn.Block || !turn.Fresh) {
		return
	}
	for range m.plan.Cells[turn.Cell].Spec.WarmupTrials() {
		m.starts[turn.Cell]++
		m.attempt(m.plan.WarmupTrial(m.plan.Cells[turn.Cell], next, m.starts[turn.Cell]), 1)
	}
}

// try makes attempts until one is valid or as many as the retries allow have failed.
func (m *measuring) try(t record.Trial, before int32) {
	for i := range m.plan.Retries + 1 {
		if m.attempt(t, before+1+i) != analysis.Errored {
			return
		}
	}
}

func (m *measuring) attempt(t record.Trial, attempt int32) analysis.Verdict {
	r := m.measure(t)
	r.Trial.Attempt = attempt
	m.records = append(m.records, r)
	return analysis.JudgeFor(m.spec, r).Verdict
}
