package report

import (
	"strings"

	"github.com/knee-bench/knee/internal/record"
)

// unit is what the campaign's rates are counted in.
func unit(in Input) string { return in.Spec.Workload.Unit() }

// fillsIndex tells whether the campaign's load fills an index: of any other there are no documents, rejections or merges
// to tell of, and what is not there is left out rather than shown as nothing.
func fillsIndex(in Input) bool {
	return in.Spec.Workload.Stream == nil && in.Spec.Workload.Command == nil
}

// things are what the unit counts: documents, rows, calls.
func things(in Input) string {
	if fillsIndex(in) {
		return "documents"
	}
	return strings.TrimSuffix(unit(in), "/s")
}

// did is what a variant does to the things that its load counts.
func did(in Input) string {
	if fillsIndex(in) {
		return "indexed"
	}
	return "did"
}

// tasksOf are the driver's tasks; the requests of a load that fills no index are one.
func tasksOf(r record.Record) []record.Task {
	if r.Load == nil {
		return r.Tasks
	}
	return []record.Task{{Name: "request", Throughput: r.Load.Rate, Unit: r.Load.Unit, Latency: r.Load.Latency}}
}

// loadSeconds is the length of the measured load; 0 when there was none.
func loadSeconds(r record.Record) float64 {
	switch {
	case r.Ingest != nil:
		return r.Ingest.Seconds
	case r.Load != nil:
		return r.Load.Seconds
	}
	return 0
}

// nodesKnown tells whether anything was measured of the cluster's machines.
func nodesKnown(in Input) bool {
	for _, o := range in.Assessment.Outcomes {
		if o.Record != nil && len(o.Record.Nodes) > 0 {
			return true
		}
	}
	return false
}
