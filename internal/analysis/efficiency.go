package analysis

import "github.com/knee-bench/knee/internal/record"

// CPUMean is the mean over a record's OpenSearch nodes; false unless the CPU of every node was measured.
func CPUMean(r record.Record) (mean record.CPU, ok bool) {
	for _, n := range r.Nodes {
		if n.CPU == nil {
			return record.CPU{}, false
		}
		mean.User += n.CPU.User
		mean.Sys += n.CPU.Sys
		mean.IOWait += n.CPU.IOWait
		mean.Steal += n.CPU.Steal
		mean.Idle += n.CPU.Idle
		mean.Cores += n.CPU.Cores
	}
	count := float64(len(r.Nodes))
	if count == 0 {
		return record.CPU{}, false
	}
	for _, f := range []*float64{&mean.User, &mean.Sys, &mean.IOWait, &mean.Steal, &mean.Idle} {
		*f /= count
	}
	return mean, true // Cores stays the sum
}

// Efficiency is docs/s for each busy percent (user + sys) of the OpenSearch nodes' cores; false without the
// figures. A busy percent of SMT threads and one of full cores are not the same thing: it compares machines of
// one kind.
func Efficiency(r record.Record) (float64, bool) {
	cpu, ok := CPUMean(r)
	if !ok || r.Ingest == nil || !positive(cpu.Busy()) {
		return 0, false
	}
	return r.Ingest.DocsPerSecond / cpu.Busy(), true
}

// CPUSecondsPerMillion is the busy CPU time of all OpenSearch nodes, in core seconds, for a million documents;
// false without the figures.
func CPUSecondsPerMillion(r record.Record) (float64, bool) {
	if r.Ingest == nil || !positive(r.Ingest.DocsPerSecond) || len(r.Nodes) == 0 {
		return 0, false
	}
	cores := 0.0 // busy ones
	for _, n := range r.Nodes {
		if n.CPU == nil || n.CPU.Cores == 0 {
			return 0, false
		}
		cores += n.CPU.Busy() / 100 * float64(n.CPU.Cores)
	}
	return cores / r.Ingest.DocsPerSecond * 1e6, true
}
