package report_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/report"
	"github.com/knee-bench/knee/internal/verdict/campaign/campaigntest"
)

// showcase returns an invented campaign with everything that a report can show. It has three machine types on two
// topologies, an adaptive sweep, placements, a named comparison, search tasks, an open loop and prices. It also has
// failed gates, failed trials and an environment that differs from the declared one.
func showcase() *v1alpha1.BenchmarkCampaign {
	c := campaigntest.Campaign([]string{"im4gn", "r6g", "or1"}, []string{"n6p48", "n12p96"}, 8, 16, 24, 32, 40, 48, 64, 75)
	c.Name = "machine-types"
	c.Spec.Sweep.Strategy = v1alpha1.SweepAdaptive
	c.Spec.Retries = ptr.To[int32](1)
	c.Spec.Currency = "USD"
	for i, price := range []string{"1.4547", "1.2096", "1.672"} {
		c.Spec.Variants[i].PricePerHour = v1alpha1.ToDecimal(price)
	}
	for i, nodes := range []int32{6, 12} {
		c.Spec.Topologies[i].Nodes, c.Spec.Topologies[i].Primaries, c.Spec.Topologies[i].Replicas = &nodes, 8*nodes, ptr.To[int32](1)
	}
	c.Spec.Final.Repetitions, c.Spec.Final.Placements, c.Spec.Final.Search = ptr.To[int32](2), ptr.To[int32](5), new(true)
	c.Spec.Final.OpenLoop = &v1alpha1.OpenLoop{}
	c.Spec.Workload.OSB.SearchTasks, c.Spec.Workload.OSB.TargetThroughputParam = []string{"type:search"}, "target_throughput"
	c.Spec.Gates.MaxCPUPercent = v1alpha1.ToDecimal("97.5")
	c.Spec.AcceptedDifferences = []v1alpha1.EnvironmentField{"thp"}
	c.Spec.Comparisons = []v1alpha1.Comparison{{
		Cell:     v1alpha1.CellName{Variant: "or1", Topology: "n6p48"},
		Baseline: v1alpha1.CellName{Variant: "r6g", Topology: "n12p96"},
	}}
	return c
}

// drawnPlacement returns the placement that noise uses. It is 0 for the first placement, because the golden files were
// created with this number.
func drawnPlacement(t record.Trial) record.Placement {
	if t.Placement <= 1 {
		return 0
	}
	return t.Placement
}

// noise returns a value from -1 to 1 that depends only on the trial and the salt.
func noise(t record.Trial, salt string) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, salt, t.Variant, t.Topology, t.Phase, t.Clients, t.Repetition, drawnPlacement(t))
	return 2*float64(h.Sum64()%10_000)/10_000 - 1
}

// showcaseRecords returns a function that measures trials. The trials of a variant start every 150 s on the variant's
// own pool. Finals start together, block by block. Records are encoded and decoded, so the records of 6 and 12 nodes
// have dropped parts for lack of space.
func showcaseRecords() func(record.Trial) record.Record {
	clock := map[string]int64{}
	return func(t record.Trial) record.Record {
		clock[t.Variant] += 150_000
		at := clock[t.Variant]
		if t.Phase == record.Final {
			block := 100 + 10*int64(drawnPlacement(t)) + int64(t.Repetition)
			if t.Topology == "n12p96" {
				block += 100
			}
			at = 150_000 * (2*block + int64(t.Clients)/50)
		}
		r := showcaseRecord(t)
		r.StartedAt, r.FinishedAt = r.StartedAt+at, r.FinishedAt+at
		if r.Ingest != nil {
			r.Ingest.From, r.Ingest.To = r.Ingest.From+at, r.Ingest.To+at
		}
		data, err := record.Encode(r)
		if err != nil {
			panic(err)
		}
		if r, err = record.Decode(data); err != nil {
			panic(err)
		}
		return r
	}
}

func showcaseRecord(t record.Trial) record.Record {
	if t.Variant == "r6g" && t.Topology == "n6p48" && t.Clients == 75 && t.Phase == record.Sweep {
		return campaigntest.Errored(t, record.ReasonRequestsFailed, "12.5 % of the requests of task \"index\" failed <html> & \"quotes\"")
	}
	peak := map[string]float64{"im4gn": 118_000, "r6g": 120_500, "or1": 168_000}[t.Variant]
	nodes := 6
	if t.Topology == "n12p96" {
		peak, nodes = 1.9*peak, 12
	}
	x := float64(t.Clients)
	docs := peak * 1.09 * x / (x + 6 + x*x/2600) * (1 + 0.008*noise(t, "docs"))
	if t.TargetDocsPerSecond > 0 {
		docs = float64(t.TargetDocsPerSecond)
	}
	docs *= 1 + 0.006*noise(record.Trial{Variant: t.Variant, Topology: t.Topology, Placement: t.Placement}, "machine")
	r := campaigntest.Measured(t, docs)
	r.Ingest.Segments, r.Ingest.SteadySeconds, r.Ingest.CVPercent = 412, 88, 2.4
	r.Ingest.IndexBytes = int64(44e9 * (1 + 0.01*noise(t, "bytes")))
	r.Ingest.Work = &record.Work{Merges: 310, MergeSeconds: 800 + 40*noise(t, "merge"), MergedMiB: 90_000, RefreshSeconds: 41, FlushSeconds: 7}
	busy := math.Min(97, 100*docs/peak*0.9)
	one := r.Nodes[0]
	r.Nodes = nil
	for i := range nodes {
		node := one
		node.Name = fmt.Sprintf("os-%d", i)
		node.Environment.Host = fmt.Sprintf("%s-%s-%d-%d", t.Variant, t.Topology, drawnPlacement(t), i)
		node.CPU = &record.CPU{User: busy * 0.94, Sys: busy * 0.06, IOWait: 2 + 0.5*noise(t, "io"), Idle: 98 - busy, Cores: 16, RunQueue: 20}
		node.Pressure = &record.Pressure{CPU: 31, IO: 6}
		node.Disk = &record.Disk{ReadMiBs: 11, WriteMiBs: docs / 4000, IOPS: docs / 60, BusiestPercent: 61}
		node.Network = &record.Network{ReceiveMiBs: docs / 5000, TransmitMiBs: docs / 9000}
		node.Memory = &record.Memory{OldGenMax: 14 << 30, ResidentMax: 47 << 30, DirectMax: 2 << 30}
		node.WritePool = &record.Pool{Threads: 16, ActiveMax: 16, QueueMax: 120}
		node.GC.Pauses = &record.Pauses{Count: 61, Young: 58, Mixed: 3, Millis: 1320, P50: 19.5, P99: 61, Max: 88, SurvivorMiB: 310, PromotedMiB: 940}
		r.Nodes = append(r.Nodes, node)
	}
	if t.Variant == "or1" {
		for i := range r.Nodes {
			r.Nodes[i].Environment.Kernel, r.Nodes[i].Environment.THP = "6.1.0", "always"
		}
		if t.Clients >= 64 && t.Phase == record.Sweep {
			r.Rejections.AdmissionControl = 1234
		}
	}
	if t.Variant == "im4gn" && t.Topology == "n12p96" && t.Phase == record.Final && t.Placement == 2 && t.Repetition == 2 {
		r.Nodes[3].CPU = &record.CPU{User: 70, Sys: 5, IOWait: 14.2, Idle: 10.8, Cores: 16}
	}
	if t.Phase == record.OpenLoop {
		r.Tasks[0].Target = 100
		r.Tasks[0].Latency = &record.Latency{Mean: 90, P50: 84, P90: 120, P99: 240 + 20*noise(t, "p99"), P999: 400}
	}
	if t.Phase == record.Final {
		for i, name := range []string{"range", "distance_amount_agg", "asc_sort_timestamp"} {
			slow := float64(i*i*7+4) * 120_000 / peak
			jitter := 1 + 0.02*noise(t, name)
			task := record.Task{Name: name, Search: true, Throughput: 2, Unit: "ops/s", Target: 2,
				Latency:     &record.Latency{Mean: slow, P50: slow * jitter, P90: 1.3 * slow * jitter, P99: 2 * slow * jitter, P999: 3 * slow},
				ServiceTime: &record.Latency{Mean: slow, P50: 0.95 * slow * jitter, P90: 1.2 * slow * jitter, P99: 1.8 * slow * jitter}}
			r.Tasks = append(r.Tasks, task)
		}
	}
	return r
}

// fixedShowcase returns a campaign of two machine types of the showcase at two client counts, without a sweep.
func fixedShowcase() *v1alpha1.BenchmarkCampaign {
	c := campaigntest.Campaign([]string{"im4gn", "or1"}, []string{"n6p48"}, 40, 75)
	c.Name = "fixed"
	c.Spec.Sweep.Mode = v1alpha1.SweepFixed
	c.Spec.Final.Repetitions = ptr.To[int32](5)
	return c
}

// TestFiles_showcases_matchGolden checks the complete reports of both showcases, which contain everything that a report can show.
func TestFiles_showcases_matchGolden(t *testing.T) {
	golden(t, "showcase", report.Files(finished(showcase(), showcaseRecords())))
	golden(t, "fixed", report.Files(finished(fixedShowcase(), showcaseRecords())))
}
