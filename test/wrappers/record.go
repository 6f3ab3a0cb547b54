package wrappers

import (
	"fmt"

	"github.com/knee-bench/knee/internal/record"
)

// MeasuredRecord returns a record of a clean trial with the given docs/s over ten seconds.
func MeasuredRecord(attempt record.Attempt, docsPerSecond float64) record.Record {
	documents := int64(docsPerSecond * 10)
	return record.Record{
		Version: record.Version, Attempt: attempt, StartedAt: 1_700_000_000_000, FinishedAt: 1_700_000_020_000,
		Driver: record.Driver{Name: "osb", Version: "2.4.0"},
		Ingest: &record.Ingest{
			From: 1_700_000_005_000, To: 1_700_000_015_000, Seconds: 10, Window: "Whole",
			Documents: documents, DocsPerSecond: docsPerSecond, WholeDocsPerSec: docsPerSecond, DrainedDocsPerSec: docsPerSecond,
			OSBDocsPerSecond: docsPerSecond, TotalIndexed: documents, Count: documents, IndexBytes: documents * 100,
			Primaries: 1, RefreshInterval: "1s",
		},
		Nodes: []record.Node{{Name: "node-0", CPU: &record.CPU{User: 80, Sys: 5, IOWait: 1, Idle: 14, Cores: 2}}},
		Tasks: []record.Task{{Name: "index", Throughput: docsPerSecond, Unit: "docs/s"}},
	}
}

// ErroredRecord returns a record of an attempt without a valid measurement.
func ErroredRecord(attempt record.Attempt, reason, message string) record.Record {
	return record.Record{
		Version: record.Version, Attempt: attempt, StartedAt: 1_700_000_000_000, FinishedAt: 1_700_000_020_000,
		Error: &record.Error{Reason: reason, Message: message},
	}
}

// LoadRecord returns a record of a clean trial of a load that fills no index, with the given rate over ten seconds.
func LoadRecord(attempt record.Attempt, driver string, rate float64, unit string) record.Record {
	return record.Record{
		Version: record.Version, Attempt: attempt, StartedAt: 1_700_000_000_000, FinishedAt: 1_700_000_020_000,
		Driver: record.Driver{Name: driver},
		Load: &record.Load{
			From: 1_700_000_005_000, To: 1_700_000_015_000, Seconds: 10, Rate: rate, Unit: unit, Operations: int64(rate * 10),
		},
	}
}

// AttemptTitle returns a name of an attempt without the campaign's UID and the cell's hash.
func AttemptTitle(a record.Attempt) string {
	return fmt.Sprintf("%s/%s/%s/%d clients/repetition %d/attempt %d", a.Variant, a.Topology, a.Phase, a.Clients, a.Repetition, a.N)
}
