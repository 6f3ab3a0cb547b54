package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/driver"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/steady"
)

const plainWorkload = `{"corpora":[{"name":"c","documents":[{"source-file":"d.json.bz2"}]}],"schedule":[{"operation":{"name":"index","operation-type":"bulk","bulk-size":500}}]}`

func TestOSBAsBulk(t *testing.T) {
	for name, c := range map[string]struct {
		rendered string
		where    string // of the file, below the workload's folder or HOME; empty: nowhere
		outcome  outcome
		want     record.BulkConfig // but for the file
		refused  string
	}{
		"a corpus beside the workload": {plainWorkload, "w/d.json", outcome{corpus: 9000, bulkSize: 500}, record.BulkConfig{Documents: 9000, FlushDocuments: 500}, ""},
		"a corpus that was downloaded": {plainWorkload, "h/.benchmark/benchmarks/data/c/d.json", outcome{corpus: 9000, bulkSize: 500}, record.BulkConfig{Documents: 9000, FlushDocuments: 500}, ""},
		"a timed load":                 {plainWorkload, "w/d.json", outcome{timed: true, bulkSize: 500}, record.BulkConfig{DurationSeconds: 91, FlushDocuments: 500}, ""},
		"no corpus":                    {plainWorkload, "", outcome{corpus: 9000, bulkSize: 500}, record.BulkConfig{}, "the corpus: stat "},
		"only a packed one":            {plainWorkload, "w/d.json.bz2", outcome{corpus: 9000, bulkSize: 500}, record.BulkConfig{}, "the corpus: stat "},
		"an unknown bulk size":         {plainWorkload, "w/d.json", outcome{corpus: 9000}, record.BulkConfig{}, "does not tell its bulk size"},
		"an unknown end":               {plainWorkload, "w/d.json", outcome{bulkSize: 500}, record.BulkConfig{}, "how many documents"},
		"another load": {strings.Replace(plainWorkload, `"bulk-size"`, `"pipeline":"p","bulk-size"`, 1), "w/d.json", outcome{corpus: 1, bulkSize: 500},
			record.BulkConfig{}, "task index sets pipeline"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.where != "" {
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(c.where)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, c.where), []byte("{}\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			a := &attempt{Options: Options{Config: record.Config{OSB: &record.OSBConfig{IngestTasks: []string{"index"}}}}, outcome: c.outcome}
			a.facts.whole = steady.Window{From: began, To: began.Add(90*time.Second + time.Millisecond)}
			d := &osbDriver{a: a, rendered: []byte(c.rendered), run: driver.OSBRun{Home: filepath.Join(dir, "h"), WorkloadPath: filepath.Join(dir, "w")}}
			got, err := d.asBulk()
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%+v, %v, want an error with %q", got, err, c.refused)
				}
				return
			}
			if err != nil || !slices.Equal(got.Files, []string{filepath.Join(dir, c.where)}) || got.Documents != c.want.Documents ||
				got.DurationSeconds != c.want.DurationSeconds || got.FlushDocuments != c.want.FlushDocuments || got.FlushBytes != 0 || got.Dataset != "" {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

// A check begins only where the deadline leaves time for it, and ends before the trial must.
func TestTimeToRepeat(t *testing.T) {
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
		a := &attempt{ended: time.Now()}
		a.clock.at = a.ended.Add(-c.load)
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
	a := &attempt{}
	ctx, end, err := a.timeToRepeat(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if _, set := ctx.Deadline(); set {
		t.Error("a trial without a deadline has a check with one")
	}
}

// An index that is another one than the driver's, and a cluster that was not at rest, are said beside the figures.
func TestWhatACheckTells(t *testing.T) {
	first := &record.Ingest{SettingsDigest: "a", DocsPerSecond: 10}
	again := record.Record{Ingest: &record.Ingest{SettingsDigest: "a", DocsPerSecond: 20_000, WholeDocsPerSec: 19_000, Window: record.WindowCorpus, Seconds: 5, Documents: 100_000, BulkSize: 100},
		Rejections: record.Rejections{WritePool: 2}, Loader: record.Loader{CPUCores: 0.5, UtilizationOfTime: 0.98}}
	check, err := checked(first, again)
	if err != nil || check != (record.ClientCheck{DocsPerSecond: 20_000, WholeDocsPerSec: 19_000, Window: record.WindowCorpus, Seconds: 5, Documents: 100_000, BulkSize: 100,
		Rejections: 2, UtilizationOfTime: 0.98, CPUPerMillion: 25}) {
		t.Errorf("%+v, %v", check, err)
	}
	again.Ingest.SettingsDigest, again.Settle.Note = "b", "os-0 runs 3 merges"
	if check, err = checked(first, again); err != nil || check.Note != "the index had other settings or another mapping than the driver's; the cluster was not at rest before: os-0 runs 3 merges" {
		t.Errorf("%q, %v", check.Note, err)
	}
	again.Ingest.DocsPerSecond = 0
	if _, err = checked(first, again); err == nil || !strings.Contains(err.Error(), "no document was accepted (2 rejections)") {
		t.Error(err)
	}
}

func TestTheWordsOfAnError(t *testing.T) {
	if got := words(fmt.Errorf("settle: %w", fail(record.ReasonDeadline, "it took %d s", 5))); got != "settle: it took 5 s" {
		t.Errorf("%q", got)
	}
	if got := words(errors.New("no room")); got != "no room" {
		t.Errorf("%q", got)
	}
}
