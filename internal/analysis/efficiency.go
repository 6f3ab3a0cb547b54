package analysis

import "github.com/knee-bench/knee/internal/record"

// CPUMean is the mean over a record's OpenSearch nodes, all of them, though the record may have had room for few;
// Cores is their sum. False unless the CPU of every node was measured.
func CPUMean(r record.Record) (mean record.CPU, ok bool) {
	all, ok := r.Pool()
	if !ok || all.CPU == nil {
		return record.CPU{}, false
	}
	return *all.CPU, true
}

// Efficiency is docs/s, or the rate of a load that fills no index, for each busy percent (user + sys) of the OpenSearch nodes' cores; false without the
// figures. A busy percent of SMT threads and one of full cores are not the same thing: it compares machines of
// one kind.
func Efficiency(r record.Record) (float64, bool) {
	cpu, ok := CPUMean(r)
	rate, unit := r.Rate()
	if !ok || unit == "" || !positive(cpu.Busy()) {
		return 0, false
	}
	return rate / cpu.Busy(), true
}

// CPUSecondsPerMillion is the busy CPU time of all OpenSearch nodes, in core seconds, for a million documents;
// false without the figures.
func CPUSecondsPerMillion(r record.Record) (float64, bool) {
	all, ok := r.Pool()
	if !ok || all.CPU == nil || all.CPU.Cores == 0 || r.Ingest == nil || !positive(r.Ingest.DocsPerSecond) {
		return 0, false
	}
	if all.BusyCores == 0 && all.CPU.Busy() > 0 {
		return 0, false // the cores of a node are not known
	}
	return all.BusyCores / r.Ingest.DocsPerSecond * 1e6, true
}
