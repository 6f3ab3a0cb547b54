package trial

import (
	"testing"

	"github.com/knee-bench/knee/internal/record"
)

// TestRecord_plannedRepetitions_comeFromConfig checks the records of complete and of interrupted attempts.
func TestRecord_plannedRepetitions_comeFromConfig(t *testing.T) {
	var saved record.Record
	a := begin(Options{Config: record.Config{PlannedRepetitions: 8}, Save: func(r record.Record) { saved = r }}, 0)
	a.saveInterrupted()
	if a.record.PlannedRepetitions != 8 || saved.PlannedRepetitions != 8 {
		t.Errorf("planned repetitions %d, interrupted %d, want 8", a.record.PlannedRepetitions, saved.PlannedRepetitions)
	}
}
