package osbtool

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestFirstClientEnd(t *testing.T) {
	reads := func(at, pid string) string {
		return "2026-11-20 23:56:" + at + " ActorAddr-(T|:1)/PID:" + pid + " osbenchmark.workload.params INFO Task-relative clients at index [0-0] will bulk index [10] docs starting from line offset [0] for [i/None] from corpus [c].\n"
	}
	ends := func(at, pid string) string {
		return "2026-11-20 23:56:" + at + " ActorAddr-(T|:1)/PID:" + pid + " osbenchmark.worker_coordinator.worker_coordinator INFO Total run duration: 13.148798 seconds.\n"
	}
	for name, c := range map[string]struct {
		log  string
		want string // empty: unknown
	}{
		"version 2.4.0, two workers of two clients":    {read(t, "osb240-workers.log"), "2026-11-21T03:13:05.444Z"},
		"version 1.15.0, two workers, three clients":   {read(t, "osb115-workers.log"), "2026-11-21T03:23:39.925Z"},
		"the earlier of two":                           {reads("01,5", "1") + reads("01,6", "2") + ends("09,70", "2") + ends("08,7", "1"), "2026-11-20T23:56:08.007Z"},
		"other tasks before and after":                 {ends("00,9", "1") + reads("01,5", "1") + ends("09,700", "1") + ends("12,0", "1"), "2026-11-20T23:56:09.7Z"},
		"two ingest tasks, of which the second counts": {reads("01,5", "1") + ends("09,700", "1") + reads("10,0", "1") + ends("20,0", "1"), "2026-11-20T23:56:20Z"},
		"a worker of which no end is told":             {reads("01,5", "1") + reads("01,6", "2") + ends("09,70", "2"), ""},
		"a worker without a part of the corpus":        {reads("01,5", "1") + ends("02,0", "2") + ends("09,70", "1"), "2026-11-20T23:56:09.07Z"},
		"none":                                         {read(t, "benchmark.log"), ""},
		"empty":                                        {"", ""},
	} {
		got, ok := FirstClientEnd([]byte(c.log))
		if ok != (c.want != "") || ok && got.Format(time.RFC3339Nano) != c.want {
			t.Errorf("%s: %s, %v, want %q", name, got.Format(time.RFC3339Nano), ok, c.want)
		}
	}
}

func TestParseTargets(t *testing.T) {
	rendered := `{"operations":[{"name":"bulk","operation-type":"bulk","target-throughput":7}],"test_procedures":[{"name":"p","schedule":[
	  {"operation":"bulk","name":"a","target-throughput":24},
	  {"operation":"bulk","name":"b","target-throughput":"1500.5 docs/s"},
	  {"operation":"bulk","name":"c","target-interval":0.25},
	  {"operation":"bulk","name":"none"},
	  {"operation":"bulk","name":"zero","target-throughput":0},
	  {"operation":"bulk","name":"nonsense","target-throughput":"fast"},
	  {"parallel":{"target-throughput":3,"tasks":[{"operation":"bulk","name":"d","target-throughput":2},{"operation":"bulk","name":"e"}]}}]}]}`
	got, err := ParseTargets([]byte(rendered), "p")
	want := map[string]Target{"a": {24, "ops/s"}, "b": {1500.5, "docs/s"}, "c": {4, "ops/s"}, "d": {2, "ops/s"}}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%+v, %v", got, err)
	}
	for name, target := range want {
		if got[name] != target {
			t.Errorf("%s: %+v, want %+v", name, got[name], target)
		}
	}
	for _, c := range []struct {
		target Target
		unit   string
		want   float64
	}{{got["a"], "docs/s", 24000}, {got["a"], "ops/s", 24}, {got["b"], "docs/s", 1500.5}, {got["b"], "ops/s", 0}, {got["a"], "", 24}, {Target{}, "docs/s", 0}} {
		if v := c.target.In(c.unit, 1000); v != c.want {
			t.Errorf("%+v in %s is %v, want %v", c.target, c.unit, v, c.want)
		}
	}
	for _, bad := range []string{"{", `{"test_procedures":[]}`} {
		if got, err := ParseTargets([]byte(bad), "p"); err == nil {
			t.Errorf("%s gives %+v", bad, got)
		}
	}
}

func FuzzLog(f *testing.F) {
	for _, name := range []string{"osb240-workers.log", "osb115-workers.log", "benchmark.log"} {
		data := readSeed(f, name)
		f.Add(data[:min(len(data), 4000)])
		f.Add(data[max(0, len(data)-4000):])
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		if at, ok := FirstClientEnd(log); ok == at.IsZero() && at.Year() != 1 {
			t.Errorf("%v, %v", at, ok)
		}
		if n := DocumentsToSend(log, Ingest{Tasks: []string{"index"}, BulkSize: 1000, Share: 50}); n < 0 {
			t.Errorf("%d documents", n)
		}
		if path := RenderedWorkloadPath(log); strings.ContainsAny(path, "'\n") {
			t.Errorf("path %q", path)
		}
	})
}

// TestReadLog_longLog_keepsLinesAboutLoad checks that ReadLog finds the lines about the load in logs of any length, also between very long
// lines.
func TestReadLog_longLog_keepsLinesAboutLoad(t *testing.T) {
	for _, name := range []string{"osb240-workers.log", "osb115-workers.log", "benchmark.log"} {
		log := read(t, name)
		noise := strings.Repeat("2026-11-20 23:56:01,5 -not-actor-/PID:9 osbenchmark.client INFO "+strings.Repeat("x", 900)+"\n", 1000) + strings.Repeat("y", 200<<10) + "\n"
		first, rest, _ := strings.Cut(log, "\n")
		kept, err := ReadLog(strings.NewReader(noise + first + "\n" + noise + rest + noise))
		if err != nil || len(kept) > len(log) {
			t.Fatalf("%s: %d bytes of %d kept, %v", name, len(kept), len(log), err)
		}
		in := Ingest{Share: 100}
		want, known := FirstClientEnd([]byte(log))
		if got, ok := FirstClientEnd(kept); ok != known || !got.Equal(want) {
			t.Errorf("%s: first end %s, want %s", name, got, want)
		}
		if got, want := DocumentsToSend(kept, in), DocumentsToSend([]byte(log), in); got != want {
			t.Errorf("%s: %d documents, want %d", name, got, want)
		}
		if got, want := RenderedWorkloadPath(kept), RenderedWorkloadPath([]byte(log)); got != want {
			t.Errorf("%s: rendered workload %q, want %q", name, got, want)
		}
	}
	broken := errors.New("broken")
	if kept, err := ReadLog(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a log that cannot be read: %q, %v", kept, err)
	}
}
