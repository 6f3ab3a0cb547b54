package figures

import (
	"math"

	"github.com/knee-bench/knee/internal/record"
)

// RateName is the name of the figure that compares cells whose loads fill an index.
const RateName = "docs_per_second"

// OtherRateName is the name of the figure that compares cells whose loads do not fill an index.
const OtherRateName = "rate"

// rateFigures lists the rates of the load. They include rates per node and per CPU.
var rateFigures = []Figure{
	{Name: RateName, Field: "docsPerSecond", Unit: RateUnit, Column: 9, Row: 1, In: IndexLoads, Valid: true, Zero: ZeroNoRow,
		Help: "documents that OpenSearch accepted per second within the window: Knee's own figure",
		Get:  ofIngest(always(func(in *record.Ingest) float64 { return in.DocsPerSecond }))},
	{Name: OtherRateName, Field: "rate", Of: Load, Unit: RateUnit, Column: 9, Row: 1, In: OtherLoads, Valid: true, Zero: ZeroNoRow,
		Help: "operations that succeeded per second, as the driver reports them", Get: ofLoad(always(func(l *record.Load) float64 { return l.Rate }))},
	{Name: "unit", Field: "unit", Of: Load, Column: 10, In: OtherLoads, Help: "unit of rate: rows/s, calls/s, or the unit in workload.command.json",
		Get: ofLoad(always(func(l *record.Load) string { return l.Unit }))},
	{Name: "whole_docs_per_second", Field: "wholeDocsPerSecond", Unit: "docs/s", Column: 10, In: IndexLoads, Valid: true,
		Help: "docs/s from the first to the last accepted document", Get: ofIngest(func(in *record.Ingest) (float64, bool) {
			return in.WholeDocsPerSec, in.WholeDocsPerSec != 0 || in.DocsPerSecond == 0 // 0 is known only if no document was accepted
		})},
	{Name: "drained_docs_per_second", Field: "drainedDocsPerSecond", Unit: "docs/s", Column: 11, Row: 2, In: IndexLoads, Valid: true,
		Help: "docs/s from the first accepted document until merges had drained; unknown if they did not drain in time",
		Get:  ofIngest(nonZero(func(in *record.Ingest) float64 { return in.DrainedDocsPerSec }))},
	{Name: "osb_docs_per_second", Field: "driverDocsPerSecond", Unit: "docs/s", Column: 12, Row: 3, In: IndexLoads, Valid: true,
		Help: "the driver's own mean throughput, to compare with docs_per_second", Get: ofIngest(nonZero(func(in *record.Ingest) float64 { return in.OSBDocsPerSecond }))},
	{Name: "docs_per_second_per_cpu_percent", Unit: RateUnit + " per %", Column: 43, Row: 9, In: IndexLoads, Valid: true, Help: efficiencyHelp, Get: ofRecord(Efficiency)},
	{Name: "rate_per_cpu_percent", Unit: RateUnit + " per %", Column: 43, Row: 9, In: OtherLoads, Valid: true, Help: efficiencyHelp, Get: ofRecord(Efficiency)},
	{Name: "cpu_seconds_per_million_documents", Unit: "s", Column: 44, Row: 10, In: IndexLoads, Valid: true,
		Help: "CPU time of all OpenSearch nodes (user + sys) for a million documents, in seconds of one core", Get: ofRecord(CPUSecondsPerMillion)},
	{Name: "docs_per_second_per_node", Unit: RateUnit, Column: 125, Row: 40, In: IndexLoads, Valid: true, Help: perNodeHelp, Get: ofRecord(ratePerNode)},
	{Name: "rate_per_node", Unit: RateUnit, Column: 125, Row: 40, In: OtherLoads, Valid: true, Help: perNodeHelp, Get: ofRecord(ratePerNode)},
	{Name: "docs_per_second_per_vcpu", Unit: RateUnit, Column: 126, Row: 41, In: IndexLoads, Valid: true, Help: perCoreHelp, Get: ofRecord(ratePerCore)},
	{Name: "rate_per_vcpu", Unit: RateUnit, Column: 126, Row: 41, In: OtherLoads, Valid: true, Help: perCoreHelp, Get: ofRecord(ratePerCore)},
	{Name: "payload_mib_per_second", Unit: "MiB/s", Column: 127, Row: 42, In: IndexLoads, Valid: true,
		Help: "size of the accepted documents, as they were sent, per second; unknown where the driver does not report their size",
		Get:  ofIngest(nonZero(func(in *record.Ingest) float64 { return in.PayloadMiBs }))},
	{Name: "payload_mib_per_second", Field: "mibPerSecond", Of: Load, Unit: "MiB/s", Column: 127, Row: 42, In: OtherLoads, Valid: true,
		Help: "payload per second, as the driver reports it; unknown if the driver does not report it",
		Get:  ofLoad(nonZero(func(l *record.Load) float64 { return l.MiBs }))},
}

const (
	efficiencyHelp = "efficiency: the rate for each percent of CPU (user + sys); do not use it to compare machines with SMT and machines without SMT"
	perNodeHelp    = "the rate divided by the number of OpenSearch nodes"
	perCoreHelp    = "the rate divided by the logical processors of all OpenSearch nodes; a logical processor of an SMT core is not a full core"
)

// Efficiency returns the record's rate for each percent of CPU (user + sys) of the OpenSearch nodes. It returns false if the rate
// or the CPU is unknown. A percent of SMT threads and a percent of full cores differ, so compare only machines of one kind.
func Efficiency(r *record.Record) (float64, bool) {
	all, ok := r.Pool()
	rate, unit := r.Rate()
	if !ok || all.CPU == nil || unit == "" || !isPositive(all.CPU.Busy()) {
		return 0, false
	}
	return rate / all.CPU.Busy(), true
}

// CPUSecondsPerMillion returns the CPU time (user + sys) of all OpenSearch nodes for a million documents, in seconds of one core.
// It returns false if the rate or the CPU is unknown.
func CPUSecondsPerMillion(r *record.Record) (float64, bool) {
	all, ok := r.Pool()
	if !ok || all.CPU == nil || all.CPU.Cores == 0 || r.Ingest == nil || !isPositive(r.Ingest.DocsPerSecond) {
		return 0, false
	}
	if all.BusyCores == 0 && all.CPU.Busy() > 0 {
		return 0, false // the number of cores of at least one node is unknown
	}
	return all.BusyCores / r.Ingest.DocsPerSecond * 1e6, true
}

func ratePerNode(r *record.Record) (float64, bool) {
	rate, _ := r.Rate()
	all, ok := r.Pool()
	return rate / float64(all.Nodes), ok && all.Nodes > 0 && rate != 0
}

func ratePerCore(r *record.Record) (float64, bool) {
	rate, _ := r.Rate()
	cores, ok := Cores(r)
	return rate / cores, ok && rate != 0
}

// Cores returns the number of logical processors of all OpenSearch nodes. It returns false if the number of any node is unknown.
func Cores(r *record.Record) (float64, bool) {
	if all, ok := r.Pool(); ok && all.CPU != nil && all.CPU.Cores > 0 {
		return float64(all.CPU.Cores), true
	}
	sum := 0
	for _, n := range r.Nodes {
		if n.Environment.Cores == 0 {
			return 0, false
		}
		sum += n.Environment.Cores
	}
	return float64(sum), sum > 0 && r.NodesKnown()
}

func isPositive(f float64) bool { return f > 0 && !math.IsInf(f, 1) }
