package trial

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/knee-bench/knee/internal/record"
)

// TestTimeToRepeat checks that a client check begins only if the deadline leaves enough time, and that it ends before
// the trial's deadline.
func TestTimeToRepeat(t *testing.T) { synctest.Test(t, timeToRepeat) }

func timeToRepeat(t *testing.T) {
	for _, c := range []struct {
		left, settle, wait, load time.Duration
		enough                   bool
	}{
		{time.Hour, 20 * time.Second, 0, 10 * time.Minute, true},
		{16*time.Minute + 10*time.Second, 20 * time.Second, 0, 10 * time.Minute, true},
		{15*time.Minute + 50*time.Second, 20 * time.Second, 0, 10 * time.Minute, false},
		{17*time.Minute + 40*time.Second, 20 * time.Second, time.Minute, 10 * time.Minute, true},
		{17*time.Minute + 20*time.Second, 20 * time.Second, time.Minute, 10 * time.Minute, false},
		{20 * time.Second, 0, 0, time.Second, false},
	} {
		deadline := time.Now().Add(c.left)
		ctx, cancel := context.WithDeadline(t.Context(), deadline)
		defer cancel()
		a := begin(Options{}, 0)
		a.span.Ended = time.Now()
		a.span.Began = a.span.Ended.Add(-c.load)
		a.record.Settle.Seconds, a.record.Settle.WaitSeconds = c.settle.Seconds(), c.wait.Seconds()
		inner, end, err := a.timeToRepeat(ctx)
		if (err == nil) != c.enough {
			t.Errorf("%+v: %v", c, err)
		}
		if err != nil {
			continue
		}
		end()
		if at, _ := inner.Deadline(); deadline.Sub(at) != checkReserve {
			t.Errorf("%+v: the check may last until %s before the trial's deadline", c, deadline.Sub(at))
		}
	}
	a := begin(Options{}, 0)
	ctx, end, err := a.timeToRepeat(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if _, set := ctx.Deadline(); set {
		t.Error("a trial without a deadline has a check with one")
	}
}

// TestCompareLoads checks the note of a client check. The note reports an index that differs from the driver's index,
// and a cluster that was not idle before the check.
func TestCompareLoads(t *testing.T) {
	first := &record.Ingest{SettingsDigest: "a", DocsPerSecond: 10}
	again := record.Record{Ingest: &record.Ingest{SettingsDigest: "a", DocsPerSecond: 20_000, WholeDocsPerSec: 19_000, Window: record.WindowCorpus, Seconds: 5, Documents: 100_000, BulkSize: 100},
		Rejections: record.Rejections{WritePool: 2}, Loader: record.Loader{CPUCores: 0.5, UtilizationOfTime: 0.98}}
	check, err := compareLoads(first, again)
	if err != nil || check != (record.ClientCheck{DocsPerSecond: 20_000, WholeDocsPerSec: 19_000, Window: record.WindowCorpus, Seconds: 5, Documents: 100_000, BulkSize: 100,
		Rejections: 2, UtilizationOfTime: 0.98, CPUPerMillion: 25}) {
		t.Errorf("%+v, %v", check, err)
	}
	again.Ingest.SettingsDigest, again.Settle.Note = "b", "os-0 runs 3 merges"
	if check, err = compareLoads(first, again); err != nil || check.Note != "the index of the repeated load differs from the index of the first load in its settings or its mapping; the OpenSearch cluster was still busy when the client-bound check began: os-0 runs 3 merges" {
		t.Errorf("%q, %v", check.Note, err)
	}
	again.Ingest.DocsPerSecond = 0
	if _, err = compareLoads(first, again); err == nil || !strings.Contains(err.Error(), "when the client check repeated the load, OpenSearch accepted no document and rejected 2 requests") {
		t.Error(err)
	}
}

func TestWithoutReason(t *testing.T) {
	if got := withoutReason(fmt.Errorf("settle: %w", record.Errorf(record.ReasonDeadline, "it took %d s", 5))); got != "settle: it took 5 s" {
		t.Errorf("%q", got)
	}
	if got := withoutReason(errors.New("no room")); got != "no room" {
		t.Errorf("%q", got)
	}
}
