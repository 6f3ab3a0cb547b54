package trial

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/trial/cluster"
	"github.com/knee-bench/knee/internal/trial/steady"
)

// options are those of a trial against nobody: port 1 of loopback refuses.
func options(t *testing.T) Options {
	t.Helper()
	return Options{Work: t.TempDir(), Program: "/bin/true", Output: io.Discard, Config: record.Config{
		Trial: record.Trial{Cell: "abc", Clients: 4, Attempt: 1}, Endpoint: "http://127.0.0.1:1", Nodes: 1, DeadlineSeconds: 60,
		OSB: &record.OSBConfig{Workload: "w", IngestTasks: []string{"index"}},
	}}
}

func TestEveryFailureGivesARecord(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		reason string
		words  string
	}{
		"no driver configured":      {func(o *Options) { o.Config.OSB = nil }, record.ReasonAgentFailed, "names no driver"},
		"no such program":           {func(o *Options) { o.Program = "no-such-program" }, record.ReasonDriverFailed, "the loader's image has no no-such-program"},
		"an endpoint that is none":  {func(o *Options) { o.Config.Endpoint = "nowhere" }, record.ReasonAgentFailed, "not a URL"},
		"a workload that is absent": {func(o *Options) { o.Config.OSB.Path = "/nowhere" }, record.ReasonDriverFailed, "the workload w"},
		"the deadline passes":       {func(o *Options) { o.Config.DeadlineSeconds = 1 }, record.ReasonDeadline, "the trial's deadline of 1 s passed"},
	} {
		t.Run(name, func(t *testing.T) { // one after the other: a trial ends every process that this one has, another trial's too
			o := options(t)
			c.change(&o)
			r := Run(t.Context(), o)
			if r.Error == nil || r.Error.Reason != c.reason || !strings.Contains(r.Error.Message, c.words) {
				t.Errorf("error %+v, want %s with %q", r.Error, c.reason, c.words)
			}
			if r.Version != record.Version || r.Trial != o.Config.Trial || r.FinishedAt < r.StartedAt || r.StartedAt == 0 || r.Ingest != nil {
				t.Errorf("record %+v", r)
			}
			if _, err := record.Encode(r); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestASignalGivesARecord(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	lines, w := io.Pipe()
	o := options(t)
	o.Output = w
	records, saved := make(chan record.Record, 1), make(chan record.Record, 1)
	o.Save = func(r record.Record) { saved <- r }
	go func() {
		records <- Run(ctx, o)
		_ = w.Close()
	}()
	told := false
	buffer := make([]byte, 1024)
	for {
		n, err := lines.Read(buffer)
		if strings.Contains(string(buffer[:n]), "wait for the cluster") && !told {
			told = true
			cancel(context.Canceled)
		}
		if err != nil {
			break
		}
	}
	if r := <-records; r.Error == nil || r.Error.Reason != record.ReasonInterrupted || !strings.Contains(r.Error.Message, "ended from outside") || !strings.Contains(r.Error.Message, "wait for the cluster") {
		t.Errorf("error %+v", r.Error)
	}
	select {
	case r := <-saved: // before the driver is ended, which takes its time
		if r.Error == nil || r.Error.Reason != record.ReasonInterrupted || r.Trial != o.Config.Trial || r.Version != record.Version {
			t.Errorf("saved at once: %+v", r)
		}
	default:
		t.Error("no record was saved at once")
	}
}

func TestChooseWindow(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var samples []steady.Sample
	for s := range 201 {
		samples = append(samples, steady.Sample{At: start.Add(time.Duration(s) * time.Second), Count: int64(min(s, 100)*1000 + s%2)})
	}
	whole, err := steady.Whole(samples[:102])
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		measure string
		corpus  int64
		timed   bool
		refresh string
		samples []steady.Sample
		first   int // second in which the first client ended; 0: not known
		kind    string
		note    string
	}{
		"whole":                          {"Whole", 100_000, false, "30s", samples[:102], 0, record.WindowWhole, ""},
		"a full corpus":                  {"Window", 100_000, false, "30s", samples[:102], 97, record.WindowCorpus, ""},
		"a client that ends early":       {"Window", 100_000, false, "30s", samples[:102], 80, record.WindowCorpus, "it ends with the first client, at 80.0 % of the corpus"},
		"a client that ends at once":     {"Window", 100_000, false, "30s", samples[:102], 3, record.WindowWhole, "before 15 %"},
		"ends that are not known":        {"Window", 100_000, false, "30s", samples[:102], 0, record.WindowCorpus, "when the first client finished is not known"},
		"a timed load":                   {"Window", 0, true, "-1", samples[:102], 0, record.WindowSteady, ""},
		"a short timed load":             {"Window", 0, true, "-1", samples[:20], 0, record.WindowWhole, "fewer than 10 batches"},
		"a refresh too long for it":      {"Window", 0, true, "5m", samples[:102], 0, record.WindowWhole, "whole refresh periods"},
		"half the corpus":                {"Window", 300_000, false, "", samples[:102], 0, record.WindowWhole, "fewer than 95 %"},
		"nothing known of the documents": {"Window", 0, false, "", samples[:102], 0, record.WindowWhole, "neither timed nor"},
	} {
		load := loadFacts{corpus: c.corpus, timed: c.timed, samples: c.samples, whole: whole}
		if c.first > 0 {
			load.firstEnd = start.Add(time.Duration(c.first) * time.Second)
		}
		w, kind, note := choose(record.Config{Measure: c.measure, Index: record.IndexConfig{RefreshInterval: c.refresh}}, load)
		if kind != c.kind || c.note == "" && note != "" || !strings.Contains(note, c.note) || w.Rate() < 990 || w.Rate() > 1010 {
			t.Errorf("%s: %s at %.0f docs/s, note %q, want %s with %q", name, kind, w.Rate(), note, c.kind, c.note)
		}
	}
}

func TestWatchTakesReadingsIn(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	w := &watch{}
	w.add(at(0), cluster.Indexing{})
	w.add(at(1), cluster.Indexing{ShardsFailed: 1}) // before the first document: the index is being made
	w.add(at(2), cluster.Indexing{Total: 100, Merges: 1})
	w.add(at(3), cluster.Indexing{Total: 100})
	if w.problem != "" || len(w.samples) != 3 || !w.changed.Equal(at(2)) || !w.merging.Equal(at(2)) || !w.lastAt.Equal(at(3)) {
		t.Errorf("%+v", w)
	}
	w.add(at(4), cluster.Indexing{Total: 90})
	w.add(at(5), cluster.Indexing{Total: 120, ShardsFailed: 2})
	if !strings.Contains(w.problem, "went down from 100 to 90") || len(w.samples) != 3 {
		t.Errorf("%q, %d samples", w.problem, len(w.samples))
	}
	failed := &watch{}
	failed.add(at(0), cluster.Indexing{Total: 1})
	failed.add(at(1), cluster.Indexing{Total: 1, ShardsFailed: 2})
	if !strings.Contains(failed.problem, "2 shards could not tell") {
		t.Errorf("%q", failed.problem)
	}
}

func TestInterval(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for seconds, want := range map[int]time.Duration{0: fastest, 4: fastest, 20: 400 * time.Millisecond, 50: time.Second, 5000: time.Second} {
		if got := interval(start, start.Add(time.Duration(seconds)*time.Second)); got != want {
			t.Errorf("after %d s every %s, want %s", seconds, got, want)
		}
	}
	if got := interval(time.Time{}, start); got != fastest {
		t.Errorf("before the first document every %s", got)
	}
}

func TestUntilKeepsWhatWasSaidBeforeTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := until(ctx, time.Millisecond, func(ctx context.Context) (bool, string) {
		calls++
		if calls == 3 {
			cancel()
		}
		if ctx.Err() != nil {
			return false, "context canceled"
		}
		return false, "a shard is missing"
	})
	if err == nil || err.Error() != "a shard is missing" {
		t.Errorf("%v", err)
	}
	if err := until(t.Context(), time.Millisecond, func(context.Context) (bool, string) { calls++; return calls > 5, "" }); err != nil {
		t.Error(err)
	}
}

func TestRunIDNamesTheTrial(t *testing.T) {
	a := &attempt{Options: Options{Config: record.Config{Trial: record.Trial{Cell: "0123abcd", Phase: record.Final, Clients: 16, Repetition: 3, Attempt: 2}}}}
	if got := a.runID("-search"); got != "knee-0123abcd-final-c16-r3-a2-search" || strings.ContainsAny(got, string(filepath.Separator)) {
		t.Errorf("%s", got)
	}
}
