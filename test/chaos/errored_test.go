package chaos_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// aftermath is how long after its end a fault may still spoil a trial. For example, Kubernetes reports OpenSearch as
// ready until it notices that OpenSearch was killed, and Knee may start a trial in the meantime.
const aftermath = 30 * time.Second

// canSpoil reports whether a fault can be the reason why an attempt has no valid measurement.
func (f fault) canSpoil(r record.Record) bool {
	if f.spoils == 0 || f.Cell != "" && f.Cell != r.Attempt.Cell {
		return false
	}
	// The times of the attempt's Job are whole seconds.
	began, ended := time.UnixMilli(r.StartTime()), time.UnixMilli(r.EndTime()).Add(time.Second)
	return !began.After(f.Ended.Add(aftermath)) && !ended.Before(f.At)
}

// allowance returns how many attempts the faults can have spoiled: for each fault, the attempts that it can have hit, but
// at most the number that such a fault may spoil.
func allowance(done []fault, records []record.Record) int {
	sum := 0
	for _, f := range done {
		n := 0
		for _, r := range records {
			if f.canSpoil(r) {
				n++
			}
		}
		sum += min(n, f.spoils)
	}
	return sum
}

// unexplained returns the Errored records that no fault explains. Each fault explains at most as many records as it may
// spoil. Faults happen one after the other, and so do the trials. So each record gets the earliest fault that is left.
func unexplained(done []fault, records []record.Record) (out []record.Record) {
	records = slices.Clone(records)
	slices.SortStableFunc(records, func(a, b record.Record) int { return int(a.EndTime() - b.EndTime()) })
	used := make([]int, len(done))
	explain := func(r record.Record) bool {
		for i, f := range done {
			if used[i] < f.spoils && f.canSpoil(r) {
				used[i]++
				return true
			}
		}
		return false
	}
	for _, r := range records {
		if r.Error != nil && !explain(r) {
			out = append(out, r)
		}
	}
	return out
}

// checkErrored checks that the faults explain all Errored records.
func checkErrored(t *testing.T, done []fault, records []record.Record) {
	t.Helper()
	errored := 0
	for _, r := range records {
		if r.Error != nil {
			errored++
			t.Logf("Errored: %s: %s: %.200s", name(r.Attempt), r.Error.Reason, r.Error.Message)
		}
	}
	t.Logf("Errored records: %d; the %d faults explain at most %d", errored, len(done), allowance(done, records))
	var reasons []string
	for _, r := range unexplained(done, records) {
		reasons = append(reasons, fmt.Sprintf("%s: %s: %s", name(r.Attempt), r.Error.Reason, r.Error.Message))
	}
	if len(reasons) > 0 {
		t.Errorf("no fault explains %d Errored records:\n%s", len(reasons), strings.Join(reasons, "\n"))
	}
}

// checkDisturbed counts the valid records of trials in which a fault hit OpenSearch or the loader during the load.
func checkDisturbed(t *testing.T, done []fault, records []record.Record) int {
	t.Helper()
	wrong := 0
	for _, r := range records {
		for _, f := range disturbances(done, r) {
			wrong++
			t.Errorf("%s counts as measured, though its load had lasted %d of %d ms when this happened: %s (%s)",
				name(r.Attempt), f.Began.UnixMilli()-r.Ingest.From, r.Ingest.To-r.Ingest.From, f.name, f.Target)
		}
	}
	return wrong
}

// disturbances returns the faults that hit OpenSearch or the loader during the load of a valid record. A lasting fault that began before the
// load is left out: it delays the start of the load.
func disturbances(done []fault, r record.Record) (out []fault) {
	if r.Error != nil || r.Ingest == nil {
		return nil
	}
	for _, f := range done {
		within := f.Began.UnixMilli() >= r.Ingest.From && f.Began.UnixMilli() < r.Ingest.To
		if f.hits != hitsNothing && f.Cell == r.Attempt.Cell && within {
			out = append(out, f)
		}
	}
	return out
}

func TestUnexplained_errors_needFaults(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(1000+s, 0) }
	attempt := func(n int32, from, to int64, reason string) record.Record {
		r := record.Record{JobCreatedAt: at(from).UnixMilli(), JobEndedAt: at(to).UnixMilli()}
		r.Attempt = record.Attempt{Trial: record.Trial{Cell: "cell"}, N: n}
		if reason != "" {
			r.Error = &record.Error{Reason: reason}
		}
		return r
	}
	kill := func(cell string, s int64) fault {
		return fault{kind: kind{spoils: 1}, At: at(s), Began: at(s), Ended: at(s), Cell: cell}
	}
	records := []record.Record{
		attempt(1, 0, 20, record.ReasonClusterChanged), attempt(2, 21, 40, record.ReasonInterrupted), attempt(3, 41, 60, ""),
	}
	for name, tt := range map[string]struct {
		done                 []fault
		allowed, unexplained int
	}{
		"no fault":                 {nil, 0, 2},
		"one fault":                {[]fault{kill("cell", 10)}, 1, 1},
		"two faults":               {[]fault{kill("cell", 10), kill("cell", 30)}, 2, 0},
		"two faults in one trial":  {[]fault{kill("cell", 10), kill("cell", 11)}, 2, 0},
		"another cell":             {[]fault{kill("other", 10), kill("cell", 30)}, 1, 1},
		"after the trials":         {[]fault{kill("cell", 10), kill("cell", 62)}, 1, 1},
		"long before":              {[]fault{kill("cell", -100), kill("cell", 30)}, 1, 1},
		"harmless":                 {[]fault{kill("cell", 10), {At: at(30), Ended: at(30)}}, 1, 1},
		"lasting for two attempts": {[]fault{{kind: kind{spoils: 2}, At: at(10), Ended: at(30), Cell: "cell"}}, 2, 0},
	} {
		if got := allowance(tt.done, records); got != tt.allowed {
			t.Errorf("%s: %d errors are allowed, want %d", name, got, tt.allowed)
		}
		if got := unexplained(tt.done, records); len(got) != tt.unexplained {
			t.Errorf("%s: %d errors are not explained, want %d", name, len(got), tt.unexplained)
		}
	}
}
